"""Reliability diagram: accuracy against predicted probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_consistent_length

from twinviews.evaluation.draws import missing_label_of
from twinviews.evaluation.measures import CalibrationBins, calibration_bins
from twinviews.passes.targets import as_array, missing_labels, read_classes
from twinviews.plots.style import GREY, Display, legend_above, next_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Area of the mark of a bin with all the rows, in square points, and of one with hardly any.
_LARGEST_MARK, _SMALLEST_MARK = 500, 12


@dataclass(kw_only=True, eq=False, repr=False)
class ReliabilityDisplay(Display):
    """Accuracy of a classifier against its predicted probability.

    Rows are put in bins by the probability of their most likely class. On the diagonal a classifier
    is calibrated; below it, overconfident. The area of a mark and the number beside it tell how many
    rows are in the bin.

    Parameters
    ----------
    bins : CalibrationBins
        ``confidence``, ``accuracy`` and ``counts``, an entry for each bin.
    estimator_name : str, optional
        For the legend.

    Attributes
    ----------
    calibration_error : float
        Expected calibration error: mean distance of confidence and accuracy over the rows.
    line_ : matplotlib Line2D
        Accuracy against confidence.
    marks_ : matplotlib PathCollection
        The same, with areas by the rows in the bin.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews.plots import ReliabilityDisplay
    >>> truth = np.array(["cat", "cat", "cat", "dog"])
    >>> sure = np.tile([0.75, 0.25], (4, 1))  # of cat, of dog
    >>> ReliabilityDisplay.from_predictions(truth, sure).calibration_error
    0.0
    """

    bins: CalibrationBins
    estimator_name: str | None = None

    @property
    def calibration_error(self) -> float:
        return self.bins.error

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, **kwargs: Any
    ) -> Self:
        """The display of a fitted classifier with ``predict_proba`` on rows that it has not seen.

        Parameters
        ----------
        estimator : fitted classifier, or a pipeline that ends in one
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True classes; a row without one is passed over.
        name : str, optional
            For the legend; the name of the estimator's class if not given.
        **kwargs : dict
            ``n_bins``, ``ax`` and looks, as in :meth:`from_predictions`.
        """
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} has no predict_proba. Use a classifier of twinviews, or "
                f"one of scikit-learn that gives probabilities."
            )
        truth = as_array(y).astype(object)
        truth[missing_labels(truth, missing_label_of(estimator))] = None
        return cls.from_predictions(
            truth,
            estimator.predict_proba(X),
            classes=estimator.classes_,
            name=type(estimator).__name__ if name is None else name,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        classes: Any = None,
        n_bins: int = 10,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """The display of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True classes; a row without one is passed over.
        y_prob : array-like of shape (n_samples, n_classes) or (n_samples,)
            Probability of each class; one column is that of the second of two classes.
        classes : array-like of shape (n_classes,), optional
            What the columns of ``y_prob`` are; the sorted classes of ``y_true`` if not given.
        n_bins : int, default=10
            Bins of equal width.
        name, ax, **kwargs
            As in :meth:`plot`.
        """
        p = np.asarray(y_prob, dtype=np.float64)
        if p.ndim == 1:
            p = np.column_stack([1 - p, p])
        truth = read_classes(y_true)
        check_consistent_length(truth.code, p)
        columns = truth.labels if classes is None else np.asarray(classes)
        if len(columns) != p.shape[1]:
            raise ValueError(
                f"y_prob has {p.shape[1]} columns and there are {len(columns)} classes. Name the class "
                f"of each column with classes=[...]."
            )
        known = truth.code >= 0
        if not known.any():
            raise ValueError("y_true has no class at all: every entry is missing.")
        # A class without a column has no probability, so it is never the most likely one.
        place = {label: position for position, label in enumerate(columns.tolist())}
        positions = np.array([place.get(label, -1) for label in truth.labels.tolist()])
        bins = calibration_bins(positions[truth.code[known]], p[known], n_bins)
        return cls(bins=bins, estimator_name=name).plot(ax, **kwargs)

    def _draw(self, ax: Axes, name: str | None, looks: dict[str, Any]) -> None:
        confidence, accuracy, counts = (column[self.bins.counts > 0] for column in self.bins)
        label = f"calibration error {self.calibration_error:.3f}, {counts.sum():,} rows"
        label = label if name is None else f"{name}: {label}"
        looks = {"color": next_colour(ax), "linewidth": 1, "label": label, **looks}
        perfect = "as sure as right"
        if perfect not in ax.get_legend_handles_labels()[1]:
            ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="--", label=perfect)
        (self.line_,) = ax.plot(confidence, accuracy, **looks)
        area = np.maximum(_LARGEST_MARK * counts / counts.sum(), _SMALLEST_MARK)
        colour = self.line_.get_color()
        self.marks_ = ax.scatter(confidence, accuracy, s=area, color=colour, alpha=0.5, linewidth=0)
        for x, y, count in zip(confidence, accuracy, counts, strict=True):
            ax.annotate(f"{count:,}", (x, y), xytext=(0, -14), textcoords="offset points", ha="center")
        ax.set(xlim=(0, 1.03), ylim=(0, 1.03))
        legend_above(ax)
        ax.set(xlabel="probability of the most likely class", ylabel="share of the rows that are of it")
