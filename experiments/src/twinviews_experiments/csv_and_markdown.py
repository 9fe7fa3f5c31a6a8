"""Tables to read: the same rows as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from twinviews._system.whole_files import replace_file


@dataclass(frozen=True)
class TextTable:
    name: str  # of its file
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def to_markdown(self) -> str:
        lines = ["| " + " | ".join(row) + " |" for row in (self.columns, *self.rows)]
        lines.insert(1, "|" + "---|" * len(self.columns))
        return "\n".join([f"## {self.title}", "", *lines, "", *([self.note, ""] if self.note else [])])

    def write_csv(self, folder: Path) -> None:
        """Without the stars that make a cell bold."""
        plain = [[cell.strip("*") for cell in row] for row in self.rows]
        write_csv(folder / f"{self.name}.csv", self.columns, plain)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    replace_file(path, text.getvalue().encode())
