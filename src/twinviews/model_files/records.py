"""Objects of a model as records of named fields, arrays apart; each is written and read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np

from twinviews.model_files.container import ModelFileError, UnknownHereError, canonical_json

Json = Any

# Numbers beyond are no model's. Those within can be squared and summed.
LARGEST = 1e100
# What reading may look at and make, in bytes, and so much more for each byte of the arrays.
_FREE_BYTES = 256 * 2**20
_BYTES_PER_BYTE = 32
_BYTES_OF_A_NAME = 8192  # it takes as long to look up as so many bytes to look at


class Sizes(dict[str, int]):
    """Sizes of an object by letter; a figure stands for itself, and _ for any size."""

    def bind(self, letter: str, size: int) -> None:
        """Take a size as that of a letter, or of a letter and some more, as in D+2."""
        letter, _, more = letter.partition("+")
        size -= int(more or 0)
        if letter == "_":
            return
        expected = int(letter) if letter.isdigit() else self.setdefault(letter, size)
        if expected != size:
            raise ModelFileError(f"size {letter} is {expected} in one place and {size} in another")

    def __missing__(self, letter: str) -> int:
        raise ModelFileError(f"size {letter} is not known")


class Field(Protocol):
    """How a value is written, and how it is read and checked."""

    def encode(self, value: Any, writer: Writer) -> Json: ...

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any: ...


@dataclass(frozen=True)
class Kind:
    """A class that may occur in a model: its name in files, its fields, and how it is made of them."""

    name: str
    cls: type
    fields: Mapping[str, Field]
    defaults: Mapping[str, Any]  # of fields that a file may lack
    make: Callable[..., Any]
    take: Callable[[Any], Mapping[str, Any]]  # the values of the fields
    roles: frozenset[Any] = frozenset()  # types in whose place it may stand, beside its own
    check: Callable[[Any, Sizes], None] = lambda value, sizes: None  # what annotations do not say
    cost: Callable[[Mapping[str, Any], Sizes], int] = lambda values, sizes: 0  # bytes to make it
    made_once: bool = False  # however often it is named

    def write(self, value: Any, writer: Writer) -> dict[str, Json]:
        return write_fields(self.fields, self.take(value), writer)

    def read(self, node: Mapping[str, Json], reader: Reader, sizes: Sizes, made: Any = None) -> Any:
        """An object of its fields; one that is ``made`` is checked by all that a reader checks."""
        values = read_fields(self.name, self.fields, self.defaults, node, reader, sizes)
        reader.spend(self.cost(values, sizes))
        value = self.make(**values) if made is None else made
        self.check(value, sizes)
        return value


def write_fields(
    fields: Mapping[str, Field], values: Mapping[str, Any], writer: Writer
) -> dict[str, Json]:
    return {name: spec.encode(values[name], writer) for name, spec in fields.items()}


def read_fields(
    owner: str,
    fields: Mapping[str, Field],
    defaults: Mapping[str, Any],
    node: Mapping[str, Json],
    reader: Reader,
    sizes: Sizes,
) -> dict[str, Any]:
    """All fields, in the order in which they are declared; one that a file lacks has its default."""
    unknown = sorted(set(node) - set(fields))
    if unknown:
        raise UnknownHereError(f"{owner} has the field {unknown[0][:40]!r}")
    values = {}
    for name, spec in fields.items():
        if name not in node:
            if name not in defaults:
                raise ModelFileError(f"{owner} lacks the field {name!r}")
            values[name] = defaults[name]
            continue
        try:
            values[name] = spec.decode(node[name], reader, sizes)
        except ModelFileError as reason:
            raise type(reason)(f"{owner}.{name}: {reason}") from None
    return values


class Found(NamedTuple):
    """An object that is read."""

    kind: Kind
    value: Any
    sizes: Sizes
    weight: int  # bytes of all that is in it


@dataclass
class Reader:
    """The arrays of a file, and its objects as far as they are read.

    It counts the bytes that it looks at and makes. A few bytes can name the same array or object again
    and again, so it is what they name that counts.
    """

    arrays: list[np.ndarray]
    _objects: dict[int, Found] = field(default_factory=dict)
    _used_arrays: set[int] = field(default_factory=set)
    _used_objects: set[int] = field(default_factory=set)
    _most: float = inf
    _spent: int = 0
    _weight: int = 0  # of the object that is being read

    def limit(self) -> None:
        """Allow no more than the arrays are worth, from now on and so far."""
        self._most = _FREE_BYTES + _BYTES_PER_BYTE * sum(array.nbytes for array in self.arrays)
        self.spend(0)

    def read_object(self, place: int, node: dict[str, Json], kind: Kind, made: Any = None) -> None:
        """An object has only earlier ones inside, so nothing is recursive."""
        sizes = Sizes()
        self._weight = 0
        fields = {name: value for name, value in node.items() if name != "kind"}
        value = kind.read(fields, self, sizes, made)
        self._objects[place] = Found(kind, value, sizes, 0 if kind.made_once else self._weight)

    def array(self, place: Json, *, nan: bool = False) -> np.ndarray:
        if type(place) is not int or not 0 <= place < len(self.arrays):
            raise ModelFileError(f"there is no array {place!r:.40}")
        self._used_arrays.add(place)
        array = self.arrays[place]
        self.spend(array.nbytes + _BYTES_OF_A_NAME)
        if array.dtype.kind == "f":
            known = array[~np.isnan(array)] if nan else array
            if known.size and not float(np.abs(known).max()) <= LARGEST:
                raise ModelFileError(f"an array has a value that is not a number up to {LARGEST:g}")
        return array

    def object(self, place: Json) -> Found:
        if type(place) is not int or place not in self._objects:
            raise ModelFileError(f"there is no object {place!r:.40} before the one that names it")
        found = self._objects[place]
        again = place in self._used_objects
        self._used_objects.add(place)
        self.spend(_BYTES_OF_A_NAME + (found.weight if again else 0))
        self._weight += 0 if again else found.weight
        return found

    def spend(self, n_bytes: int) -> None:
        """Before n bytes are looked at or made."""
        self._spent += n_bytes
        self._weight += n_bytes
        if self._spent > self._most:
            raise ModelFileError(f"to read it would take more than {self._most:,} bytes")

    def refuse_what_is_not_used(self, retired: set[int]) -> None:
        """Every array belongs to something, but for those that a migration has retired."""
        if len(self._used_arrays | retired) < len(self.arrays):
            raise ModelFileError("it has an array that belongs to nothing")
        if len(self._used_objects) < len(self._objects):
            raise ModelFileError("it has an object that belongs to nothing")


@dataclass
class Writer:
    """Arrays and objects of a model, each once: they are told apart by what they hold.

    A reader looks at each as soon as it is written, so nothing is written that could not be read.
    """

    kind_of: Callable[[Any], Kind]
    arrays: list[np.ndarray] = field(default_factory=list)
    objects: list[Json] = field(default_factory=list)
    reader: Reader = field(init=False)
    _places: dict[Any, int] = field(default_factory=dict)
    _written: dict[int, tuple[int, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reader = Reader(self.arrays)

    def add_array(self, array: np.ndarray) -> int:
        if not array.flags.f_contiguous:
            array = np.ascontiguousarray(array)
        key = (array.dtype.str, array.shape, array.flags.c_contiguous, array.tobytes(order="A"))
        return self._place(key, self.arrays, array)

    def add_object(self, value: Any) -> int:
        if id(value) not in self._written:
            # The value is kept, so that its id stays its own.
            self._written[id(value)] = (self._write(value), value)
        return self._written[id(value)][0]

    def _write(self, value: Any) -> int:
        kind = self.kind_of(value)
        node = {**kind.write(value, self), "kind": kind.name}
        n_objects = len(self.objects)
        place = self._place(canonical_json(node), self.objects, node)
        if place == n_objects:
            self.reader.read_object(place, node, kind, made=value)
        return place

    def _place(self, key: Any, table: list[Any], value: Any) -> int:
        if key not in self._places:
            self._places[key] = len(table)
            table.append(value)
        return self._places[key]
