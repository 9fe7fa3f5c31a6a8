r"""With what probability each row is to be labeled next, and a draw of exactly so many rows.

Labels that come in phases. Row i was labeled in an earlier phase with probability :math:`b_i`; if it
was not, it is drawn now with probability :math:`\pi_i`. Over both it has a label with probability

.. math:: P_i = 1 - (1 - b_i)(1 - \pi_i),

and over more phases with 1 - prod(1 - p_t). A label then stands for :math:`1/P_i - 1` rows without
one. This needs the same :math:`\pi_i` of rows that have a label already: what they would have been
drawn with. Those numbers may rest on earlier labels, but not on the row's own, so at a labeled row the
fit without its fold is asked.

The mean of residuals r over N rows has the variance :math:`\sum (1/P_i - 1) r_i^2 / N^2`. For a given
number of labels it is least where :math:`P_i` is proportional to the size of the residual to expect
(Neyman 1934), so

.. math:: P_i = \max(b_i, \min(1, c s_i)), \quad s_i = (1 - u) \min(e_i / \bar e, f) + u .

The part u of uniform probability bounds what a poor guess of the size e can do: no row without a label
stands for more than 1/u times as many rows as under random labels.

Only a random sample of the rows, the share q of those without a label, is compared at once. A row of
that sample is drawn with :math:`\pi_i / q`, so that :math:`\pi_i` is q at most. The draw is systematic:
it takes exactly k rows, each with its probability.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# The part of the probabilities that is the same for all rows, and how many times as probable as a usual
# row any row may be.
UNIFORM_PART = 0.3
_MOST_TIMES = 5.0
# Rates at which the number of labels and the variance are known.
_RATES = np.geomspace(1e-7, 1e3, 241)
_HALVINGS = 80


class RowSizes(NamedTuple):
    """Rows without a label, or a random sample of them."""

    size: np.ndarray  # (m,) of the residual to expect, in units of the quantity
    before: np.ndarray  # (m,) probability of a label in earlier phases
    weight: np.ndarray  # (m,)
    share: float  # of the rows without a label

    @property
    def usual(self) -> float:
        """The mean size, weights included."""
        mean = float(np.mean(self.size * self.weight)) if len(self.size) else 0.0
        return mean if mean > 0 else 1.0


class DrawRule(NamedTuple):
    """How probable a row is: everything that does not depend on the row."""

    rate: float  # the probability, over all phases, of a row of usual size
    usual: float
    share: float

    def chance(self, size: np.ndarray, before: np.ndarray) -> np.ndarray:
        """(rows,) probability to be drawn now; ``size`` with the row's weight multiplied in."""
        times = np.minimum(size / self.usual, _MOST_TIMES)
        wanted = self.rate * ((1 - UNIFORM_PART) * times + UNIFORM_PART)
        rest = np.maximum(1 - before, np.finfo(float).tiny)
        return np.asarray(np.clip((wanted - before) / rest, 0.0, self.share))


def over_phases(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Probability of a label in either of two phases."""
    return np.asarray(before + (1 - before) * now)


def rule_for(rows: RowSizes, k: int) -> DrawRule:
    """The rule by which k of the rows are drawn; k is at most their number."""

    def rule(rate: float) -> DrawRule:
        return DrawRule(rate, rows.usual, rows.share)

    if k >= len(rows.size):
        return rule(np.inf)
    low, high = float(np.log(_RATES[0] * 1e-6)), float(np.log(_RATES[-1] * 1e6))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if expected_draws(rows, rule(np.exp(middle))) < k else (low, middle)
    return rule(float(np.exp(high)))


def expected_draws(rows: RowSizes, rule: DrawRule) -> float:
    """How many of the rows are drawn on average."""
    return float(rule.chance(rows.size * rows.weight, rows.before).sum()) / rows.share


def variance_of_total(rows: RowSizes, rule: DrawRule) -> float:
    """Of the total of the residuals of all rows without a label, with labels of both phases."""
    now = rule.chance(rows.size * rows.weight, rows.before)
    return _variance(rows, over_phases(rows.before, now))


def variance_before(rows: RowSizes) -> float:
    """The same with the labels so far."""
    return _variance(rows, rows.before)


def _variance(rows: RowSizes, p: np.ndarray) -> float:
    squares = np.square(rows.size * rows.weight)
    if (p[squares > 0] <= 0).any():
        return np.inf
    some = squares > 0
    return float(((1 / p[some] - 1) @ squares[some]) / rows.share)


class Curve(NamedTuple):
    """How the variance falls with the number of labels of one group."""

    draws: np.ndarray  # increasing
    variance: np.ndarray  # of the total

    def draws_for(self, variance: float) -> float:
        """How many labels bring it down to this."""
        enough = np.flatnonzero(self.variance <= variance)
        if not len(enough):
            return float(self.draws[-1])
        first = int(enough[0])
        if first == 0:
            return float(self.draws[0])
        (a, b), (v, w) = self.draws[first - 1 : first + 1], self.variance[first - 1 : first + 1]
        # Between two rates the variance falls about like 1 / labels.
        share = 1.0 if not np.isfinite(v) or v <= w else (v - variance) / (v - w)
        return float(a + (b - a) * share)


def curve_of(rows: RowSizes) -> Curve:
    """At many rates, from hardly any label to all rows."""
    rules = [DrawRule(float(rate), rows.usual, rows.share) for rate in _RATES]
    rules.append(DrawRule(np.inf, rows.usual, rows.share))
    return Curve(
        np.array([expected_draws(rows, rule) for rule in rules]),
        np.array([variance_of_total(rows, rule) for rule in rules]),
    )


def draws_by_group(curves: list[Curve], scale: np.ndarray, k: int) -> np.ndarray:
    """(groups,) k labels such that all groups reach about the same ``scale * sqrt(variance)``."""
    most = np.array([round(float(curve.draws[-1])) for curve in curves])
    if k >= most.sum():
        return most
    low, high = -100.0, 100.0  # logarithm of the width
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        wanted = draws_for_width(curves, scale, float(np.exp(middle)))
        low, high = (middle, high) if wanted.sum() > k else (low, middle)
    return _whole(draws_for_width(curves, scale, float(np.exp(high))), most, k)


def draws_for_width(curves: list[Curve], scale: np.ndarray, width: float) -> np.ndarray:
    """(groups,) labels such that each has ``scale * sqrt(variance)`` of at most the width."""
    with np.errstate(divide="ignore"):
        bound = np.square(width / scale)
    return np.array([curve.draws_for(float(v)) for curve, v in zip(curves, bound, strict=True)])


def _whole(draws: np.ndarray, most: np.ndarray, k: int) -> np.ndarray:
    """Whole numbers near these, at most ``most``, that sum to k."""
    found = np.minimum(np.floor(draws), most).astype(int)
    while (missing := k - int(found.sum())) > 0:
        free = np.flatnonzero(found < most)
        first = free[np.argsort(found[free] - draws[free], kind="stable")][:missing]
        found[first] += 1
    return found


def systematic_draw(chance: np.ndarray, k: int, start: float) -> np.ndarray:
    """k places, each with its chance (they sum to k, up to rounding); ``start`` in [0, 1) is random.

    Rows that are neighbours hardly ever come together, so the order of the rows spreads the draw.
    """
    reached = np.cumsum(chance)
    reached *= k / reached[-1]
    reached[-1] = k
    return np.minimum(np.searchsorted(reached, start + np.arange(k), side="right"), len(chance) - 1)
