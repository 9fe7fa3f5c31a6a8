"""What each estimator has learned: the attributes that are written, and how they must agree.

An estimator's attributes are annotated as the fields of any stored class are (``schema.py``). Sizes: F
columns of the table, D numbers that they became, r features that labels are regressed on, T targets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from twinviews.ensemble.ensembles import MOST_LABELS, ClassCommittee, NumberCommittee
from twinviews.estimators._single_view import OnLabeledRows
from twinviews.estimators.exact_sssl import ExactSSSLClassifier, ExactSSSLRegressor
from twinviews.estimators.krr import KRRClassifier, KRRRegressor
from twinviews.estimators.laprls import LapRLSClassifier, LapRLSRegressor
from twinviews.estimators.rff import RFFClassifier, RFFRegressor
from twinviews.estimators.sssl import SSSLClassifier, SSSLRegressor
from twinviews.estimators.xks import XKSClassifier, XKSRegressor
from twinviews.estimators.xnv import XNVClassifier, XNVRegressor
from twinviews.method.correlation import CanonicalBasis
from twinviews.method.kernel_values import Columns
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.moments import Moments
from twinviews.method.views import TwinFeatures, TwinViews, View
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.records import Field, Sizes
from twinviews.model_files.schema import defaults_of, fields_of
from twinviews.model_files.stored_classes import TableEncoding
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.scaling import Scale

Rows = Any  # (rows, D) ndarray or sparse matrix
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
    sigma_: Annotated[float, "> 0"]
    _features: Annotated[View, "D r"]
    _penalty: Annotated[np.ndarray, "r", ">= 0"]
    _problems: Annotated[tuple[Annotated[LabeledProblem, "D"], ...], ">= 1"]
    _coef: Annotated[np.ndarray, "r T"]
    _intercept: Annotated[np.ndarray, "T"]
    _readout: Annotated[View, "D T=r"]
    intercept_: Annotated[float | np.ndarray, "T", "missing"]
    loo_error_: Annotated[float | np.ndarray, "T", "missing"]


class _Numbers(_EveryModel):
    coef_: Annotated[np.ndarray, "r | T r"]


class _Classes(_EveryModel):
    coef_: Annotated[np.ndarray, "T r"]
    classes_: Annotated[np.ndarray, "K", "labels"]
    _scale: Annotated[float, ">= 0"]


class _Ridge:
    ridge_: Annotated[float, ">= 0"]


class _Landmarks:
    landmarks_: Annotated[Rows, "l D"]


class _OneView(_Ridge):
    n_components_: Annotated[int, ">= 1"]
    _view: Annotated[View, "D v=r"]
    _n_features_out: Annotated[int, "v"]


class _OneViewOfLandmarks(_Landmarks, _OneView):
    pass


class _KernelRidge(_Landmarks, _Ridge):
    pass


class _Correlated(_Ridge):
    n_components_: Annotated[int, ">= 1"]
    correlation_ridge_: Annotated[float, ">= 0"]
    canonical_weight_: Annotated[float, ">= 0"]
    correlations_: Annotated[np.ndarray, "r", ">= 0"]
    effective_dimension_: Annotated[float, ">= 0"]
    _view: Annotated[View, "D r"]
    _n_features_out: Annotated[int, "r"]
    _offsets: Annotated[tuple[Annotated[np.ndarray, "r"], ...], "2"]


class _XNVNumbers(_Landmarks, _Correlated):
    _guides: Annotated[np.ndarray, "g D"] | None
    _committees: Annotated[tuple[Annotated[NumberCommittee, "D 1=t"], ...], "T"] | None


class _XNVClasses(_Landmarks, _Correlated):
    _guides: Annotated[np.ndarray, "g D"] | None
    _committees: Annotated[tuple[Annotated[ClassCommittee, "D T=t"], ...], "1"] | None


class _ExactSSSL(_Landmarks):
    _view: Annotated[View, "D e=r"]
    eigenvalues_: Annotated[np.ndarray, "e"]
    n_eigenfunctions_: Annotated[int, "r", ">= 1"]


class _LapRLS(_Ridge):
    landmarks_: Annotated[Rows, "N D"]
    manifold_ridge_: Annotated[float, ">= 0"]
    n_neighbors_: Annotated[int, ">= 1"]
    _kernel_of_rows: Annotated[Columns, "D N=m"]
    _bending: Annotated[float, ">= 0"]
    _deformation: Annotated[np.ndarray, "N N"]
    _ridge_of_bending: Annotated[float, "> 0"] | None


class _AllRows:
    """Of a whole file: what more rows are added to."""

    _columns: Annotated[Columns | TwinFeatures, "D c=m"]
    _shift: Annotated[np.ndarray, "c"]
    _moments: Annotated[Moments, "c=m"]
    views_: Annotated[tuple[Annotated[View, "D"], ...], "2"]
    basis_: Annotated[CanonicalBasis, "a=r1 b=r2 r=k"]
    _labeled: Annotated[LabeledRows, "D"]
    _expected: Annotated[np.ndarray, "_", "labels"] | None


@dataclass(frozen=True)
class EstimatorKind:
    """An estimator, its name in files, and the attributes that a fit gives it."""

    name: str
    cls: Any
    states: tuple[type, ...]
    of_all_rows: type | None

    def fields(self, *, whole: bool) -> dict[str, Field]:
        return _merged(map(fields_of, self._states(whole)))

    def defaults(self, *, whole: bool) -> dict[str, Any]:
        return _merged(map(defaults_of, self._states(whole)))

    def _states(self, whole: bool) -> list[type]:
        return [*self.states, *([self.of_all_rows] if whole and self.of_all_rows else [])]


def _merged(parts: Any) -> dict[str, Any]:
    return {name: value for part in parts for name, value in part.items()}


ESTIMATORS: dict[str, EstimatorKind] = {}


def register_estimator(cls: type, name: str, *states: type, of_all_rows: type | None = None) -> None:
    """Let model files hold an estimator, whose learned attributes the states annotate."""
    ESTIMATORS[name] = EstimatorKind(name, cls, states, of_all_rows)


_register = register_estimator
_register(XNVRegressor, "XNVRegressor", _Numbers, _XNVNumbers, of_all_rows=_AllRows)
_register(XNVClassifier, "XNVClassifier", _Classes, _XNVClasses, of_all_rows=_AllRows)
_register(XKSRegressor, "XKSRegressor", _Numbers, _Correlated, of_all_rows=_AllRows)
_register(XKSClassifier, "XKSClassifier", _Classes, _Correlated, of_all_rows=_AllRows)
_register(SSSLRegressor, "SSSLRegressor", _Numbers, _OneViewOfLandmarks)
_register(SSSLClassifier, "SSSLClassifier", _Classes, _OneViewOfLandmarks)
_register(RFFRegressor, "RFFRegressor", _Numbers, _OneView)
_register(RFFClassifier, "RFFClassifier", _Classes, _OneView)
_register(KRRRegressor, "KRRRegressor", _Numbers, _KernelRidge)
_register(KRRClassifier, "KRRClassifier", _Classes, _KernelRidge)
_register(ExactSSSLRegressor, "ExactSSSLRegressor", _Numbers, _ExactSSSL)
_register(ExactSSSLClassifier, "ExactSSSLClassifier", _Classes, _ExactSSSL)
_register(LapRLSRegressor, "LapRLSRegressor", _Numbers, _LapRLS)
_register(LapRLSClassifier, "LapRLSClassifier", _Classes, _LapRLS)


def learned(model: Any, names: Iterable[str]) -> dict[str, Any]:
    """Attributes of a fitted model; None for those that only some fits leave."""
    return {name: getattr(model, name, None) for name in names}


def give(model: Any, state: Mapping[str, Any]) -> None:
    """Make the model one that has learned this."""
    state = dict(state)
    names = state.pop("feature_names_in_")
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    has_committee = "_committees" in state
    committees = state.pop("_committees", None)
    model.__dict__.update(state)
    if has_committee:
        model._seat(committees)


def check_together(model: Any, sizes: Sizes, *, whole: bool) -> None:
    """What the fields do not say one by one."""
    if model._width != sizes["D"]:
        raise ModelFileError(f"{sizes['F']} columns do not become {sizes['D']} numbers")
    T = sizes["T"]
    targets = np.concatenate([problem.targets for problem in model._problems])
    if sorted(targets.tolist()) != list(range(T)):
        raise ModelFileError(f"its labels are of other targets than its {T}")
    if min(len(problem.Y) for problem in model._problems) < 1:
        raise ModelFileError("it has a target without labels")
    labeled = max(problem.distinct.shape[0] for problem in model._problems)
    if isinstance(model, OnLabeledRows) and labeled > len(model._features.W):
        raise ModelFileError(f"it has {labeled} labeled rows, and a kernel of fewer")
    if is_classifier(model):
        K = sizes["K"]
        if K < 2 or (1 if K == 2 else K) != T or len(model._problems) != 1:
            raise ModelFileError(f"{K} classes do not go with {T} targets")
    elif model._one_column and (T != 1 or model.coef_.ndim != 1):
        raise ModelFileError(f"one column of labels does not go with {T} targets")
    for target, committee in enumerate(getattr(model, "_committees", None) or ()):
        problem, _ = model._problem_of(target)
        if len(committee.held_out) != min(len(problem.Y), MOST_LABELS):
            raise ModelFileError("a committee was not fitted on the labels that are there")
    if whole:
        first, second = model.views_
        views = TwinViews(first, second, model._columns)
        shapes = (first.W.shape[1], second.W.shape[1], sum(map(len, views.from_columns)))
        if shapes != (sizes["a"], sizes["b"], sizes["c"]):
            raise ModelFileError("its views do not go with what they agree on")
        if isinstance(views.columns, TwinFeatures) and not (
            np.array_equal(views.columns.W1, first.W) and np.array_equal(views.columns.W2, second.W)
        ):
            raise ModelFileError("its sums are of other features than those of its views")


def check_predictions(model: Any) -> None:
    """It gives finite numbers, at the rows that it learned from and elsewhere."""
    rows = model._problems[0].distinct[:_PROBES]
    with np.errstate(all="ignore"):
        decisions = [model._decision(rows)]
        if not sparse.issparse(rows):
            decisions.append(model._decide_checked(np.zeros((1, rows.shape[1]))))
    if not all(np.isfinite(decision).all() for decision in decisions):
        raise ModelFileError("it does not predict finite numbers")
