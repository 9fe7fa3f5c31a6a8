"""The fields of a class that is stored, derived from its own annotations.

==============================================  ====================================================
annotation                                      what is stored
==============================================  ====================================================
``float``, ``int``, ``bool``, ``str``           a plain value
``Literal["a", "b"]``                           one of these texts
``np.ndarray`` with ``"m r"``                   an array of numbers in that shape
``Any`` with ``"m D"``                          rows, dense or sparse
``float | np.ndarray`` with ``"t"``             a number, or an array for several targets
``tuple[T, ...]``, ``tuple[T, T]``              several of one kind
``Mapping[str, T]``                             several by name
``T | None``                                    one or none
a stored class, a union, a protocol             an object, in a place of its own
==============================================  ====================================================

``Annotated`` adds plain words, each optional. Sizes are letters: the same letter is the same size
within an object; a figure stands for itself, ``_`` for any size, ``D+2`` for two more than D, and
``"D | D D"`` is one of two shapes. Of a part, ``"D t=r"`` says that its D is our D, and its r our t.
Then there are ``">= 0"``, ``"> 0"``, ``"<= 9"`` for numbers and lengths; ``"< s"`` for places below the
size s; the dtypes ``"int64"``, ``"uint64"``, ``"uint8"``; ``"labels"`` for labels as a user gave them;
``"missing"`` where a value may be missing; ``"kernel of distance"`` and ``"kernel of product"``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache, partial, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from twinviews.method.kernels import PRODUCT, SHIFT_INVARIANT, ProductKernel, find_kernel
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.labels_and_rows import Array, Labels, Rows, check_letters
from twinviews.model_files.records import LARGEST, MOST_WHOLE, Field, Json, Reader, Sizes, Writer

_LONGEST_TEXT = 10_000
_MOST_DEGREE = 100


# --- fields ----------------------------------------------------------------------------------------


class Number(Field):
    """A number, or a whole number, which may be a size."""

    def encode(self, value: Any, writer: Writer) -> Json:
        value = self.of(value)
        return None if self.missing and np.isnan(value) else value

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        if self.missing and node is None:
            return np.nan
        what, end = ("a whole number", MOST_WHOLE) if self.of is int else ("a number", LARGEST)
        least = -end if self.least is None else self.of(self.least)
        most = end if self.most is None else self.of(self.most)
        if type(node) is not self.of or not least <= node <= most:
            raise ModelFileError(f"{node!r:.40} is not {what} from {least} to {most}")
        if self.of is int:
            sizes.bind(self.sizes, node)
        return node


class NumberOrArray(Array):
    """A number for one target, an array for several."""

    def encode(self, value: Any, writer: Writer) -> Json:
        if isinstance(value, np.ndarray):
            return super().encode(value, writer)
        return self._number.encode(value, writer)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        if type(node) is int:
            return super().decode(node, reader, sizes)
        return self._number.decode(node, reader, sizes)

    @property
    def _number(self) -> Field:
        return Number(float, least=self.least, missing=self.missing)


class Flag(Field):
    def encode(self, value: Any, writer: Writer) -> Json:
        return bool(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> bool:
        if type(node) is not bool:
            raise ModelFileError(f"{node!r:.40} is neither true nor false")
        return node


class Text(Field):
    """One of some texts, or any."""

    def encode(self, value: Any, writer: Writer) -> Json:
        return str(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> str:
        if type(node) is not str or len(node) > _LONGEST_TEXT:
            raise ModelFileError(f"{node!r:.40} is not text of up to {_LONGEST_TEXT:,} characters")
        check_letters(node)
        if self.of and node not in self.of:
            raise ModelFileError(f"{node!r:.40} is not one of {', '.join(self.of)}")
        return node


class KernelProfile(Field):
    """The function of a kernel, by the kernel's name."""

    def encode(self, value: Any, writer: Writer | None = None) -> Json:
        if isinstance(value, partial):
            return {"polynomial": value.keywords["degree"]}
        for name, kernel in self.of.items():
            if kernel.profile is value:
                return name
        raise ModelFileError(
            f"its kernel is the function {value!r:.60}, and a model file holds no code. Give the "
            f"kernel a name, or keep this model with pickle"
        )

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        if self.of is PRODUCT and isinstance(node, dict) and set(node) == {"polynomial"}:
            degree = Number(int, least=1, most=_MOST_DEGREE).decode(node["polynomial"], reader, sizes)
            kernel = find_kernel("polynomial", degree)
            assert isinstance(kernel, ProductKernel)
            return kernel.profile
        if not isinstance(node, str) or node not in self.of:
            raise ModelFileError(f"{node!r:.40} is not a kernel that is known here")
        return self.of[node].profile


class Maybe(Field):
    """Something or None."""

    def encode(self, value: Any, writer: Writer) -> Json:
        return None if value is None else self.of.encode(value, writer)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        return None if node is None else self.of.decode(node, reader, sizes)


class Many(Field):
    """A tuple of things of one kind, whose number is a size."""

    def encode(self, value: Any, writer: Writer) -> Json:
        return [self.of.encode(part, writer) for part in value]

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> tuple[Any, ...]:
        least = int(self.least or 0)
        if not isinstance(node, list) or len(node) < least:
            raise ModelFileError(f"it is not a list of at least {least}")
        sizes.bind(self.sizes, len(node))
        return tuple(self.of.decode(part, reader, sizes) for part in node)


class Named(Field):
    """A dictionary of things of one kind."""

    def encode(self, value: Any, writer: Writer) -> Json:
        return {name: self.of.encode(value[name], writer) for name in sorted(value)}

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> dict[str, Any]:
        if not isinstance(node, dict):
            raise ModelFileError("it is not a dictionary")
        return {name: self.of.decode(node[name], reader, sizes) for name in sorted(node)}


class Part(Field):
    """An object of one of some types. Of its sizes, "D t=r" takes D as D and r as t."""

    def encode(self, value: Any, writer: Writer) -> Json:
        return writer.add_object(value)

    def decode(self, node: Json, reader: Reader, sizes: Sizes) -> Any:
        found = reader.object(node)
        if found.kind.cls not in self.of and not found.kind.roles & self.of:
            raise ModelFileError(f"a {found.kind.name} is in a place where it does not belong")
        for word in self.sizes.split():
            ours, _, theirs = word.partition("=")
            sizes.bind(ours, found.sizes[theirs or ours])
        return found.value


# --- from annotations ------------------------------------------------------------------------------


@cache
def fields_of(cls: type) -> dict[str, Field]:
    """The fields of a dataclass or named tuple, or of any class with annotations, in their order."""
    hints = get_type_hints(cls, include_extras=True)
    names = list(hints)
    if dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls) if field.init]
    found = {}
    for name in names:
        try:
            found[name] = field_of(hints[name])
        except TypeError as reason:
            raise TypeError(f"{cls.__name__}.{name}: {reason}") from None
    return found


def defaults_of(cls: Any) -> dict[str, Any]:
    """The defaults of those fields that have one: what an older file lacks takes them."""
    if dataclasses.is_dataclass(cls):
        known = {field.name: field.default for field in dataclasses.fields(cls)}
        return {name: known[name] for name in known if known[name] is not dataclasses.MISSING}
    if hasattr(cls, "_field_defaults"):
        return dict(cls._field_defaults)
    return {name: getattr(cls, name) for name in fields_of(cls) if hasattr(cls, name)}


PROFILES = {
    "kernel of distance": KernelProfile(SHIFT_INVARIANT),
    "kernel of product": KernelProfile(PRODUCT),
}
_PLAIN: dict[Any, Any] = {
    float: partial(Number, float),
    int: partial(Number, int),
    bool: Flag,
    str: Text,
    np.ndarray: Array,
    Any: Rows,
}


def field_of(hint: Any, words: tuple[Any, ...] = ()) -> Field:
    """The field that an annotation stands for, with the words beside it."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return field_of(args[0], hint.__metadata__)
    if origin in (Union, UnionType):
        return _field_of_union(args, words)
    if origin is tuple:
        sizes = {} if args[-1] is Ellipsis else {"sizes": str(len(args))}
        return Many(field_of(args[0]), **{**_limits(words), **sizes})
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Named(field_of(args[1]))
    if origin is Literal:
        return Text(args)
    for word in PROFILES:
        if word in words:
            return PROFILES[word]
    if "labels" in words:
        return Labels(**_limits(words))
    if hint in _PLAIN:
        return _PLAIN[hint](**_limits(words))
    if isinstance(hint, type) and hint.__module__ != "builtins":
        return Part(frozenset([hint]), **_limits(words))
    raise TypeError(f"{hint!r} cannot be stored. Use what twinviews.model_files.schema lists")


def _field_of_union(args: tuple[Any, ...], words: tuple[Any, ...]) -> Field:
    known = [arg for arg in args if arg is not NoneType]
    if len(known) < len(args):
        return Maybe(field_of(reduce(or_, known), words))
    if set(known) == {float, np.ndarray}:
        return NumberOrArray(**_limits(words))
    return Part(frozenset(known), **_limits(words))


def _limits(words: tuple[Any, ...]) -> dict[str, Any]:
    """What the words beside a type say, by the attribute of a field."""
    found: dict[str, Any] = {}
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{word!r} beside a type is not text")
        match word.split():
            case [">", "0"]:
                found["least"] = 1 / LARGEST  # one may divide by it
            case [">=", bound]:
                found["least"] = float(bound)
            case ["<=", bound]:
                found["most"] = float(bound)
            case ["<", letter]:
                found["below"] = letter
            case ["missing"]:
                found["missing"] = True
            case ["int64" | "uint64" | "uint8" as dtype]:
                found["dtype"] = dtype
            case _ if word != "labels":
                found["sizes"] = word
    return found
