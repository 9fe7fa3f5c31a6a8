"""More labels than a fit holds: told, the same model however they come, and kept in its file."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from conftest import make
from twinviews import DataWarning, XNVClassifier, XNVRegressor, load_model, save_model

GIVEN = {"n_components": 20, "sigma": 1.5, "ridge": 1e-2, "correlation_ridge": 1e-4}
pytestmark = pytest.mark.filterwarnings("ignore::twinviews.data_checks.data_finding.DataWarning")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = np.where(np.arange(600) < 400, X[:, 0] + 0.1 * rng.normal(size=600), np.nan)
    return X, y


def fitted(X, y, **options):
    return XNVRegressor(**GIVEN, max_labels=150, random_state=0, **options).fit(X, y)


def test_it_is_told_with_both_numbers_and_the_way_out(rows):
    with pytest.warns(DataWarning, match=r"150 of 400 labels are used: .* max_labels=400 uses all"):
        model = fitted(*rows)
    assert (model.n_labeled_, model.n_labels_unused_, model.n_unlabeled_) == (400, 250, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        assert XNVRegressor(**GIVEN, max_labels=400).fit(*rows).n_labels_unused_ == 0


def test_order_file_relabel_and_parts_give_the_same_labels(rows, tmp_path):
    X, y = rows
    model, turn = fitted(X, y), np.random.default_rng(1).permutation(len(X))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    table.iloc[turn].to_csv(tmp_path / "t.csv", index=False)
    by_file = XNVRegressor(**GIVEN, max_labels=150, random_state=0, scale=None)
    by_file.fit_table(tmp_path / "t.csv", target="y")
    relabeled = fitted(X, y).relabel(X[turn], y[turn])
    for other in (fitted(X[turn], y[turn]), relabeled, by_file):
        named = X if other is not by_file else table[["a", "b", "c"]]
        assert_allclose(other.predict(named), model.predict(X), rtol=1e-8, atol=1e-9)
        assert other.n_labels_unused_ == 250


def test_taken_in_by_parts_the_number_held_stays_and_the_number_seen_is_exact(rows):
    X, y = rows
    landmarks = XNVRegressor(**GIVEN, random_state=0).fit(X, y).landmarks_
    options = {**GIVEN, "max_labels": 150, "random_state": 0, "landmarks": landmarks}
    parts = [(X[part::3], y[part::3]) for part in range(3)]
    streamed, merged = XNVRegressor(**options), XNVRegressor(**options).fit(*parts[0])
    for one in parts:
        streamed.partial_fit(*one)
    for one in parts[1:]:
        merged.merge(XNVRegressor(**options).fit(*one))
    assert_allclose(streamed.predict(X), merged.predict(X), rtol=1e-8, atol=1e-9)
    for model in (streamed, merged):
        assert (model.n_labeled_, model.n_labels_unused_) == (400, 250)
        assert sum(len(problem.Y) for problem in model._solution.problems) == 150


def test_a_file_of_the_whole_model_goes_on_where_it_was(rows, tmp_path):
    X, y = rows
    model = fitted(X[::2], y[::2])
    save_model(model, tmp_path / "m", whole=True)
    loaded = load_model(tmp_path / "m")
    assert loaded.n_labels_unused_ == model.n_labels_unused_ == 50
    for one in (model, loaded):
        one.partial_fit(X[1::2], y[1::2])
    assert_allclose(loaded.predict(X), model.predict(X), rtol=1e-10)
    assert loaded.n_labels_unused_ == 250


def test_strata_are_counted_over_all_labels():
    """What a label stands for does not depend on how many labels are held."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(900, 2)), columns=["a", "b"])
    table["s"] = np.repeat(["x", "y", "z"], 300)
    table["y"] = np.where(rng.random(900) < np.repeat([0.2, 0.5, 0.9], 300), table["a"], np.nan)
    share = table["y"].notna().groupby(table["s"]).mean()
    model = XNVRegressor(**GIVEN, max_labels=100, random_state=0, scale="standard")
    model.fit_table(table, target="y", strata="s", columns=["a", "b"])
    (problem,) = model._solution.problems
    stands_for = np.unique(problem.importance.round(9))
    expected = 1 / share.to_numpy() - 1
    assert_allclose(stands_for / stands_for.max(), np.sort(expected) / expected.max(), rtol=1e-6)


def test_classes_of_few_distinct_rows_are_all_used():
    """Equal rows with equal labels are one with their number, so none is dropped."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(2000, 2)) * 1.0
    y = np.where(rng.random(2000) < 0.2 + 0.2 * (X[:, 0] > 1), "yes", "no")
    given = {**GIVEN, "n_components": 8}
    held = XNVClassifier(**given, max_labels=40, random_state=0).fit(X, y)
    whole = XNVClassifier(**given, random_state=0).fit(X, y)
    assert (held.n_labeled_, held.n_labels_unused_) == (2000, 0)
    assert_allclose(held.predict_proba(X), whole.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("name", ["SSSLRegressor", "RFFClassifier", "XKSRegressor"])
def test_every_method_for_tables_of_any_size_has_it(name, rows):
    X, y = rows
    labels = y if name.endswith("Regressor") else np.where(np.isnan(y), None, np.round(y) > 0)
    model = make(name, sigma=1.5, ridge=1e-2).set_params(max_labels=60).fit(X, labels)
    assert model.n_labels_unused_ == 340
    with pytest.raises(ValueError, match="max_labels=1 must be a whole number of at least 2"):
        model.set_params(max_labels=1).fit(X, labels)
