"""A call that learns ends in a model, or in one error and the model as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from twinviews.tables.double_precision import in_double_precision


@contextmanager
def all_or_nothing(model: Any) -> Iterator[None]:
    """Within it an error takes back whatever the model has learned since."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


def fitting(model: Any) -> Any:
    """Within it numbers that double precision cannot hold end in one error."""
    return in_double_precision(f"This fit {_set_by_hand(model)}", _WAY_OUT)


def predicting(model: Any) -> Any:
    """The same for a fitted model and rows to predict."""
    return in_double_precision(f"What this model says of some row {_set_by_hand(model)}", _WAY_OUT)


_WAY_OUT = (
    "Look for values that are far larger than the others, bring columns to one scale (scale="
    '"robust"), or leave sigma and the penalties at "auto".'
)


def _set_by_hand(model: Any) -> str:
    """The numbers among the parameters, which may be the reason."""
    numbers = {
        name: value
        for name in (
            "sigma",
            "ridge",
            "correlation_ridge",
            "canonical_weight",
            "manifold_ridge",
            "degree",
        )
        if not isinstance(value := getattr(model, name, "auto"), str)
    }
    named = ", ".join(f"{name}={value!r}" for name, value in numbers.items())
    return f"with {named}" if named else "with every number chosen by itself"
