"""What is behind a pipeline: the estimator at its end, and rows as that one sees them."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline


class LastStep(NamedTuple):
    estimator: Any
    rows: Any


def last_step(estimator: Any, X: Any = None) -> LastStep:
    """The estimator that predicts, and X as the steps before it hand it on."""
    if not isinstance(estimator, Pipeline):
        return LastStep(estimator, X)
    before = estimator[:-1]
    return LastStep(estimator[-1], X if X is None or not before.steps else before.transform(X))
