"""What a model tells of rows on the scale of the fit, and the input columns behind their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinviews.encoding.codes import LeftOutColumn
from twinviews.estimators._outside import input_columns
from twinviews.method.shapley import Predict
from twinviews.method.uncertainty import class_log_probabilities


def told_values(model: Any) -> tuple[tuple[str, ...], Predict]:
    """Names of the outputs, and a function from rows to them: numbers, or probabilities of classes."""
    if model._task in ("classification", "ordinal"):
        classes = tuple(str(one).removesuffix(".0") for one in model.classes_)  # 1, not 1.0
        if model._task == "ordinal":
            return classes, lambda X: np.exp(model._log_probabilities(X))
        return classes, lambda X: np.exp(class_log_probabilities(model._decision(X), model._scale))
    if model._task == "count":
        return ("prediction",), lambda X: model._mean(model._decision(X))
    t = model._solution.coef.shape[1]
    names = ("prediction",) if t == 1 else tuple(f"prediction_{place}" for place in range(t))
    return names, model._decision


def columns_of(model: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of the input columns that are used, and (D,) which of them each number comes from."""
    if model._encoder is None:
        names = tuple(input_columns(model))
        return names, np.arange(len(names))
    used = [code for code in model._encoder.codes if not isinstance(code, LeftOutColumn)]
    return tuple(code.name for code in used), np.repeat(
        np.arange(len(used)), [len(code.outputs) for code in used]
    )
