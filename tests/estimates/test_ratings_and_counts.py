"""Estimates of ratings and of counts: from ranks to probabilities, from a scale to means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from twinviews import (
    XNVCountRegressor,
    XNVOrdinalClassifier,
    XNVRegressor,
    estimate,
    load_model,
    plan_labels,
    save_model,
)
from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.score_values import rank_shares
from twinviews.method.cumulative_link import likeliest_link

N, KNOWN = 600, np.arange(600) < 90


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(8).normal(size=(N, 2))


def counts(X, seed=11):
    rng = np.random.default_rng(seed)
    return rng.poisson(np.exp(0.6 * X[:, 0] + 0.5)).astype(float)


def ratings(X, seed=5):
    rng = np.random.default_rng(seed)
    return 1.0 + np.digitize(X[:, 0] + 0.4 * rng.normal(size=len(X)), [-1, 0, 1])


def fitted(kind, X, y, members=None):
    return kind(random_state=0, members=members).fit(X, np.where(KNOWN, y, np.nan))


def ask(X, y):
    return {"rows": X, "y": np.where(KNOWN, y, np.nan)}


@pytest.mark.parametrize("members", [None, "auto"])
def test_counts_have_means_totals_shares_quantiles_and_coefficients(X, members, tmp_path):
    y = counts(X)
    model = fitted(XNVCountRegressor, X, y, members)
    (mean,), (total,) = (estimate(model, what=what, **ask(X, y)) for what in ("mean", "total"))
    assert mean.low < y.mean() < mean.high
    assert mean.high - mean.low < 0.9 * (mean.labels_alone_high - mean.labels_alone_low)
    assert mean.labels_alone == pytest.approx(y[KNOWN].mean(), rel=1e-9)
    assert_allclose([total.low, total.high], [N * mean.low, N * mean.high])
    (share,) = estimate(model, above=3, **ask(X, y))
    assert share.low < np.mean(y > 3) < share.high
    (median,) = estimate(model, what="quantile", **ask(X, y))
    assert median.low <= np.median(y) <= median.high
    slope = estimate(model, what="coefficients", columns=["0"], **ask(X, y))[1]
    assert slope.low < np.polyfit(X[:, 0], y, 1)[0] < slope.high
    save_model(model, tmp_path / "model")
    (again,) = estimate(load_model(tmp_path / "model"), **ask(X, y))
    assert_allclose([again.low, again.high], [mean.low, mean.high])


@pytest.mark.parametrize("members", [None, "auto"])
def test_ratings_have_shares_and_a_mean(X, members, tmp_path):
    y = ratings(X)
    model = fitted(XNVOrdinalClassifier, X, y, members)
    shares = estimate(model, **ask(X, y))
    assert [one.low < np.mean(y == k) < one.high for k, one in enumerate(shares, 1)] == [True] * 4
    assert sum(one.labels_alone for one in shares) == pytest.approx(1)
    (mean,) = estimate(model, what="mean", **ask(X, y))
    assert mean.low < y.mean() < mean.high
    assert mean.high - mean.low < 0.7 * (mean.labels_alone_high - mean.labels_alone_low)
    save_model(model, tmp_path / "model")
    (again,) = estimate(load_model(tmp_path / "model"), what="mean", **ask(X, y))
    assert_allclose([again.low, again.high], [mean.low, mean.high])


def test_ratings_in_words_have_no_mean(X):
    y = np.array(["bad", "fair", "good", "very good"])[(ratings(X) - 1).astype(int)]
    labels = np.where(KNOWN, y, None)
    order = ["bad", "fair", "good", "very good"]
    model = XNVOrdinalClassifier(random_state=0, members=None, classes=order).fit(X, labels)
    assert len(estimate(model, X, y=labels)) == 4
    with pytest.raises(ValueError, match="'mean' is of numbers"):
        estimate(model, X, y=labels, what="mean")


@pytest.mark.parametrize("members", [None, "auto"])
def test_what_links_scores_and_values_has_not_seen_the_fold(X, members):
    """The shipped values are those of predict; the link of a fold is that of the other labels."""
    y = ratings(X)
    model = fitted(XNVOrdinalClassifier, X, y, members)
    cross = CrossPredictions(model)
    assert_allclose(cross.shipped(model._prepared(X)), model.predict_proba(X), rtol=1e-6)
    counted = fitted(XNVCountRegressor, X, counts(X), members)
    at = counted._prepared(X)
    assert_allclose(CrossPredictions(counted).shipped(at)[:, 0], counted.predict(X), rtol=1e-6)
    problem, fold_of = cross.problem, cross.fold_of
    scores = CrossPredictions(model)
    scores.__dict__["score_values"] = None  # the bare scores of the fits
    own = scores.without_folds(problem.X)
    held_out = own[np.arange(len(fold_of)), fold_of, 0]
    others = fold_of != 2
    weight = problem.judging[others] / problem.judging[others].sum()
    link = likeliest_link(held_out[others], rank_shares(problem.Y[others, 0], 4), weight)
    expected = np.exp(link.log_probabilities(own[:, 2, 0]))
    assert_allclose(cross.without_folds(problem.X)[:, 2], expected, rtol=1e-6)


def test_a_mean_rank_is_shared_by_those_beside_it():
    found = rank_shares(np.array([0.0, 1.25, 2.0]), 3)
    assert_allclose(found, [[1, 0, 0], [0, 0.75, 0.25], [0, 0, 1]])


@pytest.mark.parametrize(
    ("kind", "draw"), [(XNVCountRegressor, counts), (XNVOrdinalClassifier, ratings)]
)
def test_labels_are_planned_and_labels_of_another_table_refused(X, kind, draw):
    y = draw(X)
    model = fitted(kind, X, y, "auto")
    plan = plan_labels(model, k=20, random_state=0, **ask(X, y))
    assert len(plan.places) == 20
    assert not KNOWN[plan.places].any()
    other = y.copy()
    other[:5] = 3 + (other[:5] == 3)
    if kind is XNVCountRegressor:
        with pytest.raises(ValueError, match="labels are not those of the fit"):
            estimate(model, **ask(X, other))


def test_rare_large_counts_are_planned_for(X):
    """Rows with a larger mean have larger residuals, and so more labels."""
    y = counts(X)
    model = fitted(XNVCountRegressor, X, y, "auto")
    plan = plan_labels(model, k=60, random_state=0, **ask(X, y))
    free = np.flatnonzero(~KNOWN)
    assert model.predict(X[plan.places]).mean() > 1.15 * model.predict(X[free]).mean()


def test_ends_are_numbers_that_the_quantity_can_have():
    """Means of counts are not below 0, quantiles of whole counts are whole, ratings among ratings."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    few = np.arange(300) < 12
    for seed in range(8):
        y = rng.poisson(0.7, size=300) * (1.0 + 3 * (rng.uniform(size=300) < 0.1))
        labels = np.where(few, y, np.nan)
        model = XNVCountRegressor(random_state=0, members=None).fit(X, labels)
        ask = {"model": model, "rows": X, "y": labels, "assume_random": True}
        (mean,) = estimate(**ask)
        assert 0 <= mean.low <= mean.estimate <= mean.high
        for q in (0.2, 0.5, 0.8):
            (found,) = estimate(**ask, what="quantile", quantile=q)
            ends = [found.low, found.estimate, found.high]
            assert ends == sorted(ends)
            assert all(end == round(end) for end in ends if np.isfinite(end))
            assert found.low >= 0
        stars = np.where(few, 1.0 + (y > 0) + (y > 1), np.nan)
        stars[:3] = 1, 2, 3
        ratings = XNVOrdinalClassifier(random_state=seed, members=None).fit(X, stars)
        (mean,) = estimate(ratings, X, y=stars, what="mean", assume_random=True)
        assert 1 <= mean.low <= mean.high <= 3


def test_labels_that_are_all_the_same_are_the_quantile():
    X = np.random.default_rng(0).normal(size=(200, 1))
    y = np.where(np.arange(200) < 40, 3.0, np.nan)
    model = XNVRegressor(random_state=0, members=None).fit(X, y)
    (found,) = estimate(model, X, y=y, what="quantile", assume_random=True)
    assert (found.estimate, found.high) == (3, 3)
