"""Semi-supervised regression and classification from few labels and many unlabeled rows."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twinviews.active.error_forecast import forecast_error as forecast_error
    from twinviews.active.label_sampling import label_probabilities as label_probabilities
    from twinviews.active.suggestion import suggest as suggest
    from twinviews.data_checks.data_finding import DataWarning as DataWarning
    from twinviews.data_checks.outside_sentences import OutsideWarning as OutsideWarning
    from twinviews.estimates.estimate import estimate as estimate
    from twinviews.estimates.plan_labels import plan_labels as plan_labels
    from twinviews.estimators.exact_sssl import ExactSSSLClassifier as ExactSSSLClassifier
    from twinviews.estimators.exact_sssl import ExactSSSLRegressor as ExactSSSLRegressor
    from twinviews.estimators.krr import KRRClassifier as KRRClassifier
    from twinviews.estimators.krr import KRRRegressor as KRRRegressor
    from twinviews.estimators.laprls import LapRLSClassifier as LapRLSClassifier
    from twinviews.estimators.laprls import LapRLSRegressor as LapRLSRegressor
    from twinviews.estimators.single_view import RFFClassifier as RFFClassifier
    from twinviews.estimators.single_view import RFFRegressor as RFFRegressor
    from twinviews.estimators.single_view import SSSLClassifier as SSSLClassifier
    from twinviews.estimators.single_view import SSSLRegressor as SSSLRegressor
    from twinviews.estimators.table_encoder import TableEncoder as TableEncoder
    from twinviews.estimators.xks import XKSClassifier as XKSClassifier
    from twinviews.estimators.xks import XKSRegressor as XKSRegressor
    from twinviews.estimators.xnv import XNVClassifier as XNVClassifier
    from twinviews.estimators.xnv import XNVCountRegressor as XNVCountRegressor
    from twinviews.estimators.xnv import XNVRegressor as XNVRegressor
    from twinviews.estimators.xnv_ordinal import XNVOrdinalClassifier as XNVOrdinalClassifier
    from twinviews.evaluation.splitters import LabeledKFold as LabeledKFold
    from twinviews.evaluation.splitters import LabeledStratifiedKFold as LabeledStratifiedKFold
    from twinviews.explanations.explain import explain as explain
    from twinviews.model_files.files import inspect_model as inspect_model
    from twinviews.model_files.files import load_model as load_model
    from twinviews.model_files.files import save_model as save_model
    from twinviews.model_files.onnx_export import export_onnx as export_onnx
    from twinviews.shift.covariate_shift import ShiftWarning as ShiftWarning

__version__ = "0.1.0"

# Where each public name lives, in the order a user meets them. A name is imported when it is first
# asked for: scikit-learn takes seconds to import, and `twinviews --help` needs none of it.
_HOMES = {
    "XNVRegressor": "twinviews.estimators.xnv",
    "XNVClassifier": "twinviews.estimators.xnv",
    "XNVOrdinalClassifier": "twinviews.estimators.xnv_ordinal",
    "XNVCountRegressor": "twinviews.estimators.xnv",
    "XKSRegressor": "twinviews.estimators.xks",
    "XKSClassifier": "twinviews.estimators.xks",
    "SSSLRegressor": "twinviews.estimators.single_view",
    "SSSLClassifier": "twinviews.estimators.single_view",
    "RFFRegressor": "twinviews.estimators.single_view",
    "RFFClassifier": "twinviews.estimators.single_view",
    "KRRRegressor": "twinviews.estimators.krr",
    "KRRClassifier": "twinviews.estimators.krr",
    "ExactSSSLRegressor": "twinviews.estimators.exact_sssl",
    "ExactSSSLClassifier": "twinviews.estimators.exact_sssl",
    "LapRLSRegressor": "twinviews.estimators.laprls",
    "LapRLSClassifier": "twinviews.estimators.laprls",
    "TableEncoder": "twinviews.estimators.table_encoder",
    "DataWarning": "twinviews.data_checks.data_finding",
    "OutsideWarning": "twinviews.data_checks.outside_sentences",
    "ShiftWarning": "twinviews.shift.covariate_shift",
    "suggest": "twinviews.active.suggestion",
    "label_probabilities": "twinviews.active.label_sampling",
    "forecast_error": "twinviews.active.error_forecast",
    "estimate": "twinviews.estimates.estimate",
    "plan_labels": "twinviews.estimates.plan_labels",
    "explain": "twinviews.explanations.explain",
    "save_model": "twinviews.model_files.files",
    "load_model": "twinviews.model_files.files",
    "inspect_model": "twinviews.model_files.files",
    "export_onnx": "twinviews.model_files.onnx_export",
    "LabeledKFold": "twinviews.evaluation.splitters",
    "LabeledStratifiedKFold": "twinviews.evaluation.splitters",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'twinviews' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
