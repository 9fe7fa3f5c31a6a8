r"""The mean of a quantity over all rows, from labels of some and predictions of all.

A label i stands for :math:`a_i` rows without one: all for the same number where labels are a random
sample, and for :math:`(1 - p_i) / p_i` where a row was given a label with probability :math:`p_i`. With
weights :math:`w_i` of the rows, :math:`\sum a_i w_i` is brought to the weight :math:`W_U` of the rows
without a label. Their mean is estimated by predictions and the mean residual,

.. math:: \hat\theta_U = \lambda \bar f_U + \frac{1}{W_U} \sum_i a_i w_i (y_i - \lambda f_i),

where :math:`f_i` is the prediction of a labeled row by the fit without its fold, and :math:`\bar f_U`
averages those very fits over the rows without a label (cross-prediction, Zrnic and Candes 2024).
Labels are known and not estimated, so :math:`\hat\theta = (\sum w_i y_i + W_U \hat\theta_U) / W`. Its
error is that of the total of the residuals r, whose variance is (Horvitz and Thompson 1952)

.. math:: W^2 V = \sum_i a_i (1 + a_i) w_i^2 (r_i - \bar r)^2 .

Where rows of a cluster depend on each other, :math:`\sqrt{a_i (1 + a_i)} w_i (r_i - \bar r)` are summed
over each before they are squared. For a random sample of n out of N rows V is
:math:`(1 - n/N) S_r^2 / n`. :math:`\lambda = 0` is the mean of the labels alone. For the population
that the rows were drawn from, :math:`S_y^2 \sum w^2 / W^2` is added.

The mean :math:`\bar r` follows each label: with shares :math:`h_i = a_i w_i / \sum a w`, a square is
expected to be :math:`1 - 2 h_i + \sum h^2` of the variance, and is divided by that.

V holds for given fits. The error is a sum over folds, and two folds have related errors in so far as
the labels of each move the fit that predicts the other. Let :math:`\delta_j` be what leaving fold j
out moves predictions by, and :math:`s_j^2` its variance over rows without a label. At held-out labels
of fold k the sum of :math:`h_i \delta_j` has the variance :math:`s_j^2 \sum_{i \in k} h_i^2`. All
covariances of folds sum to at most :math:`\sum_k \sum_{j \ne k} s_j^2 \sum_{i \in k} h_i^2` (Cauchy and
Schwarz), which is added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class LabeledSample(NamedTuple):
    """Labeled rows: a quantity, its prediction without them, and the rows that each stands for."""

    y: np.ndarray  # (n,)
    predicted: np.ndarray  # (n,) by the fit without the fold of the row
    stands_for: np.ndarray  # (n,) a: rows without a label, those of equal weight
    weight: np.ndarray  # (n,) w
    fold: np.ndarray  # (n,)
    stratum: np.ndarray | None = None  # (n,) codes: labels were given at random within each
    cluster: np.ndarray | None = None  # (n,) codes: rows of one depend on each other

    def take(self, some: np.ndarray) -> LabeledSample:
        return LabeledSample(
            self.y[some],
            self.predicted[some],
            self.stands_for[some],
            self.weight[some],
            self.fold[some],
            None if self.stratum is None else self.stratum[some],
            None if self.cluster is None else self.cluster[some],
        )

    def standing_for(self, weight: float) -> LabeledSample:
        """The same, with the rows that they stand for brought to this weight."""
        total = float(self.stands_for @ self.weight)
        return self._replace(stands_for=self.stands_for * (weight / total)) if total > 0 else self

    @property
    def factor(self) -> np.ndarray:
        """(n,) what the squares of residuals are multiplied by."""
        return self.stands_for * (1 + self.stands_for) * np.square(self.weight)

    @property
    def unit(self) -> np.ndarray:
        """(n,) codes 0, 1, ... of what is independent: rows, or clusters of them."""
        if self.cluster is None:
            return np.arange(len(self.y))
        return np.unique(self.cluster, return_inverse=True)[1]

    @property
    def unit_factor(self) -> np.ndarray:
        """(units,) what the squares of the units' residuals are multiplied by."""
        return np.square(np.bincount(self.unit, np.sqrt(self.factor)))

    @property
    def n_effective(self) -> float:
        """Labels, or clusters, of equal factor that tell as much about a variance."""
        factor = self.unit_factor
        total = float(np.square(factor).sum())
        return float(factor.sum() ** 2 / total) if total > 0 else float(len(factor))


class UnlabeledRows(NamedTuple):
    """Rows without a label: their weight, and the mean of predictions over them."""

    weight: float
    squares: float  # sum of squared weights
    mean: float  # of the fits without a fold, averaged over the folds
    variance: float = 0.0  # of that mean, where it is known for a sample of the rows only
    # (folds,) means of predictions by the fit without each fold less those by the fit on all labels,
    # and of the squares of these differences.
    moved: np.ndarray | None = None
    moved_squares: np.ndarray | None = None


class MeanEstimate(NamedTuple):
    value: float
    variance: float
    degrees: float  # of freedom, of the variance
    weight: float  # of all rows: the total is the mean times this
    third: float = 0.0  # the third moment of the error

    @property
    def skewness(self) -> float:
        """Of the error."""
        return self.third / self.variance**1.5 if self.variance > 0 else 0.0


def difference_estimate(
    labeled: LabeledSample,
    others: UnlabeledRows,
    power: float,
    *,
    population: bool = False,
    is_share: bool = False,
) -> MeanEstimate:
    """The mean over all rows, with predictions multiplied by ``power``.

    With ``is_share`` the quantity is 1 or 0, and predictions are probabilities.
    """
    labeled = labeled.standing_for(others.weight)
    known = float(labeled.weight.sum())
    total = known + others.weight
    residual = labeled.y - power * labeled.predicted
    v = labeled.stands_for * labeled.weight
    correction = float(v @ residual) / others.weight if others.weight > 0 else 0.0
    of_others = power * others.mean + correction
    value = (float(labeled.weight @ labeled.y) + others.weight * of_others) / total
    scores = unit_scores(labeled, residual)
    spread = np.square(scores).sum()
    if is_share:
        spread = with_added_errors(float(spread), labeled)
    of_others = fits_variance(labeled, others) + others.variance
    degrees = max(labeled.n_effective - 1, 0.0)
    variance = float(spread) + (power * others.weight) ** 2 * of_others
    variance /= total**2
    if population:
        squares = float(np.square(labeled.weight).sum()) + others.squares
        variance += population_variance(labeled, is_share=is_share) * squares / total**2
    return MeanEstimate(value, variance, degrees, total, float(np.power(scores, 3).sum()) / total**3)


def fits_variance(labeled: LabeledSample, others: UnlabeledRows) -> float:
    """What fits that depend on the labels add to the variance of the mean, at the most."""
    if others.moved is None or others.moved_squares is None:
        return 0.0
    v = labeled.stands_for * labeled.weight
    if not v.any():
        return 0.0
    # Labels of a cluster are together in a fold, and may be off in the same direction.
    unit = labeled.unit
    fold = np.zeros(int(unit.max()) + 1, int)
    fold[unit] = labeled.fold
    shares = np.square(np.bincount(unit, v) / v.sum())
    of_fold = np.bincount(fold, shares, len(others.moved))
    spread = np.maximum(others.moved_squares - np.square(others.moved), 0.0)
    return float(of_fold @ (spread.sum() - spread))


# Labels of either kind that are added where a variance of 0 and 1 is estimated.
_ADDED = 1


def with_added_errors(spread: float, labeled: LabeledSample) -> float:
    """The sum of squares as if there were one more label of either kind that nothing predicts.

    Labels that are all alike, or all predicted well, do not imply that no row differs (as Agresti and
    Coull 1998, who add two).
    """
    factor, p = labeled.unit_factor, added_share(labeled)
    n = len(factor)
    added = _ADDED * (np.square(1 - p) + np.square(p)) * float(factor.mean())
    return (spread + added) * n / (n + 2 * _ADDED)


def added_share(labeled: LabeledSample) -> float:
    """The share among the labels and those added."""
    share = labeled.weight / labeled.weight.sum()
    n = len(labeled.y)
    return (n * float(share @ labeled.y) + _ADDED) / (n + 2 * _ADDED)


def share_variance(share: float, labeled: LabeledSample) -> float:
    """Of 1 and 0, if that share of the labels were 1, and with those added."""
    n = len(labeled.y)
    p = (n * min(max(share, 0.0), 1.0) + _ADDED) / (n + 2 * _ADDED)
    return p * (1 - p)


def unit_scores(labeled: LabeledSample, residual: np.ndarray) -> np.ndarray:
    """(units,) what each label, or cluster of them, adds to the error."""
    scores = np.sqrt(labeled.factor) * centred(labeled, residual)
    return scores if labeled.cluster is None else np.bincount(labeled.unit, scores)


def centred(labeled: LabeledSample, residual: np.ndarray) -> np.ndarray:
    """(n,) distances from the mean of the stratum, made larger by what that mean takes off."""
    if labeled.stratum is None:
        codes, n_strata = np.zeros(len(residual), int), 1
    else:
        codes, n_strata = labeled.stratum, int(labeled.stratum.max()) + 1
    v = labeled.stands_for * labeled.weight
    v = v if v.any() else labeled.weight
    share = np.bincount(codes, v, n_strata)
    means = np.bincount(codes, v * residual, n_strata) / np.where(share > 0, share, 1)
    unit = labeled.unit
    own = np.flatnonzero(v > 0)
    n = np.bincount(np.unique(np.column_stack([codes, unit])[own], axis=0)[:, 0], minlength=n_strata)
    # The only one of a stratum tells nothing of its spread: the distance from all labels does.
    alone = n <= 1
    means[alone] = float(v @ residual) / float(v.sum())
    h = np.where(alone[codes], 0.0, v / np.where(share > 0, share, 1)[codes])
    # Of a cluster, or its part in a stratum, all labels together.
    joint = np.unique(codes * (int(unit.max()) + 1) + unit, return_inverse=True)[1]
    of_unit = np.bincount(joint, h)
    squares = np.bincount(codes, h * of_unit[joint], n_strata)
    kept = 1 - 2 * of_unit[joint] + squares[codes]
    return np.asarray((residual - means[codes]) / np.sqrt(kept))


def population_variance(labeled: LabeledSample, *, is_share: bool = False) -> float:
    """Variance of the quantity over all rows."""
    if is_share:
        p, n = added_share(labeled), len(labeled.y)
        spread = float(np.square(labeled.y - labeled.y.mean()).sum()) * n / max(n - 1, 1)
        return (spread + _ADDED * (np.square(1 - p) + np.square(p))) / (n + 2 * _ADDED)
    share = (1 + labeled.stands_for) * labeled.weight
    share = share / share.sum()
    off = np.square(labeled.y - share @ labeled.y)
    n_effective = max(1 / float(np.square(share).sum()), 1 + 1e-9)
    return float(share @ off) * n_effective / (n_effective - 1)


def labels_worth(
    variance: float,
    labeled: LabeledSample,
    others: UnlabeledRows,
    *,
    population: bool = False,
    is_share: bool = False,
) -> float:
    """How many random labels alone would have this variance of the mean over the rows."""
    spread = population_variance(labeled, is_share=is_share)
    total = float(labeled.weight.sum()) + others.weight
    n_rows = total**2 / (float(np.square(labeled.weight).sum()) + others.squares)
    if spread <= 0 or variance <= 0:
        return float(len(labeled.y)) if spread <= 0 else n_rows
    return float(1 / (variance / spread + (0 if population else 1 / n_rows)))
