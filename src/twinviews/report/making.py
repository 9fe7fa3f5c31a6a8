"""How the model was fitted, and what it consists of."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn

import twinviews

_CHOSEN = ("n_components_", "sigma_", "ridge_", "correlation_ridge_", "canonical_weight_", "loo_error_")


@dataclass(frozen=True)
class Spectrum:
    """How far the two views agree in each direction."""

    correlations: np.ndarray  # (k,) largest first
    effective_dimension: float


@dataclass(frozen=True)
class Making:
    """Parameters, ensemble members and versions behind a fitted model."""

    estimator: str
    parameters: tuple[tuple[str, str], ...]  # as given
    chosen: tuple[tuple[str, float], ...]  # what the fit used
    members: tuple[tuple[str, float], ...]  # of the ensemble: name, weight; largest weight first
    n_labeled: int
    n_unlabeled: int
    seed: int
    versions: tuple[tuple[str, str], ...]


def making_of(model: Any, seed: int) -> Making:
    """What a fitted estimator says of itself."""
    return Making(
        estimator=type(model).__name__,
        parameters=tuple((name, repr(value)) for name, value in sorted(model.get_params().items())),
        chosen=tuple(
            (name.rstrip("_"), float(getattr(model, name))) for name in _CHOSEN if hasattr(model, name)
        ),
        members=tuple(getattr(model, "committee_", ())),
        n_labeled=model.n_labeled_,
        n_unlabeled=model.n_unlabeled_,
        seed=seed,
        versions=(
            ("twinviews", twinviews.__version__),
            ("scikit-learn", sklearn.__version__),
            ("NumPy", np.__version__),
            ("Python", platform.python_version()),
        ),
    )


def spectrum_of(model: Any) -> Spectrum | None:
    """The canonical correlations of a model; None for a method without two views."""
    if not hasattr(model, "correlations_"):
        return None
    return Spectrum(np.asarray(model.correlations_), float(model.effective_dimension_))
