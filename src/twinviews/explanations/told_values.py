"""What a model tells of rows on the scale of the fit, and the input columns behind their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from twinviews.encoding.codes import LeftOutColumn
from twinviews.estimators._outside import input_columns
from twinviews.method.cumulative_link import median_class
from twinviews.method.shapley import Predict
from twinviews.method.uncertainty import class_log_probabilities


class ToldValues(NamedTuple):
    names: tuple[str, ...]  # (t,) of the outputs
    of: Predict  # rows -> numbers, or probabilities of classes
    # rows -> (rows,) the output that the model predicts; None where each is predicted
    chosen: Callable[[np.ndarray], np.ndarray] | None


def told_values(model: Any) -> ToldValues:
    if model._task == "classification":
        return ToldValues(
            _names(model.classes_),
            lambda X: np.exp(class_log_probabilities(model._decision(X), model._scale)),
            lambda X: model._chosen(model._decision(X)),
        )
    if model._task == "ordinal":
        return ToldValues(
            _names(model.classes_),
            lambda X: np.exp(model._log_probabilities(X)),
            lambda X: median_class(np.exp(model._log_probabilities(X))),
        )
    if model._task == "count":
        return ToldValues(("prediction",), lambda X: model._mean(model._decision(X)), _the_only_one)
    t = model._solution.coef.shape[1]
    if t == 1:
        return ToldValues(("prediction",), model._decision, _the_only_one)
    return ToldValues(tuple(f"prediction_{place}" for place in range(t)), model._decision, None)


def _the_only_one(X: np.ndarray) -> np.ndarray:
    return np.zeros(len(X), dtype=np.intp)


def _names(classes: np.ndarray) -> tuple[str, ...]:
    """As a reader writes them: 1, not 1.0."""
    of_numbers = classes.dtype.kind == "f"
    return tuple(f"{one:.17g}" if of_numbers else str(one) for one in classes.tolist())


def columns_of(model: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of the input columns that are used, and (D,) which of them each number comes from."""
    if model._encoder is None:
        names = tuple(input_columns(model))
        return names, np.arange(len(names))
    used = [code for code in model._encoder.codes if not isinstance(code, LeftOutColumn)]
    return tuple(code.name for code in used), np.repeat(
        np.arange(len(used)), [len(code.outputs) for code in used]
    )
