"""The paper's other outlook, tried once: Deep CCA (Andrew et al. 2013) in place of random views.

    pip install torch; python benchmarks/deep_cca.py --data FOLDER

Two networks, one on standardised and one on rank-Gaussian columns, are trained on all rows to agree
(the sum of canonical correlations of their outputs); ridge regression on the first one's outputs, with
its ridge by leave-one-out, learns from the labels. Development sets of the contest, 100 labels.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from twinviews import KRRClassifier, KRRRegressor, XNVClassifier, XNVRegressor
from twinviews._system.cache_folder import default_cache
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.member import Labeled
from twinviews.evaluation.measures import error_rate, normalised_squared_error
from twinviews.passes.scaling import rank_scaling
from twinviews_experiments.contest.contest_sets import choose_contest_sets
from twinviews_experiments.contest.one_round import draw
from twinviews_experiments.datasets.downloads import Files

LABELS, ROWS, OUTPUTS, HIDDEN, STEPS, BATCH, RIDGE = 100, 4000, 20, 128, 400, 1000, 1e-3


def network(D: int) -> torch.nn.Module:
    layers = torch.nn.Linear(D, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, HIDDEN)
    return torch.nn.Sequential(*layers, torch.nn.Tanh(), torch.nn.Linear(HIDDEN, OUTPUTS))


def agreement(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """Sum of the canonical correlations of two outputs, with a ridge."""
    A, B = A - A.mean(0), B - B.mean(0)
    eye = RIDGE * torch.eye(OUTPUTS)
    first = torch.linalg.cholesky(A.T @ A / len(A) + eye)
    second = torch.linalg.cholesky(B.T @ B / len(B) + eye)
    C = torch.linalg.solve_triangular(first, A.T @ B / len(A), upper=False)
    C = torch.linalg.solve_triangular(second, C.T, upper=False)
    return torch.linalg.matrix_norm(C, "nuc")


def deep_features(X: np.ndarray, seed: int):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    ranks = rank_scaling(X)
    one, two = (torch.tensor(rows, dtype=torch.float32) for rows in (X, ranks(X)))
    first, second = network(X.shape[1]), network(X.shape[1])
    steps = torch.optim.Adam([*first.parameters(), *second.parameters()], 1e-3, weight_decay=1e-4)
    for _ in range(STEPS):
        batch = torch.randint(len(X), (BATCH,))
        loss = -agreement(first(one[batch]), second(two[batch]))
        steps.zero_grad()
        loss.backward()
        steps.step()

    def features(rows: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return first(torch.tensor(rows, dtype=torch.float32)).numpy().astype(float)

    return features


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, help="folder with data files")
    arguments.add_argument("--repetitions", type=int, default=3)
    options = arguments.parse_args()
    files = Files(options.data, default_cache(), online=False)
    ratios: dict[str, list[float]] = {"Deep CCA": [], "XNV alone": [], "XNV": []}
    print(f"{'set':<20}{'KRR':>9}" + "".join(f"{name:>12}" for name in ratios))
    for one in choose_contest_sets([], "development"):
        errors: dict[str, list[float]] = {name: [] for name in ("KRR", *ratios)}
        numbers = one.task == "regression"
        measure = normalised_squared_error if numbers else error_rate
        ours, krr = (XNVRegressor, KRRRegressor) if numbers else (XNVClassifier, KRRClassifier)
        raw = one.read(files)
        for repetition in range(options.repetitions):
            rows = draw(raw, one.task, repetition, seed=2026)
            X = rows.X[:ROWS]
            y = np.where(np.arange(len(X)) < LABELS, rows.y[: len(X)], np.nan)
            quiet = {"progress": False, "random_state": repetition}
            models = {
                "KRR": krr(progress=False),
                "XNV alone": ours(committee=False, **quiet),
                "XNV": ours(**quiet),
            }
            for name, model in models.items():
                errors[name].append(measure(rows.y_test, model.fit(X, y).predict(rows.X_test)))
            features = deep_features(X, repetition)
            Z = features(X)
            centre, spread = Z.mean(axis=0), Z.std(axis=0)
            target = rows.y[:LABELS, None]
            if not numbers:
                target = np.where(target == np.arange(int(np.nanmax(rows.y)) + 1), 1.0, -1.0)
            weight = np.full(LABELS, 1 / LABELS)
            labeled = Labeled((Z[:LABELS] - centre) / spread, target, weight)
            (fit,) = LinearRidge().fit(labeled, labeled.X)
            found = fit((features(rows.X_test) - centre) / spread)
            predicted = found[:, 0] if numbers else found.argmax(axis=1)
            errors["Deep CCA"].append(measure(rows.y_test, predicted))
        means = {name: float(np.mean(values)) for name, values in errors.items()}
        for name in ratios:
            ratios[name].append(means[name] / means["KRR"])
        cells = "".join(f"{means[name]:>12.3f}" for name in ratios)
        print(f"{one.name:<20}{means['KRR']:>9.3f}{cells}", flush=True)
    for name, values in ratios.items():
        print(f"{name}: {np.exp(np.mean(np.log(values))):.3f} of KRR's error, geometric mean")


if __name__ == "__main__":
    main()
