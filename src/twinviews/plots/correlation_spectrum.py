"""Canonical correlations of the two views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from twinviews.plots.style import Display, legend_above, next_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class CorrelationSpectrumDisplay(Display):
    """Canonical correlations of the two views, the largest first, with the effective dimension.

    If the curve falls early, the views agree on few directions, and the labels have few coefficients to
    determine.

    Parameters
    ----------
    correlations : array of shape (k,)
        Largest first.
    effective_dimension : float
        Sum of their squares.
    estimator_name : str, optional
        For the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The correlations.
    dimension_line_ : matplotlib Line2D
        The effective dimension.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XNVRegressor
    >>> from twinviews.plots import CorrelationSpectrumDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = np.where(np.arange(500) < 60, np.sin(X[:, 0]), np.nan)
    >>> model = XNVRegressor(members=None, random_state=0).fit(X, y)
    >>> display = CorrelationSpectrumDisplay.from_estimator(model)
    >>> bool(display.effective_dimension == model.effective_dimension_)
    True
    """

    correlations: np.ndarray
    effective_dimension: float
    estimator_name: str | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """The display of a fitted XNV or XKS estimator, or of a pipeline that ends in one.

        Parameters
        ----------
        estimator : fitted estimator with ``correlations_``
        name : str, optional
            For the legend; the name of the estimator's class if not given.
        ax, **kwargs
            As in :meth:`plot`.
        """
        fitted = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        check_is_fitted(fitted)
        if not hasattr(fitted, "correlations_"):
            raise ValueError(
                f"{type(fitted).__name__} has no correlations: it does not have two views. Use an XNV "
                f"or XKS estimator."
            )
        display = cls(
            correlations=fitted.correlations_,
            effective_dimension=fitted.effective_dimension_,
            estimator_name=type(fitted).__name__ if name is None else name,
        )
        return display.plot(ax, **kwargs)

    def _draw(self, ax: Axes, name: str | None, looks: dict[str, Any]) -> None:
        label = "correlation" if name is None else f"{name}: correlation"
        ours = {
            "color": next_colour(ax),
            "marker": ".",
            "markersize": 4,
            "linewidth": 1,
            "label": label,
        }
        direction = np.arange(1, len(self.correlations) + 1)
        (self.line_,) = ax.plot(direction, self.correlations, **{**ours, **looks})
        self.dimension_line_ = ax.axvline(
            self.effective_dimension,
            color=self.line_.get_color(),
            linestyle="--",
            linewidth=1,
            label=f"effective dimension {self.effective_dimension:.1f}, the sum of their squares",
        )
        ax.set_ylim(0, 1.03)
        ax.set_xlim(left=0, auto=None)
        ax.locator_params(axis="x", integer=True)
        legend_above(ax)
        ax.set(xlabel="direction, the most correlated first", ylabel="correlation of the two views")
