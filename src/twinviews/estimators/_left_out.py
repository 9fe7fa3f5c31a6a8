"""What the ensembles without a fold say about a row: what prediction intervals are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from twinviews.ensemble.ensembles import RegressionEnsemble
from twinviews.estimators._ensemble import dense, labels_of
from twinviews.method.intervals import FitsAtRows, LeftOut
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.local_scale import local_scale

# Coverage differs from fit to fit: with it, few 90% intervals of 50 labels hold below 84%.
_MARGIN = 0.5


def left_out_of(
    ensemble: RegressionEnsemble,
    problem: LabeledProblem,
    place: int,
    categories: Sequence[np.ndarray] = (),
    most: int | None = None,
) -> LeftOut:
    """The ensembles without a fold, and how far off they are from its labels, or the first of them.

    ``categories`` has the places of the levels of each column of words.
    """
    some = labels_of(ensemble, problem)
    some = some if most is None else some.first(most)
    m = len(some.Y)
    y, held_out, fold_of = some.Y[:, place], ensemble.held_out[:m, 0], ensemble.fold_of[:m]
    spread = None if ensemble.held_out_spread is None else ensemble.held_out_spread[:m]
    local = None if spread is None else local_scale(y, some.weight, fold_of, held_out, spread)
    levels = _UnlabeledLevels(ensemble, some.X, y, categories)

    def at(X: np.ndarray) -> FitsAtRows:
        prediction, apart = ensemble.without_folds(X)
        scale = None if local is None else local[0](prediction, apart)
        return FitsAtRows(prediction, scale, levels.residuals(X, found.residual, found.scale))

    found = LeftOut(
        at,
        fold_of,
        y - held_out,
        some.judging,
        margin=0.0 if ensemble.fold_weights is None else _MARGIN,  # as files of the preview did
        scale=None if local is None else local[1],
    )
    return found


class _UnlabeledLevels:
    """Rows with a level that no label has are compared with labels whose own level was not told."""

    def __init__(
        self,
        ensemble: RegressionEnsemble,
        X: Any,
        y: np.ndarray,
        categories: Sequence[np.ndarray],
    ) -> None:
        self.ensemble, self.X, self.y = ensemble, X, y
        self.categories = categories if ensemble.unvaried is not None else ()
        self._untold: dict[int, np.ndarray] = {}

    def residuals(
        self, X: np.ndarray, residual: np.ndarray, scale: np.ndarray | None
    ) -> np.ndarray | None:
        """(rows, m) in units of the scale, larger for rows with such a level; None if none has."""
        unit = 1.0 if scale is None else scale
        found = None
        for number, levels in enumerate(self.categories):
            assert self.ensemble.unvaried is not None, "there are categories"
            rows = self.ensemble.unvaried.differ(X, levels)
            if rows.any():
                if found is None:
                    found = np.tile(np.abs(residual / unit), (len(X), 1))
                found[rows] = np.maximum(found[rows], np.abs(self._without(number) / unit))
        return found

    def _without(self, number: int) -> np.ndarray:
        """(m,) residuals of labeled rows by fits without their fold, which are not told the level."""
        if number not in self._untold:
            X, levels = dense(self.X).copy(), self.categories[number]
            X[:, levels] = X[:, levels].min(axis=0)  # which stands for 0
            prediction, _ = self.ensemble.without_folds(X)
            own = prediction[np.arange(len(X)), self.ensemble.fold_of[: len(X)]]
            self._untold[number] = self.y - own
        return self._untold[number]
