"""Every table of the messy corpus is read as what it means, or refused in one line."""

import io
from pathlib import Path

import pytest

from messy.tables import GOOD, MESSY, WRONG
from messy.truth import N_ROWS, TRUTH, as_text, delimited
from read_tables import put, said
from twinviews.reading import delimited as delimited_files
from twinviews.reading import read

TEXT = [messy for messy in GOOD if messy.suffix in (".csv", ".tsv", ".txt")]


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


def test_the_line_for_a_person(tmp_path):
    path = Path(tmp_path, "sales.csv")
    path.write_bytes(delimited(as_text(decimal=",", date="%d.%m.%Y"), delimiter=";", encoding="cp1252"))
    assert str(read(path)) == (
        f"{path}: 96 rows; delimiter ';' (--delimiter); encoding cp1252 (--encoding); decimal ',' "
        "(--decimal); columns 4 number, 1 category, 1 date "
        "(--kind NAME=number|category|date|boolean|skip)"
    )
