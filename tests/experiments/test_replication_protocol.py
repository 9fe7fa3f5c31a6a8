"""The protocol's shortcuts are what a plain loop over fits would give."""

from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews import SSSLRegressor, XNVRegressor
from twinviews_experiments.datasets.preparation import Prepared
from twinviews_experiments.replication import protocol
from twinviews_experiments.replication.paper_methods import METHODS, METHODS_BY_NAME, Method
from twinviews_experiments.replication.protocol import Tuned, error, repeat, tune
from twinviews_experiments.replication.published_numbers import FIGURE_LABELS, FOLDS


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1700, 4))
    y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=1700)
    y[1100:1200] = np.nan  # rows of which nobody knows the label
    return Prepared(X[:1400], y[:1400], X[1400:], y[1400:])


class Recorder:
    """An estimator that notes what it is given."""

    fits: ClassVar[list] = []

    def __init__(self, sigma, ridge, seed):
        self.sigma, self.ridge, self.seed = sigma, ridge, seed

    def fit(self, X, Y):
        self.fits.append((self.sigma, self.seed, Y))
        self.targets = Y.shape[1]
        return self

    def set_params(self, ridge):
        self.ridge = ridge
        return self

    def relabel(self, X, Y):
        return self

    def predict(self, X):
        return np.zeros((len(X), self.targets))


@pytest.fixture
def recorder():
    Recorder.fits = []
    return Method("recorder", "", Recorder)


def test_errors():
    truth = np.array([1.0, -1, 1, -1])
    assert error("classification", truth, np.array([0.1, -5, -0.2, -1])) == 0.25
    assert error("regression", truth, np.zeros(4)) == 1
    assert error("regression", truth, truth) == 0


@pytest.mark.parametrize("name", [method.name for method in METHODS])
def test_all_n_at_once_are_separate_fits(data, name):
    method, tuned = METHODS_BY_NAME[name], Tuned(2.0, 1e-3, 0.0, np.empty((0, 0)))
    at_once = repeat(method, tuned, data, "regression", number=1, repetition=0)
    draw = protocol._Draw(data, 1, 1, protocol.SEED)
    for n in (100, 550, 1000):
        y = np.full(len(data.X), np.nan)
        y[draw.rows[:n]] = data.y[draw.rows[:n]]
        model = method.estimator(2.0, 1e-3, draw.state).fit(data.X, y)
        alone = error("regression", data.y_test, model.predict(data.X_test))
        assert at_once[FIGURE_LABELS.index(n)] == pytest.approx(alone, rel=1e-6)


def test_folds_at_once_are_separate_fits(data, monkeypatch):
    monkeypatch.setattr(protocol, "SIGMA_FACTORS", (0.5, 2.0))
    monkeypatch.setattr(protocol, "RIDGES", (1e-4, 1e-1))
    method = METHODS_BY_NAME["XNV"]
    tuned = tune(method, data, "regression", number=3)
    draw = protocol._Draw(data, 3, 0, protocol.SEED)
    fold = np.arange(1000) % FOLDS
    median = draw.median_distance()
    for s, factor in enumerate((0.5, 2.0)):
        for r, ridge in enumerate((1e-4, 1e-1)):
            held_out = np.empty(1000)
            for part in range(FOLDS):
                y = np.full(len(data.X), np.nan)
                rows = draw.rows[fold != part]
                y[rows] = data.y[rows]
                model = method.estimator(factor * median, ridge, draw.state).fit(data.X, y)
                held_out[fold == part] = model.predict(data.X[draw.rows[fold == part]])
            expected = error("regression", data.y[draw.rows], held_out)
            assert_allclose(tuned.errors[s, r], expected, rtol=1e-6)
    assert tuned.error == tuned.errors.min()


def test_among_equals_the_smoothest_is_chosen(data, recorder):
    tuned = tune(recorder, data, "regression", number=1)
    assert tuned.ridge == max(protocol.RIDGES)
    assert tuned.sigma == max(sigma for sigma, _, _ in recorder.estimator.fits)


def test_all_methods_see_the_same_labels_and_unknown_ones_are_never_drawn(data, recorder):
    tuned = Tuned(1.0, 1.0, 0.0, np.empty((0, 0)))
    for _ in range(2):
        repeat(recorder, tuned, data, "regression", number=1, repetition=4)
    repeat(recorder, tuned, data, "regression", number=1, repetition=5)
    (_, seed, Y), (_, again, same), (_, other, another) = recorder.estimator.fits
    np.testing.assert_array_equal(Y, same)
    assert seed == again != other
    assert not np.array_equal(Y, another)
    known = (~np.isnan(Y)).sum(axis=0)
    assert known.tolist() == list(FIGURE_LABELS)
    nested = ~np.isnan(Y[:, :-1]) <= ~np.isnan(Y[:, 1:])
    assert nested.all()
    drawn = ~np.isnan(Y[:, -1])
    assert not np.isnan(data.y[drawn]).any()


def test_too_few_labels_are_told(data):
    small = data._replace(y=np.where(np.arange(1400) < 900, data.y, np.nan))
    with pytest.raises(ValueError, match="900 labels, and the protocol draws 1,000"):
        tune(METHODS_BY_NAME["SSSL_M"], small, "regression", number=1)


def test_every_method_has_the_same_two_numbers_and_the_papers_m():
    for method in METHODS:
        model = method.estimator(1.5, 0.25, 7)
        assert (model.sigma, model.ridge) == (1.5, 0.25)
        assert getattr(model, "random_state", 7) == 7
    literal = METHODS_BY_NAME["XNV literal"].estimator(1, 1, 0)
    assert isinstance(literal, XNVRegressor)
    assert (literal.n_components, literal.correlation_ridge, literal.canonical_weight) == (200, 0, 1)
    assert isinstance(METHODS_BY_NAME["SSSL_2M"].estimator(1, 1, 0), SSSLRegressor)
    assert METHODS_BY_NAME["SSSL_2M"].estimator(1, 1, 0).n_components == 400
