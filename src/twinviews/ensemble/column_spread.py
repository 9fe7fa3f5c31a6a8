"""What columns are divided by: their spread over all rows, or over the labeled ones if that is better.

A few rows far away from all others, none of them labeled, can make the spread over all rows so large
that the labeled rows look alike. Whether they do, leave-one-out errors of the labels tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from twinviews.ensemble.learned_metric import WIDTHS, Metric, MetricRidges
from twinviews.ensemble.member import Labeled
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.passes.scaling import ColumnMoments, Scaling, without_last_digits

# With fewer labels the spread over all rows is taken.
LEAST_LABELS = 25
# The error with the spread over the labeled rows must be below this share of the other: the spread
# over all rows rests on more of them.
_BETTER = 0.95
# Labeled rows that vary less than this, of what all rows do, tell nothing of a column.
_LEAST_SPREAD = 0.1
# Labels that are looked at: with more, both spreads hardly differ, and time grows with the cube.
_MOST_LABELS = 300
_KERNELS = ("gaussian", "laplace")


def scaling_by_evidence(all_rows: Scaling, problems: Sequence[LabeledProblem]) -> Scaling:
    """The scaling by all rows, or one by the spread over labeled rows, whose errors are clearly less.

    ``problems`` hold rows before any scaling.
    """
    some = [problem.first(_MOST_LABELS) for problem in problems]
    labeled = replace(all_rows, spread=_spread_over_labels(all_rows.spread, _largest(some)))
    change = [_log_error(labeled, one) - _log_error(all_rows, one) for one in some]
    return labeled if np.mean(change) < np.log(_BETTER) else all_rows


def _largest(problems: Sequence[LabeledProblem]) -> LabeledProblem:
    return max(problems, key=lambda problem: len(problem.Y))


def _spread_over_labels(of_all: np.ndarray, problem: LabeledProblem) -> np.ndarray:
    """(D,) rounded as that of all rows is, so that the order of the rows does not matter."""
    moments = ColumnMoments.of(problem.X, problem.weight)
    spread = np.sqrt(moments.squares / moments.count)
    tells = spread >= _LEAST_SPREAD * of_all
    return np.where(tells, without_last_digits(spread, np.where(tells, spread, 1.0)), of_all)


def _log_error(scaling: Scaling, problem: LabeledProblem) -> float:
    """Mean over kernels of the logarithm of the leave-one-out error, each with its best width."""
    X, D = scaling(problem.X), problem.X.shape[1]
    deviation = np.sqrt(problem.weight @ np.square(problem.Y - problem.weight @ problem.Y))
    Y = problem.Y / np.where(deviation > 0, deviation, 1.0)  # no target counts more than another
    labeled, plain = Labeled(X, Y, problem.weight), Metric(np.ones(D))
    errors = []
    for kernel in _KERNELS:
        ridges = MetricRidges(kernel, 1.0, D)
        natural = ridges.natural_sigma(plain, X)
        fits = [ridges.fit_at(width * natural, plain, labeled, X).fit for width in WIDTHS]
        errors.append(min(fit.error for fit in fits))
    return float(np.mean(np.log(np.maximum(errors, np.finfo(float).tiny))))
