"""Dialects and types of text: found out from all rows, or said."""

import datetime

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from read_tables import TRICKY, as_csv, from_bytes, said
from twinviews.reading import ReadingOptions
from twinviews.reading.column_types import ANY, ColumnSummary, MissingWords
from twinviews.reading.dialect import column_names, find_dialect
from twinviews.reading.spellings import MISSING


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
    assert found.cut.escape == escape


def test_any_number_of_equal_names_are_told_apart():
    names, guesses = column_names(["a", *[""] * 50_000, *["a"] * 50_000])
    assert len(set(names)) == len(names) == 100_001
    assert (names[0], names[1], names[-1]) == ("a", "column_2", "a_50001")
    assert len(guesses) == 100_000
