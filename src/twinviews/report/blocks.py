"""What a section of the report is made of.

A section is a title and blocks; a block is a string, which is a paragraph, or an object that names its
template. The templates escape every string, whoever wrote the section.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol


class PageBlock(Protocol):
    """Something to show; its template reads it by the name ``block``."""

    template: ClassVar[str]


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading of its own."""

    title: str
    blocks: Sequence[str | PageBlock]


Maker = Callable[[Any], Section | None]


@dataclass(frozen=True)
class Note:
    """A paragraph in a softer colour: how to read what is above it."""

    text: str
    template: ClassVar[str] = "note.html.jinja"


@dataclass(frozen=True)
class Definitions:
    """A list of names, each with what it means."""

    items: Sequence[tuple[str, str]]
    template: ClassVar[str] = "definitions.html.jinja"


@dataclass(frozen=True)
class SideBySide:
    """Charts beside one another where the screen is wide enough."""

    charts: Sequence[PageBlock]
    template: ClassVar[str] = "side_by_side.html.jinja"


@dataclass(frozen=True)
class DataTable:
    """A table with a title; the first cell of a row is its name.

    Parameters
    ----------
    title : str
    columns : sequence of str
    rows : sequence of sequences of str
    of_text : bool
        Whether the cells are text, aligned to the left; numbers are aligned to the right.
    look : {"", "wide", "explained", "confusion"}
        "wide" may lose columns on paper; the last column of "explained" holds sentences; "confusion"
        marks the diagonal as right.
    folded : str
        A line that opens the table; an empty one shows the table at once.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    of_text: bool = False
    look: str = ""
    folded: str = ""
    template: ClassVar[str] = "table.html.jinja"

    def tone(self, row: int, column: int) -> str:
        """The class of a cell in the style sheet."""
        if self.look != "confusion":
            return "" if self.of_text else "n"
        if row + 1 == column:
            return "right"
        within = column < len(self.columns) - 1  # the last column is a summary
        return "wrong" if within and self.rows[row][column] != "0" else ""
