r"""Prediction intervals by jackknife+: local widths, and weights for labels that are no random sample.

For each labeled row i there is a fit without it (or without its fold) and the residual
:math:`r_i = |y_i - \hat f_{-i}(x_i)|`. The interval of a row x runs from a low quantile of the numbers
:math:`\hat f_{-i}(x) - r_i` to a high one of :math:`\hat f_{-i}(x) + r_i`. Whatever the distribution
and the method, a new row is inside with probability of at least 1 - 2 alpha, and in practice close
to 1 - alpha (Barber, Candes, Ramdas and Tibshirani 2021).

With a local scale s, residuals are compared as :math:`r_i / s_{-i}(x_i)` and multiplied by
:math:`s_{-i}(x)`: the interval is wide where errors are large (Papadopoulos, Vovk and Gammerman 2011).

If labeled rows were not drawn like the others, label i counts :math:`w_i`, the density of all rows over
that of labeled rows, and the row x itself counts :math:`w(x)` at infinity (Tibshirani, Barber, Candes
and Ramdas 2019; for jackknife+ Prinster, Liu and Saria 2022). Where w(x) is large against all labels
together no finite interval is honest, and the ends are infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np

from twinviews.method.error_estimate import effective_number

# Leave-one-out fits used for an interval; more would only smooth its ends.
MOST_LEFT_OUT = 2000
# How many numbers on either side of a quantile are averaged, with weights that fall off linearly.
_AROUND = 2.0
# Numbers above it count as at most this many times as far from it as the lowest that is averaged: the
# residual of a wild label may be any number.
_FARTHEST = 4.0


class FitsAtRows(NamedTuple):
    """What the fits without some labels say about some rows."""

    prediction: np.ndarray  # (rows, fits)
    # How large errors are, relative to those at labeled rows; None: the same everywhere.
    scale: np.ndarray | None = None  # (rows, fits)
    # Residuals of labeled rows to compare these rows with, in units of the local scale; None: those
    # of the fits.
    residual: np.ndarray | None = None  # (rows, m)
    # For how many rows a label at this row would stand, in means over labels; None: 1.
    importance: np.ndarray | None = None  # (rows,)


class LeftOut(NamedTuple):
    """The fits without some of the labels, for one target: jackknife+, and CV+ with folds."""

    at: Callable[[Any], FitsAtRows]
    fit_of: np.ndarray  # (m,) which fit has not seen this labeled row
    residual: np.ndarray  # (m,) of the labeled row by that fit
    weight: np.ndarray  # (m,) sums to one
    # How many rows more than the coverage asks for are to be inside. Coverage differs from fit to fit,
    # the more so the fewer labels there are, and too low is worse than too high. With a margin, each
    # end is a mean of the numbers around the quantile, which differs less from fit to fit.
    margin: float = 0.0
    scale: np.ndarray | None = None  # (m,) of errors, at the labeled rows

    @property
    def relative_residual(self) -> np.ndarray:
        """(m,) in units of the local scale."""
        return self.residual if self.scale is None else self.residual / self.scale

    def only(self, chosen: np.ndarray) -> LeftOut:
        """With some of the labels."""
        weight = self.weight[chosen]
        return self._replace(
            fit_of=self.fit_of[chosen],
            residual=self.residual[chosen],
            weight=weight / weight.sum(),
            scale=None if self.scale is None else self.scale[chosen],
        )


class SingleLabels(NamedTuple):
    """Labels of which several may be of one row, whose fit has their mean."""

    row: Annotated[np.ndarray, "n", "int64"]  # the labeled row of each label
    off: Annotated[np.ndarray, "n"]  # the label less the mean of its row
    share: Annotated[np.ndarray, "n", ">= 0"]  # of the weight of its row

    def left_out(self, rows: LeftOut) -> tuple[LeftOut, np.ndarray]:
        """What was left out of the fits label by label, and the rows of these labels."""
        some = np.flatnonzero(self.row < len(rows.residual))
        row = self.row[some]
        weight = self.share[some] * rows.weight[row]

        def at(X: Any) -> FitsAtRows:
            found = rows.at(X)
            return found if found.residual is None else found._replace(residual=found.residual[:, row])

        found = rows._replace(
            at=at,
            fit_of=rows.fit_of[row],
            residual=rows.residual[row] + self.off[some],
            weight=weight / weight.sum(),
            scale=None if rows.scale is None else rows.scale[row],
        )
        return found, row


def interval_ends(at: FitsAtRows, left_out: LeftOut, coverage: float) -> np.ndarray:
    """(rows, 2) ends of the intervals.

    The new row is one of m + 1 rows, and its residual may be the largest: with too few labels for the
    coverage an end is infinite.
    """
    guesses, m = at.prediction[:, left_out.fit_of], len(left_out.residual)
    size = np.abs(left_out.relative_residual if at.residual is None else at.residual)
    if at.scale is not None:
        size = size * at.scale[:, left_out.fit_of]
    # Weights are estimates: a row counts for no less than a mean label, or few labels might do.
    own = np.ones(len(guesses)) if at.importance is None else np.maximum(at.importance, 1.0)
    most = m / (m + own)  # the share of all labels together, beside the row's own
    level = max(coverage, min(coverage + left_out.margin / (m + 1), m / (m + 1)))
    smooth = effective_number(left_out.weight) if left_out.margin else None
    high = _upper_quantile(guesses + size, left_out.weight, most, level, smooth)
    low = -_upper_quantile(size - guesses, left_out.weight, most, level, smooth)
    return np.column_stack([low, high])


def interval_ends_by_group(
    at: FitsAtRows, left_out: LeftOut, coverage: float, rows: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """(rows, 2) ends that hold within each group of rows, from the labels of that group alone.

    ``rows`` and ``labels`` (., k) are what a group has in common. Without labels ends are infinite.
    """
    m = len(labels)
    _, group = np.unique(np.vstack([labels, rows]), axis=0, return_inverse=True)
    ours, theirs = group.ravel()[:m], group.ravel()[m:]
    ends = np.tile([-np.inf, np.inf], (len(rows), 1))
    for one in np.intersect1d(ours, theirs):
        chosen, some = np.flatnonzero(ours == one), np.flatnonzero(theirs == one)
        residual = None if at.residual is None else at.residual[np.ix_(some, chosen)]
        unit = m * left_out.weight[chosen].mean()  # the mean of the group's labels, in means over all
        there = FitsAtRows(
            at.prediction[some],
            None if at.scale is None else at.scale[some],
            residual,
            None if at.importance is None else at.importance[some] / unit,
        )
        ends[some] = interval_ends(there, left_out.only(chosen), coverage)
    return ends


def _upper_quantile(
    values: np.ndarray, weight: np.ndarray, most: np.ndarray, level: float, smooth: float | None
) -> np.ndarray:
    """(rows,) least value with that much of the share at or below it; infinite if there is none.

    ``smooth``, a number of labels, asks for the mean of the values around it, as many above as below.
    """
    values = np.where(np.isnan(values), np.inf, values)  # without some row there is no fit
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    below = np.cumsum(weight[order], axis=1) * most[:, None]
    enough = below >= level - 1e-12
    place = np.where(enough.any(axis=1), enough.argmax(axis=1), values.shape[1])
    middle = _at(ordered, place)
    if smooth is None:
        return middle
    around = np.clip((smooth + 1) * (most - level), 0, _AROUND) + 1
    kernel = np.maximum(around[:, None] - np.abs((smooth + 1) * (below - level)), 0)
    alone = np.flatnonzero((kernel.sum(axis=1) == 0) & (place < values.shape[1]))
    kernel[alone, place[alone]] = 1.0  # steps of unequal weights may be larger than what is averaged
    lowest = _at(ordered, np.minimum((kernel > 0).argmax(axis=1), place))
    with np.errstate(invalid="ignore"):  # of infinite ends
        bound = middle + _FARTHEST * (middle - lowest)
        mean = np.sum(kernel * np.minimum(ordered, bound[:, None]), axis=1) / kernel.sum(axis=1)
    return np.where(np.isfinite(middle), mean, middle)


def _at(ordered: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(rows,) the value at a place of each row; infinite beyond the last."""
    beyond = np.column_stack([ordered, np.full(len(ordered), np.inf)])
    return beyond[np.arange(len(ordered)), place]


def deviation(at: FitsAtRows, left_out: LeftOut) -> np.ndarray:
    """(rows,) root of the mean squared residual plus the variance of the fits about their mean.

    Infinite if a fit without some row does not exist, since then its error is unknown.
    """
    mass = _labels_of_fits(at, left_out)
    noise = left_out.weight @ np.square(left_out.relative_residual) * _square_scale(at, mass)
    variance = np.square(at.prediction - (at.prediction @ mass)[:, None]) @ mass
    return np.nan_to_num(np.sqrt(noise + variance), nan=np.inf)


def mean_square_scale(at: FitsAtRows, left_out: LeftOut) -> float:
    """Of these rows: what relative residuals, squared, are to be multiplied by."""
    return float(np.mean(_square_scale(at, _labels_of_fits(at, left_out))))


def _labels_of_fits(at: FitsAtRows, left_out: LeftOut) -> np.ndarray:
    """(fits,) share of the labels that each fit has not seen."""
    return np.bincount(left_out.fit_of, left_out.weight, minlength=at.prediction.shape[1])


def _square_scale(at: FitsAtRows, mass: np.ndarray) -> np.ndarray | float:
    return 1.0 if at.scale is None else np.square(at.scale) @ mass
