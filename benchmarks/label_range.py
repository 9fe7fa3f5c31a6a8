"""From 10 labels to 20,000: the default against common methods on the sets of the contest.

    python benchmarks/label_range.py --data FOLDER --output FOLDER --labels 10,20
    python benchmarks/label_range.py --data FOLDER --output FOLDER --labels 2000,8000
    python benchmarks/label_range.py --output FOLDER --report          what is there so far

With up to 50 labels the others are ridge or logistic regression, kernel ridge regression (of classes a
support vector machine), a Gaussian process and a random forest; with more, CatBoost, LightGBM and a
random forest. Each has the labeled rows, the default the unlabeled ones, too. The bar is on the ratio
of its mean error to that of the best other of each set, chosen in hindsight. Errors are root mean
squared errors or error rates of up to 5,000 rows without a label. Of classes, the area under the ROC
curve on tables with words is compared with logistic regression's, too. What is finished is kept.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")  # sets run side by side
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from honesty import SEED, hidden_rows, mean_of, raw_table
from twinviews import XNVClassifier, XNVRegressor
from twinviews.evaluation.measures import weighted_auc
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, choose_contest_sets
from twinviews_experiments.contest.one_round import draw, rows_for
from twinviews_experiments.datasets.downloads import UnobtainableError
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, default_jobs, workers
from workload import report

FEW, MOST_TEST_ROWS = 50, 5000
OURS = "default"


class Job(NamedTuple):
    set_name: str
    n: int
    draw: int


class Trial(NamedTuple):
    set_name: str
    n: int
    draw: int
    method: str
    error: float
    auc: float | None  # of methods with probabilities


class Trials(ResultStore):
    tables = (
        """trials (
            set_name TEXT, n INTEGER, draw INTEGER, method TEXT, error REAL, auc REAL,
            PRIMARY KEY (set_name, n, draw, method)
        )""",
    )


def others(n: int, D: int, *, classes: bool) -> dict[str, Any]:
    """Methods to compare with."""
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(200, random_state=0)
    if n > FEW:
        return {"CatBoost": _catboost(classes), "LightGBM": _lightgbm(classes), "forest": forest}
    smooth = ConstantKernel() * RBF(np.sqrt(D))
    if classes:
        scaled = {
            "logistic regression": LogisticRegression(),
            "support vectors": SVC(),
            "Gaussian process": GaussianProcessClassifier(smooth),
        }
    else:
        grid = {"alpha": 10.0 ** np.arange(-3, 2), "gamma": 10.0 ** np.arange(-2, 1.1, 0.5) / D}
        scaled = {
            "ridge": RidgeCV(10.0 ** np.arange(-3, 4)),
            "kernel ridge": GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5),
            "Gaussian process": GaussianProcessRegressor(smooth + WhiteKernel(0.1), normalize_y=True),
        }
    scaled = {name: make_pipeline(StandardScaler(), model) for name, model in scaled.items()}
    return {**scaled, "forest": forest}


def _catboost(classes: bool) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostClassifier if classes else CatBoostRegressor
    return kind(verbose=0, thread_count=1, random_seed=0, allow_writing_files=False)


def _lightgbm(classes: bool) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    return (LGBMClassifier if classes else LGBMRegressor)(verbose=-1, n_jobs=1, random_state=0)


def try_all(job: Job, data: Path | None) -> list[Trial]:
    """The default and all others on one draw; empty where that cannot be had."""
    task = CONTEST_SETS_BY_NAME[job.set_name].task
    try:
        rows = draw(raw_table(job.set_name, data), task, job.draw, SEED, rows_for(job.n))
    except UnobtainableError as problem:
        print(f"{job.set_name}: {problem}", file=sys.stderr)
        return []
    X, y, classes = rows.X[: job.n], rows.y[: job.n], task == "classification"
    if job.n > 0.8 * np.sum(~np.isnan(rows.y)) or len(np.unique(y)) < 2:
        return []
    hidden, truth = hidden_rows(rows, job.n)
    ours: Any = (XNVClassifier if classes else XNVRegressor)(
        random_state=job.draw, n_threads=1, progress=False
    )
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model in {OURS: ours, **others(job.n, X.shape[1], classes=classes)}.items():
            model.fit(X, y, **({"X_unlabeled": hidden} if name == OURS else {}))
            rows_to_predict, right = hidden[:MOST_TEST_ROWS], truth[:MOST_TEST_ROWS]
            predicted = np.ravel(model.predict(rows_to_predict))
            error = (
                np.mean(predicted != right) if classes else np.sqrt(np.mean((predicted - right) ** 2))
            )
            found.append(Trial(*job, name, float(error), auc_of(model, rows_to_predict, right)))
    return found


def auc_of(model: Any, X: np.ndarray, truth: np.ndarray) -> float | None:
    """Classes that no label had are impossible to a method; None without probabilities."""
    if not hasattr(model, "predict_proba"):
        return None
    classes = np.asarray(model.classes_).astype(int)
    p = np.zeros((len(X), 1 + int(max(classes.max(), truth.max()))))
    p[:, classes] = model.predict_proba(X)
    area = weighted_auc(truth.astype(int), p)
    return None if np.isnan(area) else area


def has_words(set_name: str, data: Path | None) -> bool:
    return any(column.dtype.kind in "OUS" for column in raw_table(set_name, data).features.values())


def tell(trials: list[Trial], data: Path | None) -> None:
    for task in ("regression", "classification"):
        for n in sorted({trial.n for trial in trials}):
            some = [t for t in trials if t.n == n and CONTEST_SETS_BY_NAME[t.set_name].task == task]
            if some:
                tell_one(some, f"{task}, n = {n}")
                tell_auc([trial for trial in some if has_words(trial.set_name, data)])


def tell_one(trials: list[Trial], what: str) -> None:
    methods = sorted({trial.method for trial in trials} - {OURS})
    by_set: dict[str, dict[str, float]] = {}
    for name in sorted({trial.set_name for trial in trials}):
        own = [trial for trial in trials if trial.set_name == name]
        by_set[name] = {
            method: float(np.mean([trial.error for trial in own if trial.method == method]))
            for method in (OURS, *methods)
        }
    ratios = {
        name: found[OURS] / max(min(found[method] for method in methods), 1e-9)
        for name, found in by_set.items()
    }
    draws = len({trial.draw for trial in trials})
    print(f"\n{what}: {len(ratios)} sets, {draws} draws; against the best other of each set")
    print("  " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items()))
    for method in methods:
        against = mean_of(found[OURS] / max(found[method], 1e-9) for found in by_set.values())
        print(f"  against {method}: {against:.3f}")
    mean = mean_of(ratios.values())
    report("  geometric mean", mean, "at most 1", mean <= 1)


def tell_auc(trials: list[Trial]) -> None:
    """Of tables with words: the default's area under the ROC curve less logistic regression's."""
    area = {(*trial[:3], trial.method): trial.auc for trial in trials if trial.auc is not None}
    gains: dict[str, list[float]] = {}
    for (name, n, number, method), own in area.items():
        other = area.get((name, n, number, "logistic regression"))
        if method == OURS and other is not None:
            gains.setdefault(name, []).append(own - other)
    if gains:
        means = {name: float(np.mean(some)) for name, some in gains.items()}
        print("  with words: " + ", ".join(f"{name} {gain:+.3f}" for name, gain in means.items()))
        mean = float(np.mean(list(means.values())))
        report("  AUC less logistic regression's", mean, "at least 0.01", mean >= 0.01)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--output", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--labels", default="10,20", help="numbers of labels, with commas between")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--task", choices=["regression", "classification"])
    parser.add_argument("--half", choices=["development", "untouched"])
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--report", action="store_true", help="no more fits: what is there")
    options = parser.parse_args()
    with Trials(options.output / "trials.sqlite") as store:
        if not options.report:
            run(store, options)
        rows = store.rows("SELECT * FROM trials ORDER BY set_name, n, draw")
        trials = [Trial(*row) for row in rows]
    half = options.half
    tell([t for t in trials if half in (None, CONTEST_SETS_BY_NAME[t.set_name].half)], options.data)


def run(store: Trials, options: argparse.Namespace) -> None:
    done = {Job(*row) for row in store.rows("SELECT DISTINCT set_name, n, draw FROM trials")}
    jobs = [
        Job(one.name, int(n), number)
        for number in range(options.draws)
        for one in choose_contest_sets([s for s in options.sets.split(",") if s], options.half)
        if options.task in (None, one.task)
        for n in options.labels.split(",")
    ]
    with workers(options.jobs) as pool:
        todo = [job for job in jobs if job not in done]
        for _, trials in as_they_come(pool, try_all, todo, options.data, "draws"):
            if trials:
                store.insert("trials", trials)


if __name__ == "__main__":
    main()
