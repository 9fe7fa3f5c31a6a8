"""Semi-supervised regression and classification from few labels and many unlabeled rows."""

from twinviews.estimators.exact_sssl import ExactSSSLClassifier, ExactSSSLRegressor
from twinviews.estimators.krr import KRRClassifier, KRRRegressor
from twinviews.estimators.laprls import LapRLSClassifier, LapRLSRegressor
from twinviews.estimators.rff import RFFClassifier, RFFRegressor
from twinviews.estimators.sssl import SSSLClassifier, SSSLRegressor
from twinviews.estimators.xks import XKSClassifier, XKSRegressor
from twinviews.estimators.xnv import XNVClassifier, XNVRegressor
from twinviews.model_files.files import inspect_model, load_model, save_model
from twinviews.model_files.onnx_export import export_onnx
from twinviews.model_selection import LabeledKFold, LabeledStratifiedKFold

__version__ = "0.1.0"

__all__ = [  # in the order a user meets them
    "XNVRegressor",
    "XNVClassifier",
    "XKSRegressor",
    "XKSClassifier",
    "SSSLRegressor",
    "SSSLClassifier",
    "RFFRegressor",
    "RFFClassifier",
    "KRRRegressor",
    "KRRClassifier",
    "ExactSSSLRegressor",
    "ExactSSSLClassifier",
    "LapRLSRegressor",
    "LapRLSClassifier",
    "LabeledKFold",
    "LabeledStratifiedKFold",
    "save_model",
    "load_model",
    "inspect_model",
    "export_onnx",
]
