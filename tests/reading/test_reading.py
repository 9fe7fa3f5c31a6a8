import csv
import datetime
import gc
import gzip
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messy.tables import GOOD, MESSY, WRONG, Messy
from messy.truth import N_ROWS, TRUTH, as_text, delimited
from twinviews.cli import table_options
from twinviews.reading import ReadingOptions, columnar, read, workbook, write
from twinviews.reading import delimited as delimited_files
from twinviews.reading.column_types import ColumnSummary, MissingWords
from twinviews.reading.dialect import column_names, find_dialect
from twinviews.reading.options import KINDS
from twinviews.reading.spellings import ANY
from twinviews.reading.vocabulary import MISSING

TEXT = [messy for messy in GOOD if messy.suffix in (".csv", ".tsv", ".txt")]


def put(messy: Messy, folder):
    path = folder / f"table{messy.suffix}"
    path.write_bytes(messy.content)
    return path


def from_bytes(content: bytes, **options):
    return read("-", ReadingOptions(**options), stream=io.BytesIO(content))


def said(found):
    return [str(guess) for guess in found.guesses]


@pytest.mark.parametrize("messy", GOOD, ids=str)
def test_a_messy_table_is_read_as_what_it_means(messy, tmp_path):
    found = read(put(messy, tmp_path), messy.options)
    assert {column.name: column.kind for column in found.columns} == messy.kinds
    table = found.dataset.to_table()
    assert table.num_rows == N_ROWS
    assert found.n_rows in (N_ROWS, None)
    for name in messy.true:
        assert table[name].to_pylist() == TRUTH[name]
    assert all(guess in said(found) for guess in messy.says), said(found)
    assert "\n" not in str(found)


@pytest.mark.parametrize("messy", WRONG, ids=str)
def test_a_wrong_table_gives_one_line_that_says_where_and_what_to_do(messy, tmp_path):
    path = put(messy, tmp_path)
    with pytest.raises(ValueError, match=messy.error) as caught:
        read(path, messy.options)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(str(path))
    assert line.endswith(".")
    assert not any(word in line for word in ("pyarrow", "CSV parse error", "Invalid:", "Traceback"))


def test_the_corpus_is_as_large_as_was_promised():
    assert len(GOOD) >= 30
    assert len(WRONG) >= 10
    assert len({messy.name for messy in MESSY}) == len(MESSY)
    assert all(len(messy.content) < 20_000 for messy in MESSY)


@pytest.mark.parametrize("messy", GOOD, ids=str)
def test_standard_input_is_read_as_the_file(messy, tmp_path):
    piped = read("-", messy.options, stream=io.BytesIO(messy.content))
    filed = read(put(messy, tmp_path), messy.options)
    assert piped.dataset.to_table() == filed.dataset.to_table()
    assert said(piped) == said(filed)


@pytest.mark.parametrize("messy", TEXT, ids=str)
def test_arrow_and_our_conversion_read_the_same(messy, tmp_path, monkeypatch):
    path = put(messy, tmp_path)
    one = read(path, messy.options).dataset.to_table()
    monkeypatch.setattr(delimited_files, "_is_for_arrow", lambda typing: False)
    other = read(path, messy.options).dataset.to_table()
    assert one == other


@pytest.mark.parametrize("messy", TEXT, ids=str)
def test_small_blocks_change_nothing(messy, tmp_path, monkeypatch):
    path = put(messy, tmp_path)
    whole = read(path, messy.options)
    monkeypatch.setattr(delimited_files, "_BLOCK_BYTES", 700)
    blocks = read(path, messy.options)
    assert blocks.dataset.to_table() == whole.dataset.to_table()
    assert said(blocks) == said(whole)


TRICKY = st.sampled_from(
    [
        *(None, "0", "1", "12", "-5", "007", "1.5", "1,5", "1.234", "1,234", "1.234,5", "1,234.5"),
        *("0.123", "1 234", "1'000", "1e5", "1e-3", ".5", "5 €", "€5", "5 %", "12345678901234567890"),
        *("inf", "+1", "2024-01-05", "2024-1-5", "2024-01-05 10:00", "2024-01-05T10:00:00.5"),
        *("2024-01-05T10:00Z", "1/2/2024", "1/13/2024", "13/1/2024", "31.12.2024", "31.12.24"),
        *("31.02.2024", "5 Jan 2024", "true", "False", "yes", "-", " 5", "5 ", " ", " NA", "+", "x"),
    ]
)


@given(st.lists(TRICKY, min_size=1, max_size=6), st.integers(0, 6))
@settings(max_examples=400, deadline=None)
def test_summaries_of_parts_merge_into_that_of_the_whole(values, cut):
    missing = MissingWords.of(ReadingOptions())

    def summary(some, offered=ANY):
        return ColumnSummary.of(pa.array(some, pa.string()), offered, missing)

    whole = summary(values)
    assert summary(values[:cut]).merge(summary(values[cut:])) == whole
    # As the pass over a file does it: the second block is asked for what the first has left only.
    first = summary(values[:cut])
    assert first.merge(summary(values[cut:], first.possible)) == whole


@given(st.lists(TRICKY, min_size=1, max_size=6))
@settings(max_examples=300, deadline=None)
def test_what_is_accepted_converts_and_keeps_gaps(values):
    missing = MissingWords.of(ReadingOptions())
    strings = pa.array(values, pa.string())
    for spelling in ColumnSummary.of(strings, ANY, missing).possible:
        tidy = missing.tidied(strings)
        converted = spelling.convert(tidy)
        assert converted.type == spelling.type
        assert converted.is_null().equals(tidy.is_null())


# Letters of all encodings below, and all that a dialect has to cope with.
WORDS = st.text(st.sampled_from("abzÄß €é'\",;|\t\n.-+=%/0159"), max_size=8)
DATES = st.dates(datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
FLOATS = st.floats(-1e9, 1e9).map(lambda value: round(value, 4))


@st.composite
def tables(draw, words):
    """Columns of words, numbers, dates, with blanks; and how to write them."""
    n_rows = draw(st.integers(1, 12))

    def column(values):
        return st.lists(st.none() | values, min_size=n_rows, max_size=n_rows)

    kinds = [words, st.integers(-(10**17), 10**17), FLOATS, DATES]
    columns = draw(st.lists(st.sampled_from(kinds).flatmap(column), min_size=2, max_size=5))
    dialect = {
        "delimiter": draw(st.sampled_from(",;\t|")),
        "quote": draw(st.sampled_from("\"'")),
        "encoding": draw(st.sampled_from(["utf-8", "cp1252", "utf-16", "utf-8-sig"])),
        "decimal": draw(st.sampled_from(".,")),
    }
    form = draw(st.sampled_from(["%Y-%m-%d", "%d.%m.%Y"]))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return columns, dialect, form, newline


def as_csv(columns, dialect, form, newline, quoting=csv.QUOTE_MINIMAL):
    def cell(value):
        if value is None:
            return ""
        if isinstance(value, datetime.date):
            return value.strftime(form) if value.year >= 1000 else ""
        return repr(value).replace(".", dialect["decimal"]) if isinstance(value, float) else str(value)

    sink = io.StringIO(newline="")
    writer = csv.writer(
        sink,
        delimiter=dialect["delimiter"],
        quotechar=dialect["quote"],
        lineterminator=newline,
        quoting=quoting,
    )
    writer.writerow([f"name {j}" for j in range(len(columns))])
    writer.writerows([[cell(value) for value in row] for row in zip(*columns, strict=True)])
    return sink.getvalue().encode(dialect["encoding"])


def meant(column):
    """What must be read back: text that means missing is missing, days are midnights."""

    def one(value):
        if isinstance(value, datetime.date):
            return datetime.datetime.combine(value, datetime.time())
        if isinstance(value, str):
            missing = value.strip() in MISSING or (value.strip() == "-" and "+" not in column)
            return None if missing else value
        return value

    return [one(value) for value in column]


@given(tables(WORDS))
@settings(max_examples=100, deadline=None)
def test_any_table_is_read_back_as_it_was_written(written):
    columns, dialect, form, newline = written
    kinds = {
        f"name {j}": "category"
        for j, column in enumerate(columns)
        if any(isinstance(value, str) for value in column)
    }
    found = from_bytes(as_csv(columns, dialect, form, newline), **dialect, kinds=kinds)
    assert [found.to_pylist() for found in found.dataset.to_table().columns] == [
        meant(column) for column in columns
    ]


@given(tables(st.from_regex(r"[A-ZÄ][a-zß]{2,6}( [a-zé]{2,4})?", fullmatch=True)))
@settings(max_examples=100, deadline=None)
def test_a_tame_table_is_found_out_without_help(written):
    columns, dialect, form, newline = written
    found = from_bytes(as_csv(columns, dialect, form, newline))
    assert [found.to_pylist() for found in found.dataset.to_table().columns] == [
        meant(column) for column in columns
    ]


def test_a_word_in_row_100_000_makes_a_number_a_category_and_a_gap_does_not():
    def content(last):
        return "a,b,c\n" + "1,2.5,x\n" * 100_000 + f"{last},1,x\n"

    for last, kind in (("n/a", "number"), ("7.5", "number"), ("many", "category"), ("007", "category")):
        assert from_bytes(content(last).encode()).columns[0].kind == kind


def test_utf8_is_checked_to_the_last_row():
    content = b"a,b\n" + b"1,x\n" * 300_000 + b"2,M\xfcnster\n"
    found = from_bytes(content)
    assert "encoding cp1252 (--encoding)" in said(found)
    assert found.dataset.to_table()["b"][-1].as_py() == "Münster"
    with pytest.raises(ValueError, match=r"standard input, line 300002: the bytes .* are not utf-8"):
        from_bytes(content, encoding="utf-8")


def test_what_is_guessed_can_be_said():
    content = "a;b,c;d\n1;2,5;01\n3;4,5;02\n".encode("utf-16")
    by_comma = from_bytes(content, delimiter=",", encoding="utf-16")
    assert [column.name for column in by_comma.columns] == ["a;b", "c;d"]
    semicolons = from_bytes(content, delimiter=";", decimal=",", kinds={"d": "number"})
    assert semicolons.dataset.to_table().to_pydict() == {
        "a": [1, 3],
        "b,c": [2.5, 4.5],
        "d": [1, 2],
    }
    thousands = from_bytes(b"a;b\n1,234;x\n5,678;y\n", decimal=".")
    assert thousands.dataset.to_table()["a"].to_pylist() == [1234.0, 5678.0]
    dates = b"a,b\n01/02/2024,1\n03/04/2024,2\n"
    month_first = from_bytes(dates, kinds={"a": "date:%m/%d/%Y"}).dataset.to_table()["a"][0].as_py()
    day_first = from_bytes(dates).dataset.to_table()["a"][0].as_py()
    assert (month_first.month, day_first.month) == (1, 2)
    truth = from_bytes(b"a,b\nyes,1\nno,0\n,1\n", kinds={"a": "boolean", "b": "boolean"})
    assert truth.dataset.to_table().to_pydict() == {"a": [True, False, None], "b": [True, False, True]}


@pytest.mark.parametrize(
    ("text", "escape"),
    [
        ('a,b\n1,"say \\"so\\", please"\n2,x\n', "\\"),
        ('a,b\n1,"say \\"so\\""', "\\"),
        ('a,b\n1,"D:\\"\n2,x\n', None),
        ('a,b\n1,"D:\\"', None),
        ('a,b\n"D:\\",1\n"E:\\",2\n', None),
        ('a\n"D:\\"\n', None),
    ],
)
@pytest.mark.parametrize("delimiter", [None, ","])
def test_a_backslash_before_a_quote_is_inside_the_cell_or_ends_it(text, escape, delimiter):
    if delimiter is None and "," not in text:
        text = text.replace("\n", ",\n")
    found = find_dialect(text.encode(), True, ReadingOptions(delimiter=delimiter), "table.csv")
    assert found.escape == escape


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"delimiter": ";;"}, "delimiter ';;' must be one ASCII character"),
        ({"quote": ""}, "quote '' must be one ASCII character"),
        ({"decimal": "·"}, "decimal '·' must be"),
        ({"encoding": "utf-9"}, "encoding 'utf-9' is not known"),
        ({"kinds": {"a": "numeric"}}, "Kind 'numeric' of column 'a' must be one of number, category"),
        ({"kinds": {"a": "number:%d"}}, "Kind 'number:%d' of column 'a'"),
        ({"kinds": {"a": "number:1.234,5"}}, "Kind 'number:1.234,5' of column 'a'"),
        ({"expected": {"a": "boolean:yes"}}, "Kind 'boolean:yes' of column 'a'"),
    ],
)
def test_options_that_are_none(options, error):
    with pytest.raises(ValueError, match=error):
        ReadingOptions(**options)


def test_the_command_line_knows_the_kinds():
    """It has a list of its own, since help must not wait for Arrow."""
    assert table_options.KINDS == KINDS


def test_more_rows_of_the_same_table_get_its_kinds():
    table = from_bytes(b"a,b,c,d,y\n1,x,01/20/2024,true,1\n2.5,y,02/25/2024,false,\n")
    more = from_bytes(b"a,b,c,d\n,1,2024-01-01,\n,2,,\n", expected=table.kinds)
    assert {column.name: column.kind for column in more.columns} == {
        "a": "number",
        "b": "category",
        "c": "date",
        "d": "boolean",
    }
    assert more.dataset.to_table()["b"].to_pylist() == ["1", "2"]
    with pytest.raises(ValueError, match="line 3, column 'a': 'many' is not a number"):
        from_bytes(b"a,b\n1,x\nmany,y\n", expected=table.kinds)
    parquet = pa.BufferOutputStream()
    pq.write_table(pa.table({"a": ["1", "2"], "b": [1, 2]}), parquet)
    columns = from_bytes(parquet.getvalue().to_pybytes(), expected=table.kinds).dataset.to_table()
    assert columns.to_pydict() == {"a": [1, 2], "b": ["1", "2"]}


# Columns of one spelling each, some of whose values could have another; and some that are a mixture.
FAMILIES = [
    ["1.234", "1.234,5", "12", "-5", ""],
    ["1,234", "1,234.5", "0.5", "1e5"],
    ["1.234", "1.5", "Infinity", "+inf", "1"],
    ["5 €", "1.234 €", "1.234,50 €"],
    ["1/2/2024", "1/13/2024", "12/11/2024"],
    ["1/2/2024", "13/1/2024", "12/11/2024"],
    ["2024-01-05", "2024-1-5"],
    ["2024-01-05", "2024-01-05 10:00", "2024-01-05T10:00:00.5"],
    ["2024-01-05T10:00Z", "2024-01-05 10:00:00+02:00"],
    ["01067", "50667", "8001"],
    ["+", "-", "o", "NA", " "],
    ["-", "x", "y", "7"],
    ["true", "FALSE", "NA", "-"],
]


@st.composite
def written_columns(draw):
    n_rows = draw(st.integers(1, 6))
    columns = []
    for _ in range(draw(st.integers(2, 4))):
        values = draw(st.sampled_from(FAMILIES).map(st.sampled_from) | st.just(TRICKY))
        columns.append(draw(st.lists(values, min_size=n_rows, max_size=n_rows)))
    return columns


@given(written_columns(), st.sampled_from([None, ".", ","]))
@settings(max_examples=100, deadline=None)
def test_a_row_by_itself_is_read_as_in_its_table(columns, decimal):
    dialect = {"delimiter": ";", "quote": '"', "encoding": "utf-8"}

    def content(rows):
        cells = [[row[i] for i in rows] for row in columns]
        return as_csv(cells, {**dialect, "decimal": "."}, "", "\n", csv.QUOTE_ALL)

    everything = range(len(columns[0]))
    whole = from_bytes(content(everything), **dialect, decimal=decimal)
    assert json.loads(json.dumps(whole.kinds)) == whole.kinds
    table = whole.dataset.to_table().to_pylist()
    for row in everything:
        options = {**dialect, "expected": whole.kinds, "missing": whole.missing}
        assert from_bytes(content([row]), **options).dataset.to_table().to_pylist() == [table[row]]


@pytest.mark.parametrize(
    ("table", "row", "value"),
    [
        ("12/31/2024 10/02/2024", "02/10/2024", datetime.datetime(2024, 2, 10)),
        ("31/12/2024 10/02/2024", "02/10/2024", datetime.datetime(2024, 10, 2)),
        ("1.234,5 2.000", "1.234", 1234.0),
        ("1,234.5 2,000", "1,234", 1234.0),
        ("1.5 2", "1,5", 1.5),  # written otherwise than in the table: found out
        ("1.234,5 2.000", "1.23", 1.23),
        ("12/31/2024 10/02/2024", "2024-10-02", datetime.datetime(2024, 10, 2)),
    ],
)
def test_more_rows_are_written_as_those_before_if_they_can_be(table, row, value):
    first = from_bytes(("a;b\n" + "".join(f"{cell};x\n" for cell in table.split())).encode())
    more = from_bytes(f"a;b\n{row};x\n".encode(), expected=first.kinds)
    assert more.dataset.to_table()["a"].to_pylist() == [value]


def test_the_user_knows_better_than_the_table_before():
    first = from_bytes(b"a;b\n1.234,5;12/31/2024\n2.000;10/02/2024\n")
    row = b"a;b\n1.234;02/10/2024\n"
    said = {"decimal": ".", "kinds": {"b": "date:%d/%m/%Y"}}
    table = from_bytes(row, expected=first.kinds, **said).dataset.to_table()
    assert table.to_pylist() == [{"a": 1.234, "b": datetime.datetime(2024, 10, 2)}]
    # A kind without a form leaves open how it is written, and the table before does not.
    same = from_bytes(row, expected=first.kinds, kinds={"a": "number", "b": "date"}).dataset.to_table()
    assert same.to_pylist() == [{"a": 1234.0, "b": datetime.datetime(2024, 2, 10)}]
    with pytest.raises(ValueError, match="'number:12' shows no way to write numbers"):
        from_bytes(row, expected={"a": "number:12"})


@pytest.mark.parametrize("words", [None, ("none", "-"), ()])
def test_the_words_for_blanks_can_be_handed_on(words):
    content = b"a,b\n1,+\nNA,-\n2,o\n"
    first = from_bytes(content, missing=words, kinds={"a": "category"})
    again = from_bytes(content, missing=first.missing, kinds={"a": "category"})
    assert isinstance(first.missing, tuple)
    assert again.dataset.to_table() == first.dataset.to_table()
    assert again.missing == first.missing


def test_a_decimal_sign_that_does_not_fit_is_said_not_to():
    found = from_bytes(b"a;b;c\n1.5;1,5;1.234\n2.5;2,5;5.678\n", decimal=",")
    assert found.dataset.to_table().to_pydict() == {
        "a": [1.5, 2.5],
        "b": [1.5, 2.5],
        "c": [1234.0, 5678.0],
    }
    assert [guess for guess in said(found) if "does not fit" in guess] == [
        "a with '.' before decimals, since ',' does not fit (--kind a=category)"
    ]


OWN_TYPES = pa.table(
    {
        "zip": ["01067", "50667", "NA"],
        "stamp": pa.array([1, 1_700_000_000_000_000_001, None], pa.timestamp("ns")),
        "size": ["1.234,5", "2", "NA"],
        "small": pa.array([1, 2, 3], pa.int8()),
        "code": ["7", "8", "9"],
    }
)


@pytest.mark.parametrize("said", [{"size": "number"}, {"size": "number", "small": "category"}])
def test_a_kind_said_of_one_column_of_parquet_leaves_the_others(said, tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(OWN_TYPES, path)
    table = read(path, ReadingOptions(kinds=said)).dataset.to_table()
    assert table["size"].to_pylist() == [1234.5, 2.0, None]
    if "small" in said:
        assert table["small"].to_pylist() == ["1", "2", "3"]
    untouched = [name for name in OWN_TYPES.column_names if name not in said]
    assert table.select(untouched) == OWN_TYPES.select(untouched)


def test_a_mixed_column_of_json_leaves_the_others():
    lines = [
        {"zip": "01067", "when": "2024-01-05T00:00:00", "n": 1, "size": 1.5, "mixed": 1, "code": "7"},
        {"zip": "NA", "when": None, "n": 2**60 + 1, "size": None, "mixed": "n/a", "code": "8"},
    ]
    content = "".join(json.dumps(line) + "\n\n" for line in lines).encode()
    for options in ({}, {"kinds": {"mixed": "number", "zip": "category"}}):
        found = from_bytes(content, **options)
        table = found.dataset.to_table()
        assert table["mixed"].to_pylist() == [1, None]
        assert table["when"].to_pylist() == [datetime.datetime(2024, 1, 5), None]
        for name in ("zip", "n", "size", "code"):
            assert table[name].to_pylist() == [line[name] for line in lines]


def test_a_folder_of_files_is_one_table(tmp_path):
    rows = delimited(as_text()).splitlines(keepends=True)
    (tmp_path / "1.csv").write_bytes(b"".join(rows[:40]))
    (tmp_path / "2.csv").write_bytes(rows[0] + b"".join(rows[40:]))
    (tmp_path / "_SUCCESS").write_bytes(b"")
    found = read(tmp_path)
    assert found.dataset.to_table().to_pydict() == TRUTH
    (tmp_path / "3.csv").write_bytes(b"other,names\n1,2\n")
    with pytest.raises(ValueError, match=r"3.csv has other columns than .*1.csv: other, names"):
        read(tmp_path)


def test_a_partitioned_data_set_keeps_its_partitions(tmp_path):
    pq.write_to_dataset(pa.table({**TRUTH, "part": [i % 3 for i in range(N_ROWS)]}), tmp_path, ["part"])
    found = read(tmp_path, ReadingOptions(kinds={"id": "category", "when": "skip"}))
    table = found.dataset.to_table().sort_by("id")
    assert set(table.column_names) == {"id", "city", "size", "count", "y", "part"}
    assert table["id"].to_pylist() == [str(value) for value in TRUTH["id"]]
    assert table["part"].to_pylist() == [i % 3 for i in range(N_ROWS)]


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_of_json_lines_is_one_table(packed, tmp_path):
    messy = next(messy for messy in GOOD if messy.name == "JSON lines of several types")
    lines = messy.content.splitlines(keepends=True)
    for name, some in (("1", lines[:40]), ("2", lines[40:])):
        content = b"".join(some)
        (tmp_path / f"{name}.jsonl{'.gz' if packed else ''}").write_bytes(
            gzip.compress(content) if packed else content
        )
    assert read(tmp_path).dataset.to_table().to_pydict() == TRUTH
    with pytest.raises(ValueError, match=r"1.jsonl.*, line 1, column 'city': .* is not a number"):
        read(tmp_path, ReadingOptions(kinds={"city": "number"}))


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (("Excel", "Excel"), "a.xlsx is a workbook, of which folders are not read. Name one file"),
        (("an Arrow stream", "an Arrow stream"), "a.arrows is an Arrow stream, of which folders"),
        (
            ("plain", "JSON lines"),
            r"b.jsonl is JSON lines, but .*a.csv is CSV. Files that are one",
        ),
        (("Parquet", "plain"), r"b.csv is CSV, but .*a.parquet is a Parquet file"),
        (("packed", "packed and cut"), r"b.csv.gz is a gzip file cut short or damaged"),
        (("plain", "a PDF"), r"b.csv is a PDF, not a table"),
    ],
)
def test_folders_that_are_no_table(names, error, tmp_path):
    for place, name in zip("ab", names, strict=True):
        messy = next(messy for messy in MESSY if messy.name == name)
        (tmp_path / f"{place}{messy.suffix}").write_bytes(messy.content)
    with pytest.raises(ValueError, match=error):
        read(tmp_path)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no names here")
@pytest.mark.parametrize("name", ["plain", "packed", "Parquet", "Excel", "JSON lines"])
def test_a_pipe_is_read_as_the_file(name):
    messy = next(messy for messy in GOOD if messy.name == name)
    end, start = os.pipe()
    os.write(start, messy.content)  # less than a pipe holds, so nobody need read yet
    os.close(start)
    try:
        found = read(f"/dev/fd/{end}")
    finally:
        os.close(end)
    assert found.source == f"/dev/fd/{end}"
    assert found.dataset.to_table().to_pydict() == TRUTH


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_files_of_a_folder_may_differ_in_types_that_have_one_in_common(ending, tmp_path):
    def put_part(name, **columns):
        write([pa.table(columns)], pa.table(columns).schema, tmp_path / f"{name}{ending}")

    put_part("1", a=pa.array([1, 2]), b=["x", "y"], c=pa.nulls(2))
    put_part("2", a=[0.5], b=pa.array(["z"]).dictionary_encode(), d=[True], c=pa.array([3], pa.int8()))
    found = read(tmp_path)
    assert found.n_rows == 3
    assert found.dataset.to_table().sort_by("a").to_pydict() == {
        "a": [0.5, 1.0, 2.0],
        "b": ["z", "x", "y"],
        "c": [3, None, None],
        "d": [True, None, None],
    }
    assert "d blank in 1 of 2 files, which lack it" in said(found)
    put_part("3", a=["many"], b=["x"])
    with pytest.raises(
        ValueError, match=rf"3{ending}: column 'a' is string, but int64 in .*1{ending}. Write both"
    ):
        read(tmp_path)
    as_words = read(tmp_path, ReadingOptions(kinds={"a": "category"})).dataset.to_table()
    assert sorted(as_words["a"].to_pylist()) == ["0.5", "1", "2", "many"]
    without = read(tmp_path, ReadingOptions(kinds={"a": "skip"})).dataset.to_table()
    assert without.column_names == ["b", "c", "d"]


def test_a_file_that_is_not_there_names_one_that_is(tmp_path):
    (tmp_path / "Prices.csv").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(
        FileNotFoundError, match=r"no file '.*prices.parquet'. Check the path; did you mean Prices"
    ):
        read(tmp_path / "prices.parquet")
    empty = tmp_path / "nothing"
    empty.mkdir()
    with pytest.raises(ValueError, match="has no files"):
        read(empty)


def temporary_folders(folder):
    return list(folder.glob("twinviews-*"))


def test_copies_live_as_long_as_their_data_set(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dataset = from_bytes(b"a;b\n1.234,5;x\n2;y\n").dataset
    assert (
        len(temporary_folders(tmp_path)) == 2
    )  # what came, and a copy without points between thousands
    assert dataset.to_table()["a"].to_pylist() == [1234.5, 2.0]
    del dataset
    gc.collect()
    assert temporary_folders(tmp_path) == []
    for wrong in (b"", b"a,b\n1,2,3\n4,5\n"):
        with pytest.raises(ValueError, match="standard input"):
            from_bytes(wrong)
    assert temporary_folders(tmp_path) == []


def test_nothing_is_left_when_python_ends(tmp_path):
    program = "from twinviews.reading import read; kept = read('-'); print(kept.n_rows)"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=delimited(as_text(missing="-")),
        env=environment,
        capture_output=True,
        check=True,
    )
    assert done.stdout.split() == [str(N_ROWS).encode()]
    assert temporary_folders(tmp_path) == []


def test_a_row_group_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.parquet"
    n_rows = 1_000_000
    pq.write_table(pa.table({"a": pa.repeat(1, n_rows), "b": pa.repeat(2.5, n_rows)}), path)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(columnar, "_MOST_UNPACKED_BYTES", 15_999_999)
    with pytest.raises(ValueError, match=r"unpack to 16,000,000 bytes, .* row_group_size"):
        read(path)
    monkeypatch.setattr(columnar, "_MOST_UNPACKED_BYTES", 16_000_000)
    assert read(path).n_rows == n_rows


def test_a_workbook_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    messy = next(messy for messy in GOOD if messy.name == "Excel")
    path = put(messy, tmp_path)
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    monkeypatch.setattr(workbook, "_MOST_UNPACKED_BYTES", size - 1)
    with pytest.raises(ValueError, match=f"unpacks to {size:,} bytes, more than"):
        read(path)
    monkeypatch.setattr(workbook, "_MOST_UNPACKED_BYTES", size)
    assert read(path).n_rows == N_ROWS


def test_a_workbook_that_lies_about_its_size_is_refused(tmp_path):
    messy = next(messy for messy in GOOD if messy.name == "Excel")
    path = put(messy, tmp_path)
    with zipfile.ZipFile(path) as archive:
        sheet = archive.getinfo("xl/worksheets/sheet1.xml")
    said_size = sheet.file_size.to_bytes(4, "little")
    path.write_bytes(messy.content.replace(said_size, (100).to_bytes(4, "little")))
    with pytest.raises(ValueError, match="is damaged"):
        read(path)


def test_a_workbook_without_sheets_is_refused(tmp_path):
    messy = next(messy for messy in GOOD if messy.name == "Excel")
    path = tmp_path / "none.xlsx"
    with zipfile.ZipFile(io.BytesIO(messy.content)) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, re.sub(rb"<sheet .*?/>", b"", old.read(name)))
    with pytest.raises(ValueError, match="cannot be read as a workbook"):
        read(path)


def test_a_stream_that_lost_its_end_is_refused():
    sink = io.BytesIO()
    table = pa.table({"a": [1, 2, 3, 4]})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    whole = sink.getvalue()
    assert from_bytes(whole).n_rows == 4
    with pytest.raises(ValueError, match="an Arrow stream cut short"):
        from_bytes(whole[:-8])


def test_any_number_of_equal_names_are_told_apart():
    names, guesses = column_names(["a", *[""] * 50_000, *["a"] * 50_000])
    assert len(set(names)) == len(names) == 100_001
    assert (names[0], names[1], names[-1]) == ("a", "column_2", "a_50001")
    assert len(guesses) == 100_000


def test_brackets_in_texts_are_not_nesting():
    text = "[{" * 2000
    line = json.dumps({"a": text, "when": "2024-01-01"}).encode()
    found = from_bytes(line + b"\n")
    assert found.dataset.to_table()["a"].to_pylist() == [text]
    assert [column.kind for column in found.columns] == ["category", "date"]


def test_excel_without_its_reader_names_the_extra(tmp_path, monkeypatch):
    messy = next(messy for messy in GOOD if messy.name == "Excel")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"python-calamine .* pip install 'twinviews\[excel\]'"):
        read(put(messy, tmp_path))


def test_the_line_for_a_person(tmp_path):
    path = Path(tmp_path, "sales.csv")
    path.write_bytes(delimited(as_text(decimal=",", date="%d.%m.%Y"), delimiter=";", encoding="cp1252"))
    assert str(read(path)) == (
        f"{path}: 96 rows; delimiter ';' (--delimiter); encoding cp1252 (--encoding); decimal ',' "
        "(--decimal); columns 4 number, 1 category, 1 date "
        "(--kind NAME=number|category|date|boolean|skip)"
    )
