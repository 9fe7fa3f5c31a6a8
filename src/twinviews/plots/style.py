"""The common style of all pictures: few lines, and colours that colour-blind readers can tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

# From the palette of Okabe and Ito; greys for the background.
BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
GREY, LIGHT_GREY = "#888888", "#BBBBBB"

# For figures in files: the same bytes for the same numbers, and text that the browser sets.
FILE_STYLE: Any = {
    "svg.hashsalt": "twinviews",
    "svg.fonttype": "none",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8,
}


class Display:
    """What all displays have in common: ``plot``, and where it drew."""

    estimator_name: str | None = None
    ax_: Axes
    figure_: FigureBase

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the display; several may share axes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        name : str, optional
            For the legend, in place of ``estimator_name``.
        **kwargs : dict
            For the main line or marks, as in matplotlib's ``plot``.

        Returns
        -------
        self
        """
        try:
            from matplotlib import cbook, lines, pyplot
        except ImportError as error:
            raise ImportError(
                "For plots matplotlib is needed, which is not installed: pip install twinviews[plots]"
            ) from error
        if ax is None:
            ax = pyplot.subplots(layout="constrained")[1]
        looks = cbook.normalize_kwargs(kwargs, lines.Line2D)
        self._draw(ax, self.estimator_name if name is None else name, looks)
        plain(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Axes, name: str | None, looks: dict[str, Any]) -> None:
        """Draw on the axes and name them; ``looks`` of the user win over ours."""
        raise NotImplementedError


def plain(ax: Axes) -> None:
    """No box: the two axes are enough."""
    ax.spines[["top", "right"]].set_visible(False)


def next_colour(ax: Axes) -> str:
    """A colour that no entry of the legend has yet, as long as there are any."""
    palette = (BLUE, VERMILION, GREEN, ORANGE)
    return palette[len(ax.get_legend_handles_labels()[1]) % len(palette)]


def legend_above(ax: Axes, title: str | None = None) -> None:
    """A legend that hides nothing: over the axes, one line for each entry."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.2}
    ax.legend(frameon=False, title=title, alignment="left", **place)
