"""Do intervals of estimates hold over hundreds of draws? With kernel ridge regression, in milliseconds.

    python benchmarks/estimate_draws.py --data FOLDER --draws 100 --labels 30,50,100
    python benchmarks/estimate_draws.py --data FOLDER --design tilted
    python benchmarks/estimate_draws.py --data FOLDER --design clusters --labels 12,30     of clusters

How estimates are made does not depend on what predicts. estimates.py asks fits of the default ensemble,
which take seconds each; this asks kernel ridge regression, its ridge chosen by leave-one-out, with the
same folds and the same formulas. Tables are those of 14 contest sets, up to 4,000 rows each. "tilted"
makes labels five times as likely at one end of a random column; "clusters" puts 1 to 8 rows that are
alike into a cluster, adds a number for each cluster to y, and labels whole clusters.
"""

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from estimates import all_rows
from twinviews.ensemble.cross_fitting import folds_of
from twinviews.estimates.coefficients import (
    estimated_products,
    linear_coefficients,
    products_of_fits_variance,
)
from twinviews.estimates.difference_estimator import (
    LabeledSample,
    UnlabeledRows,
    difference_estimate,
)
from twinviews.estimates.group_answers import length, told_ends
from twinviews.estimates.interval_ends import mean_ends
from twinviews.estimates.power_tuning import tuned_power
from twinviews.passes.strata import rows_stood_for
from workload import report

SETS = (
    "abalone",
    "airfoil",
    "bank8",
    "cal_housing",
    "ccpp",
    "concrete",
    "cpu",
    "elevators",
    "house",
    "wizmir",
    "casp",
    "medical_cost",
    "winequality_red",
    "diamonds",
)
RIDGES = 10.0 ** np.arange(-4, 2.1, 0.5)
# What is added for each cluster, in deviations of y.
OF_CLUSTERS = 0.6


class Rows(NamedTuple):
    S: np.ndarray  # (N, D) standardised inputs
    y: np.ndarray
    Z: np.ndarray  # (N, 3) a constant and two columns, for coefficients


class Labels(NamedTuple):
    chosen: np.ndarray
    stands_for: np.ndarray
    cluster: np.ndarray | None


class Interval(NamedTuple):
    what: str
    inside: bool
    width: float
    alone_inside: bool
    alone_width: float
    plain_inside: bool  # taking rows of clusters for independent


def read_rows(name: str, data: Path | None) -> Rows:
    raw = all_rows(name, data)
    X = raw.frame[raw.inputs].to_numpy(float)
    S = np.clip((X - X.mean(0)) / np.maximum(X.std(0), 1e-9), -4, 4)
    columns = [one for one in raw.inputs if raw.frame[one].nunique() > 2][:2]
    Z = np.column_stack([np.ones(len(X)), raw.frame[columns].to_numpy(float)])
    return Rows(S, raw.y, Z)


def draw(rows: Rows, n: int, design: str, rng: np.random.Generator) -> tuple[Rows, Labels]:
    N = len(rows.y)
    if design == "random":
        chosen = rng.choice(N, n, replace=False)
        return rows, Labels(chosen, np.ones(n), None)
    if design == "tilted":
        rank = np.argsort(np.argsort(rows.S[:, rng.integers(rows.S.shape[1])], kind="stable"))
        tilt = 1 + 4 * rank / N
        p = np.minimum(n * tilt / tilt.sum(), 1)
        chosen = np.flatnonzero(rng.uniform(size=N) < p)
        return rows, Labels(chosen, rows_stood_for(p[chosen]), None)
    place = rows.S @ rng.normal(size=rows.S.shape[1]) + 0.3 * rng.normal(size=N)
    ends, cluster = np.cumsum(rng.integers(1, 9, size=N)), np.empty(N, int)
    cluster[np.argsort(place)] = np.searchsorted(ends, np.arange(N), side="right")
    y = rows.y + OF_CLUSTERS * rows.y.std() * rng.normal(size=cluster.max() + 1)[cluster]
    chosen = np.flatnonzero(np.isin(cluster, rng.choice(cluster.max() + 1, n, replace=False)))
    return rows._replace(y=y), Labels(chosen, np.ones(len(chosen)), cluster[chosen])


def kernel(A: np.ndarray, B: np.ndarray, width: float) -> np.ndarray:
    squares = np.square(A).sum(1)[:, None] + np.square(B).sum(1) - 2 * A @ B.T
    return np.exp(-np.maximum(squares, 0) / (2 * width))


def best_ridge(K: np.ndarray, y: np.ndarray) -> float:
    """By the closed-form leave-one-out error."""
    values, V = np.linalg.eigh(K)
    off = y - y.mean()

    def error(ridge: float) -> float:
        H = (V * (values / (values + ridge))) @ V.T
        h = np.minimum(np.diag(H) + 1 / len(y), 0.99)
        return float(np.mean(np.square((off - H @ off) / (1 - h))))

    return float(min(RIDGES, key=error))


def predictions(rows: Rows, labels: Labels, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """(N,) by the fit on all labels, (N, folds) by those without a fold, (n,) folds."""
    S, chosen = rows.S, labels.chosen
    y = rows.y[chosen]
    pairs = np.square(S[rng.choice(len(S), 100)] - S[rng.choice(len(S), 100)]).sum(1)
    width = 0.5 * float(np.median(pairs)) + 1e-9
    K, at_all = kernel(S[chosen], S[chosen], width), kernel(S, S[chosen], width)
    ridge = best_ridge(K, y)
    bounds = 2 * y.min() - y.max(), 2 * y.max() - y.min()
    fold = folds_of(y[:, None], classes=False, cluster=labels.cluster)

    def fit(some: np.ndarray) -> np.ndarray:
        mean = y[some].mean()
        a = np.linalg.solve(K[np.ix_(some, some)] + ridge * np.eye(len(some)), y[some] - mean)
        return np.clip(at_all[:, some] @ a + mean, *bounds)

    without = [fit(np.flatnonzero(fold != one)) for one in range(fold.max() + 1)]
    return fit(np.arange(len(y))), np.column_stack(without), fold


def intervals(rows: Rows, labels: Labels, rng: np.random.Generator) -> list[Interval]:
    shipped, without, fold = predictions(rows, labels, rng)
    chosen, y = labels.chosen, rows.y[labels.chosen]
    n, free = len(y), np.setdiff1d(np.arange(len(rows.y)), chosen)
    moved = without - shipped[:, None]
    own = without[chosen, fold]
    ones, U = np.ones(n), float(len(free))
    sample = LabeledSample(y, own, labels.stands_for, ones, fold, cluster=labels.cluster)
    sample = sample.standing_for(U)
    shares = np.bincount(fold, sample.stands_for, without.shape[1]) / U
    mean, squares = float(shares @ without[free].mean(0)), np.square(moved[free]).mean(0)
    others = UnlabeledRows(U, U, mean, 0.0, moved[free].mean(0), squares)
    power = tuned_power(y, own, sample.stands_for)
    powered, alone = (difference_estimate(sample, others, one) for one in (power, 0.0))
    plain = difference_estimate(sample._replace(cluster=None), others, power)
    powered = powered if length(powered) < length(alone) else alone
    ends = [told_ends(one, 0.95) for one in (powered, alone, plain)]
    return [
        judged("mean", ends, float(rows.y.mean())),
        *coefficients(rows, labels, sample, without, moved, power, free),
    ]


def coefficients(
    rows: Rows,
    labels: Labels,
    sample: LabeledSample,
    without: np.ndarray,
    moved: np.ndarray,
    power: float,
    free: np.ndarray,
) -> list[Interval]:
    Z, a, ones = rows.Z[labels.chosen], sample.stands_for, np.ones(len(sample.y))
    M = rows.Z[free].T @ rows.Z[free]
    shares = np.bincount(sample.fold, a, without.shape[1]) / a.sum()
    sums = shares @ (without[free].T @ rows.Z[free])
    moved_sums = moved[free].T @ rows.Z[free]
    try:
        at_labels = moved[labels.chosen]
        variance = products_of_fits_variance(Z, a, sample.fold, at_labels, moved_sums, M)
        found = [
            linear_coefficients(
                estimated_products(
                    Z, sample.y, sample.predicted, a, ones, M, sums, one, M, variance, cluster
                ),
                M + Z.T @ Z,
            )
            for one, cluster in ((power, labels.cluster), (0.0, labels.cluster), (power, None))
        ]
    except (ValueError, np.linalg.LinAlgError):  # some column does not vary among the labels
        return []
    truth = np.linalg.lstsq(rows.Z, rows.y, rcond=None)[0]
    told = []
    for j in range(1, Z.shape[1]):
        ends = [
            mean_ends(f.beta[j], f.variance[j, j], float(f.degrees[j]), 0.95, float(f.skewness[j]))
            for f in found
        ]
        if ends[0][1] - ends[0][0] >= ends[1][1] - ends[1][0]:
            ends[0] = ends[1]
        told.append(judged("coefficient", ends, float(truth[j])))
    return told


def judged(what: str, ends: Sequence[tuple[float, float]], truth: float) -> Interval:
    inside = [low <= truth <= high for low, high in ends]
    widths = [high - low for low, high in ends]
    return Interval(what, inside[0], widths[0], inside[1], widths[1], inside[2])


def tell(n: int, design: str, found: dict[str, list[Interval]]) -> None:
    kind = "clusters" if design == "clusters" else "labels"
    for what in ("mean", "coefficient"):
        of_set = {name: [one for one in some if one.what == what] for name, some in found.items()}
        every = [one for some in of_set.values() for one in some]
        inside, alone, plain = (
            float(np.mean([getattr(one, name) for one in every]))
            for name in ("inside", "alone_inside", "plain_inside")
        )
        rows = f", rows taken for independent {plain:.3f}" if design == "clusters" else ""
        least = 0.90 if n == 30 and design != "clusters" else 0.93
        report(
            f"{what}, {n} {kind}, {design}: coverage ({len(every)}; alone {alone:.3f}{rows})",
            inside,
            f"{least} to 0.97",
            least <= inside <= 0.97,
        )
        by_set = {name: float(np.mean([one.inside for one in some])) for name, some in of_set.items()}
        worst = min(by_set, key=lambda name: by_set[name])
        report(f"  the lowest, {worst}", by_set[worst], "at least 0.91", by_set[worst] >= 0.91)
        ratios = {
            name: float(np.exp(np.mean([np.log(one.width / one.alone_width) for one in some])))
            for name, some in of_set.items()
        }
        ratio, widest = float(np.exp(np.mean(np.log(list(ratios.values()))))), max(ratios.values())
        report("  width against labels alone", ratio, "at most 0.75", ratio <= 0.75)
        report("  on the widest set", widest, "at most 1.03", widest <= 1.03)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--design", choices=["random", "tilted", "clusters"], default="random")
    parser.add_argument("--labels", default="30,50,100")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()
    for n in map(int, options.labels.split(",")):
        found = defaultdict(list)
        for name in SETS:
            rows = read_rows(name, options.data)
            for number in range(options.first, options.first + options.draws):
                rng = np.random.default_rng([19, n, number])
                drawn, labels = draw(rows, n, options.design, rng)
                of_draw = intervals(drawn, labels, rng)
                found[name] += [one for one in of_draw if 0 < one.width < np.inf > one.alone_width]
        tell(n, options.design, found)


if __name__ == "__main__":
    main()
