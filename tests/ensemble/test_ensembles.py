"""The committee: what its estimators promise, and what it must never do."""

import pickle
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from twinviews import KRRRegressor, XNVClassifier, XNVRegressor
from twinviews.ensemble.boosted_trees import Trees

rng = np.random.default_rng(3)


def table(n=80, N=600, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 4))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * random.normal(size=N)
    return X, y, np.where(np.arange(N) < n, y, np.nan)


@pytest.fixture(scope="module")
def default():
    """The default model of the table, which many laws look at; they do not change it."""
    X, _, labels = table()
    return XNVRegressor(random_state=0, n_threads=1).fit(X, labels)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_trees_as_arrays_are_those_of_scikit_learn(n_classes):
    """To the last bit, and where a row lies on a threshold or a tree is a single leaf, too."""
    X = rng.normal(size=(300, 3)).round(1)
    code = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], np.linspace(-0.5, 0.5, n_classes - 1))
    for n, leaves in ((300, 8), (300, 64), (12, 8)):
        model = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=leaves, min_samples_leaf=4)
        model.fit(X[:n], code[:n])
        trees = Trees.of(model, 3, np.arange(3))
        thresholds = np.sort(trees.threshold.ravel())[:, None] * np.ones(3)
        for at in (X, thresholds):
            expected = model.decision_function(at).reshape(len(at), -1)
            assert_array_equal(trees(at), expected)


def test_trees_of_numbers_may_look_at_some_columns():
    X = rng.normal(size=(200, 4))
    y = X[:, 1] * X[:, 3]
    model = HistGradientBoostingRegressor(max_iter=20, max_leaf_nodes=32).fit(X[:, [1, 3]], y)
    trees = Trees.of(model, 4, np.array([1, 3]))
    assert set(np.unique(trees.feature[trees.left_out > 0])) == {1, 3}
    assert_array_equal(trees(X)[:, 0], model.predict(X[:, [1, 3]]))


def test_the_default_beats_the_views_alone_and_kernel_ridge_on_diabetes_and_a_made_table():
    X, y, labels = table(n=100, N=1500)
    model = XNVRegressor(random_state=0).fit(X, labels)
    alone = XNVRegressor(random_state=0, committee=False).fit(X, labels)
    error = lambda m: np.mean((m.predict(X[100:]) - y[100:]) ** 2)  # noqa: E731
    assert error(model) < 0.7 * error(alone)
    X, y = load_diabetes(return_X_y=True)
    labels = np.where(np.arange(len(y)) < 100, y, np.nan)
    ours = XNVRegressor(random_state=0).fit(X, labels)
    theirs = KRRRegressor(scale="standard").fit(X, labels)
    assert ours.score(X[100:], y[100:]) > theirs.score(X[100:], y[100:]) - 0.02


def test_roster_tells_who_counts(default):
    X, _, labels = table()
    names, weights = zip(*default.committee_, strict=True)
    assert_allclose(sum(weights), 1, atol=0.02)
    assert list(weights) == sorted(weights, reverse=True)
    assert any("column" in name for name in names)
    assert XNVRegressor(committee=False, random_state=0).fit(X, labels).committee_ == []


@pytest.mark.parametrize("given", [{"sigma": 2.0}, {"ridge": 0.1}, {"kernel": "laplace"}])
def test_numbers_given_mean_the_formula_and_nothing_else(given):
    X, _, labels = table()
    model = XNVRegressor(random_state=0, **given).fit(X, labels)
    alone = XNVRegressor(random_state=0, committee=False, scale=None, **given).fit(X, labels)
    assert model.committee_ == []
    assert_array_equal(model.predict(X), alone.predict(X))


def test_an_ensemble_needs_five_labels_and_leaves_out_each_of_very_few():
    X, y, labels = table(n=4)
    assert XNVRegressor(random_state=0).fit(X, labels).members_ == []
    X, y, labels = table(n=20)
    model = XNVRegressor(random_state=0).fit(X, labels)
    assert_array_equal(np.sort(model._ensembles[0].fold_of), np.arange(20))
    assert model.score(X[20:], y[20:]) > 0.6
    classes = np.where(np.arange(len(X)) < 10, np.where(y > 0, "high", "low"), None)
    assert XNVClassifier(random_state=0).fit(X, classes).members_


def test_committee_must_be_a_flag():
    X, _, labels = table()
    with pytest.raises(ValueError, match="committee='yes'"):
        XNVRegressor(committee="yes").fit(X, labels)


def test_units_of_labels_do_not_matter(default):
    X, _, labels = table()
    other = clone(default).fit(X, 20 * labels + 4)
    assert_allclose(other.predict(X), 20 * default.predict(X) + 4, rtol=1e-3, atol=1e-2)


def test_units_of_columns_matter_no_more_than_another_draw_of_landmarks(default):
    X, y, labels = table()
    moved = X * [1.0, 1e3, 1e-2, 5.0] + [0, -7, 3, 1e2]
    other = XNVRegressor(random_state=0).fit(moved, labels)
    errors = [
        np.mean((model.predict(rows) - y)[80:] ** 2) for model, rows in ((default, X), (other, moved))
    ]
    assert_allclose(errors[1], errors[0], rtol=0.15)


def test_the_same_on_one_thread_and_two(default):
    X, _, labels = table()
    two = XNVRegressor(random_state=0, n_threads=2).fit(X, labels)
    assert_array_equal(default.predict(X), two.predict(X))


def test_order_of_rows_does_not_matter(default):
    X, _, labels = table()
    order = np.random.default_rng(1).permutation(len(X))
    other = XNVRegressor(random_state=0).fit(X[order], labels[order])
    assert_allclose(other.predict(X), default.predict(X), atol=1e-6)


@pytest.mark.filterwarnings("ignore::twinviews.OutsideWarning")  # as it should
def test_a_row_unlike_all_others_gets_a_bounded_answer():
    X, _, labels = table()
    X[:, 3] = 1e-9 * X[:, 3]
    model = XNVRegressor(random_state=0).fit(X, labels)
    odd = X[:5] + np.array([0, 0, 0, 1.0])  # a billion deviations away
    low, high = np.nanmin(labels), np.nanmax(labels)
    assert (np.abs(model.predict(odd) - (low + high) / 2) <= 1.5 * (high - low) + 1e-9).all()
    ends = model.predict_interval(odd)
    assert (np.abs(ends - (low + high) / 2) <= 4 * (high - low)).all()


def test_several_targets_have_a_committee_each():
    X, y, labels = table()
    both = np.column_stack([labels, np.where(np.arange(len(y)) < 60, X[:, 2] ** 2, np.nan)])
    model = XNVRegressor(random_state=0).fit(X, both)
    assert len(model.committee_) == 2
    assert model.predict(X).shape == (len(X), 2)
    assert model.predict_interval(X).shape == (len(X), 2, 2)
    one = XNVRegressor(random_state=0).fit(X, both[:, 1])
    assert np.corrcoef(model.predict(X)[:, 1], one.predict(X))[0, 1] > 0.99


def test_relabel_weighs_again(default):
    X, y, _ = table()
    model = deepcopy(default)
    before = model.committee_
    model.relabel(X[:120], y[:120])
    assert model.committee_ != before
    assert model.n_labeled_ == 120


def test_a_default_survives_pickle(default):
    X, _, _ = table()
    again = pickle.loads(pickle.dumps(default))
    assert_array_equal(again.predict(X), default.predict(X))
    assert_array_equal(again.predict_interval(X), default.predict_interval(X))


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")  # the first digits are of few writers
def test_classes_of_a_cluster_are_found_by_the_graph():
    X, y = load_digits(return_X_y=True)
    labels = y.astype(object)
    labels[100:] = None
    model = XNVClassifier(random_state=0).fit(X, labels)
    alone = XNVClassifier(random_state=0, committee=False).fit(X, labels)
    assert model.score(X[100:], y[100:]) > max(0.9, alone.score(X[100:], y[100:]) + 0.05)
    assert sum(weight for name, weight in model.committee_ if "graph" in name) > 0.2
    p = model.predict_proba(X[100:])
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[100:]))
    right = model.predict(X[100:]) == y[100:]
    assert abs(p.max(axis=1).mean() - right.mean()) < 0.05


def test_two_classes_that_single_columns_cut_out_are_found_by_trees():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 10))
    y = np.where((X[:, 0] > 0.5) ^ (X[:, 3] > 0.5), "in", "out")
    labels = y.astype(object)
    labels[200:] = None
    model = XNVClassifier(random_state=0).fit(X, labels)
    assert model.score(X[200:], y[200:]) > 0.9
    assert any("boosting" in name for name, _ in model.committee_)


def test_the_same_committee_from_a_file(default, tmp_path):
    X, _, labels = table()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=labels)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    from_file = XNVRegressor(random_state=0).fit_table(tmp_path / "rows.parquet", target="y")
    assert [name for name, _ in from_file.committee_] == [name for name, _ in default.committee_]
    written = from_file.predict_table(tmp_path / "rows.parquet", tmp_path / "out.parquet")
    predicted = pd.read_parquet(written)["prediction"].to_numpy()
    assert_allclose(predicted, default.predict(X), atol=1e-8)


def test_more_rows_in_parts_reach_the_committee_too():
    X, y, labels = table()
    model = XNVRegressor(random_state=0).partial_fit(X[:300], labels[:300])
    model.partial_fit(X[300:], np.where(np.arange(300) < 50, y[300:], np.nan))
    assert model.n_labeled_ == 130
    assert model.committee_
    assert model.score(X, y) > 0.9


def test_the_learned_metric_counts_what_the_target_depends_on():
    X, _, y = table()
    far = X * [1, 100, 0.01, 1]  # units do not matter
    model = XNVRegressor(n_components=40, random_state=0)
    assert not hasattr(model, "learned_metric_")
    metric = model.fit(far, y).learned_metric_
    assert metric.shape == (4,)
    assert_allclose(metric.sum(), 1)
    assert (np.argsort(-metric)[:2] == [0, 1]).all()
    assert metric[2:].sum() < 0.2
    assert XNVRegressor(committee=False, random_state=0).fit(far, y).learned_metric_ is None


def test_a_class_with_one_label_does_not_stop_the_committee():
    """The fold that holds it leaves one class to learn from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.full(300, None, dtype=object)
    y[:60] = "common"
    y[0] = "rare"
    model = XNVClassifier(random_state=0).fit(X, y)
    p = model.predict_proba(X)
    assert model.committee_
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p[:, 0].mean() > 0.5
