"""The labeled rows that are most like a row, as the model sees them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twinviews.estimators._ensemble import dense
from twinviews.method.counts import counts_of_scale
from twinviews.passes.targets import missing_labels


class SimilarRow(NamedTuple):
    label: Any
    distance: float  # in the metric of the model
    place: int | None  # among the labeled rows that were given; None: rows of the fit


class KnownRows(NamedTuple):
    X: np.ndarray  # (m, D) on the scale of the fit
    labels: list[Any]  # (m,)
    places: list[int] | None  # (m,)
    weight: np.ndarray | None = None  # (D,) of each column in squared distances

    def with_weight(self, weight: np.ndarray) -> KnownRows:
        return self._replace(weight=weight)

    def most_like(self, row: np.ndarray, k: int) -> tuple[SimilarRow, ...]:
        if k == 0:
            return ()
        distance = np.sqrt(np.square(self.X - row) @ self.weight)
        return tuple(
            SimilarRow(
                self.labels[i], float(distance[i]), None if self.places is None else self.places[i]
            )
            for i in np.argsort(distance, kind="stable")[:k]
        )


def rows_of_the_fit(model: Any) -> KnownRows:
    """Distinct rows: of several labels of equal rows the mean, or the commonest class."""
    problem = model._solution.problems[0]
    X = dense(problem.X)
    return KnownRows(X, _labels(model, problem.Y), None)


def given_rows(model: Any, rows: Any, y: Any) -> KnownRows:
    """Those of the rows that have a label in y."""
    y = np.asarray(y, dtype=object)
    X = dense(model._prepared(rows))
    if y.shape != (len(X),):
        raise ValueError(
            f"labeled has {len(X):,} rows and labels of shape {y.shape}. Give one for each."
        )
    known = np.flatnonzero(~missing_labels(y, model.missing_label))
    labels = [y[i] for i in known]
    return KnownRows(X[known], labels, [int(i) for i in known])


def metric_of(model: Any, background: np.ndarray) -> np.ndarray:
    """(D,) the learned metric, where there is one; else columns count by their deviation."""
    metric = getattr(model, "learned_metric_", None)
    if metric is not None and not isinstance(metric, list):
        return np.asarray(metric)
    variance = background.var(axis=0)
    return np.divide(1.0, variance, out=np.ones(len(variance)), where=variance > 0) / len(variance)


def _labels(model: Any, Y: np.ndarray) -> list[Any]:
    if model._task == "classification":
        codes = (Y[:, 0] > 0).astype(int) if Y.shape[1] == 1 else Y.argmax(axis=1)
        return [model.classes_[code] for code in codes]
    if model._task == "ordinal":
        return [model.classes_[code] for code in np.round(Y[:, 0]).astype(int)]
    if model._task == "count":
        return [_plain(one) for one in counts_of_scale(Y[:, 0], model._mean.scale)]
    return [_plain(one) for one in Y[:, 0]]


def _plain(number: float) -> float:
    """Without the last digits, which a mean of labels, or a scale and back, leaves behind."""
    return float(f"{number:.12g}")
