"""Tables from strangers: read, or refused in one line; and what is written does no harm to others."""

import csv
import gzip
import io
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confinement
from counts import often, tried
from twinviews.reading import ReadingOptions, read, write

MANGLED_OF_A_PART = often(500, 5000)


@pytest.mark.parametrize("part", range(often(1, 20)))
def test_a_mangled_table_is_read_or_refused(part, tmp_path):
    """A table that was damaged, in any format, is read as a sound table or refused in one line that
    names the file; Python never crashes, hangs or runs out of memory, no code is run, and Parquet,
    Arrow, Excel and gzip files that were cut short are never taken for shorter tables."""
    first = part * MANGLED_OF_A_PART
    found = confinement.run("mangled_tables.py", tmp_path, first, MANGLED_OF_A_PART)
    assert found["refused"] > 0
    assert found["read"] > 0
    tried("mangled tables", found["refused"] + found["read"])


# --- bombs -----------------------------------------------------------------------------------------


def packed(start, piece, times):
    """Gzip of a start and of a piece again and again: a few bytes for megabytes."""
    return gzip.compress(start) + gzip.compress(piece) * times


def parquet_of_nothing(path):
    nothing = pa.table({name: pa.nulls(60_000_000) for name in "abcde"})
    pq.write_table(nothing, path, row_group_size=60_000_000)


def one_long_text():
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int8()), ["x" * 1_000_000])
    return pa.table({"a": words, "b": range(100_000)})


def arrow_of(table, path):
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def workbook_of_zeros(path):
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as member,
    ):
        for _ in range(2200):
            member.write(bytes(1 << 20))


LONG = 1500  # megabytes, more than the process may take
X = b"x" * (1 << 20)
BOMBS = {
    "Parquet, 300 million blanks.parquet": parquet_of_nothing,
    "Parquet, one long text.parquet": lambda path: pq.write_table(one_long_text(), path),
    "Arrow, one long text.arrow": lambda path: arrow_of(one_long_text(), path),
    "Arrow, a billion blanks.arrow": lambda path: arrow_of(pa.table({"a": pa.nulls(10**9)}), path),
    "CSV, one long line.csv.gz": lambda path: path.write_bytes(packed(b"a,b\n1,2\n", X, LONG)),
    "CSV, one long cell.csv.gz": lambda path: path.write_bytes(packed(b'a,b\n1,"', X, LONG)),
    "CSV, a long header.csv.gz": lambda path: path.write_bytes(packed(b"a,b", X, LONG)),
    "CSV, a million columns.csv": lambda path: path.write_bytes(b"," * 1_000_000 + b"\n"),
    "JSON, one long line.jsonl.gz": lambda path: path.write_bytes(packed(b'{"a": "', X, LONG)),
    "JSON, nested lists.jsonl": lambda path: path.write_bytes(b'{"a":' + b"[" * 5_000_000),
    "JSON, nested objects.jsonl": lambda path: path.write_bytes(b'{"a":' * 5_000_000),
}
if often(False, True):  # which take seconds to pack
    BOMBS["Excel, 2 GB of zeros.xlsx"] = workbook_of_zeros


def test_a_bomb_is_refused(tmp_path):
    """A small file that unpacks to more than the memory, nests deeper than the stack or has a line
    without end is refused in one line, within 1 GB."""
    paths = [tmp_path / name for name in BOMBS]
    for path in paths:
        BOMBS[path.name](path)
        assert path.stat().st_size < 30_000_000
    for path, line in zip(paths, confinement.run("confined_read.py", tmp_path, *paths), strict=True):
        assert str(line).startswith(str(path)), line
        assert len(line.splitlines()) == 1
        tried("bombs")


# --- formulas --------------------------------------------------------------------------------------

FORMULA_SIGNS = tuple("=+-@\t\r\n＝＋－＠")
LETTERS = st.characters(codec="utf-8", exclude_characters="\0")
TEXTS = st.text(LETTERS) | st.builds(str.__add__, st.sampled_from(FORMULA_SIGNS), st.text(LETTERS))
TEXTS |= st.floats(allow_nan=False, allow_infinity=False).map(str) | st.integers().map(str)


def is_formula(cell):
    """To a spreadsheet: it begins with one of its signs and is no number."""
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return cell.startswith(FORMULA_SIGNS)
    return cell != cell.strip() and cell.startswith(FORMULA_SIGNS)


@pytest.mark.parametrize("delimiter", [",", "\t"])
@given(texts=st.lists(st.none() | TEXTS, min_size=1), name=TEXTS)
@settings(max_examples=often(100, 20_000), deadline=None)
def test_no_written_text_begins_a_formula_and_none_is_lost(delimiter, texts, name, tmp_path_factory):
    """No text in CSV or TSV, no name of a column either, is a formula to a spreadsheet; apart from an
    apostrophe in front it stays what it was, and numbers stay numbers."""
    path = tmp_path_factory.getbasetemp() / ("out.csv" if delimiter == "," else "out.tsv")
    table = pa.table({name: pa.array(texts, pa.string()), f"{name}2": [-1.5] * len(texts)})
    write([table], table.schema, path)
    text = path.read_bytes().decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    for said, cell in zip([name, *texts], [header[0], *(row[0] for row in rows)], strict=True):
        assert not is_formula(cell)
        assert cell in (said or "", f"'{said}")
    assert {row[1] for row in rows} == {"-1.5"}
    tried("tables")


@given(texts=st.lists(TEXTS, min_size=1, max_size=20))
@settings(max_examples=often(20, 2000), deadline=None)
def test_no_text_of_a_workbook_is_a_formula(texts, tmp_path_factory):
    """Every text in a workbook is a text to Excel, whatever it begins with."""
    path = tmp_path_factory.getbasetemp() / "out.xlsx"
    table = pa.table({"a": texts, "b": ["x"] * len(texts)})
    write([table], table.schema, path)
    with zipfile.ZipFile(path) as archive:
        sheets = [archive.read(name) for name in archive.namelist() if "worksheets" in name]
    assert not any(b"<f" in sheet for sheet in sheets)
    assert read(path, ReadingOptions(kinds={"a": "category"})).n_rows == len(texts)
    tried("workbooks")
