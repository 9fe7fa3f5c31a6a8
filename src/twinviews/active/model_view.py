"""What active learning asks of a fitted estimator, for rows as a user has them."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from twinviews._system.threads import one_blas_thread


def uncertainty(model: Any, X: Any) -> np.ndarray:
    """(rows,) how uncertain the model is about each row.

    For numbers, the predictive variance in units of the noise (with an ensemble, how much ensembles
    without some of the labels disagree); for classes, the probability that two draws from the predicted
    probabilities differ.
    """
    with one_blas_thread(look=False):
        return model._row_uncertainty(model._prepared(X))


def uncertain_directions(model: Any, X: Any) -> np.ndarray:
    """(rows, q) directions whose squared lengths are the predictive variances."""
    with one_blas_thread(look=False):
        return model._uncertain_directions(model._prepared(X))


def views_alone(model: Any) -> Any:
    """A copy that relabels by its views alone, without the ensemble, in milliseconds."""
    views = copy(model)
    views._unlabeled_sample = None
    views._rows_to_compare = None
    return views
