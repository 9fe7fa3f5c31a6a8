"""More labels than kernel methods can take: all of them count, in the fit and in its judgement."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesRegressor

from twinviews import DataWarning, XNVClassifier, XNVRegressor, load_model, save_model
from twinviews.ensemble.boosted_trees import Boosting
from twinviews.ensemble.builtin_members import builtin_members
from twinviews.ensemble.cross_fitting import cross_fit
from twinviews.ensemble.kernel_ridge import KernelRidge, fit_kernel_ridge
from twinviews.ensemble.learned_metric import MetricRidges
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.many_labels import (
    OnLandmarks,
    landmark_ridge,
    specs_for_all_labels,
    specs_for_some_labels,
)
from twinviews.ensemble.member import Labeled, MemberContext, MemberSpec
from twinviews.method.kernels import SHIFT_INVARIANT

SOME = 120


@pytest.fixture
def few_are_many(monkeypatch):
    """As if kernel methods could be fitted to 120 labels only."""
    for module in ("many_labels", "ensembles", "builtin_members"):
        monkeypatch.setattr(f"twinviews.ensemble.{module}.SOME_LABELS", SOME)
    monkeypatch.setattr("twinviews.ensemble.many_labels._MOST_LANDMARKS", 80)
    monkeypatch.setattr("twinviews.ensemble.many_labels._LEAST_LANDMARKS", 80)
    monkeypatch.setattr("twinviews.ensemble.boosted_trees._MANY", SOME)


def table(n, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    y = np.sin(2 * X[:, 0]) + (X[:, 1] > 0) + 0.1 * random.normal(size=n)
    return X, y


@pytest.mark.parametrize("t", [1, 2])
def test_with_all_rows_as_landmarks_it_is_kernel_ridge(t):
    random = np.random.default_rng(t)
    X, weight = random.normal(size=(40, 2)), random.dirichlet(np.full(40, 3.0))
    Y = np.sin(X @ random.normal(size=(2, t))) + 0.1 * random.normal(size=(40, t))
    columns, ridge = SHIFT_INVARIANT["gaussian"].against(X, 1.0), np.array([1e-2])
    exact = fit_kernel_ridge(columns(X), Y, weight, ridge)
    found = KernelRidge(columns, *landmark_ridge(columns, X, X, Y, weight, ridge))
    at = random.normal(size=(20, 2))
    # What keeps the Cholesky factor from failing is added to the penalty: 4e-9.
    assert_allclose(found(at), KernelRidge(columns, exact.alpha, exact.constant)(at), atol=1e-5)


def test_landmarks_need_one_pass_over_blocks_of_labels(monkeypatch):
    X, y = table(300)
    columns = SHIFT_INVARIANT["gaussian"].against(X[:30], 1.0)
    whole = landmark_ridge(columns, X[:30], X, y[:, None], np.full(300, 1 / 300))
    monkeypatch.setattr("twinviews.ensemble.many_labels._BLOCK_ROWS", 7)
    blocks = landmark_ridge(columns, X[:30], X, y[:, None], np.full(300, 1 / 300))
    assert_allclose(blocks[0], whole[0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("n", "expected"), [(1500, 4), (20_000, 4), (45_000, 2), (10**6, 2)])
def test_of_very_many_labels_fewer_kernel_members_go_on(n, expected):
    context = MemberContext(3, 0, {"standard": None}, table(50)[0], 0, n_labels=n)
    specs = builtin_members(context)
    names = [(name, spec.scale) for spec in specs for name in spec.recipe.names]
    weights = [(*name, 1 - 0.01 * place) for place, name in enumerate(names)]
    going_on = specs_for_all_labels(specs, weights, n)
    on_landmarks = [one.recipe.names for one in going_on if isinstance(one.recipe, OnLandmarks)]
    assert sum(map(len, on_landmarks)) == expected
    assert any(isinstance(one.recipe, Boosting) for one in going_on)


def test_every_label_counts_in_the_fit_and_in_its_judgement(few_are_many, tmp_path):
    X, y = table(1500)
    labels = np.where(np.arange(1500) < 700, y, np.nan)
    model = XNVRegressor(random_state=0).fit(X, labels)
    assert len(model._ensembles[0].held_out) == 700
    assert any(name.startswith("boosting") for name, _ in model.members_)
    truth = np.sin(2 * X[700:, 0]) + (X[700:, 1] > 0)
    error = lambda m: np.sqrt(np.mean((m.predict(X[700:]) - truth) ** 2))  # noqa: E731
    few = XNVRegressor(random_state=0).fit(X, np.where(np.arange(1500) < SOME, y, np.nan))
    assert error(model) < 0.7 * error(few)
    # A label far beyond those that choose the members moves predictions near it.
    rows = np.flatnonzero(np.arange(1500) < 700)[-60:]
    moved = labels.copy()
    moved[rows] += 1.0
    other = XNVRegressor(random_state=0).fit(X, moved)
    assert np.mean(other.predict(X[rows]) - model.predict(X[rows])) > 0.02
    low, high = model.predict_interval(X[700:]).T
    assert 0.85 < np.mean((low <= y[700:]) & (y[700:] <= high)) < 0.95
    save_model(model, tmp_path / "many.twinviews")
    loaded = load_model(tmp_path / "many.twinviews")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(loaded.predict_interval(X[:50]), model.predict_interval(X[:50]))


def test_classes_with_many_labels(few_are_many, tmp_path):
    X, y = table(3000)
    names = np.array(["low", "middle", "high"])[np.digitize(y, [0, 1])]
    labels = np.where(np.arange(3000) < 600, names, None)
    model = XNVClassifier(random_state=0).fit(X, labels)
    assert len(model._ensembles[0].held_out) == 600
    assert model.score(X[600:], names[600:]) > 0.85
    low, high = model.cv_error_interval_
    assert low < 1 - model.score(X[600:], names[600:]) < high < low + 0.1
    save_model(model, tmp_path / "many.twinviews")
    loaded = load_model(tmp_path / "many.twinviews")
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_members_of_the_user_go_on_to_all_labels(few_are_many):
    X, y = table(500)
    seen = []

    class Trees(ExtraTreesRegressor):
        def fit(self, X, y, sample_weight=None):
            seen.append(len(y))
            return super().fit(X, y, sample_weight)

    model = XNVRegressor(random_state=0, members=["built-in", ("trees", Trees(20, random_state=0))])
    model.fit(X, np.where(np.arange(500) < 250, y, np.nan))
    assert max(seen) == 250  # the fit on all labels
    alone = XNVRegressor(random_state=0, members=[("trees", Trees(20, random_state=0))])
    alone.fit(X, np.where(np.arange(500) < 250, y, np.nan))  # nobody asked for built-in members
    assert {name for name, _ in alone.members_} <= {"trees, standard", "correlated views, standard"}


def test_wild_labels_among_many_are_left_out(few_are_many):
    X, y = table(900)
    y[[5, 300]] = 1e4
    with pytest.warns(DataWarning, match="is 10,000"):
        model = XNVRegressor(random_state=0).fit(X, np.where(np.arange(900) < 500, y, np.nan))
    assert len(model._ensembles[0].outlying) == 2
    assert model.score(X[500:], y[500:]) > 0.9


def test_a_class_of_one_label_among_many_ends_no_fit():
    """Trees stop by rows that are held out, within classes: of one label there are none."""
    X, _ = table(1300)
    codes = (X[:, 0] > 0).astype(int)
    codes[0] = 2
    Y = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    labeled = Labeled(X, Y, np.full(1300, 1 / 1300))
    (fit,) = Boosting(0, classes=True).fit(labeled, X)
    assert fit(X).shape == (1300, 3)
    assert np.mean(fit(X[1:]).argmax(axis=1) == codes[1:]) > 0.97


def test_many_classes_have_trees_with_many_labels_and_fewer_rounds(monkeypatch):
    context = MemberContext(3, 12, {"standard": None}, table(50)[0], 0, n_labels=1500)
    (spec,) = [one for one in builtin_members(context) if isinstance(one.recipe, Boosting)]
    assert spec.of_all_labels
    assert spec not in specs_for_some_labels(builtin_members(context))
    few = builtin_members(context._replace(n_labels=900))
    assert not any(isinstance(one.recipe, Boosting) for one in few)
    monkeypatch.setattr("twinviews.ensemble.boosted_trees._MOST_TREES", 36)
    X, y = table(1200)
    codes = np.digitize(y, np.quantile(y, np.linspace(0, 1, 13)[1:-1]))
    Y = np.where(codes[:, None] == np.arange(12), 1.0, -1.0)
    (fit,) = spec.recipe.fit(Labeled(X, Y, np.full(1200, 1 / 1200)), X)
    assert len(fit.trees.value) == 3


def test_weights_are_those_of_fits_without_a_fold_whether_or_not_all_labels_are_fitted():
    X, y = table(90)
    labeled, specs = (
        {"s": Labeled(X, y[:, None], np.full(90, 1 / 90))},
        [MemberSpec("s", LinearRidge())],
    )
    given = specs, labeled, {"s": X}, np.arange(90) % 5, np.ones(90, bool), (-9.0, 9.0), 1
    whole, alone = cross_fit(*given), cross_fit(*given, held_out_alone=True)
    assert_array_equal(alone.held_out, whole.held_out)
    assert alone.full == alone.folds[0]


def test_a_metric_that_is_asked_for_alone_is_the_one_of_the_member():
    X, y = table(60)
    labeled = Labeled(X, y[:, None], np.full(60, 1 / 60))
    recipe = MetricRidges("gaussian", 2.0, 3)
    names = ("gaussian factors", "gaussian matrix")
    whole, alone = (recipe.only(names, metric_alone=flag).fit(labeled, X) for flag in (False, True))
    for one, other in zip(whole, alone, strict=True):
        assert_array_equal(one.metric.L, other.metric.L)
