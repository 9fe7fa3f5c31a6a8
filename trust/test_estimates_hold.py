"""95% intervals of estimates hold as often as they say, over many fits of made tables."""

import numpy as np
import pytest

from counts import FULL, often, tried
from twinviews import XNVCountRegressor, XNVOrdinalClassifier, XNVRegressor, estimate

FITS = often(2, 300)
long = pytest.mark.skipif(not FULL, reason="a law of make trust: hundreds of fits")
# Of the normal: how far a share of the fits may be off by chance, at most.
FAR = 3.3


def held(told, truth):
    """Whether the interval holds, whether that of the labels alone does, and how much wider that is."""
    alone = told.labels_alone_high - told.labels_alone_low
    return (
        told.low <= truth <= told.high,
        told.labels_alone_low <= truth <= told.labels_alone_high,
        alone / (told.high - told.low),
    )


def assert_held(found, *, wider):
    inside, alone, ratio = np.mean(found, axis=0)
    chance = FAR * np.sqrt(0.95 * 0.05 / len(found))
    assert 0.93 - chance < inside < 0.97 + chance
    assert alone > 0.93 - chance
    assert ratio > wider
    tried("fits", len(found))


def table(rng, n=1500):
    """Skewed numbers that two columns tell of."""
    X = rng.normal(size=(n, 3))
    return X, np.exp(0.5 * X[:, 0] + 0.3 * np.sin(2 * X[:, 1]) + 0.25 * rng.normal(size=n))


@long
@pytest.mark.parametrize("n", [50, 100])
def test_intervals_of_random_labels_hold(n):
    """Means and coefficients hold in 93 to 97% of fits."""
    means, coefficients = [], []
    for seed in range(FITS):
        rng = np.random.default_rng([n, seed])
        X, y = table(rng)
        labels = np.where(rng.permutation(len(y)) < n, y, np.nan)
        model = XNVRegressor(random_state=0, members=None).fit(X, labels)
        means.append(held(estimate(model, X, y=labels, assume_random=True)[0], y.mean()))
        told = estimate(model, X, y=labels, what="coefficients", columns=["0"], assume_random=True)
        slope = np.polyfit(X[:, 0], y, 1)[0]
        coefficients.append(held(told[1], slope))
    assert_held(means, wider=1.3)
    assert_held(coefficients, wider=1.3)


@long
def test_intervals_of_labels_of_known_probability_hold():
    """Where labels are five times as likely at one end of a column."""
    found = []
    for seed in range(FITS):
        rng = np.random.default_rng(seed)
        X, y = table(rng)
        tilt = 1 + 4 * np.argsort(np.argsort(X[:, 0])) / len(y)
        p = 80 * tilt / tilt.sum()
        labels = np.where(rng.uniform(size=len(y)) < p, y, np.nan)
        model = XNVRegressor(random_state=0, members=None).fit(X, labels, label_probability=p)
        found.append(held(estimate(model, X, y=labels)[0], y.mean()))
    assert_held(found, wider=1.2)


def clustered(rng, n_clusters=250):
    """Clusters of one to ten rows, whose columns and numbers are alike; 30 clusters are labeled."""
    cluster = np.repeat(np.arange(n_clusters), rng.integers(1, 11, size=n_clusters))
    own = rng.normal(size=(n_clusters, 3))[cluster]
    X = own + 0.5 * rng.normal(size=own.shape)
    y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.7 * rng.normal(size=n_clusters)[cluster]
    y += 0.3 * rng.normal(size=len(cluster))
    known = np.isin(cluster, rng.choice(n_clusters, 30, replace=False))
    return X, y, cluster, np.where(known, y, np.nan)


@long
@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")
def test_intervals_of_clusters_hold():
    """Where whole clusters of dependent rows have labels, and the fit knows of them."""
    means, coefficients = [], []
    for seed in range(FITS):
        X, y, cluster, labels = clustered(np.random.default_rng(seed))
        model = XNVRegressor(random_state=0, members=None).fit(X, labels, cluster=cluster)
        ask = {"y": labels, "cluster": cluster, "assume_random": True}
        means.append(held(estimate(model, X, **ask)[0], y.mean()))
        told = estimate(model, X, what="coefficients", columns=["0"], **ask)[1]
        coefficients.append(held(told, np.polyfit(X[:, 0], y, 1)[0]))
    assert_held(means, wider=1.05)
    assert_held(coefficients, wider=1.0)


@long
def test_intervals_of_counts_hold():
    """Means, and shares above a count, of skewed counts hold in 93 to 97% of fits."""
    means, shares = [], []
    for seed in range(FITS):
        rng = np.random.default_rng(seed)
        X, mean = table(rng)
        y = rng.poisson(2 * mean).astype(float)
        labels = np.where(rng.permutation(len(y)) < 80, y, np.nan)
        model = XNVCountRegressor(random_state=0, members=None).fit(X, labels)
        ask = {"y": labels, "assume_random": True}
        means.append(held(estimate(model, X, **ask)[0], y.mean()))
        shares.append(held(estimate(model, X, above=3, **ask)[0], np.mean(y > 3)))
    assert_held(means, wider=1.1)
    assert_held(shares, wider=1.02)


@long
def test_intervals_of_ratings_hold():
    """Shares of each rating, and the mean rating, hold in 93 to 97% of fits."""
    means, shares = [], []
    for seed in range(FITS):
        rng = np.random.default_rng(seed)
        X, level = table(rng)
        y = 1.0 + np.digitize(level, [0.7, 1.0, 1.6])
        labels = np.where(rng.permutation(len(y)) < 80, y, np.nan)
        if len(np.unique(labels[~np.isnan(labels)])) < 4:
            continue
        model = XNVOrdinalClassifier(random_state=0, members=None).fit(X, labels)
        ask = {"y": labels, "assume_random": True}
        means.append(held(estimate(model, X, what="mean", **ask)[0], y.mean()))
        told = estimate(model, X, **ask)
        shares += [held(one, np.mean(y == k)) for k, one in enumerate(told, 1)]
    assert_held(means, wider=1.3)
    assert_held(shares, wider=1.05)
