"""How a text table is written, by its first lines: encoding, delimiter, quotes, and the header."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from twinviews.reading.findings import Guess
from twinviews.reading.options import ReadingOptions

if TYPE_CHECKING:
    from _csv import Reader

HEAD_BYTES = 1 << 18
_HEAD_ROWS = 200
_DELIMITERS = (",", ";", "\t", "|")


class Cut(NamedTuple):
    """What cuts lines into cells."""

    delimiter: str
    quote: str
    escape: str | None

    def reader(self, lines: Iterable[str], *, strict: bool = False) -> Reader:
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            quotechar=self.quote,
            escapechar=self.escape,
            doublequote=strict or self.escape is None,  # the module is not strict without
            strict=strict,
        )


@dataclass(frozen=True)
class Dialect:
    encoding: str
    encoding_is_sure: bool  # said by the user or by the file's first bytes
    cut: Cut
    lines_above: int  # lines before the header
    names: tuple[str, ...]
    guesses: tuple[Guess, ...]

    @property
    def encoding_guess(self) -> Guess:
        plain = {"utf-8-sig": "utf-8", "utf8": "utf-8"}
        return Guess(f"encoding {plain.get(self.encoding, self.encoding)}", "--encoding")


def _encoding_of(head: bytes) -> tuple[str, bool]:
    """By the byte order mark, UTF-16 by its zeros, else UTF-8 or cp1252; and whether it is sure."""
    found = json.detect_encoding(head)
    has_mark = found in ("utf-8-sig", "utf-16", "utf-32")
    if has_mark or (found != "utf-8" and head[:1000].count(0) > len(head[:1000]) // 5):
        return found, True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252", False
    return "utf-8", False


def _decoded(head: bytes, whole: bool, encoding: str, source: str) -> str:
    """The lines of a head that are whole."""
    if b"\0" in head and not encoding.startswith(("utf-16", "utf-32")):
        line = head.count(b"\n", 0, head.index(b"\0")) + 1
        raise ValueError(
            f"{source}, line {line}: holds a zero byte, so it is damaged or no text. Save it again as "
            f"CSV, Parquet or Excel; if it is text in another encoding, use --encoding."
        )
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head, final=whole)
    except UnicodeDecodeError as error:
        raise ValueError(f"{source}, {undecodable(1, error, encoding)}") from None
    if not text.strip():
        raise ValueError(f"{source} is empty. Name a file with a header and rows.")
    if not whole:
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    if not text:
        raise ValueError(
            f"{source}, line 1: longer than {HEAD_BYTES:,} bytes, which no header is. Is it a "
            f"table? If so, give its columns shorter names, or save it as Parquet."
        )
    return text


def undecodable(line: int, error: UnicodeDecodeError, encoding: str) -> str:
    """For bytes that begin with this line."""
    line += error.object.count(b"\n", 0, error.start)
    some = error.object[error.start : error.start + 2]
    return (
        f"line {line}: the bytes {some!r} are not {encoding}. Say how it is encoded with --encoding, "
        f"such as --encoding latin-1."
    )


def find_dialect(head: bytes, whole: bool, options: ReadingOptions, source: str) -> Dialect:
    """From the first bytes of a file; ``whole`` if that is all of it."""
    encoding, sure = (options.encoding, True) if options.encoding else _encoding_of(head)
    text = _decoded(head, whole, encoding, source)
    quote = options.quote or _quote_of(text)
    escape = _escape_of(text, quote, options.delimiter)
    delimiter = options.delimiter or _delimiter_of(text, quote, escape)
    if delimiter is None:
        raise ValueError(
            f"{source}: no comma, semicolon, tab or bar separates its lines into cells. Is it a "
            f"table? If so, name what does with --delimiter (a comma if it has one column only)."
        )
    cut = Cut(delimiter, quote, escape)
    look = _look(text, cut)
    names, guesses = _names_of(look, source)
    if whole and not look.rows:
        raise ValueError(
            f"{source}: there is no row below the header in line {look.lines_above + 1}. Name a file "
            f"with rows."
        )
    if options.delimiter is None:
        word = "tab" if delimiter == "\t" else repr(delimiter)
        guesses.insert(0, Guess(f"delimiter {word}", "--delimiter"))
    if options.quote is None and quote != '"':
        guesses.append(Guess(f"quote {quote!r}", "--quote"))
    if escape is not None:
        guesses.append(Guess("backslashes before quotes in cells"))
    return Dialect(encoding, sure, cut, look.lines_above, names, tuple(guesses))


class _Look(NamedTuple):
    """The first lines as a delimiter cuts them."""

    header: list[str]
    lines_above: int
    rows: list[list[str]]  # below the header
    steady: float  # share of rows, header included, with the usual number of cells


def _look(text: str, cut: Cut) -> _Look:
    rows, first_lines = [], []
    reader = cut.reader(io.StringIO(text, newline=""))
    line = 0
    with suppress(csv.Error):  # a cell longer than the csv module takes: what came before it will do
        for row in reader:
            if row:
                rows.append(row)
                first_lines.append(line)
            line = reader.line_num
            if len(rows) == _HEAD_ROWS:
                break
    if not rows:
        return _Look([], 0, [], 0.0)
    usual = Counter(len(row) for row in rows).most_common(1)[0][0]
    start = next(i for i, row in enumerate(rows) if len(row) == usual)
    steady = sum(len(row) == usual for row in rows) / len(rows)
    return _Look(rows[start], first_lines[start], rows[start + 1 :], steady)


_PLAIN = re.compile(r"\s*|\s*[-+]?[0-9]+(?:[.,][0-9]+)?\s*|[0-9]+[-/.][0-9]+[-/.][0-9]+.*|[\w -]+")


def _delimiter_of(text: str, quote: str, escape: str | None) -> str | None:
    """The one that cuts the lines most steadily; among equals, into the plainest and most cells.

    Plain are cells that are blank, a number, a date or words without signs.
    """
    scores = {}
    for delimiter in _DELIMITERS:
        look = _look(text, Cut(delimiter, quote, escape))
        if len(look.header) > 1:
            cells = [cell for row in [look.header, *look.rows] for cell in row]
            plain = sum(_PLAIN.fullmatch(cell) is not None for cell in cells) / len(cells)
            scores[delimiter] = (look.steady, plain, len(look.header))
    return max(scores, key=scores.__getitem__) if scores else None


def _quote_of(text: str) -> str:
    """The double one, unless cells stand in single ones."""
    ends = "[,;\t|\r\n]"
    double, single = (
        len(re.findall(rf"(?:^|(?<={ends})){mark}[^\r\n{mark}]*{mark}(?={ends}|$)", text))
        for mark in ('"', "'")
    )
    return "'" if single > double else '"'


def _escape_of(text: str, quote: str, delimiter: str | None) -> str | None:
    """The backslash, if it precedes quotes inside of cells, and not just the one that ends a cell."""
    if text.count(f"\\{quote}") <= text.count(quote * 2):
        return None

    def lines_in_order(escape: str | None) -> int:
        """Before the first in which something follows a quote that ends a cell, or none ends it."""
        found = delimiter or _delimiter_of(text, quote, escape) or _DELIMITERS[0]
        reader = Cut(found, quote, escape).reader(io.StringIO(text, newline=""), strict=True)
        lines = 0
        with suppress(csv.Error):
            for _ in reader:
                lines = reader.line_num
        return lines

    return "\\" if lines_in_order("\\") >= lines_in_order(None) else None


def _names_of(look: _Look, source: str) -> tuple[tuple[str, ...], list[Guess]]:
    """The header without blanks around names, every column with a name of its own."""
    if not look.header:
        raise ValueError(f"{source} is empty. Name a file with a header and rows.")
    line = look.lines_above + 1
    if all(re.fullmatch(r"\s*[-+]?[0-9]*[.,]?[0-9]+\s*", cell) for cell in look.header) and (
        any("." in cell or "," in cell for cell in look.header)
        or len(set(look.header)) < len(look.header)
    ):
        raise ValueError(
            f"{source}, line {line}: the first row holds numbers, not names of columns. Put a header "
            f"line above it."
        )
    names, guesses = column_names(look.header)
    if look.lines_above:
        guesses.insert(0, Guess(f"header in line {line}, what is above it left out"))
    return names, guesses


def column_names(header: list[str]) -> tuple[tuple[str, ...], list[Guess]]:
    """Names on one line without blanks around, every column with its own; and what was changed."""
    names: dict[str, None] = {}
    guesses = []
    bare = [re.sub(r"[\s\x00-\x1f\x7f]+", " ", cell).strip() for cell in header]
    given = set(bare)
    numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(2))
    for place, name in enumerate(bare, start=1):
        own = name or f"column_{place}"
        while own in names or (own != name and own in given):
            own = f"{name or 'column'}_{next(numbers[name])}"
        if not name:
            guesses.append(Guess(f"column {place} has no name: called {own}"))
        elif own != name:
            guesses.append(Guess(f"column {place} is another {name}: called {own}"))
        names[own] = None
    if bare != list(header):
        guesses.append(Guess("needless blanks in names left out"))
    return tuple(names), guesses
