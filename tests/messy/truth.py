"""The one table behind the messy ones: an id, categories, dates, numbers, a half-empty target."""

from __future__ import annotations

import datetime
import random

N_ROWS = 96
COLUMNS = ("id", "city", "when", "size", "count", "y")


def _made() -> dict[str, list]:
    chance = random.Random(5)
    cities = ("Köln", "Münster", "Aachen", "Zürich")
    columns: dict[str, list] = {name: [] for name in COLUMNS}
    for i in range(N_ROWS):
        city = chance.randrange(4)
        size = round(chance.uniform(-50, 4000), 2)
        count = chance.randrange(13, 2000)
        columns["id"].append(1001 + i)
        columns["city"].append(cities[city])
        columns["when"].append(
            datetime.datetime(2023, 1, 1) + datetime.timedelta(days=chance.randrange(700))
        )
        columns["size"].append(size)
        columns["count"].append(count if i % 9 else None)
        label = round(3 * city + size / 1000 + chance.gauss(0, 0.3), 3)
        columns["y"].append(label if i % 2 == 0 else None)
    return columns


TRUTH = _made()


def as_text(
    *,
    decimal: str = ".",
    date: str = "%Y-%m-%d",
    missing: str = "",
) -> dict[str, list[str]]:
    """The truth as strings."""

    def word(value: object) -> str:
        if value is None:
            return missing
        if isinstance(value, datetime.datetime):
            return value.strftime(date)
        return str(value).replace(".", decimal) if isinstance(value, float) else str(value)

    return {name: [word(value) for value in values] for name, values in TRUTH.items()}


def delimited(
    columns: dict[str, list[str]],
    *,
    delimiter: str = ",",
    newline: str = "\n",
    quote: str = '"',
    quote_all: bool = False,
    encoding: str = "utf-8",
    header: list[str] | None = None,
) -> bytes:
    """Strings as lines of cells, quoted where needed."""

    def cell(text: str) -> str:
        if quote_all or any(sign in text for sign in (delimiter, quote, "\n", "\r")):
            return quote + text.replace(quote, quote * 2) + quote
        return text

    rows = [list(columns) if header is None else header, *zip(*columns.values(), strict=True)]
    return "".join(delimiter.join(map(cell, row)) + newline for row in rows).encode(encoding)
