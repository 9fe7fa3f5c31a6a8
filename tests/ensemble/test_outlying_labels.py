"""Labels far from what all others predict do not decide the fit; labels that are right stay in it."""

import re
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import mannwhitneyu
from sklearn.linear_model import Ridge

from twinviews import DataWarning, XNVRegressor, load_model, save_model
from twinviews.cli import main
from twinviews.ensemble.outlying_labels import (
    are_alike,
    are_unlike_others,
    far_labels,
    is_better_without,
)

m = 100
EQUAL = np.full(m, 1 / m)
Y = np.random.default_rng(99).normal(size=m)


def smooth_table(seed=0, N=600, n=m):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 4))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * random.normal(size=N)
    return X, y, np.where(np.arange(N) < n, y, np.nan)


def error_of(model, X, y):
    return float(np.sqrt(np.mean(np.square(model.predict(X[m:]) - y[m:]))))


# --- which labels are far ---------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["normal", "uniform", "logistic"])
def test_errors_of_one_kind_have_no_far_ones(noise):
    for seed in range(200):
        residual = getattr(np.random.default_rng(seed), noise)(size=m)
        assert not far_labels(residual, Y, EQUAL).any()


def test_slips_are_found_whatever_the_unit_and_the_sign():
    residual = np.random.default_rng(0).normal(size=m)
    residual[[3, 60]] = [40.0, -200.0]
    for factor in (1.0, -1.0, 1e6, 1e-6):
        assert_array_equal(np.flatnonzero(far_labels(factor * residual, factor * Y, EQUAL)), [3, 60])


def test_far_labels_that_are_many_or_do_not_decide_are_no_slips():
    residual = np.random.default_rng(0).normal(size=m)
    residual[0] = 7.0  # far, and with a third of the squares
    assert not far_labels(residual, Y, EQUAL).any()
    residual[:11] = 100.0
    assert not far_labels(residual, Y, EQUAL).any()
    assert not far_labels(np.zeros(m), Y, EQUAL).any()


def test_the_fit_without_must_be_clearly_better_for_the_others():
    rest = np.random.default_rng(0).normal(size=m)
    rest[0] = 50.0
    spoiled = 2 * rest
    spoiled[0] = 50.0
    assert is_better_without(spoiled, rest, Y, EQUAL)
    assert not is_better_without(rest, rest, Y, EQUAL)
    assert not is_better_without(rest, spoiled, Y, EQUAL)


def test_far_labels_that_are_predicted_with_the_help_of_each_other_stay():
    rest = np.random.default_rng(0).normal(size=m)
    rest[:5] = 50.0
    spoiled = 2 * rest
    spoiled[:5] = 20.0
    assert not is_better_without(spoiled, rest, Y, EQUAL)


def test_rows_are_alike_by_a_rank_sum_test():
    random = np.random.default_rng(0)
    for _ in range(20):
        X = np.round(3 * random.normal(size=(m, 5)))  # with ties
        far = random.permutation(m) < 6
        p = [
            mannwhitneyu(x[far], x[~far], use_continuity=False, method="asymptotic").pvalue for x in X.T
        ]
        assert are_alike(X, far) == (min(p) < 0.01 / 5)
    X[far, 2] = X[:, 2].max() + 1
    assert are_alike(X, far)
    X[:, 0], alone = np.arange(m) == 7, np.arange(m) == 7
    assert not are_alike(X, alone)  # one row with a rare value


# --- through the estimator --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clean():
    """A model of labels as they are."""
    X, _, labels = smooth_table()
    return XNVRegressor(random_state=0).fit(X, labels)


@pytest.mark.filterwarnings("ignore::twinviews.DataWarning")  # some are seen before the fit, too
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda y: np.where(np.arange(m) == 17, 1e6, y), marks=pytest.mark.long),
        pytest.param(lambda y: np.where(np.arange(m) == 17, -1e3, y), marks=pytest.mark.long),
        lambda y: np.where(np.arange(m) % 33 == 5, 100 * y + 50, y),
        pytest.param(
            lambda y: np.where(np.arange(m) % 20 == 5, y + 8 * np.sign(y), y), marks=pytest.mark.long
        ),
    ],
    ids=["a total", "a blank mark", "slips of the decimal sign", "one in twenty, moved"],
)
def test_wild_labels_do_not_decide_the_rest(spoil, clean):
    X, y, labels = smooth_table()
    wild = labels.copy()
    wild[:m] = spoil(labels[:m])
    with pytest.warns(DataWarning, match="far from what the others predict"):
        model = XNVRegressor(random_state=0).fit(X, wild)
    assert error_of(model, X, y) < 1.25 * error_of(clean, X, y)
    changed = np.sort(wild[:m][wild[:m] != y[:m]])
    (ensemble,), (problem,) = model._ensembles, model._solution.problems
    assert_allclose(np.sort(problem.Y[ensemble.outlying, 0]), changed)
    # They count as errors: what is told is the error on labels such as these.
    assert model.cv_error_ > np.sqrt(np.mean(np.square(wild[:m] - y[:m]))) * 0.9
    low, high = model.predict_interval(X[m:], coverage=0.9).T
    assert np.mean((low <= y[m:]) & (y[m:] <= high)) > 0.85
    assert np.mean(high - low) < 8 * error_of(clean, X, y)


def test_where_there_is_no_noise_larger_errors_at_the_edge_are_no_slips():
    random = np.random.default_rng(0)
    residual = 1e-3 * random.normal(size=m)
    residual[:3] = 0.02, 0.05, -0.03
    assert not far_labels(residual, Y, EQUAL).any()
    assert far_labels(residual, 1e-3 * Y, EQUAL).sum() == 3
    X = random.normal(size=(600, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    model = XNVRegressor(random_state=0).fit(X, np.where(np.arange(600) < 60, y, np.nan))
    assert model._ensembles[0].outlying is None


def test_rows_of_a_rare_kind_stay_in_the_fit():
    """A jump for one row in 14: far from what the other rows predict, and right."""
    X, y, _ = smooth_table()
    y = np.where(X[:, 2] > 1.5, y - 20, y)
    labels = np.where(np.arange(len(y)) < m, y, np.nan)
    assert 4 <= np.sum(y[:m] < -15) <= 10
    model = XNVRegressor(random_state=0).fit(X, labels)
    assert model._ensembles[0].outlying is None


@pytest.mark.filterwarnings("ignore::twinviews.DataWarning")
def test_a_saved_model_remembers_what_it_has_not_learned_from(tmp_path):
    X, _, labels = smooth_table()
    labels[17] = 1e4
    with pytest.warns(DataWarning, match=r"y\[17\] is 10,000 \(predicted .*has not learned from it"):
        model = XNVRegressor(random_state=0).fit(X, labels)
    save_model(model, tmp_path / "model.twinviews")
    again = load_model(tmp_path / "model.twinviews")
    assert_array_equal(again._ensembles[0].outlying, model._ensembles[0].outlying)
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.predict_interval(X), model.predict_interval(X))


@pytest.mark.filterwarnings("ignore::twinviews.DataWarning")
def test_the_row_is_named_whichever_way_the_labels_come(tmp_path, clean):
    X, y, _ = smooth_table()
    model = deepcopy(clean)
    wild = y[:m].copy()
    wild[17] = 1e4
    told = "1 of 100 labels is far from what the others predict: {} is 10,000"
    with pytest.warns(DataWarning, match=re.escape(told.format("y[17]"))):
        model.relabel(X[:m], wild)
    names = [f"x{column}" for column in range(4)]
    frame = pd.DataFrame(X, columns=names)
    frame["y"] = np.where(np.arange(len(y)) < m, np.append(wild, y[m:]), np.nan)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    few_members = XNVRegressor(random_state=0, members=[("ridge", Ridge())])
    with pytest.warns(DataWarning, match=re.escape(told.format("row 18"))):
        few_members.fit_table(tmp_path / "rows.csv", target="y")
    ran = CliRunner().invoke(
        main, ["fit", str(tmp_path / "rows.csv"), "--target", "y", "-o", str(tmp_path / "m.twinviews")]
    )
    assert ran.exit_code == 0, ran.output
    assert told.format("row 18") in ran.output
    assert "Correct it if it is wrong, or leave the cell blank." in ran.output


def test_a_label_of_a_row_unlike_all_others_stays():
    """Slips are in rows that have others nearby; the label of a lone row stays, unless it is absurd."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(m, 3)), random.normal(size=m)
    X[0], y[0] = 9.0, 5.0
    assert are_unlike_others(X, y, np.arange(m) == 0)
    y[0] = 1e3
    assert not are_unlike_others(X, y, np.arange(m) == 0)


def test_rows_at_random_are_seldom_unlike_others():
    random = np.random.default_rng(0)
    found = []
    for k in (1, 3, 5):
        for _ in range(200):
            X, far = random.normal(size=(m, 4)), random.permutation(m) < k
            found.append(are_unlike_others(X, random.normal(size=m), far))
    assert np.mean(found) < 0.04


@pytest.mark.slow
def test_a_rare_kind_of_rows_with_one_label_is_not_forgotten():
    """Idle machines: one in a hundred, alike in their columns, with another target than all others."""
    random = np.random.default_rng(0)
    N = 1500
    idle = random.uniform(size=N) < 0.02
    X = random.normal(size=(N, 5)) * np.where(idle, 0.1, 1.0)[:, None] - np.where(idle, 6, 0)[:, None]
    y = np.where(idle, 0.0, 90 + 3 * np.sin(X[:, 0]) + random.normal(size=N))
    labeled = np.concatenate([np.flatnonzero(idle)[:1], np.flatnonzero(~idle)[:80]])
    labels = np.full(N, np.nan)
    labels[labeled] = y[labeled]
    model = XNVRegressor(random_state=0).fit(X, labels)
    assert model._ensembles[0].outlying is None
    assert np.abs(model.predict(X[idle])).mean() < 30
