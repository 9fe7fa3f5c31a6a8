"""The same rows on several scales: members differ in how they depend on units."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from twinviews.ensemble.leading_directions import directions_of
from twinviews.passes.scaling import Scaling, rank_scaling, robust_scaling

STANDARD, UNSCALED, ROBUST, RANK = "standard", "unscaled", "robust", "rank"
# Columns whose spreads differ by less than this are as good as standardised.
_SAME_SPREAD = 1.01


def scales_of(unlabeled: Any, units: np.ndarray | None, *, classes: bool) -> dict[str, Any]:
    """Up to four ways to scale standardised rows, by name; unscaled only if that is another way.

    Sparse rows stay as they are, and have directions.

    ``units`` (D,) are the spreads by which rows were divided, if they were. If all columns have one
    unit, as pixels have, a column of small spread matters little, and enlarging it adds noise.
    """
    if issparse(unlabeled):
        return {STANDARD: None, **directions_of(unlabeled)}
    scales: dict[str, Any] = {STANDARD: None}
    if units is not None and units.max() > _SAME_SPREAD * units.min():
        scales[UNSCALED] = Scaling(np.zeros_like(units), units.max() / units, None)
    if not classes:
        scales[ROBUST] = robust_scaling(unlabeled)
    scales[RANK] = rank_scaling(unlabeled)
    return scales


def on_scale(scale: Any, X: Any) -> Any:
    """The rows, scaled."""
    return X if scale is None else scale(X)
