"""twinviews explain: sentences, a table and JSON with the same numbers."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

from twinviews import XNVRegressor, load_model, save_model
from twinviews.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    frame["town"] = rng.choice(["Bern", "Zug"], 200)
    y = 3 * frame.a + (frame.town == "Zug") + 0.1 * rng.normal(size=200)
    frame["y"] = y.where(np.arange(200) % 4 == 0)
    frame.to_csv(folder / "rows.csv", index=False)
    model = XNVRegressor(random_state=0, members=None)
    save_model(model.fit_table(folder / "rows.csv", target="y"), folder / "model.twinviews")
    return folder


def run(folder, *options, code=0):
    paths = [str(folder / "model.twinviews"), str(folder / "rows.csv")]
    result = CliRunner().invoke(main, ["explain", *paths, *map(str, options)])
    assert result.exit_code == code, result.output
    return result


def test_rows_are_explained_in_the_order_in_which_they_are_named(folder, tmp_path):
    result = run(folder, "--rows", "7,2-3", "--target", "y", "-o", tmp_path / "because.csv", "--json")
    said = [line for line in result.stderr.splitlines() if line.startswith("Row ")]
    assert [line.split(":")[0] for line in said] == ["Row 7", "Row 2", "Row 3"]
    told = json.loads(result.stdout)["rows"]
    assert [one["row"] for one in told] == [7, 2, 3]
    frame = pd.read_csv(folder / "rows.csv")
    expected = load_model(folder / "model.twinviews").predict(frame.iloc[[6, 1, 2], :3])
    for one, prediction in zip(told, expected, strict=True):
        added = one["contributions"]["prediction"]
        assert_allclose(one["base"]["prediction"] + sum(added.values()), prediction, atol=1e-6)
        assert max(added, key=lambda name: abs(added[name])) == "a"
        for similar in one["similar"]:
            assert frame.y[similar["row"] - 1] == pytest.approx(float(similar["label"]))
    lines = pd.read_csv(tmp_path / "because.csv")
    assert lines["column"].tolist() == ["a", "b", "town"] * 3
    assert lines["value"][2] == frame.town[6]
    first = told[0]["contributions"]["prediction"]
    assert_allclose(lines["contribution"][:3], list(first.values()), rtol=1e-9)
    assert f"(rows {', '.join(str(one['row']) for one in told[0]['similar'])})" in said[0]


@pytest.mark.parametrize(
    ("rows", "code", "message"),
    [
        ("0", 3, "There is no row 0: rows are counted from 1, and the table has 200."),
        ("5,201", 3, "There is no row 201"),
        ("x", 2, "'x' must be a row or a range of rows"),
        ("1-2000", 3, "names 2,000 rows, and 1,000 are the most"),
        ("9-5,1", 2, "'9-5' must rise"),
    ],
)
def test_rows_that_are_not_there_are_named(folder, rows, code, message):
    assert message in run(folder, "--rows", rows, code=code).stderr


def test_a_wrong_target_is_named(folder):
    assert "There is no column 'price'" in run(folder, "--target", "price", code=3).stderr
