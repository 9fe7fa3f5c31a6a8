"""Parameters of an estimator in a file: plain values, and landmarks of one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from twinviews.ensemble.estimator_member import not_stored
from twinviews.model_files.container import ModelFileError, UnknownHereError
from twinviews.model_files.fields import MOST_WHOLE, Limits
from twinviews.model_files.labels_and_rows import Rows
from twinviews.model_files.records import Json, Reader, Sizes, Writer

_MOST_THREADS = 1024
_LANDMARKS = Rows(Limits("_ _"))


def write_parameters(model: Any, writer: Writer) -> dict[str, Json]:
    """The parameters of a model, by name."""
    parameters = sorted(model.get_params(deep=False).items())
    return {name: _write_parameter(name, value, writer) for name, value in parameters}


def _write_parameter(name: str, value: Any, writer: Writer) -> Json:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and np.isnan(value):
        return {"nan": True}
    if value is None or type(value) in (bool, int, float, str):
        return read_plain(value)
    if name == "landmarks":
        rows = value if sparse.issparse(value) else np.asarray(value, dtype=np.float64)
        node = _LANDMARKS.encode(rows, writer)
        _LANDMARKS.decode(node, writer.reader, Sizes())
        return {"rows": node}
    if name == "members" and isinstance(value, list | tuple):
        return {"names": [_write_member(member) for member in value]}
    raise ModelFileError(
        f"{name}={value!r:.60} is not a plain value. set_params({name}=...) to one changes nothing "
        f"that was learned; or keep this model with pickle"
    )


def _write_member(member: Any) -> str:
    """A member of an ensemble by its name; an estimator of the user's has no place in a file."""
    if isinstance(member, str):
        return member
    name, found = member if isinstance(member, tuple) else (type(member).__name__, member)
    raise ModelFileError(not_stored(name, found))


def read_parameters(cls: Any, node: dict[str, Json], reader: Reader) -> Any:
    """An estimator with the parameters of a file, and defaults for those that the file lacks."""
    model = cls()
    unknown = sorted(set(node) - set(model.get_params(deep=False)))
    if unknown:
        raise UnknownHereError(f"{cls.__name__} has the parameter {unknown[0][:40]!r}")
    parameters = {}
    for name, value in node.items():
        if name == "landmarks" and isinstance(value, dict) and set(value) == {"rows"}:
            parameters[name] = _LANDMARKS.decode(value["rows"], reader, Sizes())
        else:
            parameters[name] = read_plain(value, name)
    model = cls(**parameters)
    check_parameters(model)
    return model


def read_plain(value: Json, name: str = "") -> Any:
    """A plain value, with NaN spelled out; names of members in a list."""
    if value == {"nan": True}:
        return np.nan
    if name == "members" and isinstance(value, dict) and set(value) == {"names"}:
        names = value["names"]
        if isinstance(names, list) and all(type(member) is str for member in names):
            return names
    if isinstance(value, (dict, list)) or (type(value) is int and abs(value) > MOST_WHOLE):
        raise ModelFileError(f"the parameter {value!r:.40} is not a plain value")
    return value


def check_parameters(model: Any) -> None:
    """Refuse parameters that a fit would refuse, or that would cost a reader dearly."""
    try:
        model._check_parameters()
    except ValueError as reason:
        raise ModelFileError(str(reason).rstrip(".")) from None
    if (model.n_threads or 1) > _MOST_THREADS:
        raise ModelFileError(f"n_threads={model.n_threads} is more than {_MOST_THREADS}")
    seed = getattr(model, "random_state", None)
    if isinstance(seed, np.generic):
        seed = seed.item()
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**32):
        raise ModelFileError(f"random_state={seed!r:.40} is not a seed")
