"""Python and the command line open every table through one door, and give one model."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

from messy.tables import GOOD, WRONG, Messy
from messy.truth import TRUTH, as_text, delimited
from twinviews import XNVClassifier, XNVRegressor, load_model, save_model, suggest
from twinviews.cli import main
from twinviews.reading import ReadingOptions, read


def put(messy: Messy, folder):
    path = folder / f"table{messy.suffix}"
    path.write_bytes(messy.content)
    return path


def arguments_of(options: ReadingOptions) -> list[str]:
    """The same options in the words of the command line."""
    said = [f"--kind={name}={kind}" for name, kind in options.kinds.items()]
    if options.missing is not None:
        said.append(f"--missing={','.join(options.missing)}")
    return said


def command(*arguments) -> dict:
    done = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def model_for(task: str):
    """As ``twinviews fit --quick`` makes it."""
    kind = XNVRegressor if task == "regression" else XNVClassifier
    return kind(random_state=0, committee=False, scale="standard")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("messy", GOOD, ids=str)
def test_a_messy_table_gives_one_model_and_one_prediction(messy, tmp_path):
    path, said = put(messy, tmp_path), arguments_of(messy.options)
    written = tmp_path / "model.twinviews"
    done = command("fit", path, "--target", "y", "-o", written, "--quick", *said)
    by_command = load_model(written)
    model = model_for(done["task"]).fit_table(path, target="y", reading=messy.options)
    assert_array_equal(model.landmarks_, by_command.landmarks_)
    assert_array_equal(model.coef_, by_command.coef_)
    assert (model.n_labeled_, model.n_unlabeled_) == (done["n_labeled"], done["n_unlabeled"])
    assert model.about_["kinds"] == done["kinds"]

    command("predict", written, path, "-o", tmp_path / "command.parquet", "--no-intervals", *said)
    out = model.predict_table(path, tmp_path / "python.parquet", reading=messy.options)
    ours, theirs = pq.read_table(out), pq.read_table(tmp_path / "command.parquet")
    assert ours == theirs.select(ours.column_names)
    stream = io.BytesIO(messy.content)
    streamed = model_for(done["task"]).fit_table(stream, target="y", reading=messy.options)
    assert_array_equal(streamed.coef_, model.coef_)


@pytest.mark.parametrize("messy", WRONG, ids=str)
def test_a_wrong_table_gives_one_error(messy, tmp_path):
    path = put(messy, tmp_path)
    with pytest.raises(ValueError, match=messy.error) as caught:
        XNVRegressor().fit_table(path, target="y", reading=messy.options)
    with pytest.raises(ValueError, match=messy.error) as read_alone:
        read(path, messy.options)
    assert str(caught.value) == str(read_alone.value)


GERMAN = as_text(decimal=",", date="%d.%m.%Y")


def test_what_the_fit_found_out_is_used_by_predictions(tmp_path):
    """A single row says neither which sign is the decimal one nor which date comes first."""
    whole = {**GERMAN, "size": [f"{value:.3f}".replace(".", ",") for value in TRUTH["size"]]}
    content = delimited(whole, delimiter=";")
    (tmp_path / "all.csv").write_bytes(content)
    lines = content.splitlines(keepends=True)
    model = model_for("regression").fit_table(tmp_path / "all.csv", target="y")
    save_model(model, tmp_path / "model")
    expected = model.predict(
        pd.DataFrame({name: TRUTH[name] for name in ("id", "city", "when", "size", "count")})
    )
    one = tmp_path / "one.csv"
    for row in (0, 5, 17):
        one.write_bytes(lines[0] + lines[row + 1])
        for fitted in (model, load_model(tmp_path / "model")):
            (found,) = fitted.predict_batches(one)
            assert_allclose(found["prediction"].to_pylist(), expected[[row]], rtol=1e-9)
        command("predict", tmp_path / "model", one, "-o", tmp_path / "one.jsonl", "--no-intervals")
        said = json.loads((tmp_path / "one.jsonl").read_text())
        assert said["prediction"] == pytest.approx(expected[row], rel=1e-9)


@pytest.fixture
def model(tmp_path):
    (tmp_path / "rows.csv").write_bytes(delimited(as_text()))
    return model_for("regression").fit_table(tmp_path / "rows.csv", target="y")


def test_whatever_holds_the_rows_is_opened(model, tmp_path):
    table = pa.table(TRUTH)
    path = tmp_path / "rows.csv"
    lines = path.read_bytes().splitlines(keepends=True)
    (tmp_path / "1.csv").write_bytes(b"".join(lines[:40]))
    (tmp_path / "2.csv").write_bytes(lines[0] + b"".join(lines[40:]))
    sources = [
        str(path),
        [tmp_path / "1.csv", tmp_path / "2.csv"],
        read(path),
        io.BytesIO(path.read_bytes()),
        table,
        table.to_pandas().set_index("id", drop=False),
        ds.dataset(table),
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=10)),
    ]
    expected = pa.concat_tables(model.predict_batches(path, keep=["id"]))
    for source in sources:
        found = pa.concat_tables(model.predict_batches(source, keep=["id"]))
        assert found["id"].to_pylist() == TRUTH["id"]
        assert_allclose(found["prediction"], expected["prediction"], rtol=1e-12, atol=1e-11)
    once = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=10))
    again = model_for("regression").fit_table(once, target="y")
    assert_allclose(again.predict(table.to_pandas()), expected["prediction"], rtol=1e-7)


def test_suggestions_read_a_file_as_the_fit_did(model, tmp_path):
    path = tmp_path / "rows.csv"
    by_file = suggest(model, path, 5, target="y", keep=["id"], random_state=0)
    by_stream = suggest(model, io.BytesIO(path.read_bytes()), 5, target="y", random_state=0)
    in_memory = suggest(
        model, pd.DataFrame(TRUTH).drop(columns="y"), 5, y=np.array(TRUTH["y"], float), random_state=0
    )
    assert by_file.places.tolist() == by_stream.places.tolist() == in_memory.places.tolist()


def test_predictions_are_written_in_the_format_of_the_ending(model, tmp_path):
    expected = pa.concat_tables(model.predict_batches(tmp_path / "rows.csv"))["prediction"]
    for name in ("out.csv", "out.jsonl", "out.arrow", "out.pq"):
        out = model.predict_table(tmp_path / "rows.csv", tmp_path / name, keep=["id"])
        found = read(out).dataset.to_table()["prediction"]
        assert_allclose(found, expected, rtol=1e-12)


def test_sources_that_are_none(model, tmp_path):
    with pytest.raises(ValueError, match=r"reading=.* says how a file is written"):
        model.predict_table(pa.table(TRUTH), tmp_path / "o.parquet", reading=ReadingOptions())
    for nothing in (5, np.zeros((3, 2))):
        with pytest.raises(ValueError, match="a table is needed: a path"):
            XNVRegressor().fit_table(nothing, target="y")
    with pytest.raises(ValueError, match="list of files is empty"):
        read([])
    with pytest.raises(ValueError, match="name a Parquet file"):
        model.predict_table(tmp_path / "rows.csv")


@pytest.fixture
def parses(monkeypatch):
    """How often a CSV file is parsed: streams that are opened, and scans of data sets."""
    counted = []
    open_csv, dataset = arrow_csv.open_csv, ds.dataset

    def counting_open(*arguments, **options):
        counted.append("stream")
        return open_csv(*arguments, **options)

    monkeypatch.setattr(arrow_csv, "open_csv", counting_open)

    class Counting:
        """A data set that counts its scans."""

        def __init__(self, dataset):
            self._dataset = dataset

        def __getattr__(self, name):
            if name in ("scanner", "to_batches", "count_rows", "to_table", "head"):
                counted.append(name)
            return getattr(self._dataset, name)

    def counting_dataset(*arguments, **options):
        found = dataset(*arguments, **options)
        return Counting(found) if isinstance(options.get("format"), ds.CsvFileFormat) else found

    monkeypatch.setattr(ds, "dataset", counting_dataset)
    return counted


@pytest.mark.parametrize("report", [False, True])
def test_a_csv_file_is_parsed_twice_for_a_fit(parses, report, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    table["y"] = table["a"].where(table.index % 3 == 0)
    table.to_csv(tmp_path / "rows.csv", index=False)
    page = ["--report", tmp_path / "page.html"] if report else []
    command("fit", tmp_path / "rows.csv", "--target", "y", "-o", tmp_path / "m", "--quick", *page)
    assert len(parses) == 2, parses
    parses.clear()
    XNVRegressor(committee=False, progress=True).fit_table(tmp_path / "rows.csv", target="y")
    assert len(parses) == 2, parses
    parses.clear()
    command("predict", tmp_path / "m", tmp_path / "rows.csv", "-o", tmp_path / "o.csv")
    assert len(parses) == 2, parses
