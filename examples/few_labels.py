"""Few labels, many unlabeled rows: the paper's method against its baselines on handwritten digits.

Run it with ``make demo``. The digits come with scikit-learn: 1,797 pictures of 8 x 8 grey values.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits

from twinviews import (
    ExactSSSLClassifier,
    KRRClassifier,
    LapRLSClassifier,
    RFFClassifier,
    SSSLClassifier,
    XKSClassifier,
    XNVClassifier,
)

LABELS, TEST_ROWS, M = 100, 500, 200

METHODS = {
    "KRR": (KRRClassifier, {}, "the labeled rows alone"),
    "RFF": (RFFClassifier, {"n_components": M}, "one view, Fourier features"),
    "SSSL, M": (SSSLClassifier, {"n_components": M}, "one view, Nystroem features"),
    "SSSL, 2M": (SSSLClassifier, {"n_components": 2 * M}, "one view, twice the features"),
    "exact SSSL": (ExactSSSLClassifier, {}, "eigenfunctions of all rows, N^3"),
    "LapRLS": (LapRLSClassifier, {}, "neighbour graph of all rows, N^3"),
    "XKS": (XKSClassifier, {"n_components": M}, "two correlated Fourier views"),
    "XNV alone": (
        XNVClassifier,
        {"n_components": M, "members": None},
        "two correlated Nystroem views",
    ),
    "XNV": (XNVClassifier, {}, "the default: an ensemble of views, kernels, graph, trees"),
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--draws", type=int, default=10, help="random choices of the labels")
    arguments.add_argument("--quick", action="store_true", help="two draws only")
    options = arguments.parse_args()
    draws = 2 if options.quick else options.draws

    X, y = load_digits(return_X_y=True)
    X = X / 16
    print(f"Handwritten digits: {LABELS} rows with a label, {len(y) - LABELS - TEST_ROWS:,} without,")
    print(
        f"{TEST_ROWS} rows to test on. Every number is chosen by leave-one-out on the {LABELS} labels."
    )
    print(f"Mean over {draws} random choices of the labels.\n")
    print(f"{'method':<12}{'error':>8}{'+/-':>7}{'its own':>9}{'seconds':>9}  what it learns from")
    print(f"{'':<12}{'':>8}{'':>7}{'guess':>9}")
    for name, (method, parameters, what) in METHODS.items():
        errors, guesses, seconds = [], [], []
        for draw in range(draws):
            order = np.random.default_rng(draw).permutation(len(y))
            test, train = order[:TEST_ROWS], order[TEST_ROWS:]
            labels = y[train].astype(object)
            labels[LABELS:] = None  # from here on nobody knows
            model = method(**parameters)
            if "random_state" in model.get_params():
                model.set_params(random_state=draw)
            start = time.perf_counter()
            model.fit(X[train], labels)
            seconds.append(time.perf_counter() - start)
            errors.append(1 - model.score(X[test], y[test]))
            guesses.append(model.loo_error_)
        print(
            f"{name:<12}{np.mean(errors):>8.1%}{np.std(errors):>7.1%}{np.mean(guesses):>9.1%}"
            f"{np.mean(seconds):>9.2f}  {what}",
            flush=True,
        )
    print("\n'Its own guess' is the model's leave-one-out error: no test row was used for it.")
    print("XNV and XKS learn the views in two passes over all rows; exact SSSL and LapRLS hold N x N")
    print("matrices, which ends at some ten thousand rows. benchmarks/README.md has the speed.")


if __name__ == "__main__":
    main()
