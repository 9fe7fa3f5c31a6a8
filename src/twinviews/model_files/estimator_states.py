"""Each estimator in a file: its parameters, what it has learned, and how that must agree.

What a fit leaves is annotated as the fields of any stored class are (``schema.py``). Sizes: F columns
of the table, D numbers that they became, r features that labels are regressed on, T targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier

from twinviews.ensemble.ensembles import ClassificationEnsemble, RegressionEnsemble
from twinviews.ensemble.many_labels import SOME_LABELS
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
from twinviews.estimators.xnv import XNVClassifier, XNVCountRegressor, XNVRegressor
from twinviews.estimators.xnv_ordinal import XNVOrdinalClassifier
from twinviews.method.counts import CountMean
from twinviews.method.cumulative_link import CumulativeLink
from twinviews.method.intervals import SingleLabels
from twinviews.method.views import TwinFeatures
from twinviews.model_files.container import ModelFileError, UnknownHereError
from twinviews.model_files.labels_and_rows import Rows, check_places
from twinviews.model_files.records import MOST_WHOLE, Json, Kind, Reader, Sizes, Writer
from twinviews.model_files.schema import defaults_of, field_of, fields_of
from twinviews.model_files.stored_classes import TableEncoding
from twinviews.passes.input_profile import InputProfile
from twinviews.passes.ordered_classes import labels_in_order
from twinviews.passes.scaling import Scale
from twinviews.shift.covariate_shift import CovariateShift
from twinviews.shift.importance import RowImportance

_PROBES = 4
_MOST_THREADS = 1024
_LANDMARKS = Rows(sizes="_ _")


# --- what a fit leaves -----------------------------------------------------------------------------


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
    _error_ends: tuple[Annotated[float, "missing"], ...] | None = None
    _profile: Annotated[InputProfile, "F"] | None = None
    _shift: CovariateShift | None = None
    _importance: Annotated[RowImportance, "D"] | None = None
    n_left_out_: Annotated[int, ">= 0"] = 0
    n_labels_unused_: Annotated[int, ">= 0"] = 0


class _Regressor(_EveryModel):
    cv_r2_: Annotated[float | np.ndarray, "T", "missing"] = np.nan


class _Classifier(_EveryModel):
    classes_: Annotated[np.ndarray, "K", "labels"]
    _scale: Annotated[float, ">= 0"]
    cv_auc_: Annotated[float, "missing"] = np.nan
    cv_log_loss_: Annotated[float, "missing"] = np.nan
    cv_balanced_error_: Annotated[float, "missing"] = np.nan
    cv_average_precision_: Annotated[float, "missing"] = np.nan
    cv_lift_: Annotated[float, "missing"] = np.nan
    cv_recall_: Annotated[np.ndarray, "K", "missing"] | None = None
    _lift_ends: tuple[Annotated[float, "missing"], ...] | None = None
    _class_cost: Annotated[np.ndarray, "K", "> 0"] | None = None


class _CountRegressor(_EveryModel):
    cv_r2_: Annotated[float, "missing"]
    cv_deviance_: Annotated[float, "missing"]
    cv_d2_: Annotated[float, "missing"]
    _mean: CountMean
    _whole: bool
    _singles: SingleLabels | None


class _OrdinalClassifier(_EveryModel):
    classes_: Annotated[np.ndarray, "K", "labels"]
    cv_error_rate_: Annotated[float, "missing"]
    cv_log_loss_: Annotated[float, "missing"]
    _link: CumulativeLink
    _order: Annotated[np.ndarray, "_", "labels"] | None


class _CorrelatedViews:
    _expected: Annotated[np.ndarray, "_", "labels"] | None


class _XNVRegressor(_CorrelatedViews):
    _unlabeled_sample: Annotated[Any, "g D"] | None
    _ensembles: Annotated[tuple[Annotated[RegressionEnsemble, "D 1=t"], ...], "T"] | None


class _XNVClassifier(_CorrelatedViews):
    _unlabeled_sample: Annotated[Any, "g D"] | None
    _ensembles: Annotated[tuple[Annotated[ClassificationEnsemble, "D T=t"], ...], "1"] | None


def _kind(cls: Any, learned: Any, *states: Any) -> Kind:
    """How an estimator is stored: what it learns from all rows, and its other attributes."""
    fields, defaults = {"_learned": field_of(learned)}, dict[str, Any]()
    for state in states:
        fields |= fields_of(state)
        defaults |= defaults_of(state)
    return Kind(cls.__name__, cls, fields, defaults, cls)


_CORRELATION = Annotated[LearnedCorrelation, "D r"]
_VIEW = Annotated[LearnedView, "D"]
_EIGENFUNCTIONS = Annotated[LearnedEigenfunctions, "D"]
_DEFORMATION = Annotated[LearnedDeformation, "D"]
_KINDS = [
    _kind(XNVRegressor, _CORRELATION, _Regressor, _XNVRegressor),
    _kind(XNVClassifier, _CORRELATION, _Classifier, _XNVClassifier),
    _kind(XNVCountRegressor, _CORRELATION, _CountRegressor, _XNVRegressor),
    _kind(XNVOrdinalClassifier, _CORRELATION, _OrdinalClassifier, _XNVRegressor),
    _kind(XKSRegressor, _CORRELATION, _Regressor, _CorrelatedViews),
    _kind(XKSClassifier, _CORRELATION, _Classifier, _CorrelatedViews),
    _kind(SSSLRegressor, _VIEW, _Regressor),
    _kind(SSSLClassifier, _VIEW, _Classifier),
    _kind(RFFRegressor, _VIEW, _Regressor),
    _kind(RFFClassifier, _VIEW, _Classifier),
    _kind(KRRRegressor, LearnedWidth, _Regressor),
    _kind(KRRClassifier, LearnedWidth, _Classifier),
    _kind(ExactSSSLRegressor, _EIGENFUNCTIONS, _Regressor),
    _kind(ExactSSSLClassifier, _EIGENFUNCTIONS, _Classifier),
    _kind(LapRLSRegressor, _DEFORMATION, _Regressor),
    _kind(LapRLSClassifier, _DEFORMATION, _Classifier),
]
ESTIMATORS = {kind.name: kind for kind in _KINDS}


def write_estimator(model: Any, writer: Writer, *, whole: bool) -> dict[str, Json]:
    """Its class, parameters and state; without the sums over all rows unless it is whole."""
    kind = ESTIMATORS.get(type(model).__name__)
    if kind is None or type(model) is not kind.cls:
        raise ModelFileError("it is not an estimator of twinviews. Keep it with pickle or skops")
    found = model._learned
    if whole and isinstance(found, LearnedCorrelation) and found.all_rows is None:
        raise ModelFileError("whole=True, but the file it comes from left out the sums over all rows")
    if not whole and isinstance(found, LearnedCorrelation):
        model = copy(model)
        model._learned, model._expected = replace(found, basis=None, all_rows=None), None
    state = kind.write(model, writer)
    parameters = {
        name: _write_parameter(name, value, writer)
        for name, value in sorted(model.get_params(deep=False).items())
    }
    return {"class": kind.name, "parameters": parameters, "state": state}


def read_estimator(node: dict[str, Json], reader: Reader, *, whole: bool) -> Any:
    """The fitted model, with defaults for parameters that the file lacks."""
    kind = ESTIMATORS[node["class"]]
    unknown = sorted(set(node["parameters"]) - set(kind.cls().get_params(deep=False)))
    if unknown:
        raise UnknownHereError(f"{kind.name} has the parameter {unknown[0][:40]!r}")
    parameters = {
        name: read_parameter(name, value, reader) for name, value in node["parameters"].items()
    }
    model = kind.cls(**parameters)
    _check_parameters(model)
    sizes = Sizes()
    state = kind.read(node["state"], reader, sizes)
    reader.refuse_what_is_not_used()
    names = state.pop("feature_names_in_")
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    model.__dict__.update(state)
    model._show()
    _check_together(model, sizes, whole=whole)
    _check_predictions(model)
    return model


# --- parameters: plain values, names of members, and landmarks of one's own ------------------------


def _write_parameter(name: str, value: Any, writer: Writer) -> Json:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return {"nan": True} if value != value else value
    if name == "landmarks":
        rows = value if sparse.issparse(value) else np.asarray(value, dtype=np.float64)
        return {"rows": _LANDMARKS.encode(rows, writer)}
    if name == "members" and {type(member) for member in value} == {str}:
        return {"names": list(value)}
    if name == "class_weight" and isinstance(value, Mapping):
        return {"costs": {str(label): float(weight) for label, weight in value.items()}}
    if name == "classes" and {type(label) for label in labels_in_order(value)} <= _PLAIN:
        return {"labels": labels_in_order(value)}
    raise ModelFileError(
        f"{name}={value!r:.60} is not a plain value. set_params({name}=...) to one changes nothing "
        f"that was learned; or keep this model with pickle"
    )


_PLAIN = {bool, int, float, str}


def read_parameter(name: str, node: Json, reader: Reader | None = None) -> Any:
    """A parameter; without a reader, of landmarks only that there are some."""
    if node == {"nan": True}:
        return np.nan
    held = list(node) if isinstance(node, dict) else []
    if name == "landmarks" and held == ["rows"]:
        return "array" if reader is None else _LANDMARKS.decode(node["rows"], reader, Sizes())
    if name == "members" and held == ["names"]:
        names = node["names"]
        if isinstance(names, list) and all(type(member) is str for member in names):
            return names
    if name == "class_weight" and held == ["costs"] and isinstance(node["costs"], dict):
        return node["costs"]  # checked with the other parameters
    if name == "classes" and held == ["labels"]:
        labels = node["labels"]
        if isinstance(labels, list) and {type(label) for label in labels} <= _PLAIN:
            return labels  # checked with the other parameters
    if isinstance(node, (dict, list)) or (type(node) is int and abs(node) > MOST_WHOLE):
        raise ModelFileError(f"the parameter {node!r:.40} is not a plain value")
    return node


def _check_parameters(model: Any) -> None:
    """Refuse parameters that a fit would refuse, or that would cost a reader dearly."""
    try:
        model._check_parameters()
    except ValueError as reason:
        raise ModelFileError(str(reason).rstrip(".")) from None
    if (model.n_threads or 1) > _MOST_THREADS:
        raise ModelFileError(f"n_threads={model.n_threads} is more than {_MOST_THREADS}")
    seed = getattr(model, "random_state", None)
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**32):
        raise ModelFileError(f"random_state={seed!r:.40} is not a seed")


# --- what the fields do not say one by one ---------------------------------------------------------


def _check_together(model: Any, sizes: Sizes, *, whole: bool) -> None:
    solution: Solution = model._solution
    if model._width != sizes["D"]:
        raise ModelFileError(f"{sizes['F']} columns do not become {sizes['D']} numbers")
    _check_solution(solution, type(model._method()), sizes["T"])
    T = sizes["T"]
    if is_classifier(model):
        K, link = sizes["K"], getattr(model, "_link", None)
        expected = 1 if K == 2 or link is not None else K
        if K < 2 or expected != T or len(solution.problems) != 1:
            raise ModelFileError(f"{K} classes do not go with {T} targets")
        if link is not None and len(link.cuts) != K - 1:
            raise ModelFileError(f"{K} classes do not go with {len(link.cuts)} cuts between them")
    elif model._one_column and T != 1:
        raise ModelFileError(f"one column of labels does not go with {T} targets")
    singles: SingleLabels | None = getattr(model, "_singles", None)
    if singles is not None:
        check_places(singles.row, len(solution.problems[0].Y))
    ends = model._error_ends
    if ends is not None and len(ends) != 2 * (1 if is_classifier(model) else T):
        raise ModelFileError(f"{len(ends)} ends are not those of the intervals of its errors")
    of_lift = getattr(model, "_lift_ends", None)
    if of_lift is not None and len(of_lift) != 2:
        raise ModelFileError(f"{len(of_lift)} ends are not those of the interval of its lift")
    if model._profile is not None and (model._encoder is not None or model._profile.levels):
        raise ModelFileError("what it has seen is not of columns of numbers")
    for target, ensemble in enumerate(model._ensembles or ()):
        problem, _ = solution.problem_of(target)
        m = len(problem.Y)
        if len(ensemble.held_out) not in (m, min(m, SOME_LABELS)):  # the latter in older files
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


def _check_predictions(model: Any) -> None:
    """It gives finite numbers, at the rows that it learned from and elsewhere."""
    rows = model._solution.problems[0].distinct[:_PROBES]
    with np.errstate(all="ignore"):
        decisions = [model._decision(rows)]
        if not sparse.issparse(rows):
            decisions.append(model._decision(model._scaled(np.zeros((1, rows.shape[1])))))
    if not all(np.isfinite(decision).all() for decision in decisions):
        raise ModelFileError("it does not predict finite numbers")
