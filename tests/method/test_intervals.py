"""Intervals: jackknife+ against refits, coverage, and what they must not depend on."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from twinviews import KRRRegressor, RFFRegressor, SSSLRegressor, XNVRegressor
from twinviews.estimators._prediction_intervals import fits_without_labels
from twinviews.method.intervals import (
    FitsAtRows,
    LeftOut,
    deviation,
    interval_ends,
    interval_ends_by_group,
)

FORMULA = {"sigma": 2.0, "ridge": 1e-3}


def table(n=60, N=800, seed=0, noise=0.3):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 3))
    y = np.sin(X[:, 0]) + noise * random.normal(size=N)
    return X, y, np.where(np.arange(N) < n, y, np.nan)


@pytest.mark.parametrize("intercept", [True, False])
def test_left_out_fits_are_the_refits(intercept):
    """Closed form against relabel without each row, at rows of no label."""
    X, y, labels = table(n=25)
    model = XNVRegressor(
        n_components=30, correlation_ridge=1e-3, fit_intercept=intercept, random_state=0, **FORMULA
    ).fit(X, labels)
    at = X[200:210]
    left_out = fits_without_labels(model, 0)
    ours = left_out.at(at).prediction
    rows = model._solution.problem_of(0)[0].X
    for i in range(25):
        kept = [j for j in range(25) if not np.array_equal(X[j], rows[i])]
        assert len(kept) == 24
        refit = model.relabel(X[kept], y[kept])
        assert_allclose(refit.predict(at), ours[:, i], atol=1e-8)
        mine = next(j for j in range(25) if np.array_equal(X[j], rows[i]))
        residual = y[mine] - refit.predict(X[[mine]])[0]
        assert_allclose(left_out.residual[i], residual, atol=1e-8)


def test_ends_are_order_statistics():
    """With one fit for all rows the ends are quantiles of the residuals, as in split conformal."""
    residual = np.arange(1.0, 20.0)  # 19 of them: 90% of 20 is the 18th
    left_out = LeftOut(FitsAtRows, np.zeros(19, int), residual, np.full(19, 1 / 19))
    ends = interval_ends(FitsAtRows(np.array([[5.0]])), left_out, 0.9)
    assert_allclose(ends, [[5 - 18, 5 + 18]])
    assert_array_equal(
        interval_ends(FitsAtRows(np.array([[5.0]])), left_out, 0.99), [[-np.inf, np.inf]]
    )


def test_deviation_adds_noise_and_doubt():
    left_out = LeftOut(FitsAtRows, np.array([0, 1]), np.array([3.0, -3.0]), np.array([0.5, 0.5]))
    assert_allclose(deviation(FitsAtRows(np.array([[1.0, 1.0], [0.0, 8.0]])), left_out), [3, 5])


# That of the default model, an ensemble, is a law of trust/test_claims.py.
MODELS = {
    "formula": lambda: XNVRegressor(random_state=0, committee=False),
    "KRR": lambda: KRRRegressor(),
    "SSSL": lambda: SSSLRegressor(random_state=0),
    "RFF": lambda: RFFRegressor(random_state=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_nine_in_ten_new_rows_are_inside(model):
    inside = []
    for seed in range(4):
        X, y, labels = table(n=100, seed=seed)
        low, high = model().fit(X, labels).predict_interval(X[100:], coverage=0.9).T
        inside.append(np.mean((low <= y[100:]) & (y[100:] <= high)))
        assert (low < high).all()
    assert 0.85 <= np.mean(inside) <= 0.96


@pytest.mark.slow
def test_intervals_grow_with_coverage_and_follow_the_units():
    X, _, labels = table()
    model = XNVRegressor(random_state=0).fit(X, labels)
    wide, narrow = model.predict_interval(X, 0.95), model.predict_interval(X, 0.5)
    assert (wide[:, 0] <= narrow[:, 0]).all()
    assert (wide[:, 1] >= narrow[:, 1]).all()
    other = XNVRegressor(random_state=0).fit(X, 10 * labels - 3)
    assert_allclose(other.predict_interval(X, 0.5), 10 * narrow - 3, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::twinviews.OutsideWarning")  # as it should
def test_std_is_near_the_noise_and_larger_far_away():
    X, _, labels = table(n=150, noise=0.3)
    model = XNVRegressor(random_state=0).fit(X, labels)
    predicted, std = model.predict(X, return_std=True)
    assert_array_equal(predicted, model.predict(X))
    assert 0.25 < np.median(std) < 0.45
    _, far = model.predict(10 * X, return_std=True)
    assert np.median(far) > np.median(std)


@pytest.mark.parametrize("coverage", [0, 1, 1.5, "90%"])
def test_coverage_must_be_a_share(coverage):
    X, _, labels = table()
    model = SSSLRegressor(random_state=0).fit(X, labels)
    with pytest.raises(ValueError, match="coverage="):
        model.predict_interval(X, coverage=coverage)


def test_a_fit_that_has_seen_every_label_does_not_count():
    left_out = LeftOut(FitsAtRows, np.array([0, 0]), np.array([3.0, -3.0]), np.array([0.5, 0.5]))
    assert_allclose(deviation(FitsAtRows(np.array([[1.0, 100.0]])), left_out), [3])


def test_rows_of_more_weight_count_more_in_the_ends():
    """As the same row given as often as it weighs."""
    at = np.array([[0.0, 1.0, 2.0], [5.0, 3.0, 4.0]])
    residual, copies = np.array([1.0, -2.0, 0.5]), np.array([8, 20, 12])
    weighted = LeftOut(FitsAtRows, np.arange(3), residual, copies / 40)
    for coverage in (0.3, 0.5, 0.7):
        ends = interval_ends(FitsAtRows(at), weighted, coverage)
        for row, (low, high) in zip(at, ends, strict=True):
            share = np.append(copies / 40 * 3 / 4, 0.25)  # the new row may lie anywhere
            upper, lower = (
                np.append(row + abs(residual), np.inf),
                np.append(row - abs(residual), -np.inf),
            )
            assert share[upper <= high].sum() >= coverage > share[upper < high].sum()
            assert share[lower >= low].sum() >= coverage > share[lower > low].sum()


def test_a_row_that_stands_for_many_has_wider_intervals_up_to_none():
    """Its own weight, that of a mean label at the least, lies at infinity."""
    residual = np.arange(1.0, 41.0)
    left_out = LeftOut(FitsAtRows, np.zeros(40, int), residual, np.full(40, 1 / 40))
    at = FitsAtRows(np.full((4, 1), 5.0), importance=np.array([0.0, 1.0, 3.0, 9.0]))
    _, high = interval_ends(at, left_out, 0.9).T
    assert_array_equal(high, [5 + 37, 5 + 37, 5 + 39, np.inf])
    smooth = interval_ends(at, left_out._replace(margin=0.5), 0.9)[:, 1]
    assert (np.diff(smooth[1:]) > 0).all()
    assert smooth[3] == np.inf


def test_a_local_scale_stretches_residuals():
    """Residuals that are the scale times equal numbers: ends are the scale times these."""
    scale = np.linspace(1, 3, 19)
    left_out = LeftOut(
        FitsAtRows, np.zeros(19, int), np.arange(1.0, 20.0) * scale, np.full(19, 1 / 19), scale=scale
    )
    at = FitsAtRows(np.array([[5.0], [5.0]]), scale=np.array([[1.0], [0.5]]))
    assert_allclose(interval_ends(at, left_out, 0.9), [[5 - 18, 5 + 18], [5 - 9, 5 + 9]])
    root = np.sqrt(np.mean(np.square(np.arange(1.0, 20.0))))
    assert_allclose(deviation(at, left_out), [root, root / 2])


@pytest.mark.slow
def test_intervals_by_group_hold_in_each_group():
    """One of two machines measures badly: intervals of both together are wrong for either."""
    inside, together = [], []
    for seed in range(3):
        random = np.random.default_rng(seed)
        machine = random.integers(0, 2, 2000)
        X = np.column_stack([random.normal(size=2000), machine])
        y = X[:, 0] + np.where(machine == 1, 1.0, 0.1) * random.normal(size=2000)
        model = SSSLRegressor(random_state=0).fit(X, np.where(np.arange(2000) < 200, y, np.nan))
        for ends, found in (
            (model.predict_interval(X, by=1), inside),
            (model.predict_interval(X), together),
        ):
            within = (ends[:, 0] <= y) & (y <= ends[:, 1])
            found.append([within[200:][machine[200:] == one].mean() for one in (0, 1)])
    assert np.abs(np.mean(inside, axis=0) - 0.9).max() < 0.04
    assert np.abs(np.mean(together, axis=0) - 0.9).max() > 0.08


def test_a_group_without_labels_has_no_interval():
    X, _, labels = table()
    X[:, 2] = np.where(np.arange(len(X)) % 20 == 0, 0.0, 1.0)
    X[790:, 2] = 7
    model = SSSLRegressor(random_state=0).fit(X, labels)
    ends = model.predict_interval(X, by=2)
    assert np.isinf(ends[790:]).all()
    assert np.isinf(ends[X[:, 2] == 0]).all()  # three labels are too few
    assert np.isfinite(ends[X[:, 2] == 1]).all()
    with pytest.raises(ValueError, match="by='colour' is not an input column"):
        model.predict_interval(X, by="colour")


def test_groups_count_importance_against_their_own_labels():
    """The interval of a group is that of its labels alone, whatever the other labels stand for."""
    random = np.random.default_rng(0)
    weight = np.concatenate([np.full(30, 0.1), np.full(30, 1.9)]) / 60
    both = LeftOut(FitsAtRows, np.zeros(60, int), random.normal(size=60), weight)
    labels = np.repeat([[0.0], [1.0]], 30, axis=0)
    at = FitsAtRows(np.zeros((2, 1)), importance=np.array([0.1, 1.9]))
    found = interval_ends_by_group(at, both, 0.9, np.array([[0.0], [1.0]]), labels)
    for one in (0, 1):
        alone = both.only(np.flatnonzero(labels[:, 0] == one))
        expected = interval_ends(FitsAtRows(np.zeros((1, 1))), alone, 0.9)
        assert_allclose(found[[one]], expected)
