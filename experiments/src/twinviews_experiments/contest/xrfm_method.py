"""xRFM as a peer: it needs rows to validate on, so the folds' models are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from operator import itemgetter
from typing import Any

import numpy as np

_BANDWIDTHS = (3.0, 10.0, 30.0)
_RIDGES = (1e-4, 1e-2)
# A matrix of more columns than this takes minutes and has never won.
_MOST_COLUMNS_FOR_A_MATRIX = 128


def fit_feature_machines(
    X: np.ndarray,
    y: np.ndarray,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    is_regression: bool,
    seed: int,
) -> Any:
    """The setting of least error on the rows held out; one model from each fold."""
    import torch
    from xrfm import xRFM

    torch.set_num_threads(1)
    centre, spread = (y.mean(), y.std() or 1.0) if is_regression else (0.0, 1.0)
    X = X.astype(np.float32)
    target = ((y - centre) / spread).astype(np.float32) if is_regression else y.astype(int)
    found = []
    metrics = (False, True) if X.shape[1] <= _MOST_COLUMNS_FOR_A_MATRIX else (True,)
    for bandwidth, diagonal, ridge in product(_BANDWIDTHS, metrics, _RIDGES):
        about = {"kernel": "l2", "exponent": 1.0, "bandwidth": bandwidth, "diag": diagonal}
        how = {"reg": ridge, "iters": 5, "verbose": False, "early_stop_rfm": True}
        models, wrong = [], 0.0
        for train, held_out in folds:
            model = xRFM(
                rfm_params={"model": {**about, "bandwidth_mode": "constant"}, "fit": how},
                device="cpu",
                verbose=False,
                random_state=seed,
            )
            model.fit(X[train], target[train], X[held_out], target[held_out])
            guess = model.predict(X[held_out]).ravel()
            missed = np.square(guess - target[held_out]) if is_regression else guess != target[held_out]
            wrong += float(missed.sum())
            models.append(model)
        found.append((wrong, models))
    _, models = min(found, key=itemgetter(0))
    return _Numbers(models, centre, spread) if is_regression else _Classes(models)


class _Numbers:
    def __init__(self, models: Sequence[Any], centre: float, spread: float) -> None:
        self.models, self.centre, self.spread = models, centre, spread

    def predict(self, X: np.ndarray) -> np.ndarray:
        X = X.astype(np.float32)
        return self.centre + self.spread * np.mean([m.predict(X).ravel() for m in self.models], axis=0)


class _Classes:
    def __init__(self, models: Sequence[Any]) -> None:
        self.models = models
        self.classes_ = np.arange(models[0].n_classes_, dtype=float)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        X = X.astype(np.float32)
        p = np.clip(np.mean([m.predict_proba(X) for m in self.models], axis=0), 0, None)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
