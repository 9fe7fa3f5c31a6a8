"""A call that learns ends in a model, or in one error and the model as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from twinviews._system.threads import one_blas_thread
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


@contextmanager
def fitting(model: Any, *, look: bool = True) -> Iterator[None]:
    """Within it numbers that double precision cannot hold end in one error, and BLAS has the threads
    that suit the method; ``look`` as in :func:`one_blas_thread`."""
    blas = nullcontext() if model._method().large_matrices else one_blas_thread(look=look)
    with in_double_precision(f"This fit {_set_by_hand(model)}", _WAY_OUT), blas:
        yield


def predicting(model: Any) -> Any:
    """The same for a fitted model and rows to predict."""
    return in_double_precision(f"What this model says of some row {_set_by_hand(model)}", _WAY_OUT)


_WAY_OUT = (
    "Look for values that are far larger than the others, bring columns to one scale (scale="
    '"robust"), or leave sigma and the penalties at "auto".'
)


_NUMBERS = "sigma", "ridge", "correlation_ridge", "canonical_weight", "manifold_ridge", "degree"


def _set_by_hand(model: Any) -> str:
    """The numbers among the parameters, which may be the reason."""
    given = {name: getattr(model, name, "auto") for name in _NUMBERS}
    named = ", ".join(
        f"{name}={value!r}" for name, value in given.items() if not isinstance(value, str)
    )
    return f"with {named}" if named else "with every number chosen by itself"
