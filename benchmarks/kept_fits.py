"""Fitted models on disk, with what they and their fits without a fold predict of the rows of a table.

A question about a kept fit takes no prediction: values are looked up by the row, and are those of the
model to the last bit.
"""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from twinviews._system.whole_files import replace_file
from twinviews.ensemble.ensembles import ClassificationEnsemble, RegressionEnsemble
from twinviews.estimators._ensemble import dense
from twinviews.method.landmarks import row_priorities


class KnownRows(NamedTuple):
    """Predictions of distinct rows, in the order of their hashes."""

    keys: np.ndarray  # (N,) increasing
    shipped: np.ndarray  # (N, t) by the fit on all labels
    without: np.ndarray  # (N, folds) numbers or (N, folds, K) probabilities, by the fits without a fold

    def places(self, X: Any) -> np.ndarray:
        keys = row_priorities(dense(X), seed=0)
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        if (self.keys[found] != keys).any():
            raise ValueError("A row is none of the table that the fit was kept with.")
        return found


@dataclass(frozen=True)
class KeptNumbers(RegressionEnsemble):
    """Of one target, for the rows of the table only."""

    known: KnownRows = field(kw_only=True)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.known.shipped[self.known.places(X)]

    def without_folds(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = self.known.without[self.known.places(X)]
        return found, np.zeros_like(found)


@dataclass(frozen=True)
class KeptClasses(ClassificationEnsemble):
    """Of all classes, for the rows of the table only."""

    known: KnownRows = field(kw_only=True)

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return self.known.shipped[self.known.places(X)]

    def without_folds(self, X: np.ndarray) -> np.ndarray:
        return self.known.without[self.known.places(X)]


def with_known_rows(model: Any, frame: Any) -> Any:
    """The model, with predictions of the rows of this table in place of its members."""
    X = np.unique(dense(model._prepared(frame)), axis=0)
    keys = row_priorities(X, seed=0)
    order = np.argsort(keys)
    found = []
    for one in model._ensembles:
        is_numbers = isinstance(one, RegressionEnsemble)
        without = one.without_folds(X)[0] if is_numbers else one.without_folds(X)
        known = KnownRows(keys[order], one(X)[order], without[order])
        held = {each.name: getattr(one, each.name) for each in fields(one)}
        # Members stay as names and weights.
        held["members"] = tuple(each._replace(fit=None, folds=(None,)) for each in one.members)
        found.append((KeptNumbers if is_numbers else KeptClasses)(**held, known=known))
    model._ensembles = found
    return model


def kept(path: Path | None, fit: Callable[[], Any], frame: Any) -> Any:
    """The model of this file; it is fitted and kept if there is none."""
    if path is None:
        return fit()
    if not path.exists():
        model = with_known_rows(fit(), frame)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, gzip.compress(pickle.dumps(model), 1))
    return pickle.loads(gzip.decompress(path.read_bytes()))
