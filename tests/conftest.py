"""Seeded tables, and the list of all estimators."""

import os
import shutil

# Lets scikit-learn run its array-API check instead of skipping it; must be set before SciPy is loaded.
os.environ["SCIPY_ARRAY_API"] = "1"

from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

import twinviews

# Ordered classes and counts: their labels are of a kind of their own.
OWN_LABELS = ["XNVOrdinalClassifier", "XNVCountRegressor"]
_OTHERS = [name for name in twinviews.__all__ if name not in OWN_LABELS]
REGRESSORS = [name for name in _OTHERS if name.endswith("Regressor")]
CLASSIFIERS = [name for name in _OTHERS if name.endswith("Classifier")]


def make(name, **parameters):
    """An estimator by name; ``random_state`` is passed where the estimator has one.

    XNV comes without its committee, which takes seconds and has tests of its own, unless asked for.
    """
    estimator = getattr(twinviews, name)()
    own = estimator.get_params()
    if "random_state" in own:
        parameters = {"random_state": 0, **parameters}
    if "committee" in own:
        parameters = {"committee": False, **parameters}
    return estimator.set_params(**parameters)


class Labeled(NamedTuple):
    X: np.ndarray
    y: np.ndarray  # every label
    few: np.ndarray  # the same with most of them missing


@pytest.fixture(scope="session")
def table():
    """1,200 rows, 120 labels, a smooth target with noise."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(1200, 4))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=1200)
    return Labeled(X, y, np.where(np.arange(1200) % 10 == 0, y, np.nan))


@pytest.fixture(scope="session")
def diabetes():
    """scikit-learn's diabetes table: 442 rows, every third labeled."""
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return Labeled(X, y, np.where(np.arange(442) % 3 == 0, y, np.nan))


@pytest.fixture(scope="session")
def digits():
    """scikit-learn's digits table in random order (its own repeats 0 to 9): every tenth labeled."""
    X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
    few = y.astype(object)
    few[np.arange(len(y)) % 10 != 0] = None
    return Labeled(X / 16, y, few)


@pytest.fixture(scope="module")  # while it runs, no other test of the process can have an event loop
def browser():
    """Chromium without a screen; skipped where there is none, but not in CI."""
    chromium = shutil.which("chromium")
    if chromium is None:
        outcome = pytest.fail if os.environ.get("CI") else pytest.skip
        outcome("Pages are tested in Chromium, and there is no chromium on this machine")
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=flags)
        yield running
        running.close()
