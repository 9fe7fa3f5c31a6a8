"""The common style of all pictures: few lines, and colours that colour-blind readers can tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes

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


def axes_or_new(ax: Axes | None) -> Axes:
    """The given axes, or those of a new figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "For plots matplotlib is needed, which is not installed: pip install twinviews[plots]"
        ) from error
    return plt.subplots(layout="constrained")[1] if ax is None else ax


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


def finish(display: Any, ax: Axes, x_label: str, y_label: str | None = None) -> None:
    """Name the axes, remove the box, and let the display know where it was drawn."""
    ax.set_xlabel(x_label)
    if y_label is not None:
        ax.set_ylabel(y_label)
    plain(ax)
    display.ax_, display.figure_ = ax, ax.figure


def ticks_at(ax: Axes, numbers: np.ndarray) -> None:
    """Ticks at these numbers of rows only, and errors from zero: heights compare only from there."""
    ax.set_xticks(numbers, [f"{n:,}" for n in numbers])
    ax.minorticks_off()
    ax.set_ylim(bottom=0, auto=None)  # the top still follows what is drawn later


def line_looks(given: dict[str, Any], **looks: Any) -> dict[str, Any]:
    """Properties of a line: ours, unless the user gives them under any of their names."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    return {**looks, **normalize_kwargs(given, Line2D)}
