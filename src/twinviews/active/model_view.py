"""What active learning reads from a fitted estimator: only this module uses its privates."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from twinviews._system.threads import one_blas_thread
from twinviews.estimators._table_methods import numbers_of


def input_names(model: Any) -> list[str]:
    """Names of the input columns; an error if the model was fitted on rows without names."""
    return model._input_names()


def check_rows(model: Any, X: Any) -> None:
    """Raise an error unless the rows are such as the model was fitted on."""
    model._as_numbers(X)


def scaled_rows(model: Any, X: Any) -> Any:
    """Rows in memory as checked numbers, on the scale of the fit."""
    return model._prepared(X)


def scaled_batch(model: Any, batch: Any) -> np.ndarray:
    """Rows of an Arrow record batch as numbers, on the scale of the fit."""
    return model._scaled(numbers_of(model, batch))


def uncertainty(model: Any, X: Any, *, scaled: bool = False) -> np.ndarray:
    """(rows,) how uncertain the model is about each row.

    For numbers, the predictive variance in units of the noise (with an ensemble, how much ensembles
    without some of the labels disagree); for classes, the probability that two draws from the predicted
    probabilities differ. ``scaled`` rows are on the scale of the fit already.
    """
    with one_blas_thread(look=False):
        return model._row_uncertainty(X if scaled else scaled_rows(model, X))


def uncertain_directions(model: Any, X: Any, *, scaled: bool = False) -> np.ndarray:
    """(rows, q) directions whose squared lengths are the predictive variances."""
    with one_blas_thread(look=False):
        return model._uncertain_directions(X if scaled else scaled_rows(model, X))


def views_alone(model: Any) -> Any:
    """A copy that relabels by its views alone, without the ensemble, in milliseconds."""
    views = copy(model)
    views._unlabeled_sample = None
    return views


def has_ensemble(model: Any) -> bool:
    """Whether predictions are those of an ensemble."""
    return model._ensembles is not None
