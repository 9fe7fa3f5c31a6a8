"""The columns of the labeled rows: one that gives the answer away, one whose blanks are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from twinviews.data_checks.blank_marks import Mark, blank_marks
from twinviews.data_checks.data_finding import Finding, listed, number_text, quoted

_FEWEST_LABELS = 20
_FEWEST_OUTSIDE = 8  # labels that are not of the commonest class
_MOST_CLASSES = 10  # each of which is also judged by itself
# A column decides if it leaves this share of the labels unexplained, and all others leave much more.
_DECIDES = 0.01
# Of classes, labels must be enough to show that it decides: a column that is wrong in one of ten rows
# is right in all of 30 once in 25 tables. With no mistake, this takes 59 labels.
_SURELY = 0.05
# A copy, perhaps in another unit, leaves at most this more unexplained than the column itself.
_COPY = 1e-3


def check_inputs(X: np.ndarray, y: np.ndarray, names: Sequence[str], *, classes: bool) -> list[Finding]:
    """What is strange in the columns of the labeled rows; ``y`` has numbers, or names of classes.

    ``names`` has one entry for each column of ``X``; columns that an encoder made of one column of the
    table have its name in common, and are judged together. NaN in ``X`` is a blank.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y).ravel()
    columns: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        columns.setdefault(name, []).append(at)
    return _marked(X, names) + _gives_away(X, y, columns, classes)


def _marked(X: np.ndarray, names: Sequence[str]) -> list[Finding]:
    """Columns whose smallest or largest value marks a blank."""
    found: dict[str, Mark] = {}
    for column, name in zip(X.T, names, strict=True):
        known = column[np.isfinite(column)]
        least = max(3, 0.05 * len(known))
        ends = {known.min(), known.max()} if len(known) else set()
        if any((known == end).sum() >= least for end in ends):
            # What is neither end may be the mean that an encoder fills in.
            marks = [mark for mark in blank_marks(known) if mark.value in ends and mark.times >= least]
            found.update((name, mark) for mark in marks[:1])
    if not found:
        return []
    first = number_text(next(iter(found.values())).value, "")
    named = [
        f"{quoted(name)} is {number_text(mark.value, '')} in {mark.times:,} of {len(X):,} labeled rows"
        for name, mark in found.items()
    ]
    return [
        Finding(
            "blank mark in a column",
            f"{listed(named)}, far from its other values: a mark for a blank? It is learned from as if "
            f"it were measured.",
            f"Put NaN there if it is a blank; with a data frame, X.replace({first}, numpy.nan).",
            f"Say --missing={first} if it is a blank.",
            of_a_fit=True,
        )
    ]


class _Judged(NamedTuple):
    loss: float  # share of the labels that one column leaves unexplained
    at: int  # the column of X that explains most


def _gives_away(
    X: np.ndarray, y: np.ndarray, columns: dict[str, list[int]], classes: bool
) -> list[Finding]:
    """The first column that decides all labels, or one of more than two classes."""
    names, label = np.unique(y, return_inverse=True)
    if len(y) < _FEWEST_LABELS or len(names) < 2 or len(columns) < 2:
        return []
    goals = [("the label", label if classes else _ranks(y), _FEWEST_OUTSIDE)]
    if classes and 2 < len(names) <= _MOST_CLASSES:
        goals += [
            (f"class {quoted(str(name))}", (label == k).astype(int), 2 * _FEWEST_OUTSIDE)
            for k, name in enumerate(names)
        ]
    for what, goal, fewest in goals:
        found = _decisive(X, goal, columns, classes, fewest)
        if found is not None:
            return [_finding(found, what, classes)]
    return []


class _Decisive(NamedTuple):
    column: str
    loss: float
    second: str
    second_loss: float


def _decisive(
    X: np.ndarray, goal: np.ndarray, columns: dict[str, list[int]], classes: bool, fewest: int
) -> _Decisive | None:
    """The column that explains nearly all, if all others are far worse.

    ``fewest`` labels must be outside the commonest class, so that it cannot be so by chance.
    """
    n_labels = len(goal)
    outside = 1 - np.bincount(goal).max() / n_labels if classes else 1.0  # the error without columns
    if outside * n_labels < fewest:
        return None
    judged = {name: _judge(X, places, goal, classes) for name, places in columns.items()}
    best = min(judged, key=lambda name: judged[name].loss)
    loss, at = judged[best]
    if loss > min(_DECIDES, 0.1 * outside):
        return None
    if classes and _at_most(loss, n_labels) > min(_SURELY, 0.2 * outside):
        return None
    far_worse = max(0.25 * outside, 6 / n_labels) if classes else max(0.1, 10 * loss)
    values = _ranks(X[:, at])
    of_a_copy = _unexplained(_groups(X[:, at]), values) + _COPY
    others = [
        (other.loss, name)
        for name, other in judged.items()
        if other.loss >= far_worse or _unexplained(_groups(X[:, other.at]), values) > of_a_copy
    ]
    if not others or min(others)[0] < far_worse:
        return None
    return _Decisive(best, loss, min(others)[1], min(others)[0])


def _at_most(loss: float, n_labels: int) -> float:
    """What the share of wrong classes may be, with confidence 0.95, if it is ``loss`` in the labels."""
    wrong = loss * n_labels
    return float(betaincinv(wrong + 1, n_labels - wrong, 0.95))


def _finding(found: _Decisive, what: str, classes: bool) -> Finding:
    best, second = quoted(found.column), quoted(found.second)
    if classes:
        how_well = f"wrong in {found.loss:.1%} of the labeled rows, the next best, {second}, in"
        how_well += f" {found.second_loss:.0%}"
    else:
        how_well = f"R\N{SUPERSCRIPT TWO} {1 - found.loss:.3f} of ranks, the next best, {second},"
        how_well += f" {max(0, 1 - found.second_loss):.2f}"
    return Finding(
        "gives the answer away",
        f"Column {best} alone nearly decides {what} ({how_well}): is it known before the fact? If not, "
        f"the errors to expect are too good to be true.",
        "Leave it out if it is known only together with the label.",
        f"Say --kind {quote(found.column + '=skip')} if it is known only together with the label.",
        of_a_fit=True,
    )


def _judge(X: np.ndarray, columns: list[int], goal: np.ndarray, classes: bool) -> _Judged:
    """The best of some columns alone; where they hold few distinct rows, as words do, also together."""
    measure = _mistakes if classes else _unexplained
    best = min(_Judged(measure(_groups(X[:, at]), goal), at) for at in columns)
    if len(columns) > 1:
        _, together = np.unique(X[:, columns], axis=0, return_inverse=True)
        if 5 * (together.max() + 1) <= len(X):
            best = min(best, _Judged(measure(together.ravel(), goal), best.at))
    return best


def _groups(column: np.ndarray) -> np.ndarray:
    """For each row the place of its value among the distinct ones, in order."""
    return np.unique(column, return_inverse=True)[1]


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks; equal values share the mean of theirs."""
    _, group, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[group]


def _unexplained(group: np.ndarray, ranks: np.ndarray) -> float:
    """1 - R2 of predictions from the other rows with the same value, else from those next to it.

    Ranks are predicted from the order of a column, so that no monotone change of either matters.
    """
    counts, sums = np.bincount(group), np.bincount(group, ranks)
    before, after = _neighbours(sums / counts)
    same = (sums[group] - ranks) / np.maximum(counts[group] - 1, 1)
    predicted = np.where(counts[group] > 1, same, ((before + after) / 2)[group])
    return float(((ranks - predicted) ** 2).sum() / ((ranks - ranks.mean()) ** 2).sum())


def _mistakes(group: np.ndarray, label: np.ndarray) -> float:
    """Share of wrong classes, predicted from the other rows with the same value, else from neighbours.

    A row is half wrong for each neighbour of another class. One border between two classes is free:
    rows in the order of their classes have it too.
    """
    n_groups, n_classes = int(group.max()) + 1, int(label.max()) + 1
    table = np.bincount(group * n_classes + label, minlength=n_groups * n_classes)
    table = table.reshape(n_groups, n_classes)
    before, after = _neighbours(table.argmax(axis=1))
    alone = ((before[group] != label) + (after[group] != label).astype(float)) / 2
    others = table[group]
    own = others[np.arange(len(group)), label] - 1
    others[np.arange(len(group)), label] = -1
    same = (own < others.max(axis=1)) + (own == others.max(axis=1)) / 2
    wrong = float(np.where(table.sum(axis=1)[group] > 1, same, alone).sum())
    return max(0.0, wrong - (n_classes - 1)) / len(label)


def _neighbours(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each group the value before and after; at the ends twice the one there is."""
    if len(values) < 2:
        return values, values
    return np.r_[values[1], values[:-1]], np.r_[values[1:], values[-2]]
