"""Error against the number of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from twinviews.evaluation.draws import Case, LabeledTable, Measure, errors_over_draws, make_draws
from twinviews.plots.style import axes_or_new, finish, legend_above, line_looks, next_colour, ticks_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBERS = (25, 50, 100, 200, 400)


class LabelCurveDisplay:
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

    def __init__(
        self,
        *,
        n_labels: np.ndarray,
        errors: np.ndarray,
        error_name: str = "error",
        estimator_name: str | None = None,
    ) -> None:
        self.n_labels = n_labels
        self.errors = errors
        self.error_name = error_name
        self.estimator_name = estimator_name

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve; several curves may share axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        name : str, optional
            For the legend, in place of ``estimator_name``.
        **kwargs : dict
            For the line of the means, as in matplotlib's ``plot``.

        Returns
        -------
        self
        """
        ax = axes_or_new(ax)
        name = self.estimator_name if name is None else name
        looks = line_looks(kwargs, color=next_colour(ax), marker="o", markersize=4, label=name)
        mean, spread = self.errors.mean(axis=1), self.errors.std(axis=1)
        (self.line_,) = ax.plot(self.n_labels, mean, **looks)
        self.fill_ = ax.fill_between(
            self.n_labels,
            mean - spread,
            mean + spread,
            color=self.line_.get_color(),
            alpha=0.15,
            linewidth=0,
        )
        ax.set_xscale("log")
        ticks_at(ax, self.n_labels)
        if name is not None:
            legend_above(ax)
        finish(self, ax, "labels", f"{self.error_name} on held-out rows")
        return self

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
        """Fit copies of an estimator on more and more labels, and draw their errors.

        Parameters
        ----------
        estimator : estimator
            It need not be fitted, and is not changed. One without a parameter ``missing_label`` is
            given the labeled rows alone.
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
        ax : matplotlib Axes, optional
        **kwargs : dict
            For the line of the means, as in matplotlib's ``plot``.

        Returns
        -------
        LabelCurveDisplay
        """
        table = LabeledTable.of([estimator], X, y)
        draws = make_draws(table, n_draws, test_size, random_state)
        if n_labels is None:
            most = len(draws[0].labeled)
            n_labels = [n for n in NUMBERS if n <= most] or [most]
        numbers = sorted({int(n) for n in n_labels})
        cases = [Case(estimator, n) for n in numbers]
        display = cls(
            n_labels=np.array(numbers),
            errors=errors_over_draws(cases, table, draws, measure, n_jobs),
            error_name=table.error_name(measure),
            estimator_name=type(estimator).__name__ if name is None else name,
        )
        return display.plot(ax, **kwargs)
