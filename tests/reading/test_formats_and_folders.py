"""Files with types of their own, folders that are one table, pipes."""

import datetime
import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from messy.tables import GOOD, MESSY
from messy.truth import N_ROWS, TRUTH, as_text, delimited
from read_tables import from_bytes, said
from twinviews.reading import ReadingOptions, read, write

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


def test_brackets_in_texts_are_not_nesting():
    text = "[{" * 2000
    line = json.dumps({"a": text, "when": "2024-01-01"}).encode()
    found = from_bytes(line + b"\n")
    assert found.dataset.to_table()["a"].to_pylist() == [text]
    assert [column.kind for column in found.columns] == ["category", "date"]
