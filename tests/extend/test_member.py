"""Members of the ensemble, added from outside the package: a recipe by name, and any estimator."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression, PoissonRegressor, RidgeClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from twinviews import XNVClassifier, XNVRegressor, load_model, save_model
from twinviews.ensemble import builtin_members
from twinviews.extend import MemberSpec, register_member


@dataclass(frozen=True)
class Nearest:
    """A recipe: the label of the nearest labeled row."""

    names = ("nearest",)

    def fit(self, labeled, unlabeled):
        return [NearestFit(labeled.X, labeled.Y)]


@dataclass(frozen=True)
class NearestFit:
    X: np.ndarray
    Y: np.ndarray

    def __call__(self, X):
        distances = np.square(X[:, None] - self.X[None]).sum(axis=2)
        return self.Y[distances.argmin(axis=1)]


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(builtin_members, "_FACTORIES", dict(builtin_members._FACTORIES))
    register_member("nearest", lambda context: [MemberSpec("standard", Nearest())])


@pytest.fixture(scope="module")
def steps():
    """Rows whose target is a staircase, which trees like."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(600, 3))
    y = 3.0 * (X[:, 0] > 0.5) + 2.0 * (X[:, 1] > 1.5) + 0.05 * rng.normal(size=600)
    return X, y, np.where(np.arange(600) < 120, y, np.nan)


def names(model):
    return {name.partition(",")[0] for name, _ in model.members_}


def test_a_registered_member_is_fitted_weighted_and_named(registered):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 2)), 2, axis=0) + 1e-3 * rng.normal(size=(120, 2))
    y = np.repeat(rng.normal(size=60), 2)  # only a near copy tells
    model = XNVRegressor(members=["nearest"], random_state=0).fit(X, y)
    assert "nearest" in names(model)
    assert dict(model.members_)["nearest, standard"] > 0.5
    with pytest.raises(ValueError, match="'closest', which is not registered; there are 'built-in'"):
        XNVRegressor(members=["closest"]).fit(X, y)
    with pytest.raises(ValueError, match="library's own members"):
        register_member("built-in", lambda context: [])


def test_any_regressor_joins_the_built_in_members_and_can_win(steps):
    X, y, few = steps
    forest = RandomForestRegressor(random_state=0)
    alone = XNVRegressor(members=None, random_state=0).fit(X, few)
    model = XNVRegressor(members=["built-in", ("forest", forest)], random_state=0).fit(X, few)
    assert dict(model.members_)["forest, standard"] > 0.3
    assert model.score(X[120:], y[120:]) > alone.score(X[120:], y[120:])
    low, high = model.predict_interval(X[120:]).T
    assert 0.8 < np.mean((low <= y[120:]) & (y[120:] <= high)) <= 1


def test_members_instead_of_the_built_in_ones(steps):
    X, _, few = steps
    model = XNVRegressor(members=[KNeighborsRegressor(), Lasso(alpha=0.1)], random_state=0).fit(X, few)
    assert names(model) <= {"correlated views", "KNeighborsRegressor", "Lasso"}
    assert model.committee_ == model.members_  # the older name
    again = clone(model).fit(X, few)
    assert_allclose(again.predict(X), model.predict(X))


def test_the_older_name_means_the_same(steps):
    X, _, few = steps
    older = XNVRegressor(committee=False, random_state=0).fit(X, few)
    newer = XNVRegressor(members=None, random_state=0).fit(X, few)
    assert_allclose(older.predict(X), newer.predict(X))
    with pytest.raises(ValueError, match="committee=True does not go with a list of members"):
        XNVRegressor(committee=True, members=["built-in"]).fit(X, few)
    with pytest.raises(ValueError, match='members=3 must be "auto", None or a list'):
        XNVRegressor(members=3).fit(X, few)
    with pytest.raises(ValueError, match="not a name, an estimator"):
        XNVRegressor(members=[object()]).fit(X, few)


@pytest.mark.parametrize("own", [RandomForestClassifier(random_state=0), RidgeClassifier()])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_any_classifier_joins_with_and_without_probabilities(own, n_classes, steps):
    X, _, _ = steps
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [0, 1][: n_classes - 1])]
    few = np.where(np.arange(600) < 90, y, None)
    model = XNVClassifier(members=[("own", own), LogisticRegression()], random_state=0).fit(X, few)
    assert names(model) & {"own", "LogisticRegression"}
    assert model.score(X[90:], y[90:]) > 0.85
    p = model.predict_proba(X[90:])
    assert_allclose(p.sum(axis=1), 1)


def test_a_class_with_one_label_does_not_stop_a_member(steps):
    X, _, _ = steps
    y = np.where(np.arange(600) < 60, (np.arange(600) == 7).astype(float), np.nan)
    model = XNVClassifier(members=[LogisticRegression()], random_state=0).fit(X, y)
    assert set(model.predict(X)) <= {0.0, 1.0}


class Broken(RegressorMixin, BaseEstimator):
    def __init__(self, at="fit"):
        self.at = at

    def fit(self, X, y):
        if self.at == "fit":
            raise RuntimeError("no licence")
        return self

    def predict(self, X):
        if self.at == "predict":
            raise RuntimeError("no licence")
        return np.full(len(X), np.nan)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ("fit", r"member 'own' cannot be fitted to \d+ labels \(RuntimeError: no licence\)"),
        ("predict", r"member 'own' cannot predict \d+ rows \(RuntimeError: no licence\)"),
        ("nan", r"member 'own' predicts something that is not a number"),
    ],
)
def test_a_member_that_fails_is_named_and_the_model_stays(at, message, steps):
    X, _, few = steps
    model = XNVRegressor(members=None, random_state=0).fit(X, few)
    before = model.predict(X)
    with pytest.raises(ValueError, match=message + r".*leave it out of members"):
        model.set_params(members=[("own", Broken(at))]).fit(X, few)
    assert_allclose(model.predict(X), before)


def test_a_model_file_refuses_what_is_not_ours(steps, tmp_path):
    X, _, few = steps
    model = XNVRegressor(members=[("forest", RandomForestRegressor(5))], random_state=0).fit(X, few)
    message = r"cannot be saved: .*'forest' is a RandomForestRegressor.*holds no code.*pickle or skops"
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"'forest' is a RandomForestRegressor.*holds no code"):
        save_model(model.set_params(members="auto"), tmp_path / "model")


def test_names_of_members_are_stored(steps, tmp_path):
    X, _, few = steps
    model = XNVRegressor(members=["built-in"], sigma=1.0, random_state=0).fit(X, few)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.members == ["built-in"]
    assert loaded.members_ == model.members_
    assert_array_equal(loaded.predict(X), model.predict(X))


def test_too_few_labels_for_members_are_told_to_whoever_asked_for_them(steps):
    X, y, _ = steps
    few = np.where(np.arange(600) < 4, y, np.nan)
    with pytest.warns(UserWarning, match="4 labeled rows .* too few to weigh members") as told:
        model = XNVRegressor(members=[Lasso()], random_state=0).fit(X, few)
    assert told[0].filename == __file__
    assert model.members_ == []
    alone = XNVRegressor(members=None, random_state=0, scale="standard").fit(X, few)
    assert_allclose(model.predict(X), alone.predict(X))
    XNVRegressor(random_state=0).fit(X, few)  # nobody asked: no warning


def test_a_fit_with_members_follows_from_one_seed(steps):
    X, _, few = steps
    members = [RandomForestRegressor(10), make_pipeline(StandardScaler(), RandomForestRegressor(5))]
    one, other = (XNVRegressor(members=members, random_state=0).fit(X, few) for _ in range(2))
    assert_array_equal(one.predict(X), other.predict(X))


def test_weights_reach_members_or_it_is_told(steps):
    X, y, _ = steps
    X, y = X[:60], y[:60]
    weight = np.where(np.arange(60) < 30, 50.0, 1.0)
    pipe = make_pipeline(StandardScaler(), Lasso(alpha=0.01))
    given = {"members": [("pipe", pipe)], "random_state": 0}
    weighted = XNVRegressor(**given).fit(X, y, sample_weight=weight)
    fits = {member.name: member.fit for member in weighted._ensembles[0].members}
    expected = clone(pipe).fit(StandardScaler().fit_transform(X), y)
    assert not np.allclose(fits["pipe"].model[-1].coef_, expected[-1].coef_, rtol=1e-3)
    with pytest.warns(UserWarning, match="'KNeighborsRegressor' takes no sample_weight"):
        XNVRegressor(members=[KNeighborsRegressor()]).fit(X, y, sample_weight=weight)


def test_a_row_far_out_is_clipped_and_does_not_stop_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    counts = rng.poisson(np.exp(X[:, 0]))
    model = XNVRegressor(members=[PoissonRegressor()], random_state=0).fit(X, counts.astype(float))
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the member's own
        assert np.isfinite(model.predict(np.array([[0.0, 0.0], [5000.0, 0.0]]))).all()


class WantsCodesWithoutGaps(RandomForestClassifier):
    def fit(self, X, y, sample_weight=None):
        assert sorted(set(y)) == list(range(len(set(y))))
        return super().fit(X, y, sample_weight)


def test_codes_of_classes_have_no_gaps(steps):
    X, _, _ = steps
    y = np.full(600, None)
    y[:60] = np.where(np.arange(60) == 7, "b", np.where(X[:60, 0] > 0, "a", "c"))
    members = [WantsCodesWithoutGaps(10, random_state=0)]
    model = XNVClassifier(members=members, random_state=0).fit(X, y)
    assert model.score(X[:60], y[:60]) > 0.9


def test_wrong_members_are_refused_before_the_first_pass(steps):
    X, y, few = steps
    with pytest.raises(ValueError, match=r"members has the class Lasso. Give an estimator: Lasso\(\)"):
        XNVRegressor(members=[Lasso]).fit(X, few)
    with pytest.raises(ValueError, match="RidgeClassifier, which is no regressor"):
        XNVRegressor(members=[RidgeClassifier()]).fit(X, few)
    with pytest.raises(ValueError, match="Lasso, which is no classifier"):
        XNVClassifier(members=[Lasso()]).fit(X, y > 1)
    with pytest.raises(ValueError, match="committee=True for an ensemble"):
        XNVRegressor(members=None, committee=True).fit(X, few)


def test_recipes_that_do_not_keep_their_word_are_named(steps, monkeypatch):
    X, _, few = steps

    class TwoNames(Nearest):
        names = ("one", "two")

    with pytest.raises(ValueError, match="recipe of one, two made 1 members for 2 names"):
        XNVRegressor(members=[TwoNames()], random_state=0).fit(X, few)
    monkeypatch.setattr(builtin_members, "_FACTORIES", dict(builtin_members._FACTORIES))
    register_member("odd", lambda context: [MemberSpec("log", Nearest())])
    with pytest.raises(ValueError, match="'nearest' wants rows on the scale 'log', and here there are"):
        XNVRegressor(members=["odd"], random_state=0).fit(X, few)


def test_relabel_keeps_the_ensemble_that_the_fit_decided_on(steps):
    X, y, few = steps
    model = XNVRegressor(random_state=0).fit(X, few)
    assert model.set_params(ridge=0.1).relabel(X[:150], y[:150]).members_
    alone = XNVRegressor(members=None, random_state=0).fit(X, few)
    with pytest.raises(ValueError, match=r"fitted without an ensemble.*Call fit again"):
        alone.set_params(members=[Lasso()]).relabel(X[:150], y[:150])
