"""What each estimator has learned: the attributes that are written, and how they must agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.moments import Moments
from twinviews.method.views import TwinFeatures, TwinViews, View
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.fields import (
    NOT_NEGATIVE,
    POSITIVE,
    Flag,
    Floats,
    Labels,
    Many,
    Maybe,
    NumberOrFloats,
    Part,
    Rows,
    Text,
    Whole,
)
from twinviews.model_files.kinds import COLUMNS, SCALES
from twinviews.model_files.records import Field, Sizes
from twinviews.model_files.table_kinds import ENCODERS
from twinviews.passes.labeled_rows import LabeledRows

Fields = dict[str, Field]

# F columns of the table, D numbers that they became, r features that the labels are regressed on, and
# T targets.
_EVERY_MODEL: Fields = {
    "n_features_in_": Whole(1, size="F"),
    "feature_names_in_": Maybe(Many(Text(), "F")),
    "_encoder": Maybe(Part(*ENCODERS, F="F", D="D")),
    "_rows_are_sparse": Flag(),
    "_one_column": Flag(),
    "_scaling": Maybe(Part(*SCALES, D="D")),
    "_seed": Whole(),
    "n_labeled_": Whole(2),
    "n_unlabeled_": Whole(),
    "sigma_": POSITIVE,
    "_features": Part(View, D="D", r="r"),
    "_penalty": Floats("r", least=0.0),
    "_problems": Many(Part(LabeledProblem, D="D"), least=1),
    "_coef": Floats("r T"),
    "_intercept": Floats("T"),
    "_readout": Part(View, D="D", r="T"),
    "intercept_": NumberOrFloats("T"),
    "loo_error_": NumberOrFloats("T"),
}
_NUMBERS: Fields = {"coef_": Floats("r", other="T r")}
_CLASSES: Fields = {"coef_": Floats("T r"), "classes_": Labels("K"), "_scale": NOT_NEGATIVE}

_RIDGE: Fields = {"ridge_": NOT_NEGATIVE}
_LANDMARKS: Fields = {"landmarks_": Rows("l D")}
_ONE_VIEW: Fields = {
    **_RIDGE,
    "n_components_": Whole(1),
    "_view": Part(View, D="D", r="v"),
    "_n_features_out": Whole(size="v"),
}
_CORRELATED: Fields = {
    **_RIDGE,
    "n_components_": Whole(1),
    "correlation_ridge_": NOT_NEGATIVE,
    "canonical_weight_": NOT_NEGATIVE,
    "correlations_": Floats("r", least=0.0),
    "effective_dimension_": NOT_NEGATIVE,
    "_view": Part(View, D="D", r="r"),
    "_n_features_out": Whole(size="r"),
    "_offsets": Many(Floats("r"), "2"),
}
_XNV: Fields = {**_LANDMARKS, **_CORRELATED, "_guides": Maybe(Floats("g D"))}
_XNV_NUMBERS: Fields = {
    **_XNV,
    "_committees": Maybe(Many(Part(NumberCommittee, D="D", t="1"), "T")),
}
_XNV_CLASSES: Fields = {
    **_XNV,
    "_committees": Maybe(Many(Part(ClassCommittee, D="D", t="T"), "1")),
}
_EXACT_SSSL: Fields = {
    **_LANDMARKS,
    "_view": Part(View, D="D", r="e"),
    "eigenvalues_": Floats("e"),
    "n_eigenfunctions_": Whole(1, size="r"),
}
_LAPRLS: Fields = {
    **_RIDGE,
    "landmarks_": Rows("N D"),
    "manifold_ridge_": NOT_NEGATIVE,
    "n_neighbors_": Whole(1),
    "_kernel_of_rows": Part(*COLUMNS, D="D", m="N"),
    "_bending": NOT_NEGATIVE,
    "_deformation": Floats("N N"),
    "_ridge_of_bending": Maybe(POSITIVE),
}
# Of a whole file: what more rows are added to.
_ALL_ROWS: Fields = {
    "_columns": Part(*COLUMNS, TwinFeatures, D="D", m="c"),
    "_shift": Floats("c"),
    "_moments": Part(Moments, c="c"),
    "views_": Many(Part(View, D="D"), "2"),
    "basis_": Part(CanonicalBasis, a="a", b="b", k="r"),
    "_labeled": Part(LabeledRows, D="D"),
    "_expected": Maybe(Labels("_")),
}


@dataclass(frozen=True)
class ModelKind:
    """An estimator, and the attributes that a fit gives it."""

    cls: Any
    fields: Mapping[str, Field]
    of_all_rows: Mapping[str, Field]

    def state_fields(self, *, whole: bool) -> Fields:
        return {**self.fields, **self.of_all_rows} if whole else dict(self.fields)


def _both(
    regressor: type, classifier: type, of_numbers: Fields, of_classes: Fields, of_all_rows: Fields
) -> list[ModelKind]:
    return [
        ModelKind(regressor, {**_EVERY_MODEL, **_NUMBERS, **of_numbers}, of_all_rows),
        ModelKind(classifier, {**_EVERY_MODEL, **_CLASSES, **of_classes}, of_all_rows),
    ]


_SSSL: Fields = {**_LANDMARKS, **_ONE_VIEW}
_KRR: Fields = {**_LANDMARKS, **_RIDGE}
_ESTIMATORS = [
    *_both(XNVRegressor, XNVClassifier, _XNV_NUMBERS, _XNV_CLASSES, _ALL_ROWS),
    *_both(XKSRegressor, XKSClassifier, _CORRELATED, _CORRELATED, _ALL_ROWS),
    *_both(SSSLRegressor, SSSLClassifier, _SSSL, _SSSL, {}),
    *_both(RFFRegressor, RFFClassifier, _ONE_VIEW, _ONE_VIEW, {}),
    *_both(KRRRegressor, KRRClassifier, _KRR, _KRR, {}),
    *_both(ExactSSSLRegressor, ExactSSSLClassifier, _EXACT_SSSL, _EXACT_SSSL, {}),
    *_both(LapRLSRegressor, LapRLSClassifier, _LAPRLS, _LAPRLS, {}),
]
MODELS: dict[str, ModelKind] = {entry.cls.__name__: entry for entry in _ESTIMATORS}


def learned(model: Any, name: str) -> Any:
    """An attribute of a fitted model; None for those that only some fits leave."""
    return getattr(model, name, None)


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


def check_together(model: Any, sizes: Sizes) -> None:
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
    if hasattr(model, "views_"):
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


_PROBES = 4
