"""A file format, added from outside the package: ``name = value`` lines, rows a blank line apart."""

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from messy.truth import TRUTH
from twinviews import XNVRegressor
from twinviews.reading import FileFormat, Reading, ReadingOptions, formats, read, register_format, write
from twinviews.reading.typed import find_types


def read_cards(paths, options, source):
    """Text whose types are found out, as in CSV."""
    blocks = [block for path in paths for block in path.read_text().strip().split("\n\n")]
    rows = [dict(line.split(" = ", 1) for line in block.splitlines()) for block in blocks]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [pa.array([row.get(name) for row in rows], pa.string()) for name in names]
    text = pa.record_batch(columns, names)
    typing = find_types([text], names, options, lambda row: f"{source}, card {row + 1}")
    dataset = ds.dataset(pa.Table.from_batches(typing.convert([text])))
    return Reading(source, dataset, typing.guesses, typing.n_rows, typing.written)


class CardWriter:
    def __init__(self, path, schema, formulas):
        self.file = path.open("w", encoding="utf-8")

    def write(self, batch):
        for row in batch.to_pylist():
            known = {name: value for name, value in row.items() if value is not None}
            self.file.write("".join(f"{name} = {value}\n" for name, value in known.items()) + "\n")

    def close(self):
        self.file.close()


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(formats, "_FORMATS", list(formats._FORMATS))
    register_format(FileFormat("cards", (".cards",), read=read_cards, open_writer=CardWriter))


def test_a_format_is_written_read_fitted_and_predicted(tmp_path):
    table = pa.table(TRUTH)
    assert write([table], table.schema, tmp_path / "t.cards") == table.num_rows
    found = read(tmp_path / "t.cards")
    assert found.kinds["size"] == "number:1234.5"
    assert found.dataset.to_table().select(table.column_names).to_pydict() == TRUTH
    with pytest.raises(ValueError, match=r"t.cards, card 1, column 'city': 'Aachen' is not a number"):
        read(tmp_path / "t.cards", ReadingOptions(kinds={"city": "number"}))
    model = XNVRegressor(committee=False, random_state=0)
    model.fit_table(tmp_path / "t.cards", target="y")
    expected = model.predict(table.to_pandas().drop(columns="y"))
    out = model.predict_table(tmp_path / "t.cards", tmp_path / "o.cards", keep=["id"])
    assert read(out).dataset.to_table()["prediction"].to_pylist() == pytest.approx(expected.tolist())


def test_folders_of_it_are_one_table(tmp_path):
    for name, place in (("1", 0), ("2", 48)):
        part = pa.table(TRUTH).slice(place, 48)
        write([part], part.schema, tmp_path / f"{name}.cards")
    assert read(tmp_path).n_rows == 96
    (tmp_path / "3.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"3.csv is CSV, but .*1.cards is cards"):
        read(tmp_path)
