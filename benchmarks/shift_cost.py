"""What the comparison of labels with all rows costs, as a share of the default fit.

    python benchmarks/shift_cost.py --rows 1000000

A table of normal columns with 500 labels, given at random and along a column. The time within
``compare_labels``, which tests, tells and weighs, is taken in the very fit that it is compared with;
what the first pass keeps for it, two thousand hashed rows, is kept for landmarks anyway.
"""

import argparse
import time
import warnings

import numpy as np

from twinviews import XNVRegressor
from twinviews.estimators import _base
from workload import report

LABELS = 500
COLUMNS = 20


def share_of_fit(n_rows: int, strength: float) -> tuple[float, float]:
    """Seconds of a fit, and the share of the comparison."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, COLUMNS))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    chance = np.exp(strength * X[:, 0])
    labeled = rng.choice(n_rows, LABELS, replace=False, p=chance / chance.sum())
    labels = np.full(n_rows, np.nan)
    labels[labeled] = y[labeled]
    spent = 0.0
    compare = _base.compare_labels

    def timed(*arguments: object) -> object:
        nonlocal spent
        start = time.perf_counter()
        found = compare(*arguments)
        spent += time.perf_counter() - start
        return found

    _base.compare_labels = timed
    try:
        start = time.perf_counter()
        model = XNVRegressor(random_state=0, progress=False).fit(X, labels)
        seconds = time.perf_counter() - start
    finally:
        _base.compare_labels = compare
    assert model.shift_.is_shifted == (strength > 0)
    return seconds, spent / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for what, strength in (("random labels", 0.0), ("labels along a column, e^1.5", 1.5)):
        seconds, share = share_of_fit(options.rows, strength)
        what = f"{what}: share of a fit of {seconds:.0f} seconds"
        report(what, share, "at most 0.1", share <= 0.1)


if __name__ == "__main__":
    main()
