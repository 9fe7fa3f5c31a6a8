"""The registry of messy tables. Every good one has a column y to predict, half of it empty."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from messy.truth import COLUMNS, N_ROWS, TRUTH, as_text, delimited
from twinviews.reading import ReadingOptions

ALL = frozenset(COLUMNS)
PLAIN = {
    "id": "number",
    "city": "category",
    "when": "date",
    "size": "number",
    "count": "number",
    "y": "number",
}


@dataclass(frozen=True)
class Messy:
    """A file's bytes, and what reading it must find."""

    name: str
    content: bytes
    suffix: str = ".csv"
    kinds: dict[str, str] = field(default_factory=lambda: PLAIN)
    true: frozenset[str] = ALL  # columns whose values are those of TRUTH
    says: tuple[str, ...] = ()  # guesses, word for word
    error: str | None = None  # a pattern for the one line that a wrong table ends in
    options: ReadingOptions = field(default_factory=ReadingOptions)

    def __str__(self) -> str:
        return self.name


def _with(columns: dict[str, list[str]], **more: list[str]) -> dict[str, list[str]]:
    """Further columns in front of the target."""
    y = columns.pop("y")
    return {**columns, **more, "y": y}


def _cycle(*words: str) -> list[str]:
    return [words[i % len(words)] for i in range(N_ROWS)]


def _plus(**kinds: str) -> dict[str, str]:
    return {**PLAIN, **kinds}


def _text(name: str, content: bytes, **rest: Any) -> Messy:
    return Messy(name, content, **rest)


def _table(**columns: Any) -> pa.Table:
    return pa.table({**TRUTH, **columns})


def _written(write: Callable[[pa.BufferOutputStream], None]) -> bytes:
    sink = pa.BufferOutputStream()
    write(sink)
    return sink.getvalue().to_pybytes()


def _arrow(table: pa.Table, opener: Callable[..., Any]) -> bytes:
    def write(sink: pa.BufferOutputStream) -> None:
        with opener(sink, table.schema) as writer:
            writer.write_table(table)

    return _written(write)


def _parquet(table: pa.Table) -> bytes:
    return _written(lambda sink: pq.write_table(table, sink))


def _json_lines(columns: dict[str, list]) -> bytes:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in rows).encode()


def _workbook(
    columns: dict[str, list], *, title: str | None = None, second_sheet: bool = False
) -> bytes:
    import xlsxwriter

    sink = io.BytesIO()
    book = xlsxwriter.Workbook(sink, {"in_memory": True, "default_date_format": "yyyy-mm-dd"})
    sheet = book.add_worksheet("Table")
    start = 0 if title is None else 2
    if title is not None:
        sheet.write(0, 0, title)
    sheet.write_row(start, 0, list(columns))
    for i, row in enumerate(zip(*columns.values(), strict=True), start=start + 1):
        for j, value in enumerate(row):
            if value is not None:
                sheet.write(i, j, value)
    if second_sheet:
        book.add_worksheet("Notes").write(0, 0, "nothing")
    book.close()
    return sink.getvalue()


def _replaced(name: str, row: int, cell: str) -> dict[str, list[str]]:
    """The truth as text with another cell."""
    columns = as_text()
    columns[name][row] = cell
    return columns


def _lines_changed(content: bytes, line: int, text: bytes) -> bytes:
    """Another text in that line, counted from 1."""
    lines = content.split(b"\n")
    lines[line - 1] = text
    return b"\n".join(lines)


def _grouped(value: float, thousands: str, decimal: str) -> str:
    return f"{value:,.2f}".replace(",", "_").replace(".", decimal).replace("_", thousands)


_PLAIN_CSV = delimited(as_text())
_GERMAN = as_text(decimal=",", date="%d.%m.%Y")

GOOD = (
    _text(
        "plain",
        _PLAIN_CSV,
        says=("delimiter ',' (--delimiter)", "encoding utf-8 (--encoding)", "decimal '.' (--decimal)"),
    ),
    _text(
        "semicolons and decimal commas",
        delimited(_GERMAN, delimiter=";"),
        says=("delimiter ';' (--delimiter)", "decimal ',' (--decimal)"),
    ),
    _text(
        "German Excel of before Unicode",
        delimited(_GERMAN, delimiter=";", encoding="cp1252", newline="\r\n"),
        says=("encoding cp1252 (--encoding)",),
    ),
    _text(
        "tabs",
        delimited(as_text(), delimiter="\t"),
        suffix=".tsv",
        says=("delimiter tab (--delimiter)",),
    ),
    _text(
        "tabs and decimal commas",
        delimited(_GERMAN, delimiter="\t"),
        suffix=".txt",
        says=("decimal ',' (--decimal)",),
    ),
    _text("bars", delimited(as_text(), delimiter="|"), says=("delimiter '|' (--delimiter)",)),
    _text(
        "decimal commas in quotes", delimited(as_text(decimal=",")), says=("decimal ',' (--decimal)",)
    ),
    _text("UTF-8 with a mark", b"\xef\xbb\xbf" + _PLAIN_CSV, says=("encoding utf-8 (--encoding)",)),
    _text(
        "UTF-16",
        delimited(_GERMAN, delimiter="\t", encoding="utf-16"),
        says=("encoding utf-16 (--encoding)",),
    ),
    _text(
        "UTF-16 without a mark",
        delimited(as_text(), encoding="utf-16-le"),
        says=("encoding utf-16-le (--encoding)",),
    ),
    _text("Windows newlines", delimited(as_text(), newline="\r\n")),
    _text("old Mac newlines", delimited(as_text(), newline="\r")),
    _text("no newline at the end", _PLAIN_CSV.rstrip()),
    _text(
        "a title above",
        b"Sales, all of them\nprinted 2024\n\n" + _PLAIN_CSV,
        says=("header in line 4, what is above it left out",),
    ),
    _text("blank lines", b"\n\n" + _PLAIN_CSV.replace(b"\n", b"\n\n", 5)),
    _text(
        "blanks around everything",
        delimited(
            {name: [f" {cell}  " for cell in cells] for name, cells in as_text().items()},
            header=[f" {name} " for name in COLUMNS],
        ),
        true=ALL - {"city"},
        says=("needless blanks in names left out",),
    ),
    _text(
        "two columns of one name",
        delimited(
            _with(as_text(), other=_cycle("a", "b")),
            header=["id", "city", "when", "size", "count", "city", "y"],
        ),
        kinds=_plus(city_2="category"),
        says=("column 6 is another city: called city_2",),
    ),
    _text(
        "an index without a name",
        delimited({"": [str(i) for i in range(N_ROWS)], **as_text()}),
        kinds=_plus(column_1="number"),
        says=("column 1 has no name: called column_1",),
    ),
    _text("everything in quotes", delimited(as_text(), quote_all=True)),
    _text("single quotes", delimited(as_text(decimal=","), quote="'", quote_all=True)),
    _text(
        "delimiters and newlines in cells",
        delimited(_with(as_text(), note=_cycle("one, two; three", 'he said "no"', "two\nlines", "|"))),
        kinds=_plus(note="category"),
    ),
    _text(
        "quotes after backslashes",
        delimited(_with(as_text(), note=_cycle("§", "plain"))).replace(
            "§".encode(), b'"say \\"so\\", please"'
        ),
        kinds=_plus(note="category"),
    ),
    _text(
        "backslashes at the end of cells",
        delimited(_with(as_text(), note=_cycle("§", "plain", "C:\\"))).replace("§".encode(), b'"D:\\"'),
        kinds=_plus(note="category"),
    ),
    _text(
        "delimiter at every end",
        _PLAIN_CSV.replace(b"\n", b",\n"),
        kinds=_plus(column_7="empty"),
        says=("column_7 is empty",),
    ),
    _text(
        "many words for nothing",
        delimited(
            {
                name: [
                    ("NA", "n/a", "NULL", "?", "-", " ", "NaN", "#N/A")[i % 8] if cell == "" else cell
                    for i, cell in enumerate(cells)
                ]
                for name, cells in as_text().items()
            }
        ),
    ),
    _text(
        "words of one's own for nothing",
        delimited(as_text(missing="none given")),
        options=ReadingOptions(missing=("none given",)),
    ),
    _text(
        "the last row has no number",
        delimited(_with(as_text(), late=[*_cycle("1", "2", "3")[:-1], "n/a"])),
        kinds=_plus(late="number"),
    ),
    _text(
        "the last row has decimals",
        delimited(_with(as_text(), late=[*_cycle("1", "2", "3")[:-1], "2.5"])),
        kinds=_plus(late="number"),
    ),
    _text(
        "the last row has a word",
        delimited(_with(as_text(), late=[*_cycle("1", "2", "3")[:-1], "many"])),
        kinds=_plus(late="category"),
        says=("late is a category: 'many' in row 96 is no number (--kind late=number)",),
    ),
    _text(
        "postal codes",
        delimited(_with(as_text(), zip=_cycle("01067", "50667", "8001"))),
        kinds=_plus(zip="category"),
        says=("zip kept as text: codes, not numbers (--kind zip=number)",),
    ),
    _text(
        "ids of thirty digits",
        delimited(_with(as_text(), account=[f"9{i:029d}" for i in range(N_ROWS)])),
        kinds=_plus(account="category"),
    ),
    _text(
        "commas between thousands",
        delimited({**as_text(), "size": [_grouped(value, ",", ".") for value in TRUTH["size"]]}),
        says=("size with ',' between thousands (--kind size=category)",),
    ),
    _text(
        "points between thousands",
        delimited(
            {**_GERMAN, "size": [_grouped(value, ".", ",") for value in TRUTH["size"]]}, delimiter=";"
        ),
        says=("decimal ',' (--decimal)", "size with '.' between thousands (--kind size=category)"),
    ),
    _text(
        "blanks between thousands, euros",
        delimited(
            {**_GERMAN, "size": [_grouped(value, "\u202f", ",") + " €" for value in TRUTH["size"]]},
            delimiter=";",
        ),
        says=(
            "size with blank between thousands (--kind size=category)",
            "size without its '€' (--kind size=category)",
        ),
    ),
    _text(
        "dollars and percents",
        delimited(
            _with(
                {
                    **as_text(),
                    "size": [
                        ("-$" if value < 0 else "$") + f"{abs(value):,.2f}" for value in TRUTH["size"]
                    ],
                },
                share=_cycle("5%", "12.5 %"),
            )
        ),
        kinds=_plus(share="number"),
        says=("share without its '%' (--kind share=category)",),
    ),
    _text(
        "two decimal signs",
        delimited({**as_text(), "size": _GERMAN["size"]}, delimiter=";"),
        says=("decimal ',' and '.' (--decimal)",),
    ),
    _text("days first", delimited(as_text(date="%d/%m/%Y"))),
    _text("months first", delimited(as_text(date="%m/%d/%Y"))),
    _text(
        "days or months first",
        delimited(_with(as_text(), paid=_cycle("1/2/2024", "3/4/2024"))),
        kinds=_plus(paid="date"),
        says=("paid with the day first (--kind paid=date:%m/%d/%Y)",),
    ),
    _text(
        "one column of dates tells the other",
        delimited(_with(as_text(date="%m/%d/%Y"), paid=_cycle("1/2/2024", "3/4/2024"))),
        kinds=_plus(paid="date"),
        says=("paid with the month first (--kind paid=date:%d/%m/%Y)",),
    ),
    _text("dates with times", delimited(as_text(date="%Y-%m-%dT%H:%M:%S"))),
    _text("dates with zones", delimited(as_text(date="%Y-%m-%d %H:%M:%S+02:00")), true=ALL - {"when"}),
    _text("dates in words", delimited(as_text(date="%d %b %Y"))),
    _text(
        "two forms of dates",
        delimited(
            _with(
                as_text(date="%m/%d/%Y"), paid=[value.strftime("%d/%m/%Y") for value in TRUTH["when"]]
            )
        ),
        kinds=_plus(paid="date"),
    ),
    _text(
        "a date that is none",
        delimited(_with(as_text(), paid=[*_cycle("28.02.2023")[:-1], "31.02.2023"])),
        kinds=_plus(paid="category"),
        says=("paid is a category: '31.02.2023' in row 96 is no date (--kind paid=date)",),
    ),
    _text(
        "truth",
        delimited(_with(as_text(), sold=_cycle("true", "FALSE", ""), paid=_cycle("yes", "no"))),
        kinds=_plus(sold="boolean", paid="category"),
    ),
    _text(
        "classes",
        delimited(
            {
                **as_text(),
                "y": [
                    "high" if value and value > 4 else "low" if value else "" for value in TRUTH["y"]
                ],
            }
        ),
        kinds=_plus(y="category"),
        true=ALL - {"y"},
    ),
    _text(
        "plus and minus are classes",
        delimited(
            {
                **as_text(),
                "y": ["+" if value and value > 4 else "-" if value else "" for value in TRUTH["y"]],
            }
        ),
        kinds=_plus(y="category"),
        true=ALL - {"y"},
    ),
    _text(
        "a column of nothing, a column of one value",
        delimited(_with(as_text(), notes=_cycle(""), always=_cycle("7"))),
        kinds=_plus(notes="empty", always="number"),
        says=("notes is empty",),
    ),
    _text(
        "a name of two lines",
        delimited(
            _with(as_text(), a=_cycle("1", "2")),
            header=["id", "city", "when", "size", "count", "per\nday", "y"],
        ),
        kinds=_plus(**{"per day": "number"}),
    ),
    _text(
        "names that are no names",
        delimited(
            _with(as_text(), a=_cycle("x", "y")),
            header=["id", "city", "when", "size", "count", "<script>alert(1)</script>, 'x'", "y"],
        ),
        kinds=_plus(**{"<script>alert(1)</script>, 'x'": "category"}),
    ),
    _text(
        "formulas",
        delimited(_with(as_text(), note=_cycle("=1+1", "@cmd", "+sum", "plain"))),
        kinds=_plus(note="category"),
    ),
    _text(
        "a wish of kinds",
        _PLAIN_CSV,
        kinds={
            "city": "category",
            "when": "category",
            "size": "number",
            "count": "category",
            "y": "number",
        },
        true=frozenset({"city", "size", "y"}),
        options=ReadingOptions(kinds={"id": "skip", "when": "category", "count": "category"}),
    ),
    _text("packed", gzip.compress(_PLAIN_CSV, mtime=0), suffix=".csv.gz"),
    Messy(
        "Parquet",
        _parquet(_table()),
        ".parquet",
        says=("columns 4 number, 1 category, 1 date (--kind NAME=number|category|date|boolean|skip)",),
    ),
    Messy(
        "Parquet with lists and dictionaries",
        _parquet(_table(city=pa.array(TRUTH["city"]).dictionary_encode(), tags=[[1, 2]] * N_ROWS)),
        ".parquet",
        says=("tags left out: list<element: int64> is no single value",),
    ),
    Messy(
        "Parquet with numbers in words",
        _parquet(_table(size=[str(value) for value in TRUTH["size"]])),
        ".parquet",
        options=ReadingOptions(kinds={"size": "number"}),
    ),
    Messy("Arrow", _arrow(_table(), pa.ipc.new_file), ".arrow"),
    Messy("an Arrow stream", _arrow(_table(), pa.ipc.new_stream), ".arrows"),
    Messy("JSON lines", _json_lines(TRUTH), ".jsonl"),
    Messy(
        "JSON lines of several types",
        _json_lines(
            {**TRUTH, "count": ["n/a" if value is None else value for value in TRUTH["count"]]}
        ),
        ".jsonl",
        says=("count of several types",),
    ),
    Messy(
        "Excel", _workbook(TRUTH, second_sheet=True), ".xlsx", says=("sheet 'Table' of 2 (--sheet)",)
    ),
    Messy(
        "Excel with a title and numbers in words",
        _workbook({**TRUTH, "size": _GERMAN["size"], "zip": _cycle("01067", "50667")}, title="Sales"),
        ".xlsx",
        kinds=_plus(zip="category"),
        says=("header in row 3, what is above it left out", "decimal ',' and '.' (--decimal)"),
    ),
)

WRONG = (
    Messy("empty", b"", error="is empty"),
    Messy("blank", b"\n \n\n", error="is empty"),
    Messy("only a header", b"id,city,y\n", error="no row below the header in line 1"),
    Messy(
        "a cell too many",
        _lines_changed(_PLAIN_CSV, 40, b"1,2,3,4,5,6,7"),
        error="line 40: 7 cells, but the header in line 1 has 6 columns",
    ),
    Messy(
        "a cell too few",
        _lines_changed(b"Title\n\n" + _PLAIN_CSV, 50, b"1,2,3"),
        error="line 50: 3 cells, but the header in line 3 has 6 columns",
    ),
    Messy(
        "a quote that never closes",
        _lines_changed(_PLAIN_CSV, 30, b'1,"2,2023-01-01,3,4,5'),
        error='line 30: a cell begins with " and never ends',
    ),
    Messy(
        "a quote that never closes at the end",
        _lines_changed(_PLAIN_CSV, 90, b'1,a,2023-01-01,3,4,"5'),
        error='line 90: a cell begins with " and never ends',
    ),
    Messy(
        "a quote that closes too late",
        _lines_changed(
            _lines_changed(_PLAIN_CSV, 30, b'1,"2,2023-01-01,3,4,5'), 33, b'1,2",2023-01-01,3,4,5,6'
        ),
        error="line 30 to 33: .* Close the quote that opens in line 30",
    ),
    Messy(
        "a zero byte",
        _lines_changed(_PLAIN_CSV, 60, b"1,a\0b,2023-01-01,3,4,5"),
        error="line 60.*zero byte",
    ),
    Messy("bytes", bytes(range(256)) * 20, error="zero byte|no text"),
    Messy(
        "a letter", b"Dear all\nhere is what we found last week\nbest wishes\n", error="Is it a table"
    ),
    Messy(
        "no header",
        b"1.5,2.5,3.5\n2.5,3.5,4.5\n" * 20,
        error="line 1: the first row holds numbers, not names",
    ),
    Messy(
        "an encoding that is another",
        b"a,b\nx\x81,\xff\n",
        error="line 2: the bytes .* are not cp1252. .* --encoding",
    ),
    Messy(
        "not UTF-8 as was said",
        delimited(as_text(), encoding="cp1252"),
        options=ReadingOptions(encoding="utf-8"),
        error="are not utf-8. .*--encoding",
    ),
    Messy(
        "a word among numbers",
        delimited(_replaced("size", 70, "large")),
        options=ReadingOptions(kinds={"size": "number"}),
        error="line 72, column 'size': 'large' is not a number. .*--kind size=category",
    ),
    Messy(
        "a wish for a column that is not there",
        _PLAIN_CSV,
        options=ReadingOptions(kinds={"prize": "number"}),
        error="no column 'prize', of which --kind speaks. Its columns are id, city",
    ),
    Messy("a web page", b"<!DOCTYPE html><html><table></table></html>", error="a web page"),
    Messy("a PDF", b"%PDF-1.7\n%\xe2\xe3", error="a PDF"),
    Messy(
        "packed and cut",
        gzip.compress(_PLAIN_CSV, mtime=0)[:200],
        suffix=".csv.gz",
        error="gzip file cut short",
    ),
    Messy(
        "a JSON list", b'[{"a": 1, "y": 2}]', ".json", error="one JSON list. Write one object a line"
    ),
    Messy(
        "JSON that breaks off",
        _lines_changed(_json_lines(TRUTH), 20, b'{"id": 1, "city"'),
        ".jsonl",
        error="line 20: is not one JSON object",
    ),
    Messy(
        "JSON with lists",
        _lines_changed(_json_lines(TRUTH), 20, b'{"id": [1, 2]}'),
        ".jsonl",
        error="line 20: column 'id' holds a list",
    ),
    Messy(
        "a Parquet file cut short", _parquet(_table())[:-20], ".parquet", error="cut short or damaged"
    ),
    Messy(
        "a Parquet file without rows", _parquet(_table().slice(0, 0)), ".parquet", error="has no rows"
    ),
    Messy("a workbook cut short", _workbook(TRUTH)[:-200], ".xlsx", error="damaged"),
    Messy(
        "an empty sheet",
        _workbook(TRUTH, second_sheet=True),
        ".xlsx",
        options=ReadingOptions(sheet="Notes"),
        error="sheet 'Notes' has no rows below a header. Name another with --sheet: Table, Notes",
    ),
    Messy(
        "a sheet that is not there",
        _workbook(TRUTH),
        ".xlsx",
        options=ReadingOptions(sheet="Sales"),
        error="no sheet 'Sales'. It has Table",
    ),
)

MESSY = (*GOOD, *WRONG)
