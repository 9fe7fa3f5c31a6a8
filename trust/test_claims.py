"""What a model says of itself is as often true as it says: errors, intervals, over many fits."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from counts import FULL, often, tried
from tilted_labels import tilted
from twinviews import KRRRegressor, ShiftWarning, XNVClassifier, XNVRegressor
from twinviews.ensemble.learned_metric import MOST_COLUMNS_FOR_DISTANCES

FITS = often(4, 20)
long = pytest.mark.skipif(not FULL, reason="a law of make trust: fits for half a minute")


def told_and_true(model, X, y, labels):
    hidden = np.isnan(labels)
    return model.cv_error_, np.sqrt(np.mean(np.square(model.predict(X) - y)[hidden]))


def covered(model, X, y, labels):
    """Of rows that have an interval."""
    low, high = model.predict_interval(X[np.isnan(labels)]).T
    y, has = y[np.isnan(labels)], np.isfinite(high)
    return np.mean(((low <= y) & (y <= high))[has]), has.mean()


def inside(X, y):
    """The share of rows inside their 90% interval, after 100 labels."""
    model = XNVRegressor(random_state=0).fit(X, np.where(np.arange(len(y)) < 100, y, np.nan))
    low, high = model.predict_interval(X[100:]).T
    assert (low < high).all()
    return np.mean((low <= y[100:]) & (y[100:] <= high))


@long
@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")
def test_labels_that_are_no_random_sample():
    """Errors and 90% intervals hold for all rows where labels are likelier along a column."""
    ratios, coverage, plain = [], [], []
    for seed in range(FITS):
        X, y, labels, _ = tilted(1.0, seed=seed)
        model = XNVRegressor(random_state=0).fit(X, labels)
        assert model.shift_.is_shifted
        told, true = told_and_true(model, X, y, labels)
        ratios.append(told / true)
        coverage.append(covered(model, X, y, labels)[0])
        flat = KRRRegressor().fit(X[~np.isnan(labels)], labels[~np.isnan(labels)])  # no other rows
        plain.append(np.divide(*told_and_true(flat, X, y, labels)))
    assert 0.85 < np.exp(np.mean(np.log(ratios))) < 1.2
    assert np.exp(np.mean(np.log(plain))) < 0.8  # what the labeled rows say of themselves
    assert 0.87 < np.mean(coverage) < 0.95
    tried("fits", FITS)


@long
def test_labels_of_known_probability(recwarn):
    """Errors and 90% intervals hold, and no shift is warned of, where probabilities are given."""
    ratios, coverage = [], []
    for seed in range(FITS):
        X, y, labels, probability = tilted(1.0, seed=seed)
        model = XNVRegressor(random_state=0).fit(X, labels, label_probability=probability)
        ratios.append(np.divide(*told_and_true(model, X, y, labels)))
        coverage.append(covered(model, X, y, labels)[0])
    assert not [one for one in recwarn if issubclass(one.category, ShiftWarning)]
    assert 0.85 < np.exp(np.mean(np.log(ratios))) < 1.2
    assert 0.86 < np.mean(coverage) < 0.95
    tried("fits", FITS)


@long
@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")
def test_error_rates_where_labels_are_no_random_sample():
    """The error rate holds for all rows where classes are easy to tell only where most labels are."""
    ratios = []
    for seed in range(FITS):
        X, _, labels, _ = tilted(1.2, seed=seed, n=300)
        rng = np.random.default_rng(seed)
        wrong = rng.uniform(size=len(X)) < 0.45 / (1 + np.exp(3 * X[:, 0]))
        truth = np.where((X[:, 1] > 0) ^ wrong, "a", "b").astype(object)
        model = XNVClassifier(random_state=0).fit(X, np.where(np.isnan(labels), None, truth))
        hidden = np.isnan(labels)
        ratios.append(model.cv_error_ / np.mean((model.predict(X) != truth)[hidden]))
    assert 0.8 < np.exp(np.mean(np.log(ratios))) < 1.25
    tried("fits", FITS)


@long
def test_intervals_of_the_default_model():
    """Nine in ten new rows lie inside the 90% interval, on made and on real tables."""
    made, real = [], []
    X, y = load_diabetes(return_X_y=True)
    for seed in range(FITS):
        random = np.random.default_rng(seed)
        rows = random.normal(size=(800, 3))
        made.append(inside(rows, np.sin(rows[:, 0]) + 0.3 * random.normal(size=800)))
        order = np.random.default_rng(seed).permutation(len(y))
        real.append(inside(X[order], y[order]))
    assert 0.85 <= np.mean(made) <= 0.96
    assert 0.85 <= np.mean(real) <= 0.95
    tried("fits", 2 * FITS)


@long
def test_a_wide_table_with_few_columns_that_matter():
    """Of more than 512 columns the three that matter are found."""
    fits = often(1, 5)
    for seed in range(fits):
        random = np.random.default_rng(seed)
        X = random.normal(size=(800, MOST_COLUMNS_FOR_DISTANCES + 100))
        signal = np.sin(X[:, 70]) + X[:, 80] * X[:, 90]
        y = signal + 0.1 * random.normal(size=800)
        model = XNVRegressor(random_state=0).fit(X[:300], y[:300], X_unlabeled=X[300:])
        error = np.sqrt(np.mean((model.predict(X[300:]) - signal[300:]) ** 2))
        assert error < 0.3 * signal.std()
        assert set(np.argsort(model.learned_metric_)[-3:]) == {70, 80, 90}
    tried("fits", fits)


@long
def test_widths_follow_the_rows():
    """Noise that grows along a column: so do intervals, and both halves of the rows are covered."""
    inside, flat, width = [], [], []
    for seed in range(FITS):
        random = np.random.default_rng(seed)
        X = random.uniform(-1, 1, size=(1500, 3))
        y = 3 * X[:, 0] + np.exp(1.5 * X[:, 0]) * 0.3 * random.normal(size=1500)
        model = XNVRegressor(random_state=0).fit(X, np.where(np.arange(1500) < 200, y, np.nan))
        low, high = model.predict_interval(X[200:]).T
        noisy = X[200:, 0] > 0
        within = (low <= y[200:]) & (y[200:] <= high)
        inside.append([within[noisy].mean(), within[~noisy].mean()])
        wide = np.quantile(np.abs(y - model.predict(X))[200:], 0.9)
        within = np.abs(y - model.predict(X))[200:] <= wide
        flat.append(within[~noisy].mean() - within[noisy].mean())
        width.append(np.median((high - low)[noisy]) / np.median((high - low)[~noisy]))
    assert min(width) > 2  # the noise differs by e^1.5 = 4.5
    noisy, quiet = np.mean(inside, axis=0)
    assert min(noisy, quiet) > 0.85
    assert quiet - noisy < np.mean(flat) / 2  # against intervals of one width
    tried("fits", FITS)
