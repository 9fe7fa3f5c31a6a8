"""Acquisition rules: which of some candidate rows to label next.

A rule is a function of the candidates, of how many rows are wanted and of a random generator. It
returns the chosen candidates in the order in which to label them, and a score of each. Rules are known
by name: those below, those given to :func:`register_rule`, and those that installed packages list as
entry points in the group ``twinviews.acquisition_rules``. The labeling page and ``twinviews.suggest``
find and apply them in the same way.

With the directions t of :mod:`twinviews.method.uncertainty`, a label at a row s takes
(t . s)^2 / (1 + |s|^2) off the variance at t, whatever the label is: what a batch of rows resolves is
known before any of them is labeled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, NamedTuple

import numpy as np

ENTRY_POINTS = "twinviews.acquisition_rules"
DEFAULT_RULE = "best of handfuls"
# Of how many random rows the best is taken; chosen on the contest's development half.
NUMBER_HANDFUL, CLASS_HANDFUL = 5, 50
# Rows that a rule chooses from if it does not say how many it needs.
_N_CANDIDATES = 2000


class Candidates(NamedTuple):
    """Rows without a label, in random order, and what the model knows about them."""

    X: Any  # (m, D) numbers; in ``suggest`` on the scale of the fit, sparse if the model's rows are
    uncertainty: np.ndarray  # (m,) the larger, the less the model knows
    directions: np.ndarray  # (m, q) squared lengths are predictive variances
    is_classification: bool


# Places of the chosen candidates, in the order to be labeled, and the score of each.
ChosenRows = tuple[np.ndarray, np.ndarray]
ChooseRows = Callable[[Candidates, int, np.random.Generator], ChosenRows]


@dataclass(frozen=True)
class AcquisitionRule:
    """A way to choose rows, and the candidates that it wants to choose from."""

    choose: ChooseRows
    # The most uncertain rows of the whole table instead of random ones.
    most_uncertain: bool = False
    # For each row to be chosen, of numbers and of classes; None for thousands in all.
    handfuls: tuple[int, int] | None = None
    # Whether it takes any row: what it chooses is then drawn at random.
    at_random: bool = False

    def n_candidates(self, k: int, is_classification: bool) -> int:
        """How many random rows are enough to choose k of them."""
        if self.handfuls is None:
            return max(_N_CANDIDATES, k)
        return k * self.handfuls[is_classification]

    def __call__(self, candidates: Candidates, k: int, rng: np.random.Generator) -> ChosenRows:
        """At most k candidates and their scores, checked."""
        k = min(k, len(candidates.uncertainty))
        chosen, scores = (np.asarray(part) for part in self.choose(candidates, k, rng))
        _check_choice(chosen, scores, k, len(candidates.uncertainty))
        return chosen, scores


def _check_choice(chosen: np.ndarray, scores: np.ndarray, k: int, n_candidates: int) -> None:
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu" or scores.shape != chosen.shape:
        raise ValueError(
            f"The acquisition rule returned places of shape {chosen.shape} and type {chosen.dtype} and "
            f"scores of shape {scores.shape}. Return whole numbers (k,) and scores (k,)."
        )
    is_inside = (chosen >= 0) & (chosen < n_candidates)
    if len(chosen) > k or not is_inside.all() or len(np.unique(chosen)) < len(chosen):
        raise ValueError(
            f"The acquisition rule returned places {chosen.tolist()[:10]} for k={k}. Return at most "
            f"k different places from 0 to {n_candidates - 1}."
        )


def condition_on(T: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The directions of the rows T after a label at the row with direction t.

    The covariance I of directions becomes I - t t^T / (1 + |t|^2) = S S^T with S = I - c t t^T.
    """
    squared = t @ t
    if squared == 0:
        return T
    c = (1 - 1 / np.sqrt(1 + squared)) / squared
    return T - np.outer(T @ (c * t), t)


def best_of_handfuls(
    T: np.ndarray, uncertainty: np.ndarray, k: int, handful: int, rng: np.random.Generator
) -> ChosenRows:
    """k of the rows, in the order to be labeled, and the score of each when it was chosen.

    Each is the best of a handful of random rows. A row scores higher when the model is uncertain about
    it and earlier picks do not already resolve that uncertainty: the score is the uncertainty times the
    share of the predictive variance that remains. A region is chosen at most ``handful`` times as often
    as it occurs, so outliers, about which every model is uncertain, do not take over.
    """
    k = min(k, len(T))
    before = np.square(T).sum(axis=1)
    free = np.ones(len(T), dtype=bool)
    chosen, scores = np.empty(k, dtype=np.intp), np.empty(k)
    for pick in range(k):
        some = np.flatnonzero(free)
        if len(some) > handful:
            some = rng.choice(some, handful, replace=False)
        remaining = np.square(T[some]).sum(axis=1) / np.where(before[some] > 0, before[some], 1.0)
        values = uncertainty[some] * remaining
        best = int(values.argmax())
        chosen[pick], scores[pick] = some[best], values[best]
        free[some[best]] = False
        T = condition_on(T, T[some[best]])
    return chosen, scores


def handful_rule(handful: int | None = None) -> AcquisitionRule:
    """The default rule; without a handful, 5 rows for numbers and 50 for classes."""
    handfuls = (NUMBER_HANDFUL, CLASS_HANDFUL) if handful is None else (handful, handful)

    def choose(candidates: Candidates, k: int, rng: np.random.Generator) -> ChosenRows:
        size = handfuls[candidates.is_classification]
        return best_of_handfuls(candidates.directions, candidates.uncertainty, k, size, rng)

    return AcquisitionRule(choose, handfuls=handfuls)


def _choose_most_uncertain(candidates: Candidates, k: int, rng: np.random.Generator) -> ChosenRows:
    chosen = np.argsort(-candidates.uncertainty, kind="stable")[:k]
    return chosen, candidates.uncertainty[chosen]


def _choose_at_random(candidates: Candidates, k: int, rng: np.random.Generator) -> ChosenRows:
    return np.arange(k), candidates.uncertainty[:k]  # they come in random order


_RULES = {
    DEFAULT_RULE: handful_rule(),
    "uncertainty": AcquisitionRule(_choose_most_uncertain, most_uncertain=True),
    "random": AcquisitionRule(_choose_at_random, at_random=True),
}


def register_rule(name: str, rule: ChooseRows | AcquisitionRule) -> None:
    """Make a rule known by a name, in this process; a name that is taken is an error."""
    if name in _RULES:
        raise ValueError(f"There is a rule {name!r} already. Give yours another name.")
    _RULES[name] = find_rule(rule)


def find_rule(rule: str | ChooseRows | AcquisitionRule) -> AcquisitionRule:
    """The rule of a name, or a function as a rule."""
    if isinstance(rule, AcquisitionRule):
        return rule
    if callable(rule):
        return AcquisitionRule(rule)
    if isinstance(rule, str):
        if rule in _RULES:
            return _RULES[rule]
        for installed in entry_points(group=ENTRY_POINTS, name=rule):
            return find_rule(installed.load())
    names = dict.fromkeys([*_RULES, *sorted(entry_points(group=ENTRY_POINTS).names)])
    raise ValueError(f"rule={rule!r} must be one of {', '.join(names)}, or a function.")
