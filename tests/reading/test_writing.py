import csv
import datetime
import io
import json
import sys

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from messy.truth import N_ROWS, TRUTH
from twinviews.reading import ReadingOptions, read, write

TABLE = pa.table(TRUTH)
ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".jsonl", ".xlsx")


def written(table, **options):
    sink = io.BytesIO()
    assert write(table.to_batches(), table.schema, "-", stream=sink, **options) == table.num_rows
    return sink.getvalue()


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read_back(ending, tmp_path):
    path = tmp_path / f"out{ending}"
    assert write(TABLE.to_batches(max_chunksize=7), TABLE.schema, path) == N_ROWS
    assert read(path).dataset.to_table().to_pydict() == TRUTH
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there_and_nothing_else(ending, error, tmp_path):
    path = tmp_path / f"out{ending}"
    path.write_bytes(b"of yesterday")

    def batches():
        yield from TABLE.to_batches(max_chunksize=40)
        raise error("stopped")

    with pytest.raises(error, match="stopped"):
        write(batches(), TABLE.schema, path)
    assert path.read_bytes() == b"of yesterday"
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_csv_is_utf8_with_commas_and_plain_newlines():
    table = pa.table({"a b": ["Köln", "x, y", 'say "so"', None], "n": [1.5, None, -3.0, 2.0]})
    assert written(table).decode("utf-8") == ('"a b","n"\n"Köln",1.5\n"x, y",\n"say ""so""",-3\n,2\n')


def test_a_table_without_rows_has_its_header():
    assert written(TABLE.slice(0, 0)).splitlines() == [b'"id","city","when","size","count","y"']


FORMULAS = ["=1+1", "+sum(a)", "-x", "@cmd", "\tx", "\r=1", '=cmd|"/C calc"!A0']
NO_FORMULAS = ["plain", "-5", "+1.5", "-1e3", "a=b", "", "'x"]


def test_formulas_become_text_and_numbers_stay():
    table = pa.table({"=name": FORMULAS + NO_FORMULAS, "n": range(len(FORMULAS + NO_FORMULAS))})
    header, *rows = csv.reader(io.StringIO(written(table).decode(), newline=""))
    assert header[0] == "'=name"
    assert [row[0] for row in rows] == [f"'{text}" for text in FORMULAS] + NO_FORMULAS
    header, *rows = csv.reader(io.StringIO(written(table, formulas=True).decode(), newline=""))
    assert [header[0]] + [row[0] for row in rows] == ["=name", *FORMULAS, *NO_FORMULAS]


def test_categories_are_guarded_as_text_is():
    table = pa.table({"a": pa.array(["=1", "b", "=1"]).dictionary_encode(), "b": [1, 2, 3]})
    assert written(table) == b'"a","b"\n"\'=1",1\n"b",2\n"\'=1",3\n'


def test_a_workbook_has_text_where_csv_would_have_formulas(tmp_path):
    path = tmp_path / "out.xlsx"
    table = pa.table({"a": FORMULAS, "b": [float("inf"), float("nan"), None, 1.0, 2.0, 3.0, 4.0]})
    write([table], table.schema, path)
    found = read(path).dataset.to_table()
    assert [text.strip() for text in found["a"].to_pylist()] == [text.strip() for text in FORMULAS]
    assert found["b"].to_pylist()[:3] == [float("inf"), None, None]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_a_workbook_keeps_every_digit(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("sheet") / "out.xlsx"
    table = pa.table({"n": pa.array(numbers, pa.int64()), "always": ["x"] * len(numbers)})
    write([table], table.schema, path)
    found = read(path, ReadingOptions(kinds={"n": "category"})).dataset.to_table()
    assert [int(text) for text in found["n"].to_pylist()] == numbers


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_a_workbook_has_moments_in_utc(unit, tmp_path):
    moments = [datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC), None]
    table = pa.table({"when": pa.array(moments, pa.timestamp(unit, "Europe/Berlin")), "n": [1, 2]})
    write([table], table.schema, tmp_path / "out.xlsx")
    found = read(tmp_path / "out.xlsx").dataset.to_table()
    assert found["when"].to_pylist() == [datetime.datetime(2024, 7, 1, 12), None]


def test_a_text_longer_than_a_cell_is_not_cut(tmp_path):
    def table(length):
        return pa.table({"note": ["x" * length], "n": [1]})

    write([table(32_767)], table(0).schema, tmp_path / "out.xlsx")
    assert len(read(tmp_path / "out.xlsx").dataset.to_table()["note"][0].as_py()) == 32_767
    with pytest.raises(ValueError, match=r"Column 'note' has a text of 32,768 letters, .* Write .csv"):
        write([table(32_768)], table(0).schema, tmp_path / "long.xlsx")
    assert not (tmp_path / "long.xlsx").exists()


def test_json_lines_are_json(tmp_path):
    path = tmp_path / "out.jsonl"
    table = pa.table(
        {"a": [1.5, float("nan"), float("inf")], "when": [datetime.datetime(2024, 1, 2)] * 3}
    )
    write([table], table.schema, path)

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    rows = [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]
    assert [row["a"] for row in rows] == [1.5, None, None]
    assert rows[0]["when"] == "2024-01-02T00:00:00"


def test_standard_output_gets_csv(capfdbinary):
    write([TABLE], TABLE.schema, "-")
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == written(TABLE)


def test_a_place_that_cannot_be_written_to_says_so(tmp_path):
    with pytest.raises(ValueError, match=r"'.*out.doc' ends in '.doc', .* Use .csv, .tsv, .parquet"):
        write([TABLE], TABLE.schema, tmp_path / "out.doc")
    with pytest.raises(ValueError, match=r"no folder '.*nowhere' to write out.csv to"):
        write([TABLE], TABLE.schema, tmp_path / "nowhere" / "out.csv")


def test_more_rows_than_a_sheet_has(tmp_path, monkeypatch):
    monkeypatch.setattr("twinviews.reading.writers._MOST_SHEET_ROWS", N_ROWS)
    with pytest.raises(ValueError, match=rf"room for {N_ROWS - 1} rows, .* Write .csv"):
        write([TABLE], TABLE.schema, tmp_path / "out.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_excel_without_its_writer_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(ImportError, match=r"xlsxwriter .* pip install 'twinviews\[excel\]'"):
        write([TABLE], TABLE.schema, tmp_path / "out.xlsx")
