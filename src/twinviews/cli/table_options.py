"""Options of every command that reads a table: what to believe instead of what is found out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import click

KINDS = ("number", "category", "date", "boolean", "skip")


class TableOptions(NamedTuple):
    """As the user gave them; None or empty: find out."""

    delimiter: str | None
    quote: str | None
    encoding: str | None
    decimal: str | None
    sheet: str | None
    missing: str | None
    kinds: dict[str, str]


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command receives them as one argument, ``reading``."""

    def with_options(
        *args: Any,
        delimiter: str | None,
        quote: str | None,
        encoding: str | None,
        decimal: str | None,
        sheet: str | None,
        missing: str | None,
        kind: tuple[str, ...],
        **others: Any,
    ) -> Any:
        reading = TableOptions(delimiter, quote, encoding, decimal, sheet, missing, dict(_pairs(kind)))
        return command(*args, reading=reading, **others)

    with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
    with_options.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    for option in reversed(_OPTIONS):
        with_options = option(with_options)
    return with_options


_OPTIONS = [
    click.option("--delimiter", metavar="SIGN", help="Between cells: one character, or tab."),
    click.option("--quote", metavar="SIGN", help="Around cells that hold the delimiter."),
    click.option("--encoding", metavar="NAME", help="Of text files: utf-8, cp1252, ..."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Sign before the decimals."),
    click.option("--sheet", metavar="NAME", help="Of a workbook; the first one if not said."),
    click.option(
        "--missing",
        metavar="WORDS",
        help="Words that mean a blank, with commas between, instead of the usual (NA, n/a, ?, ...).",
    ),
    click.option(
        "--kind",
        multiple=True,
        metavar="COLUMN=KIND",
        help=f"What a column is, again and again for several: {', '.join(KINDS)}, or a date with its "
        f"form such as date:%m/%d/%Y.",
    ),
]


def _pairs(given: Iterable[str]) -> Iterable[tuple[str, str]]:
    for text in given:
        name, equals, kind = text.rpartition("=")
        if not equals or not name or kind.partition(":")[0] not in KINDS:
            raise click.BadParameter(
                f"{text!r} must be a column, = and one of {', '.join(KINDS)}: --kind zip=category"
            )
        yield name, kind
