"""True values beside predictions and their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, check_random_state

from twinviews.evaluation.draws import missing_label_of
from twinviews.evaluation.measures import share_inside
from twinviews.passes.targets import read_numbers
from twinviews.plots.style import BLUE, GREY, LIGHT_GREY, VERMILION, Display, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class IntervalDisplay(Display):
    """True values against predictions, each row with its interval; values outside are highlighted.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n_samples,)
    intervals : array of shape (n_samples, 2)
        Lower and upper end for each row.
    coverage : float
        The share of rows that the intervals promise to hold.
    shown : array of int, optional
        Rows to draw; the share inside is that of all rows.

    Attributes
    ----------
    share_inside : float
        Share of all rows whose true value is inside its interval.
    inside_, outside_ : matplotlib Line2D
        True values in and out of their intervals.
    bars_ : matplotlib LineCollection
        The intervals.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from twinviews import KRRRegressor
    >>> from twinviews.plots import IntervalDisplay
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KRRRegressor(scale="standard").fit(X[:200], y[:200])
    >>> display = IntervalDisplay.from_estimator(model, X[200:], y[200:], random_state=0)
    >>> round(display.share_inside, 2)
    0.89
    """

    y_true: np.ndarray
    y_pred: np.ndarray
    intervals: np.ndarray
    coverage: float
    shown: np.ndarray | None = None

    @property
    def share_inside(self) -> float:
        return share_inside(self.y_true, *self.intervals.T)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, coverage: float = 0.9, **kwargs: Any
    ) -> Self:
        """The display of a fitted regressor on rows that it has not seen.

        Parameters
        ----------
        estimator : fitted regressor with ``predict_interval``, or a pipeline that ends in one
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True values; a row without one is passed over.
        coverage : float, default=0.9
            The share of rows that the intervals are to hold.
        **kwargs : dict
            ``subsample``, ``random_state``, ``name``, ``ax`` and looks, as in :meth:`from_predictions`.
        """
        fitted = estimator
        if isinstance(estimator, Pipeline):
            fitted = estimator[-1]
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
        if not hasattr(fitted, "predict_interval"):
            raise ValueError(
                f"{type(fitted).__name__} has no predict_interval. Use a regressor of twinviews, or "
                f"IntervalDisplay.from_predictions with intervals of your own."
            )
        return cls.from_predictions(
            read_numbers(y, missing_label_of(fitted)),
            fitted.predict(X),
            fitted.predict_interval(X, coverage=coverage),
            coverage=coverage,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        intervals: Any,
        *,
        coverage: float = 0.9,
        subsample: int | None = 200,
        random_state: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The display of given predictions and intervals.

        Parameters
        ----------
        y_true, y_pred : array-like of shape (n_samples,)
            A row without a true value is passed over.
        intervals : array-like of shape (n_samples, 2)
            Lower and upper end for each row.
        coverage : float, default=0.9
            The share of rows that the intervals promise to hold.
        subsample : int or None, default=200
            Rows to draw; None draws all.
        random_state : int, RandomState or None, default=None
            Seed of the choice of rows to draw.
        name : str, optional
            Title of the legend.
        ax, **kwargs
            As in :meth:`plot`.
        """
        truth, predicted = read_numbers(y_true), np.asarray(y_pred, dtype=np.float64)
        ends = np.asarray(intervals, dtype=np.float64)
        check_consistent_length(truth, predicted, ends)
        if truth.ndim != 1 or ends.shape[1:] != (2,):
            raise ValueError(
                f"y_true has shape {truth.shape} and intervals {ends.shape}. Give one target, with a "
                f"lower and an upper end for each row: (n,) and (n, 2)."
            )
        known = ~np.isnan(truth)
        if not known.any():
            raise ValueError("y_true has no value at all: every entry is missing.")
        truth, predicted, ends = truth[known], predicted[known], ends[known]
        shown = None
        if subsample is not None and subsample < len(truth):
            shown = check_random_state(random_state).permutation(len(truth))[:subsample]
        display = cls(y_true=truth, y_pred=predicted, intervals=ends, coverage=coverage, shown=shown)
        return display.plot(ax, name=name, **kwargs)

    def _draw(self, ax: Axes, name: str | None, looks: dict[str, Any]) -> None:
        rows = slice(None) if self.shown is None else self.shown
        truth, predicted = self.y_true[rows], self.y_pred[rows]
        low, high = self.intervals[rows].T
        inside = (low <= truth) & (truth <= high)
        ends = np.concatenate([low, high, truth])
        # An unbounded interval, as with too few labels, reaches the edges of the picture.
        edge = ends[np.isfinite(ends)]
        low, high = np.maximum(low, edge.min()), np.minimum(high, edge.max())
        self.bars_ = ax.vlines(predicted, low, high, color=LIGHT_GREY, linewidth=0.6, zorder=1)
        ax.axline((float(predicted.mean()),) * 2, slope=1, color=GREY, linewidth=0.8, linestyle="--")
        share, n = self.share_inside, len(self.y_true)
        words = f"inside the {self.coverage:.0%} interval: {share:.1%} of {n:,} rows"
        looks = {"marker": "o", "markersize": 3.5, "linestyle": "none", **looks}
        blue = {"color": BLUE, "label": words, **looks}
        red = {"color": VERMILION, "label": f"outside: {1 - share:.1%}", **looks}
        (self.inside_,) = ax.plot(predicted[inside], truth[inside], **blue)
        (self.outside_,) = ax.plot(predicted[~inside], truth[~inside], **red)
        legend_above(ax, title=name)
        ax.set(xlabel="predicted", ylabel="true value, and interval")
