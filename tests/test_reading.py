import pytest

from messy.tables import GOOD, WRONG, Messy
from messy.truth import N_ROWS, TRUTH
from twinviews.reading import read


def put(messy: Messy, folder):
    path = folder / f"table{messy.suffix}"
    path.write_bytes(messy.content)
    return path


@pytest.mark.parametrize("messy", GOOD, ids=str)
def test_a_messy_table_is_read_as_what_it_means(messy, tmp_path):
    found = read(put(messy, tmp_path), messy.options)
    assert {column.name: column.kind for column in found.columns} == messy.kinds
    table = found.dataset.to_table()
    assert table.num_rows == N_ROWS
    for name in messy.true:
        assert table[name].to_pylist() == TRUTH[name]
    said = [str(guess) for guess in found.guesses]
    assert all(guess in said for guess in messy.says), said
    assert all("\n" not in line for line in said)


@pytest.mark.parametrize("messy", WRONG, ids=str)
def test_a_wrong_table_gives_one_line_that_says_where_and_what_to_do(messy, tmp_path):
    path = put(messy, tmp_path)
    with pytest.raises(ValueError, match=messy.error) as caught:
        read(path, messy.options)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(str(path))
    assert line.endswith(".")
    assert not any(word in line for word in ("Arrow", "arrow::", "CSV parse error", "Traceback"))
