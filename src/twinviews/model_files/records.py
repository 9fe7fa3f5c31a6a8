"""Objects of a model as records of named fields, arrays apart; each is written and read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from twinviews.model_files.container import ModelFileError, UnknownHereError, canonical_json

Json = Any

# Numbers beyond are no model's. Those within can be squared and summed.
LARGEST = 1e100
MOST_WHOLE = 2**63 - 1
# What reading may look at and make, in bytes, and so much more for each byte of the arrays.
_FREE_BYTES = 256 * 2**20
_BYTES_PER_BYTE = 32
_BYTES_OF_A_NAME = 8192  # it takes as long to look up as so many bytes to look at


class Sizes(dict[str, int]):
    """Sizes of an object by letter; a figure stands for itself, and _ or nothing for any size."""

    def bind(self, letter: str, size: int) -> None:
        """Take a size as that of a letter, or of a letter and some more, as in D+2."""
        letter, _, more = letter.partition("+")
        size -= int(more or 0)
        if letter in ("", "_"):
            return
        expected = int(letter) if letter.isdigit() else self.setdefault(letter, size)
        if expected != size:
            raise ModelFileError(f"size {letter} is {expected} in one place and {size} in another")

    def __missing__(self, letter: str) -> int:
        raise ModelFileError(f"size {letter} is not known")


@dataclass(frozen=True)
class Field:
    """How a value is written, and how it is read and checked, by its type and the words beside it."""

    of: Any = None  # what is inside: a type or types, texts, or a field
    sizes: str = ""  # letters, as in "m r"
    least: float | None = None
    most: float | None = None
    below: str | None = None  # the letter of a size that entries are below
    dtype: str | None = None
    missing: bool = False  # whether NaN or None may stand for a value

    def encode(self, value: Any, writer: Writer) -> Json:
        raise NotImplementedError

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Kind:
    """A class that may occur in a model: its name in files, its fields, and how it is made of them."""

    name: str
    cls: Any
    fields: Mapping[str, Field]
    defaults: Mapping[str, Any]  # of fields that a file may lack
    make: Callable[..., Any]
    stored_as: Any = None  # the class that has the fields, if it is another
    roles: frozenset[Any] = frozenset()  # types in whose place it may stand, beside its own
    check: Callable[[Any, Sizes], None] = lambda value, sizes: None  # what annotations do not say
    cost: Callable[[Mapping[str, Any], Sizes], int] = lambda values, sizes: 0  # bytes to make it
    made_once: bool = False  # however often it is named

    def write(self, value: Any, writer: Writer) -> dict[str, Json]:
        value = value if self.stored_as is None else self.stored_as.of(value)
        return {
            name: spec.encode(getattr(value, name, None), writer) for name, spec in self.fields.items()
        }

    def read(self, node: Mapping[str, Json], reader: Reader, sizes: Sizes) -> dict[str, Any]:
        """All fields, in the order of their declaration; one that a file lacks has its default."""
        unknown = sorted(set(node) - set(self.fields))
        if unknown:
            raise UnknownHereError(f"{self.name} has the field {unknown[0][:40]!r}")
        lacking = [name for name in self.fields if name not in node and name not in self.defaults]
        if lacking:
            raise ModelFileError(f"{self.name} lacks the field {lacking[0]!r}")
        values = {}
        for name, spec in self.fields.items():
            try:
                known = name in node
                values[name] = spec.decode(node[name], reader, sizes) if known else self.defaults[name]
            except ModelFileError as reason:
                raise type(reason)(f"{self.name}.{name}: {reason}") from None
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
    retired: set[int]  # arrays that nothing has to name
    _objects: list[Found] = field(default_factory=list)
    _used_arrays: set[int] = field(default_factory=set)
    _used_objects: set[int] = field(default_factory=set)
    _spent: int = 0
    _weight: int = 0  # of the object that is being read

    def __post_init__(self) -> None:
        self._most = _FREE_BYTES + _BYTES_PER_BYTE * sum(array.nbytes for array in self.arrays)

    def read_object(self, node: dict[str, Json], kind: Kind) -> None:
        """The next object. It has only earlier ones inside, so nothing is recursive."""
        sizes = Sizes()
        self._weight = 0
        values = kind.read({name: node[name] for name in node if name != "kind"}, self, sizes)
        self.spend(kind.cost(values, sizes))
        value = kind.make(**values)
        kind.check(value, sizes)
        self._objects.append(Found(kind, value, sizes, 0 if kind.made_once else self._weight))

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
        if type(place) is not int or not 0 <= place < len(self._objects):
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

    def refuse_what_is_not_used(self) -> None:
        if len(self._used_arrays | self.retired) < len(self.arrays):
            raise ModelFileError("it has an array that belongs to nothing")
        if len(self._used_objects) < len(self._objects):
            raise ModelFileError("it has an object that belongs to nothing")


@dataclass
class Writer:
    """Arrays and objects of a model, each once: they are told apart by what they hold."""

    kind_of: Callable[[Any], Kind]
    arrays: list[np.ndarray] = field(default_factory=list)
    objects: list[Json] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def add_array(self, array: np.ndarray) -> int:
        if not array.flags.f_contiguous:
            array = np.ascontiguousarray(array)
        key = (array.dtype.str, array.shape, array.flags.c_contiguous, array.tobytes(order="A"))
        return self._place(key, self.arrays, array)

    def add_object(self, value: Any) -> int:
        kind = self.kind_of(value)
        node = {**kind.write(value, self), "kind": kind.name}
        return self._place(canonical_json(node), self.objects, node)

    def _place(self, key: Any, table: list[Any], value: Any) -> int:
        if key not in self._places:
            self._places[key] = len(table)
            table.append(value)
        return self._places[key]
