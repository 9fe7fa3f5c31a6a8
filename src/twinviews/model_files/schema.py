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
from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from twinviews.method.kernels import PRODUCT, SHIFT_INVARIANT
from twinviews.model_files.fields import (
    Array,
    Flag,
    KernelProfile,
    Limits,
    Many,
    Maybe,
    Named,
    Number,
    NumberOrArray,
    Part,
    Text,
    Whole,
)
from twinviews.model_files.labels_and_rows import Labels, Rows
from twinviews.model_files.records import LARGEST, Field

PROFILES = {
    "kernel of distance": KernelProfile(SHIFT_INVARIANT),
    "kernel of product": KernelProfile(PRODUCT),
}
_DTYPES = ("int64", "uint64", "uint8")


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


@cache
def defaults_of(cls: type) -> dict[str, Any]:
    """The defaults of those fields that have one: what an older file lacks takes them."""
    if dataclasses.is_dataclass(cls):
        fields = dataclasses.fields(cls)
        return {
            field.name: field.default for field in fields if field.default is not dataclasses.MISSING
        }
    if hasattr(cls, "_field_defaults"):
        return dict(cls._field_defaults)
    return {name: getattr(cls, name) for name in get_type_hints(cls) if hasattr(cls, name)}


def field_of(hint: Any, limits: Limits = Limits()) -> Field:  # noqa: B008, it is frozen
    """The field that an annotation stands for."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return field_of(args[0], read_limits(hint.__metadata__))
    if origin in (Union, UnionType):
        return _field_of_union(args, limits)
    if origin is tuple:
        if args[-1] is not Ellipsis:
            limits = dataclasses.replace(limits, sizes=str(len(args)))
        return Many(field_of(args[0]), limits)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return Named(field_of(args[1]))
    if origin is Literal:
        return Text(args)
    if limits.kernel is not None:
        return PROFILES[limits.kernel]
    if hint in _PLAIN:
        return _PLAIN[hint](limits)
    if isinstance(hint, type) and hint.__module__ != "builtins":
        return Part(frozenset([hint]), limits)
    raise TypeError(f"{hint!r} cannot be stored. Use what twinviews.model_files.schema lists")


def _field_of_union(args: tuple[Any, ...], limits: Limits) -> Field:
    known = [arg for arg in args if arg is not NoneType]
    if len(known) < len(args):
        return Maybe(field_of(reduce(or_, known), limits))
    if set(known) == {float, np.ndarray}:
        return NumberOrArray(limits)
    return Part(frozenset(known), limits)


_PLAIN: dict[Any, Callable[[Limits], Field]] = {
    float: Number,
    int: Whole,
    bool: lambda limits: Flag(),
    str: lambda limits: Text(),
    np.ndarray: lambda limits: Labels(limits) if limits.labels else Array(limits),
    Any: Rows,
}


def read_limits(words: tuple[Any, ...]) -> Limits:
    """What the words beside a type say."""
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
            case ["labels" | "missing" as flag]:
                found[flag] = True
            case ["kernel", "of", _]:
                found["kernel"] = word
            case [dtype] if dtype in _DTYPES:
                found["dtype"] = dtype
            case _:
                found["sizes"] = word
    return Limits(**found)
