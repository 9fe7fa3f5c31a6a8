"""Estimates for all rows with their intervals, beside those of the labels alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from twinviews.estimates.told_estimate import Estimates, ToldEstimate
from twinviews.plots.style import BLUE, GREY, Display, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How far the intervals of the labels alone are below the others, in lines.
_BELOW = 0.22


@dataclass(kw_only=True, eq=False, repr=False)
class EstimateDisplay(Display):
    """One line for each estimate: its interval, and that of the labels alone below it.

    Parameters
    ----------
    estimates : Estimates
        As :func:`twinviews.estimate` returns them.
    estimator_name : str, optional
        Title of the legend.

    Attributes
    ----------
    marks_, alone_ : matplotlib Line2D
        The estimates with predictions, and by labels alone.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XNVRegressor, estimate
    >>> from twinviews.plots import EstimateDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> y = np.where(np.arange(500) < 50, X[:, 0] + X[:, 1], np.nan)
    >>> model = XNVRegressor(random_state=0).fit(X, y)
    >>> display = EstimateDisplay.from_estimates(estimate(model, X, y=y))
    >>> len(display.marks_.get_xdata())
    1
    """

    estimates: Estimates
    estimator_name: str | None = None

    @classmethod
    def from_estimates(
        cls, estimates: Estimates, *, name: str | None = None, ax: Axes | None = None, **kwargs: Any
    ) -> Self:
        """The display of estimates.

        Parameters
        ----------
        estimates : Estimates
        name : str, optional
            Title of the legend.
        ax, **kwargs
            As in :meth:`plot`.
        """
        return cls(estimates=estimates, estimator_name=name).plot(ax, **kwargs)

    def _draw(self, ax: Axes, name: str | None, looks: dict[str, Any]) -> None:
        rows = list(self.estimates)
        places = np.arange(len(rows))
        found = np.array([(row.estimate, row.low, row.high) for row in rows])
        alone = np.array(
            [(row.labels_alone, row.labels_alone_low, row.labels_alone_high) for row in rows]
        )
        finite = np.concatenate([found, alone])
        edge = finite[np.isfinite(finite)]
        coverage = f"{self.estimates.coverage:.0%}"
        for values, at, colour in ((alone, places + _BELOW, GREY), (found, places, BLUE)):
            known = ~np.isnan(values[:, 0])
            # An unbounded interval reaches the edges of the picture.
            low, high = np.clip(values[known, 1:], edge.min(), edge.max()).T
            ax.hlines(at[known], low, high, color=colour, linewidth=1.5)
        looks = {"marker": "o", "markersize": 5, "linestyle": "none", **looks}
        blue = {"color": BLUE, "label": f"labels and predictions, {coverage} interval", **looks}
        grey = {"color": GREY, "label": "labels alone", **looks, "markersize": 3}
        (self.marks_,) = ax.plot(found[:, 0], places, **blue)
        (self.alone_,) = ax.plot(alone[:, 0], places + _BELOW, **grey)
        ax.set_yticks(places, [_line(row, rows) for row in rows])
        ax.set_ylim(len(rows) - 0.5, -0.6)
        if len({row.what for row in rows}) == 1:
            ax.set_xlabel(rows[0].title())
        legend_above(ax, title=name)


def _line(row: ToldEstimate, rows: list[ToldEstimate]) -> str:
    """What tells a line from the others."""
    parts = [*row.group.values()]
    if len({one.what for one in rows}) > 1:
        parts.insert(0, row.what)
    if len({one.target for one in rows}) > 1:
        parts.insert(0, row.target)
    stars = " (few labels)" if row.is_shrunk else ""
    return f"{', '.join(parts) or 'all rows'}{stars}"
