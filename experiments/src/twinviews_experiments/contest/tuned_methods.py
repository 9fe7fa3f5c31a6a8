"""How each method chooses its numbers with the n labels alone, in at most 24 trials.

Inputs come standardised, categories as columns of 0 and 1. A trial is one setting in 5-fold
cross-validation; methods with a closed form of leave-one-out or of the likelihood use that, and
forests the rows out of their bags.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV, RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC, SVR

from twinviews_experiments.contest.tabpfn_apart import TabPFNApart
from twinviews_experiments.contest.xrfm_method import fit_feature_machines
from twinviews_experiments.datasets.preparation import Task

FOLDS = 5
# Methods on matrices of all rows by all rows get no more unlabeled rows than these.
ROWS_FOR_SQUARES = 1000
_LIKELIHOOD_STEPS = 50
_SVM_STEPS = 20_000  # hopeless settings are given up
_ARD_COLUMNS = 50  # a width for each column, up to so many columns


@dataclass(frozen=True)
class Few:
    """What a method is given: a few labeled rows, many unlabeled ones, and a seed."""

    task: Task
    X: np.ndarray  # (n, D)
    y: np.ndarray  # (n,) numbers, or class codes
    unlabeled: np.ndarray  # (N - n, D)
    seed: int

    @property
    def is_regression(self) -> bool:
        return self.task == "regression"

    def with_unlabeled(self, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """All rows, and labels that are missing for the unlabeled ones."""
        others = self.unlabeled[:most]
        y = np.full(len(self.X) + len(others), np.nan)
        y[: len(self.y)] = self.y
        return np.vstack([self.X, others]), y

    @cached_property
    def folds(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rows to fit on and rows to judge by, the same for every method."""
        return list(KFold(FOLDS, shuffle=True, random_state=self.seed).split(self.X))

    @cached_property
    def svm(self) -> Any:
        """The SVM, searched once: methods around it share the search."""
        return _search_svm(self)

    def search(self, model: Any, grid: dict[str, list[Any]]) -> Any:
        """The best of the grid in 5-fold cross-validation, fitted."""
        scoring = "neg_mean_squared_error" if self.is_regression else "accuracy"
        return GridSearchCV(model, grid, cv=self.folds, scoring=scoring).fit(self.X, self.y)


def ours(regressor: Any, classifier: Any, most: int | None = None) -> Callable[[Few], Any]:
    """One of our own methods with no argument but the seed: every number is its own choice."""

    def fit(few: Few) -> Any:
        model = (regressor if few.is_regression else classifier)()
        parameters = {"progress": False, "random_state": few.seed, "n_threads": 1}
        known = model.get_params()
        model.set_params(**{name: value for name, value in parameters.items() if name in known})
        return model.fit(*few.with_unlabeled(most))

    return fit


def nystroem_ridge(few: Few) -> Any:
    linear = RidgeCV if few.is_regression else RidgeClassifierCV
    features = Nystroem(n_components=min(len(few.X) * 4 // 5, 300), random_state=few.seed)
    model = make_pipeline(features, linear(alphas=np.logspace(-5, 2, 15)))
    D = few.X.shape[1]
    return few.search(model, {"nystroem__gamma": [f / D for f in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)]})


def support_vectors(few: Few) -> Any:
    return few.svm


def _search_svm(few: Few) -> Any:
    D = few.X.shape[1]
    grid: dict[str, list[Any]] = {"gamma": [f / D for f in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)]}
    if not few.is_regression:
        return few.search(SVC(max_iter=_SVM_STEPS), {**grid, "C": [0.1, 1.0, 10.0, 100.0]})
    scale = float(few.y.std()) or 1.0
    grid |= {"C": [scale * c for c in (0.3, 3.0, 30.0, 300.0)]}
    return few.search(SVR(epsilon=0.05 * scale, max_iter=_SVM_STEPS), grid)


def gaussian_process(few: Few) -> Any:
    D = few.X.shape[1]
    widths = np.full(D, np.sqrt(D)) if D <= _ARD_COLUMNS and few.is_regression else np.sqrt(D)
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(widths, (1e-2, 1e4))
    if few.is_regression:
        noisy = kernel + WhiteKernel(0.1, (1e-6, 10.0))
        model = GaussianProcessRegressor(
            noisy, optimizer=_likeliest, normalize_y=True, random_state=few.seed
        )
        return model.fit(few.X, few.y)
    model = GaussianProcessClassifier(kernel, optimizer=_likeliest, random_state=few.seed)
    return model.fit(few.X, few.y)


def _likeliest(loss: Any, start: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, float]:
    """scikit-learn's own optimiser, ended after as many steps as help: the rest is half of its time."""
    steps = {"maxiter": _LIKELIHOOD_STEPS}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=steps)
    return found.x, found.fun


def random_forest(few: Few) -> Any:
    kind = RandomForestRegressor if few.is_regression else RandomForestClassifier
    grid = {"max_features": [0.33, 1.0, "sqrt"], "min_samples_leaf": [1, 3]}
    forests = [
        kind(n_estimators=200, oob_score=True, random_state=few.seed, **setting).fit(few.X, few.y)
        for setting in ParameterGrid(grid)
    ]
    return max(forests, key=attrgetter("oob_score_"))


def boosting(few: Few) -> Any:
    kind = HistGradientBoostingRegressor if few.is_regression else HistGradientBoostingClassifier
    model = kind(min_samples_leaf=5, max_bins=64, random_state=few.seed)
    return few.search(model, {"learning_rate": [0.05, 0.15]})


def lightgbm(few: Few) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if few.is_regression else LGBMClassifier
    model = kind(n_estimators=100, min_child_samples=5, n_jobs=1, verbose=-1, random_state=few.seed)
    grid: dict[str, list[Any]] = {
        "learning_rate": [0.05, 0.15],
        "num_leaves": [5, 31],
    }
    return few.search(model, grid)


def catboost(few: Few) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if few.is_regression else CatBoostClassifier
    model = kind(thread_count=1, random_seed=few.seed, verbose=0, allow_writing_files=False)
    return model.fit(few.X, few.y)


def ridge(few: Few) -> Any:
    return RidgeCV(alphas=np.logspace(-4, 4, 24)).fit(few.X, few.y)


def logistic_regression(few: Few) -> Any:
    model = LogisticRegression(max_iter=1000, random_state=few.seed)
    return few.search(model, {"C": list(np.logspace(-4, 4, 12))})


def tabpfn(few: Few) -> Any:
    return TabPFNApart(random_state=few.seed).fit(few.X, few.y)


def self_training(few: Few) -> Any:
    """The SVM of the labels, which then labels the rows it is sure of."""
    best = clone(few.svm.best_estimator_)
    X, y = few.with_unlabeled(ROWS_FOR_SQUARES)
    codes = np.where(np.isnan(y), -1, y).astype(int)
    model = SelfTrainingClassifier(
        best.set_params(probability=True, random_state=few.seed), threshold=0.9
    )
    return model.fit(X, codes)


def label_spreading(few: Few) -> Any:
    X, y = few.with_unlabeled(ROWS_FOR_SQUARES)
    D = few.X.shape[1]
    settings: list[dict[str, Any]] = [{"kernel": "rbf", "gamma": f / D} for f in (0.3, 1.0, 3.0, 10.0)]
    settings += [{"kernel": "knn", "n_neighbors": k} for k in (5, 10, 20)]
    errors = []
    for setting in settings:
        wrong = 0
        for _, held_out in few.folds:
            codes = np.where(np.isnan(y), -1, y).astype(int)
            codes[held_out] = -1
            model = LabelSpreading(max_iter=100, **setting).fit(X, codes)
            wrong += int((model.transduction_[held_out] != few.y[held_out]).sum())
        errors.append(wrong)
    best = settings[int(np.argmin(errors))]
    return LabelSpreading(max_iter=100, **best).fit(X, np.where(np.isnan(y), -1, y).astype(int))


def feature_machines(few: Few) -> Any:
    return fit_feature_machines(few.X, few.y, few.folds, few.is_regression, few.seed)


def tri_training(few: Few) -> Any:
    """Three SVMs on resampled labels, each of which learns from what the other two agree on."""
    from sslearn.wrapper import TriTraining, TriTrainingRegressor

    base = clone(few.svm.best_estimator_)
    X, y = few.with_unlabeled(ROWS_FOR_SQUARES)
    if few.is_regression:
        return TriTrainingRegressor(base, random_state=few.seed, n_jobs=1).fit(X, y)
    codes = np.where(np.isnan(y), -1, y).astype(int)
    base.set_params(probability=True)  # without it sslearn takes a path that NumPy 2 does not know
    return TriTraining(base, random_state=few.seed, n_jobs=1).fit(X, codes)
