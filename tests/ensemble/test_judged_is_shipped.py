"""The ensemble that predicts is the one that was judged, and its judgement has not seen the labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression

from twinviews import XNVClassifier, XNVRegressor, load_model, save_model
from twinviews.ensemble import ensembles
from twinviews.ensemble.blending import blend_numbers
from twinviews.ensemble.cross_fitting import cross_fit, like_the_folds
from twinviews.ensemble.gaussian_process import ColumnWidths, associations
from twinviews.ensemble.member import Labeled

rng = np.random.default_rng(5)
BOUNDS = (-10.0, 10.0)


def few_of_many_columns(n, seed=0, N=1200):
    """An interaction of 2 of 32 columns: neither has an effect by itself."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 32))
    y = X[:, 0] * np.sin(2 * X[:, 1]) + 0.2 * random.normal(size=N)
    return X, y, np.where(np.arange(N) < n, y, np.nan)


def constant(value):
    return lambda rows: np.full((len(rows), 1), float(value))


# --- a fit that strays ------------------------------------------------------------------------------


def test_a_fit_like_its_folds_is_shipped():
    full, folds = constant(1.0), [constant(0.9), constant(1.1), constant(1.05)]
    assert like_the_folds(full, folds, np.zeros((5, 2)), BOUNDS) is full


@pytest.mark.parametrize("far", [-3.0, 4.0])
def test_a_fit_unlike_its_folds_is_replaced_by_the_central_one(far):
    folds = [constant(value) for value in (0.9, 1.1, 1.02, 0.5)]
    assert like_the_folds(constant(far), folds, np.zeros((5, 2)), BOUNDS) is folds[0]


def test_folds_that_agree_exactly_leave_no_room():
    same = [constant(1.0)] * 4
    assert like_the_folds(constant(1.0), same, np.zeros((5, 2)), BOUNDS)(np.zeros((1, 2))) == 1
    assert like_the_folds(constant(1.1), same, np.zeros((5, 2)), BOUNDS) is same[0]


def test_one_row_far_away_does_not_decide():
    """A member may predict anything there; the ensemble clips it, and so does the comparison."""
    folds = [constant(value) for value in (1e200, 1e190, 9.5)]
    full = constant(1e205)
    assert like_the_folds(full, folds, np.zeros((5, 2)), BOUNDS) is full


class FailsOnAll(RegressorMixin, BaseEstimator):
    """A linear regression that falls flat when it is given as many labels as there are."""

    def __init__(self, n=60):
        self.n = n

    def fit(self, X, y):
        self.model_ = LinearRegression().fit(X, 0 * y if len(y) == self.n else y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


def test_a_member_that_fails_on_all_labels_only_does_no_harm():
    """No held-out label can show it: every fit that is judged is right."""
    X = rng.normal(size=(400, 3))
    y = X @ [1.0, 2.0, -1.0] + 0.01 * rng.normal(size=400)
    labels = np.where(np.arange(400) < 60, y, np.nan)
    model = XNVRegressor(members=[("fails", FailsOnAll())], random_state=0).fit(X, labels)
    assert dict(model.members_)["fails, standard"] > 0.9
    error = np.sqrt(np.mean(np.square(model.predict(X[60:]) - y[60:])))
    assert error < 1.25 * model.cv_error_


# --- the judgement ----------------------------------------------------------------------------------


def test_weights_of_a_fold_are_by_the_labels_outside_it(monkeypatch):
    kept = {}

    def remember(*arguments, **options):
        kept["made"] = cross_fit(*arguments, **options)
        return kept["made"]

    monkeypatch.setattr(ensembles, "cross_fit", remember)
    X, _, labels = few_of_many_columns(60)
    model = XNVRegressor(random_state=0, members=[LinearRegression()]).fit(X, labels)
    (ensemble,), (problem,) = model._ensembles, model._solution.problems
    held_out = np.clip(kept["made"].held_out[:, :, 0], *ensemble.bounds)
    assert len(ensemble.members) == len(held_out) == 2
    for fold, weights in enumerate(ensemble.fold_weights):
        rows = ensemble.fold_of != fold
        weight = problem.weight[rows] / problem.weight[rows].sum()
        assert_allclose(weights, blend_numbers(held_out[:, rows], problem.Y[rows, 0], weight))
    shipped = [member.weight for member in ensemble.members]
    assert_allclose(shipped, ensemble.fold_weights.mean(axis=0))


def test_intervals_are_those_of_the_fits_and_weights_without_a_fold():
    X, _, labels = few_of_many_columns(60)
    model = XNVRegressor(random_state=0).fit(X, labels)
    (ensemble,) = model._ensembles
    rows = model._solution.problems[0].X
    at = ensemble.without_folds(rows)[0][np.arange(60), ensemble.fold_of]
    assert_allclose(at, ensemble.held_out[:, 0], rtol=1e-9, atol=1e-12)
    residual = model._solution.problems[0].Y[:, 0] - at
    assert model.cv_error_ == pytest.approx(np.sqrt(np.mean(np.square(residual))))
    assert model.loo_error_ == pytest.approx(model.cv_error_**2)


@pytest.mark.parametrize("kind", [XNVRegressor, XNVClassifier])
def test_a_saved_model_tells_what_it_told(kind, tmp_path):
    X, _, labels = few_of_many_columns(60, N=300)
    if kind is XNVClassifier:
        labels = np.where(np.isnan(labels), None, np.where(labels > 0, "up", "down"))
    model = kind(random_state=0).fit(X, labels)
    save_model(model, tmp_path / "model.twinviews")
    again = load_model(tmp_path / "model.twinviews")
    assert again.cv_error_ == model.cv_error_
    assert_array_equal(again.cv_error_interval_, model.cv_error_interval_)
    told = ("cv_auc_", "cv_log_loss_") if kind is XNVClassifier else ("cv_r2_",)
    for name in told:
        assert getattr(again, name) == getattr(model, name)
    assert_array_equal(again.predict(X), model.predict(X))
    low, high = model.cv_error_interval_
    assert low < model.cv_error_ < high


def test_several_targets_have_an_error_and_an_interval_each():
    X, _, labels = few_of_many_columns(80, N=400)
    both = np.column_stack([labels, 1000 * labels])
    model = XNVRegressor(members=None, random_state=0).fit(X, both)
    assert model.cv_error_.shape == model.cv_r2_.shape == (2,)
    assert_allclose(model.cv_error_interval_[1], 1000 * model.cv_error_interval_[0], rtol=1e-6)
    assert_allclose(model.cv_r2_[1], model.cv_r2_[0], rtol=1e-6)


# --- the cause: widths that end in a flat optimum ---------------------------------------------------


def test_columns_are_associated_by_their_effect_on_both_sides_and_through_others():
    X = rng.normal(size=(2000, 5))
    for target, column in ((2 * X[:, [0]], 0), (np.square(X[:, [1]]), 1)):
        assert [one.argmax() for one in associations(X, target)] == [column, column]
    _, through = associations(X, X[:, [2]] * X[:, [3]])
    assert set(np.argsort(through)[-2:]) == {2, 3}
    assert np.max(associations(np.ones((9, 2)), rng.normal(size=(9, 1)))) == 0


@pytest.mark.parametrize("n", [100, 150])
def test_a_second_start_finds_the_columns_that_matter(n):
    """From one width for all columns, the search ends where no column matters (error 1.0)."""
    random = np.random.default_rng(0)
    N = 4000
    random.uniform(-1, 1, (N, 32))  # the draw of columns that failed
    X = random.normal(size=(N, 32))
    random.normal(size=N), random.normal(size=N)
    y = X[:, 0] * np.sin(2 * X[:, 1]) + 0.2 * random.normal(size=N)
    labeled = Labeled(X[:n], y[:n, None], np.full(n, 1 / n))
    (member,) = ColumnWidths().fit(labeled, X[n:])
    error = np.mean(np.square(member(X[3000:])[:, 0] - y[3000:])) / y[3000:].var()
    assert error < 0.25
