"""What each estimator has learned: the attributes that are written, and how they must agree.

An estimator's attributes are annotated as the fields of any stored class are (``schema.py``). Sizes: F
columns of the table, D numbers that they became, r features that labels are regressed on, T targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from twinviews.ensemble.ensembles import MOST_LABELS, ClassificationEnsemble, RegressionEnsemble
from twinviews.estimators._correlated_views import CorrelatedViews, LearnedCorrelation
from twinviews.estimators._method import Solution
from twinviews.estimators.exact_sssl import (
    EigenfunctionRegression,
    ExactSSSLClassifier,
    ExactSSSLRegressor,
    LearnedEigenfunctions,
)
from twinviews.estimators.krr import KRRClassifier, KRRRegressor, LearnedWidth
from twinviews.estimators.laprls import (
    LaplacianRidge,
    LapRLSClassifier,
    LapRLSRegressor,
    LearnedDeformation,
)
from twinviews.estimators.single_view import (
    LearnedView,
    RFFClassifier,
    RFFRegressor,
    SSSLClassifier,
    SSSLRegressor,
)
from twinviews.estimators.xks import XKSClassifier, XKSRegressor
from twinviews.estimators.xnv import XNVClassifier, XNVRegressor
from twinviews.method.views import TwinFeatures
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.records import Field, Sizes
from twinviews.model_files.schema import defaults_of, fields_of
from twinviews.model_files.stored_classes import TableEncoding
from twinviews.passes.scaling import Scale

_PROBES = 4


class _EveryModel:
    n_features_in_: Annotated[int, "F", ">= 1"]
    feature_names_in_: Annotated[tuple[str, ...], "F"] | None
    _encoder: Annotated[TableEncoding, "F D"] | None
    _rows_are_sparse: bool
    _one_column: bool
    _scaling: Annotated[Scale, "D"] | None
    _seed: Annotated[int, ">= 0"]
    n_labeled_: Annotated[int, ">= 2"]
    n_unlabeled_: Annotated[int, ">= 0"]
    _solution: Annotated[Solution, "D r T"]
    loo_error_: Annotated[float | np.ndarray, "T", "missing"]


class _Classifier(_EveryModel):
    classes_: Annotated[np.ndarray, "K", "labels"]
    _scale: Annotated[float, ">= 0"]


class _CorrelatedViews:
    _learned: Annotated[LearnedCorrelation, "D r"]
    _expected: Annotated[np.ndarray, "_", "labels"] | None


class _XNVRegressor(_CorrelatedViews):
    _unlabeled_sample: Annotated[np.ndarray, "g D"] | None
    _ensembles: Annotated[tuple[Annotated[RegressionEnsemble, "D 1=t"], ...], "T"] | None


class _XNVClassifier(_CorrelatedViews):
    _unlabeled_sample: Annotated[np.ndarray, "g D"] | None
    _ensembles: Annotated[tuple[Annotated[ClassificationEnsemble, "D T=t"], ...], "1"] | None


class _SingleView:
    _learned: Annotated[LearnedView, "D"]


class _KernelRidge:
    _learned: LearnedWidth


class _Eigenfunctions:
    _learned: Annotated[LearnedEigenfunctions, "D"]


class _Deformation:
    _learned: Annotated[LearnedDeformation, "D"]


@dataclass(frozen=True)
class EstimatorKind:
    """An estimator, its name in files, and the attributes that a fit gives it."""

    name: str
    cls: Any
    states: tuple[type, ...]

    @property
    def fields(self) -> dict[str, Field]:
        return _merged(map(fields_of, self.states))

    @property
    def defaults(self) -> dict[str, Any]:
        return _merged(map(defaults_of, self.states))

    @property
    def has_all_rows(self) -> bool:
        """Whether more rows can be added to it, from a file that is whole."""
        return any(issubclass(state, _CorrelatedViews) for state in self.states)


def _merged(parts: Any) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


ESTIMATORS: dict[str, EstimatorKind] = {}


def register_estimator(cls: type, name: str, *states: type) -> None:
    """Let model files hold an estimator, whose learned attributes the states annotate."""
    ESTIMATORS[name] = EstimatorKind(name, cls, states)


_register = register_estimator
_register(XNVRegressor, "XNVRegressor", _EveryModel, _XNVRegressor)
_register(XNVClassifier, "XNVClassifier", _Classifier, _XNVClassifier)
_register(XKSRegressor, "XKSRegressor", _EveryModel, _CorrelatedViews)
_register(XKSClassifier, "XKSClassifier", _Classifier, _CorrelatedViews)
_register(SSSLRegressor, "SSSLRegressor", _EveryModel, _SingleView)
_register(SSSLClassifier, "SSSLClassifier", _Classifier, _SingleView)
_register(RFFRegressor, "RFFRegressor", _EveryModel, _SingleView)
_register(RFFClassifier, "RFFClassifier", _Classifier, _SingleView)
_register(KRRRegressor, "KRRRegressor", _EveryModel, _KernelRidge)
_register(KRRClassifier, "KRRClassifier", _Classifier, _KernelRidge)
_register(ExactSSSLRegressor, "ExactSSSLRegressor", _EveryModel, _Eigenfunctions)
_register(ExactSSSLClassifier, "ExactSSSLClassifier", _Classifier, _Eigenfunctions)
_register(LapRLSRegressor, "LapRLSRegressor", _EveryModel, _Deformation)
_register(LapRLSClassifier, "LapRLSClassifier", _Classifier, _Deformation)


def learned(model: Any, names: Iterable[str], *, whole: bool) -> dict[str, Any]:
    """Attributes of a fitted model, None for those that only some fits leave; small unless whole."""
    found = {name: getattr(model, name, None) for name in names}
    if not whole and isinstance(found["_learned"], LearnedCorrelation):
        found["_learned"] = replace(found["_learned"], basis=None, all_rows=None)
        found["_expected"] = None
    return found


def give(model: Any, state: Mapping[str, Any]) -> None:
    """Make the model one that has learned this."""
    state = dict(state)
    names = state.pop("feature_names_in_")
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.__dict__.update(state)
    model._show()


def check_together(model: Any, sizes: Sizes, *, whole: bool) -> None:
    """What the fields do not say one by one."""
    solution: Solution = model._solution
    if model._width != sizes["D"]:
        raise ModelFileError(f"{sizes['F']} columns do not become {sizes['D']} numbers")
    _check_solution(solution, type(model._method()), sizes["T"])
    T = sizes["T"]
    if is_classifier(model):
        K = sizes["K"]
        if K < 2 or (1 if K == 2 else K) != T or len(solution.problems) != 1:
            raise ModelFileError(f"{K} classes do not go with {T} targets")
    elif model._one_column and T != 1:
        raise ModelFileError(f"one column of labels does not go with {T} targets")
    for target, ensemble in enumerate(model._ensembles or ()):
        problem, _ = solution.problem_of(target)
        if len(ensemble.held_out) != min(len(problem.Y), MOST_LABELS):
            raise ModelFileError("an ensemble was not fitted on the labels that are there")
    if isinstance(model._learned, LearnedCorrelation):
        _check_views(model._learned, whole=whole)


_CHOSEN: dict[type, tuple[str, ...]] = {
    CorrelatedViews: ("canonical_weight", "ridge"),
    EigenfunctionRegression: (),
    LaplacianRidge: ("manifold_ridge", "ridge"),
}


def _check_solution(solution: Solution, method: Any, n_targets: int) -> None:
    targets = np.concatenate([problem.targets for problem in solution.problems])
    if sorted(targets.tolist()) != list(range(n_targets)):
        raise ModelFileError(f"its labels are of other targets than its {n_targets}")
    if min(len(problem.Y) for problem in solution.problems) < 1:
        raise ModelFileError("it has a target without labels")
    labeled = max(problem.distinct.shape[0] for problem in solution.problems)
    if solution.landmarks_are_labeled != method.landmarks_are_labeled:
        raise ModelFileError(f"its solution is not one of a {method.__name__}")
    if solution.landmarks_are_labeled and labeled > len(solution.view.W):
        raise ModelFileError(f"it has {labeled} labeled rows, and a kernel of fewer")
    if set(solution.values) != set(_CHOSEN.get(method, ("ridge",))):
        raise ModelFileError(f"its numbers {sorted(solution.values)} are not those of its method")


def _check_views(found: LearnedCorrelation, *, whole: bool) -> None:
    if (found.all_rows is None) == whole or (found.basis is None) == whole:
        raise ModelFileError("it does not hold the sums over all rows that it says it does")
    if found.all_rows is None or found.basis is None:
        return
    all_rows, views = found.all_rows, found.all_rows.pair
    first, second = all_rows.views
    shapes = (first.W.shape[1], second.W.shape[1], sum(map(len, views.from_columns)))
    if shapes != (len(found.basis.B1), len(found.basis.B2), len(all_rows.shift)):
        raise ModelFileError("its views do not go with what they agree on")
    if isinstance(views.columns, TwinFeatures) and not (
        np.array_equal(views.columns.W1, first.W) and np.array_equal(views.columns.W2, second.W)
    ):
        raise ModelFileError("its sums are of other features than those of its views")


def check_predictions(model: Any) -> None:
    """It gives finite numbers, at the rows that it learned from and elsewhere."""
    rows = model._solution.problems[0].distinct[:_PROBES]
    with np.errstate(all="ignore"):
        decisions = [model._decision(rows)]
        if not sparse.issparse(rows):
            decisions.append(model._decision(model._scaled(np.zeros((1, rows.shape[1])))))
    if not all(np.isfinite(decision).all() for decision in decisions):
        raise ModelFileError("it does not predict finite numbers")
