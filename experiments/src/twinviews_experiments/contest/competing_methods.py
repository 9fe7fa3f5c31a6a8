"""Who takes part, with which tasks and how many labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from twinviews import (
    KRRClassifier,
    KRRRegressor,
    LapRLSClassifier,
    LapRLSRegressor,
    SSSLClassifier,
    SSSLRegressor,
    XNVClassifier,
    XNVRegressor,
)
from twinviews_experiments.contest.tabpfn_apart import (
    PYTHON_VARIABLE,
    WEIGHTS_VARIABLE,
    tabpfn_is_given,
)
from twinviews_experiments.contest.tuned_methods import (
    ROWS_FOR_SQUARES,
    Few,
    boosting,
    catboost,
    feature_machines,
    gaussian_process,
    label_spreading,
    lightgbm,
    logistic_regression,
    nystroem_ridge,
    ours,
    random_forest,
    ridge,
    self_training,
    support_vectors,
    tabpfn,
    tri_training,
)
from twinviews_experiments.datasets.preparation import Task


@dataclass(frozen=True)
class Peer:
    name: str
    words: str
    fit: Callable[[Few], Any]  # returns something with predict
    tasks: tuple[Task, ...] = ("regression", "classification")
    needs: str | None = None  # a package that may not be installed
    given: Callable[[], bool] | None = None  # whether what is no package is there
    how_to_get: str = ""
    most_labels: int | None = None  # with more it takes hours, or all of the memory

    @property
    def present(self) -> bool:
        has_package = self.needs is None or find_spec(self.needs) is not None
        return has_package and (self.given is None or self.given())

    def takes(self, task: Task, n: int) -> bool:
        """Whether it takes part with n labels."""
        return task in self.tasks and (self.most_labels is None or n <= self.most_labels)


_NUMBERS: tuple[Task, ...] = ("regression",)
_CLASSES: tuple[Task, ...] = ("classification",)
# The most labels of methods whose time grows with their square or cube: a search for an hour or so.
_SQUARES, _CUBES = 5000, 2000
PEERS: tuple[Peer, ...] = (
    Peer("XNV", "twinviews, no argument given", ours(XNVRegressor, XNVClassifier)),
    Peer(
        "KRR",
        "kernel ridge regression, all by leave-one-out",
        ours(KRRRegressor, KRRClassifier, 500),
        most_labels=_SQUARES,
    ),
    Peer(
        "SSSL", "ridge on one Nystroem view, all by leave-one-out", ours(SSSLRegressor, SSSLClassifier)
    ),
    Peer(
        "LapRLS",
        f"Laplacian regularised least squares, {ROWS_FOR_SQUARES:,} unlabeled rows",
        ours(LapRLSRegressor, LapRLSClassifier, ROWS_FOR_SQUARES),
        most_labels=_SQUARES,
    ),
    Peer("ridge", "scikit-learn's, by leave-one-out", ridge, _NUMBERS),
    Peer("logistic regression", "scikit-learn's", logistic_regression, _CLASSES),
    Peer("Nystroem + ridge", "scikit-learn's Nystroem with RidgeCV", nystroem_ridge),
    Peer("SVM", "scikit-learn's SVR or SVC", support_vectors, most_labels=_SQUARES),
    Peer(
        "Gaussian process",
        "scikit-learn's, by marginal likelihood",
        gaussian_process,
        most_labels=_CUBES,
    ),
    Peer("random forest", "scikit-learn's, 200 trees, by the rows out of their bags", random_forest),
    Peer("boosting", "scikit-learn's histogram boosting", boosting),
    Peer(
        "LightGBM",
        "100 trees",
        lightgbm,
        needs="lightgbm",
        how_to_get="pip install lightgbm",
    ),
    Peer(
        "CatBoost",
        "its defaults, 1,000 trees",
        catboost,
        needs="catboost",
        how_to_get="pip install catboost",
    ),
    Peer(
        "TabPFN v2",
        "a network trained on synthetic tables; it has no fit, so its time is left out",
        tabpfn,
        _NUMBERS,
        given=tabpfn_is_given,
        how_to_get=f"Set {PYTHON_VARIABLE} to the Python of an environment with tabpfn 2.0.0 and "
        f"{WEIGHTS_VARIABLE} to the weights of its regressor.",
        most_labels=_CUBES,
    ),
    Peer(
        "tri-training",
        "sslearn's, around the SVM (whose search its time leaves out)",
        tri_training,
        needs="sslearn",
        how_to_get="pip install sslearn",
        most_labels=_SQUARES,
    ),
    Peer(
        "xRFM",
        "recursive feature machines, the folds' models averaged",
        feature_machines,
        needs="xrfm",
        how_to_get="pip install xrfm",
        most_labels=_SQUARES,
    ),
    Peer(
        "self-training",
        "scikit-learn's, around the SVM (whose search its time leaves out)",
        self_training,
        _CLASSES,
        most_labels=_SQUARES,
    ),
    Peer(
        "label spreading",
        f"scikit-learn's, {ROWS_FOR_SQUARES:,} unlabeled rows",
        label_spreading,
        _CLASSES,
        most_labels=_SQUARES,
    ),
)
PEERS_BY_NAME = {peer.name: peer for peer in PEERS}
