"""Labels of the page in a later fit: all of them, and how each came about."""

import json
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal

from twinviews import XNVRegressor, label_probabilities, load_model
from twinviews.cli import main
from twinviews.labeling.entries import Entry, LabelTarget
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.labeled_table import with_labels
from twinviews.labeling.store_format import TableIdentity, label_file
from twinviews.labeling.table_copy import TableCopy, row_fingerprints
from twinviews.reading import read

N = 300
PRICE = LabelTarget("price", "regression")
ORIGINS = ["random"] * 30 + ["suggested"] * 40 + ["chosen"] * 5 + ["imported"] * 5


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, N))
    return pd.DataFrame({"a": a, "b": b, "price": a + 0.1 * rng.normal(size=N)})


@pytest.fixture
def homes(tmp_path, rows):
    """A table with 10 labels of its own in the last rows, and 80 labels of the page."""
    shown = rows.assign(price=rows["price"].where(rows.index >= N - 10))
    path = tmp_path / "homes.csv"
    shown.to_csv(path, index=False)
    label(path, range(80), rows["price"], ORIGINS)
    return path


def label(path, places, prices, origins, answer="label"):
    with TableCopy(read(path)) as table:
        identity = TableIdentity(path.name, table.n_rows, tuple(table.schema.names))
        with LabelStore(label_file(path), identity) as store:
            store.add_target(PRICE)
            for row, origin in zip(places, origins, strict=True):
                value = float(prices[row]) if answer == "label" else None
                entry = Entry(uuid4().hex, "price", row, answer, value, origin, 0)
                store.record(entry, *row_fingerprints(table, [row], ["price"]))


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_every_label_comes_with_its_probability(homes, rows):
    found = with_labels(read(homes), label_file(homes), "price")
    table = found.reading.dataset.to_table().to_pandas()
    assert found.reading.n_rows == len(table) == N
    assert_array_equal(table[["a", "b"]], pd.read_csv(homes)[["a", "b"]])
    known = np.r_[0:80, N - 10 : N]
    assert_array_equal(np.flatnonzero(table["price"].notna()), known)
    assert_allclose(table["price"][known], rows["price"][known], rtol=1e-12)
    expected = label_probabilities([*ORIGINS, *["given"] * 10], N)
    assert_allclose(table[found.probability][known], expected)
    # Rows without a label had the same chance as those drawn at random.
    assert_allclose(table[found.probability].drop(known), expected.min())
    assert (1 / expected).sum() == pytest.approx(N)
    assert found.words() == (
        "price: 90 labels; 30 drawn at random, 40 suggested, 5 chosen by a person, 5 imported, "
        "10 of the table itself"
    )


def test_rows_without_a_label_have_none(homes, rows):
    label(homes, [90, 91], rows["price"], ["random", "suggested"], answer="skip")
    found = with_labels(read(homes), label_file(homes), "price")
    assert found.how.total() == 90


def test_fit_uses_the_labels_of_the_page(homes, rows, tmp_path):
    labels, model = label_file(homes), tmp_path / "m.twinviews"
    done = run("fit", homes, "--target", "price", "--labels", labels, "-o", model, "--quick", "--json")
    facts = json.loads(done.stdout)
    assert facts["n_labeled"] == 90
    assert facts["how"] == {"random": 30, "suggested": 40, "chosen": 5, "imported": 5, "given": 10}
    assert [column["name"] for column in facts["columns"]] == ["a", "b"]
    assert "90 labels; 30 drawn at random, 40 suggested" in done.stderr
    known = np.r_[0:80, N - 10 : N]
    y, p = np.full(N, np.nan), np.ones(N)
    y[known] = rows["price"][known]
    p[known] = label_probabilities([*ORIGINS, *["given"] * 10], N)
    by_hand = XNVRegressor(members=None, scale="standard", random_state=0)
    by_hand.fit(rows[["a", "b"]], y, label_probability=p)
    assert load_model(model).cv_error_ == pytest.approx(by_hand.cv_error_, rel=1e-6)
    without = by_hand.fit(rows[["a", "b"]], y)
    assert abs(load_model(model).cv_error_ / without.cv_error_ - 1) > 1e-3


def test_a_target_that_the_table_does_not_have_is_that_of_the_page(tmp_path, rows):
    path, model = tmp_path / "new.csv", tmp_path / "m.twinviews"
    rows[["a", "b"]].to_csv(path, index=False)
    label(path, range(40), rows["price"].round(), ["random"] * 40)
    labels = label_file(path)
    done = run("fit", path, "--target", "price", "--labels", labels, "-o", model, "--quick", "--json")
    assert json.loads(done.stdout)["task"] == "regression"  # as the page knows, though all are whole


def test_labels_beside_the_table_are_mentioned(homes, tmp_path):
    done = run("fit", homes, "--target", "price", "-o", tmp_path / "m.twinviews", "--quick")
    assert f"not used here; --labels {label_file(homes)} uses them" in done.stderr


def test_labels_that_do_not_belong_to_the_table_are_refused(homes, rows, tmp_path):
    labels, other = label_file(homes), tmp_path / "other.csv"
    options = ["--labels", labels, "-o", tmp_path / "m.twinviews"]
    done = run("fit", homes, "--target", "cost", *options, code=3)
    assert "There is no target 'cost'. The targets are 'price'" in done.stderr
    rows.head(50).to_csv(other, index=False)
    done = run("fit", other, "--target", "price", *options, code=3)
    assert "has labels of a table with 300 rows" in done.stderr
    rows.assign(a=rows["a"] + 1).to_csv(other, index=False)
    done = run("fit", other, "--target", "price", *options, code=3)
    assert "is not the one that was labeled" in done.stderr
    done = run("fit", homes, "--target", "price", *options, "--strata", "a", code=3)
    assert "--strata a says how labels were given, and so does the file of --labels" in done.stderr
    done = run("fit", homes, "--target", "price", "--labels", "none", *options[2:], code=4)
    assert "There is no file 'none'" in done.stderr
