"""Errors of several methods on the same held-out rows, compared in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from twinviews.evaluation.confidence import CONFIDENCE
from twinviews.evaluation.draws import Case, LabeledTable, Measure, errors_over_draws, make_draws
from twinviews.evaluation.paired_comparison import Paired, paired_ratio
from twinviews.plots.style import BLUE, GREY, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class MethodComparisonDisplay(Display):
    """Errors of several methods over that of one of them, with confidence intervals.

    In each draw all methods have the same labels and the same test rows. Draws differ much more than
    methods do, so each error is divided by the baseline's error in the same draw: the mark is the
    geometric mean of those ratios, the bar its 95% interval (Student's, of the logarithms). A bar that
    does not touch 1 is a significant difference.

    Parameters
    ----------
    names : list of str
    errors : array of shape (methods, draws)
    baseline : str
        The method that the others are set against.
    error_name : str
        What the errors are, in words.

    Attributes
    ----------
    comparisons : list of Paired
        ``ratio``, ``low`` and ``high`` of each method, in the order of ``names``.
    marks_ : matplotlib Line2D
        Ratios, the lowest mean error on top.
    bars_ : matplotlib LineCollection
        Their intervals.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from twinviews import KRRRegressor
    >>> from twinviews.plots import MethodComparisonDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> display = MethodComparisonDisplay.from_estimators(
    ...     {"linear": Ridge(), "kernel ridge": KRRRegressor()}, X, y, n_labels=80, random_state=0
    ... )
    >>> [comparison.verdict for comparison in display.comparisons]
    ['level', 'win']
    """

    names: Sequence[str]
    errors: np.ndarray
    baseline: str
    error_name: str = "error"

    @property
    def comparisons(self) -> list[Paired]:
        theirs = self.errors[list(self.names).index(self.baseline)]
        return [paired_ratio(ours, theirs) for ours in self.errors]

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        n_labels: int | None = None,
        n_draws: int = 10,
        test_size: float = 0.3,
        baseline: str | None = None,
        measure: Measure | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The display of copies of all estimators, fitted in the same draws.

        Parameters
        ----------
        estimators : dict of name to estimator
            All classifiers, or all regressors.
        n_labels : int, optional
            Labels that are kept; all that are not for testing if not given.
        n_draws : int, default=10
            Random choices of test rows and labels.
        baseline : str, optional
            Name of the method that the others are set against; the first if not given.
        X, y, test_size, measure, random_state, n_jobs, ax, **kwargs
            As in :meth:`LabelCurveDisplay.from_estimator`.
        """
        names = list(estimators)
        baseline = names[0] if baseline is None else baseline
        if baseline not in names:
            raise ValueError(f"baseline={baseline!r} is none of {', '.join(map(repr, names))}.")
        table = LabeledTable.of(list(estimators.values()), X, y)
        draws = make_draws(table, n_draws, test_size, random_state)
        kept = len(draws[0].labeled) if n_labels is None else n_labels
        cases = [Case(estimator, kept) for estimator in estimators.values()]
        display = cls(
            names=names,
            errors=errors_over_draws(cases, table, draws, measure, n_jobs),
            baseline=baseline,
            error_name=table.error_name(measure),
        )
        return display.plot(ax, **kwargs)

    def _draw(self, ax: Axes, name: str | None, looks: dict[str, Any]) -> None:
        mean = self.errors.mean(axis=1)
        order = np.argsort(mean, kind="stable")
        place = np.arange(len(order))
        ratio, low, high = np.array(self.comparisons)[order].T
        looks = {"color": BLUE, "marker": "o", "linestyle": "none", **looks}
        (self.marks_,) = ax.plot(ratio, place, **looks)
        # A single draw has no interval, nor has the baseline against itself.
        bounded = np.isfinite(high) & (low < high)
        self.bars_ = ax.hlines(
            place[bounded], low[bounded], high[bounded], color=self.marks_.get_color(), linewidth=1.5
        )
        ax.axvline(1, color=GREY, linewidth=0.8, linestyle="--", zorder=0)
        ax.set_yticks(place, [f"{self.names[j]} ({mean[j]:.3g})" for j in order])
        ax.set_ylim(len(order) - 0.5, -0.5)
        ax.set_xlabel(
            f"{self.error_name} over that of {self.baseline}, with {CONFIDENCE:.0%} interval\n"
            f"(in brackets: its mean over {self.errors.shape[1]} draws)",
        )
