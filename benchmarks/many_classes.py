"""Many classes: error and processor time of the default, logistic regression and a forest.

    python benchmarks/many_classes.py                     150 classes, 900 labels
    python benchmarks/many_classes.py --classes 300 --labels 1500

Each class is a normal group of 10 columns around a centre; the deviation of centres is 1.5 times that
within a group, so that neighbours overlap. Every class has a label; 2,000 rows have none, and the error
is theirs. Processor time is that of one thread and does not depend on what else the machine does.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from twinviews import XNVClassifier

COLUMNS, APART, OTHERS = 10, 1.5, 2000


def groups(n_classes: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    centres = APART * random.normal(size=(n_classes, COLUMNS))
    more = random.integers(0, n_classes, n_labels + OTHERS - n_classes)
    code = np.concatenate([np.arange(n_classes), random.permutation(more)])
    order = np.concatenate([random.permutation(n_labels), np.arange(n_labels, len(code))])
    return centres[code[order]] + random.normal(size=(len(code), COLUMNS)), code[order]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", type=int, default=150)
    parser.add_argument("--labels", type=int, default=900)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, code = groups(options.classes, options.labels)
    labeled, others = slice(options.labels), slice(options.labels, None)
    default = XNVClassifier(random_state=0, n_threads=1, progress=False)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    forest = RandomForestClassifier(500, random_state=0)
    fits: dict[str, Callable[[], object]] = {
        "logistic regression": lambda: logistic.fit(X[labeled], code[labeled]),
        "forest": lambda: forest.fit(X[labeled], code[labeled]),
        "default": lambda: default.fit(X[labeled], code[labeled], X_unlabeled=X[others]),
    }
    models = {"logistic regression": logistic, "forest": forest, "default": default}
    for name, fit in fits.items():
        start = time.process_time()
        fit()
        seconds = time.process_time() - start
        error = np.mean(models[name].predict(X[others]) != code[others])
        print(f"{name:<24}error {error:.3f}   {seconds:8.1f} s of one processor", flush=True)
    low, high = default.cv_error_interval_
    print(f"the default tells {default.cv_error_:.3f}, 90% interval {low:.3f} to {high:.3f}")


if __name__ == "__main__":
    main()
