"""Error against the number of labels, and against the number of unlabeled rows with the same labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from twinviews.evaluation.draws import Case, LabeledTable, Measure, errors_over_draws, make_draws
from twinviews.plots.style import Display, legend_above, next_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = (25, 50, 100, 200, 400)
_UNLABELED = (0, 100, 300, 1000, 3000, 9000)


@dataclass(kw_only=True, eq=False, repr=False)
class LabelCurveDisplay(Display):
    """Error on rows that no fit has seen, against the number of labels.

    In each draw some labeled rows are kept for testing, and only n of the others keep their labels.
    Unlabeled rows are always used for fitting. The band is one standard deviation over the draws.

    Parameters
    ----------
    n_labels : array of shape (numbers,)
    errors : array of shape (numbers, draws)
    error_name : str
        What the errors are, in words.
    estimator_name : str, optional
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Mean errors.
    fill_ : matplotlib artist
        The spread over the draws.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import KRRRegressor
    >>> from twinviews.plots import LabelCurveDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = np.sin(X[:, 0]) + X[:, 1]
    >>> display = LabelCurveDisplay.from_estimator(
    ...     KRRRegressor(), X, y, n_labels=[10, 40, 160], n_draws=3, random_state=0
    ... )
    >>> display.errors.shape
    (3, 3)
    """

    n_labels: np.ndarray
    errors: np.ndarray
    error_name: str = "error"
    estimator_name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_labels: Sequence[int] | None = None,
        n_draws: int = 5,
        test_size: float = 0.3,
        measure: Measure | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The display of copies of an estimator, fitted on more and more labels.

        Parameters
        ----------
        estimator : estimator
            It need not be fitted, and is not changed. One without a parameter ``missing_label``, such
            as those of scikit-learn, is given the labeled rows alone.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels, missing ones marked as in ``fit``.
        n_labels : list of int, optional
            Numbers of labels; if not given those of 25, 50, 100, 200 and 400 that there are.
        n_draws : int, default=5
            Random choices of test rows and labels.
        test_size : float or int, default=0.3
            Share or number of the labeled rows that are kept for testing.
        measure : function of the true and the predicted values, optional
            Error, lower is better. If not given: for classes the share of wrong ones, for numbers the
            mean squared error over the variance of the truth.
        random_state : int, RandomState or None, default=None
            Seed of the draws.
        n_jobs : int, optional
            Fits side by side, as in scikit-learn.
        name : str, optional
            For the legend; the name of the estimator's class if not given.
        ax, **kwargs
            As in :meth:`plot`.
        """
        table = LabeledTable.of([estimator], X, y)
        draws = make_draws(table, n_draws, test_size, random_state)
        if n_labels is None:
            most = len(draws[0].labeled)
            n_labels = [n for n in _LABELS if n <= most] or [most]
        numbers = sorted({int(n) for n in n_labels})
        cases = [Case(estimator, n) for n in numbers]
        display = cls(
            n_labels=np.array(numbers),
            errors=errors_over_draws(cases, table, draws, measure, n_jobs),
            error_name=table.error_name(measure),
            estimator_name=type(estimator).__name__ if name is None else name,
        )
        return display.plot(ax, **kwargs)

    def _draw(self, ax: Axes, name: str | None, looks: dict[str, Any]) -> None:
        mean, spread = self.errors.mean(axis=1), self.errors.std(axis=1)
        looks = {"color": next_colour(ax), "marker": "o", "markersize": 4, "label": name, **looks}
        (self.line_,) = ax.plot(self.n_labels, mean, **looks)
        colour = self.line_.get_color()
        self.fill_ = ax.fill_between(
            self.n_labels, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0
        )
        ax.set_xscale("log")
        _errors_over_numbers(ax, self.n_labels, self.error_name)
        if name is not None:
            legend_above(ax)
        ax.set_xlabel("labels")


@dataclass(kw_only=True, eq=False, repr=False)
class UnlabeledCurveDisplay(Display):
    """Error on rows that no fit has seen, against the number of unlabeled rows beside n labels.

    Within a draw, labels and test rows stay the same while unlabeled rows are added. Each draw is a
    thin line; the strong line is their mean.

    Parameters
    ----------
    n_unlabeled : array of shape (numbers,)
    errors : array of shape (numbers, draws)
    n_labels : int
    error_name : str
        What the errors are, in words.
    estimator_name : str, optional
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        Mean errors.
    draw_lines_ : list of matplotlib Line2D
        The errors of each draw.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XNVRegressor
    >>> from twinviews.plots import UnlabeledCurveDisplay
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = np.sin(X[:, 0]) + X[:, 1]
    >>> display = UnlabeledCurveDisplay.from_estimator(
    ...     XNVRegressor(members=None, random_state=0), X, y, n_labels=40, n_draws=2, random_state=0
    ... )
    >>> display.n_unlabeled
    array([  0, 100])
    """

    n_unlabeled: np.ndarray
    errors: np.ndarray
    n_labels: int
    error_name: str = "error"
    estimator_name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_labels: int = 100,
        n_unlabeled: Sequence[int] | None = None,
        n_draws: int = 5,
        test_size: float = 0.3,
        measure: Measure | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The display of copies of an estimator, fitted on more and more unlabeled rows.

        Rows that have a label and are neither among the n nor for testing lose it and join the
        unlabeled ones.

        Parameters
        ----------
        estimator : estimator with a parameter ``missing_label``
            It need not be fitted, and is not changed.
        n_labels : int, default=100
            Labels in every fit.
        n_unlabeled : list of int, optional
            Numbers of unlabeled rows; if not given those of 0, 100, 300, 1,000, 3,000 and 9,000 that
            there are.
        X, y, n_draws, test_size, measure, random_state, n_jobs, name, ax, **kwargs
            As in :meth:`LabelCurveDisplay.from_estimator`.
        """
        table = LabeledTable.of([estimator], X, y)
        draws = make_draws(table, n_draws, test_size, random_state)
        most = len(draws[0].train) - n_labels
        if n_unlabeled is None:
            n_unlabeled = [n for n in _UNLABELED if n <= most]
        numbers = sorted({int(n) for n in n_unlabeled})
        if numbers and numbers[-1] > most:
            raise ValueError(
                f"n_unlabeled={numbers[-1]} is more than the {most} rows that are neither for testing "
                f"nor among the {n_labels} labeled ones. Use {most} or fewer."
            )
        cases = [Case(estimator, n_labels, n) for n in numbers]
        display = cls(
            n_unlabeled=np.array(numbers),
            errors=errors_over_draws(cases, table, draws, measure, n_jobs),
            n_labels=n_labels,
            error_name=table.error_name(measure),
            estimator_name=type(estimator).__name__ if name is None else name,
        )
        return display.plot(ax, **kwargs)

    def _draw(self, ax: Axes, name: str | None, looks: dict[str, Any]) -> None:
        label = f"mean of {self.errors.shape[1]} draws"
        label = label if name is None else f"{name}, {label}"
        looks = {"color": next_colour(ax), "marker": "o", "label": label, **looks}
        (self.line_,) = ax.plot(self.n_unlabeled, self.errors.mean(axis=1), zorder=3, **looks)
        colour = self.line_.get_color()
        self.draw_lines_ = ax.plot(
            self.n_unlabeled, self.errors, color=colour, alpha=0.3, linewidth=0.8
        )
        positive = self.n_unlabeled[self.n_unlabeled > 0]
        if len(positive):  # logarithmic, but for zero
            ax.set_xscale("symlog", linthresh=float(positive.min()), linscale=0.5)
        _errors_over_numbers(ax, self.n_unlabeled, self.error_name)
        legend_above(ax)
        ax.set_xlabel(f"rows without a label, beside {self.n_labels:,} with one")


def _errors_over_numbers(ax: Axes, numbers: np.ndarray, error_name: str) -> None:
    """Ticks at these numbers of rows only, and errors from zero: heights compare only from there."""
    ax.set_xticks(numbers, [f"{n:,}" for n in numbers])
    ax.minorticks_off()
    ax.set_ylim(bottom=0, auto=None)  # the top still follows what is drawn later
    ax.set_ylabel(f"{error_name} on held-out rows")
