"""Objects of a model as records of named fields, arrays apart; each is written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from twinviews.method.kernel_values import CallableColumns
from twinviews.model_files.container import Contents, ModelFileError, canonical_json

Json = Any

# Numbers beyond are no model's. Those within can be squared and summed.
LARGEST = 1e100
# What reading may look at and make, in bytes, and so much more for each byte of the arrays. A few bytes
# can name the same array or object again and again, so it is what they name that is counted.
_FREE_BYTES = 256 * 2**20
_BYTES_PER_BYTE = 32
_BYTES_OF_A_NAME = 8192  # it takes as long to look up as so many bytes to look at


class Sizes(dict[str, int]):
    """Sizes of an object by letter; a figure stands for itself, and _ for any size."""

    def bind(self, letter: str, size: int) -> None:
        if letter == "_":
            return
        if letter.isdigit():
            self[letter] = int(letter)
        if self.setdefault(letter, size) != size:
            raise ModelFileError(f"size {letter} is {self[letter]} in one place and {size} in another")


@dataclass
class Writer:
    """Arrays and objects of a model, each once: they are told apart by what they hold."""

    kinds: Mapping[str, Kind]
    arrays: list[np.ndarray] = field(default_factory=list)
    objects: list[Json] = field(default_factory=list)
    _places: dict[Any, int] = field(default_factory=dict)

    def add_array(self, array: np.ndarray) -> int:
        array = np.asarray(array)
        if not array.flags.f_contiguous:
            array = np.ascontiguousarray(array)
        key = (array.dtype.str, array.shape, array.flags.c_contiguous, array.tobytes(order="A"))
        return self._place(key, self.arrays, array)

    def add_object(self, value: Any) -> int:
        kind = self._kind_of(value)
        node = {name: spec.encode(kind.part(value, name), self) for name, spec in kind.fields.items()}
        node["kind"] = kind.name
        return self._place(canonical_json(node), self.objects, node)

    def _place(self, key: Any, table: list[Any], value: Any) -> int:
        if key not in self._places:
            self._places[key] = len(table)
            table.append(value)
        return self._places[key]

    def _kind_of(self, value: Any) -> Kind:
        for kind in self.kinds.values():
            if type(value) is kind.cls:
                return kind
        if isinstance(value, CallableColumns):
            raise ModelFileError(
                f"kernel={value.kernel!r} is a function of your own, and a model file holds no code. "
                f"Use a kernel by name, or keep this model with pickle"
            )
        raise ModelFileError(f"it holds a {type(value).__name__}, which has no place in a model file")


class ReadObject(NamedTuple):
    kind: Kind
    value: Any
    sizes: Sizes
    weight: int  # bytes of all that is in it


@dataclass
class Reader:
    """The arrays of a file, and its objects as far as they are read."""

    contents: Contents
    kinds: Mapping[str, Kind]
    objects: list[ReadObject] = field(default_factory=list)
    _used_arrays: set[int] = field(default_factory=set)
    _used_objects: set[int] = field(default_factory=set)
    _spent: int = 0
    _weight: int = 0  # of the object that is being read

    def __post_init__(self) -> None:
        n_bytes = sum(array.nbytes for array in self.contents.arrays)
        self._most = _FREE_BYTES + _BYTES_PER_BYTE * n_bytes

    def read_objects(self, nodes: Json) -> None:
        """One after the other: an object has only earlier ones inside, so nothing is recursive."""
        if not isinstance(nodes, list):
            raise ModelFileError("its objects are no list")
        for node in nodes:
            name = node.get("kind") if isinstance(node, dict) else None
            kind = self.kinds.get(name) if isinstance(name, str) else None
            if kind is None:
                raise ModelFileError(f"it has an object of an unknown kind, {str(name)[:40]!r}")
            fields = {key: value for key, value in node.items() if key != "kind"}
            sizes = Sizes()
            self._weight = 0
            value = kind.read(fields, self, sizes)
            self.objects.append(ReadObject(kind, value, sizes, 0 if kind.kept else self._weight))

    def array(self, place: Json, *, nan: bool = False) -> np.ndarray:
        arrays = self.contents.arrays
        if type(place) is not int or not 0 <= place < len(arrays):
            raise ModelFileError(f"there is no array {place!r:.40}")
        self._used_arrays.add(place)
        array = arrays[place]
        self.spend(array.nbytes + _BYTES_OF_A_NAME)
        if array.dtype.kind == "f":
            known = array[~np.isnan(array)] if nan else array
            if known.size and not float(np.abs(known).max()) <= LARGEST:
                raise ModelFileError(f"an array has a value that is not a number up to {LARGEST:g}")
        return array

    def object(self, place: Json) -> ReadObject:
        if type(place) is not int or not 0 <= place < len(self.objects):
            raise ModelFileError(f"there is no object {place!r:.40} before the one that names it")
        found = self.objects[place]
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
        if len(self._used_arrays) < len(self.contents.arrays):
            raise ModelFileError("it has an array that belongs to nothing")
        if len(self._used_objects) < len(self.objects):
            raise ModelFileError("it has an object that belongs to nothing")


class Field(Protocol):
    def encode(self, value: Any, writer: Writer) -> Json: ...

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any: ...


@dataclass(frozen=True)
class Kind:
    """A class that may occur in a model: its name in files, its fields, and how it is made of them."""

    cls: type
    fields: Mapping[str, Field]
    make: Callable[..., Any]
    check: Callable[[Any, Sizes], None] | None = None  # what shapes and ranges do not say
    cost: Callable[[Mapping[str, Any], Sizes], int] | None = None  # bytes that making it takes
    kept: bool = False  # whether it is made once, however often it is named
    parts: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.cls.__name__

    def part(self, value: Any, name: str) -> Any:
        return self.parts[name](value) if name in self.parts else getattr(value, name)

    def read(self, node: Mapping[str, Json], reader: Reader, sizes: Sizes) -> Any:
        values = read_fields(self.name, self.fields, node, reader, sizes)
        if self.cost is not None:
            reader.spend(self.cost(values, sizes))
        value = self.make(**values)
        if self.check is not None:
            self.check(value, sizes)
        return value


def read_fields(
    owner: str, fields: Mapping[str, Field], node: Mapping[str, Json], reader: Reader, sizes: Sizes
) -> dict[str, Any]:
    """All fields, in the order in which they are declared: a letter is known from there on."""
    if set(node) != set(fields):
        odd = sorted(set(node) ^ set(fields))[0]
        raise ModelFileError(f"{owner} lacks a field or has one too many: {odd[:40]!r}")
    values = {}
    for name, spec in fields.items():
        try:
            values[name] = spec.decode(node[name], reader, sizes)
        except ModelFileError as reason:
            raise ModelFileError(f"{owner}.{name}: {reason}") from None
    return values
