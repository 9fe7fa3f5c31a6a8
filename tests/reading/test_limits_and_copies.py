"""Files that would fill the memory or are damaged, and copies that leave nothing behind."""

import gc
import io
import os
import re
import subprocess
import sys
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from messy.tables import GOOD
from messy.truth import N_ROWS, as_text, delimited
from read_tables import from_bytes, put
from twinviews.reading import columnar, read, workbook


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


def test_excel_without_its_reader_names_the_extra(tmp_path, monkeypatch):
    messy = next(messy for messy in GOOD if messy.name == "Excel")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ImportError, match=r"python-calamine .* pip install 'twinviews\[excel\]'"):
        read(put(messy, tmp_path))
