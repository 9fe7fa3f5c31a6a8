"""Values that the user calls missing, in every format: a number is one number however it is written."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from twinviews import KRRClassifier, KRRRegressor
from twinviews.reading import ReadingOptions, read

FRAME = pd.DataFrame(
    {
        "a": [0.5, -1.0, 2.5, -1.5, 3.0, 4.0],
        "y": [7, 8, -1, 9, -1, 10],
        "word": ["x", "tbd", "z", "-1", "x", "z"],
    }
)


def write_csv(frame, path):
    frame.to_csv(path, index=False)


def write_german(frame, path):
    frame.to_csv(path, index=False, sep=";", decimal=",")


def write_parquet(frame, path):
    frame.to_parquet(path, index=False, row_group_size=4)


def write_narrow(frame, path):
    write_parquet(frame.astype({"a": "float32", "y": "int8"}), path)


def write_categories(frame, path):
    write_parquet(frame.astype({"y": "category", "word": "category"}), path)


def write_floats(frame, path):
    write_parquet(frame.astype({"y": "float64"}), path)


def write_arrow(frame, path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


def write_stream(frame, path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table)


def write_json(frame, path):
    frame.to_json(path, orient="records", lines=True)


def write_excel(frame, path):
    frame.to_excel(path.with_suffix(".xlsx"), index=False)
    path.with_suffix(".xlsx").rename(path)


WRITERS = [
    write_csv,
    write_german,
    write_parquet,
    write_narrow,
    write_categories,
    write_floats,
    write_arrow,
    write_stream,
    write_json,
    write_excel,
]
formats = pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__[6:])


@formats
@pytest.mark.parametrize("mark", ["-1", "-1.0"])
def test_a_number_is_a_blank_in_every_format(write, mark, tmp_path):
    write(FRAME, tmp_path / "table")
    found = read(tmp_path / "table", ReadingOptions(missing=(mark, "tbd"))).dataset.to_table()
    assert found["y"].to_pylist() == [7, 8, None, 9, None, 10]
    assert found["a"].to_pylist() == [0.5, None, 2.5, -1.5, 3.0, 4.0]
    assert found["word"].to_pylist()[:3] == ["x", None, "z"]


@formats
def test_decimals_are_found_in_every_format(write, tmp_path):
    write(FRAME.replace(-1.5, -99.9), tmp_path / "table")
    found = read(tmp_path / "table", ReadingOptions(missing=("-99.9",))).dataset.to_table()
    assert found["a"].to_pylist() == [0.5, -1, 2.5, None, 3, 4]
    assert found["y"].null_count == 0


def test_what_no_value_equals_changes_nothing(tmp_path):
    write_parquet(FRAME, tmp_path / "table")
    words = ("-7", "1e400", "nan", "inf", "2.5.1", "-0.25", "99999999999999999999999")
    found = read(tmp_path / "table", ReadingOptions(missing=words))
    assert found.dataset.to_table().to_pylist() == FRAME.to_dict("records")
    assert found.dataset.files == [str(tmp_path / "table")]  # no copy


@formats
def test_missing_label_is_a_number_in_every_format(write, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(3)
    labels = np.where(np.arange(60) < 40, 20 + (10 * X[:, 0]).round(), -1).astype(int)
    classes = np.where(np.arange(60) < 40, X[:, 0] > 0, -1).astype(int)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": labels, "word": "x"})
    write(frame, tmp_path / "numbers")
    write(frame.assign(y=classes), tmp_path / "classes")
    for mark in (-1, -1.0):
        options = {"target": "y", "columns": ["a", "b"]}
        model = KRRRegressor(missing_label=mark).fit_table(tmp_path / "numbers", **options)
        assert model.n_labeled_ == 40
        model = KRRClassifier(missing_label=mark).fit_table(tmp_path / "classes", **options)
        assert model.n_labeled_ == 40
        assert model.classes_.tolist() == [0, 1]
