"""Objects of a model as records of named fields, arrays apart; each is written and read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np

from twinviews.model_files.container import Contents, ModelFileError, UnknownHereError, canonical_json

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
    """How a value is written and read. Both ways check it, so what is written can be read."""

    def encode(self, value: Any, writer: Writer, sizes: Sizes) -> Json: ...

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

    def write(self, value: Any, writer: Writer, sizes: Sizes) -> dict[str, Json]:
        values = self.take(value)
        node = write_fields(self.name, self.fields, values, writer, sizes)
        writer.ledger.spend(self.cost(values, sizes))
        self.check(value, sizes)
        return node

    def read(self, node: Mapping[str, Json], reader: Reader, sizes: Sizes) -> Any:
        values = read_fields(self.name, self.fields, self.defaults, node, reader, sizes)
        reader.ledger.spend(self.cost(values, sizes))
        value = self.make(**values)
        self.check(value, sizes)
        return value


def write_fields(
    owner: str, fields: Mapping[str, Field], values: Mapping[str, Any], writer: Writer, sizes: Sizes
) -> dict[str, Json]:
    """All fields, in the order in which they are declared: a letter is known from there on."""
    node = {}
    for name, spec in fields.items():
        try:
            node[name] = spec.encode(values[name], writer, sizes)
        except ModelFileError as reason:
            raise type(reason)(f"{owner}.{name}: {reason}") from None
    return node


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


@dataclass
class Ledger:
    """Bytes that reading looks at and makes.

    A few bytes can name the same array or object again and again, so it is what they name that counts.
    """

    most: float = inf
    spent: int = 0
    weight: int = 0  # of the object at hand
    _weights: dict[int, int] = field(default_factory=dict)
    _named: set[int] = field(default_factory=set)

    def spend(self, n_bytes: int) -> None:
        """Before n bytes are looked at or made."""
        self.spent += n_bytes
        self.weight += n_bytes
        if self.spent > self.most:
            raise ModelFileError(f"to read it would take more than {self.most:,} bytes")

    def name_array(self, array: np.ndarray) -> None:
        self.spend(array.nbytes + _BYTES_OF_A_NAME)

    def name_object(self, place: int) -> None:
        """Its weight is spent when it is read, and once more whenever it is named again."""
        again = place in self._named
        self._named.add(place)
        self.spend(_BYTES_OF_A_NAME + (self._weights[place] if again else 0))
        self.weight += 0 if again else self._weights[place]

    def end_object(self, place: int, kind: Kind) -> None:
        self._weights[place] = 0 if kind.made_once else self.weight

    @property
    def n_named(self) -> int:
        return len(self._named)


def most_bytes(arrays: list[np.ndarray]) -> int:
    """What reading a file with these arrays may take."""
    return _FREE_BYTES + _BYTES_PER_BYTE * sum(array.nbytes for array in arrays)


class Found(NamedTuple):
    """An object of a file."""

    place: int
    kind: Kind
    value: Any
    sizes: Sizes


@dataclass
class Writer:
    """Arrays and objects of a model, each once: they are told apart by what they hold."""

    kind_of: Callable[[Any], Kind]
    arrays: list[np.ndarray] = field(default_factory=list)
    objects: list[Json] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    _places: dict[Any, int] = field(default_factory=dict)
    _written: dict[int, Found] = field(default_factory=dict)

    def add_array(self, array: np.ndarray, *, nan: bool = False) -> int:
        if not array.flags.f_contiguous:
            array = np.ascontiguousarray(array)
        _check_finite(array, nan=nan)
        self.ledger.name_array(array)
        key = (array.dtype.str, array.shape, array.flags.c_contiguous, array.tobytes(order="A"))
        return self._place(key, self.arrays, array)

    def add_object(self, value: Any) -> Found:
        found = self._written.get(id(value)) or self._write(value)
        self.ledger.name_object(found.place)
        return found

    def _write(self, value: Any) -> Found:
        kind, sizes, ledger = self.kind_of(value), Sizes(), self.ledger
        spent, weight, ledger.weight = ledger.spent, ledger.weight, 0
        node = {**kind.write(value, self, sizes), "kind": kind.name}
        n_objects = len(self.objects)
        place = self._place(canonical_json(node), self.objects, node)
        if place == n_objects:
            ledger.end_object(place, kind)
        else:  # an equal object is there, and no other will be read
            ledger.spent = spent
        ledger.weight = weight
        # It keeps the value, so that its id stays its own.
        self._written[id(value)] = Found(place, kind, value, sizes)
        return self._written[id(value)]

    def _place(self, key: Any, table: list[Any], value: Any) -> int:
        if key not in self._places:
            self._places[key] = len(table)
            table.append(value)
        return self._places[key]

    def check_cost(self) -> None:
        """Refuse what a reader would refuse for the bytes that it takes."""
        self.ledger.most = most_bytes(self.arrays)
        self.ledger.spend(0)


@dataclass
class Reader:
    """The arrays of a file, and its objects as far as they are read."""

    contents: Contents
    kinds: Mapping[str, Kind]
    ledger: Ledger = field(init=False)
    _objects: dict[int, Found] = field(default_factory=dict)
    _used_arrays: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.ledger = Ledger(most_bytes(self.contents.arrays))

    def read_objects(self, order: list[int]) -> None:
        """One after the other: an object has only earlier ones inside, so nothing is recursive."""
        nodes = self.contents.header["objects"]
        for place in order:
            node = nodes[place]
            kind = self.kinds.get(node["kind"])
            if kind is None:
                raise UnknownHereError(f"it has an object of the kind {node['kind'][:40]!r}")
            sizes = Sizes()
            self.ledger.weight = 0
            value = kind.read({name: node[name] for name in node if name != "kind"}, self, sizes)
            self.ledger.end_object(place, kind)
            self._objects[place] = Found(place, kind, value, sizes)

    def array(self, place: Json, *, nan: bool = False) -> np.ndarray:
        arrays = self.contents.arrays
        if type(place) is not int or not 0 <= place < len(arrays):
            raise ModelFileError(f"there is no array {place!r:.40}")
        self._used_arrays.add(place)
        self.ledger.name_array(arrays[place])
        _check_finite(arrays[place], nan=nan)
        return arrays[place]

    def object(self, place: Json) -> Found:
        if type(place) is not int or place not in self._objects:
            raise ModelFileError(f"there is no object {place!r:.40} before the one that names it")
        self.ledger.name_object(place)
        return self._objects[place]

    def refuse_what_is_not_used(self, retired: set[int]) -> None:
        """Every array belongs to something, but for those that a migration has retired."""
        if len(self._used_arrays | retired) < len(self.contents.arrays):
            raise ModelFileError("it has an array that belongs to nothing")
        if self.ledger.n_named < len(self._objects):
            raise ModelFileError("it has an object that belongs to nothing")


def _check_finite(array: np.ndarray, *, nan: bool) -> None:
    if array.dtype.kind != "f" or array.size == 0:
        return
    known = array[~np.isnan(array)] if nan else array
    if known.size and not float(np.abs(known).max()) <= LARGEST:
        raise ModelFileError(f"an array has a value that is not a number up to {LARGEST:g}")
