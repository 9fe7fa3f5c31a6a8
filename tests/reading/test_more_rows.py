"""What a user says of a table, and what one table says of more rows of the same."""

import csv
import datetime
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from read_tables import TRICKY, as_csv, from_bytes, said
from twinviews.cli import commands
from twinviews.reading import ReadingOptions
from twinviews.reading.options import KINDS


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
    assert commands.KINDS == KINDS


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
