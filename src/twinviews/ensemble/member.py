"""Interface of a member of the ensemble: fitted on labeled and unlabeled rows, it predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from twinviews.passes.scaling import Scale

# Probabilities below this are treated as equal.
LEAST_PROBABILITY = 1e-4
# Log-odds of two classes, and centred log-probabilities of more, in one decision value.
TWO_CLASS_UNIT, CLASS_UNIT = 8.0, 4.0


@dataclass(frozen=True)
class ScaledRows:
    """Labeled rows on one scale, and where they came from: a file holds X once for all scales."""

    X: Annotated[np.ndarray, "m D"]
    scale: Annotated[Scale, "D"] | None

    @cached_property
    def rows(self) -> np.ndarray:
        """(m, D)"""
        return self.X if self.scale is None else self.scale(self.X)

    def take(self, chosen: np.ndarray | None) -> np.ndarray:
        return self.rows if chosen is None else self.rows[chosen]


class Labeled(NamedTuple):
    """Labeled rows on one scale."""

    X: Any  # (m, D), dense or sparse
    Y: np.ndarray  # (m, t) numbers, or 1 and -1 for classes
    weight: np.ndarray  # (m,) sums to one
    source: ScaledRows | None = None  # where X was taken from; None: it is all there is
    chosen: np.ndarray | None = None  # (m,) which rows of the source; None: all
    cluster: np.ndarray | None = None  # (m,) rows of one depend on each other; None: no two do

    @property
    def origin(self) -> ScaledRows:
        return ScaledRows(self.X, None) if self.source is None else self.source

    def take(self, rows: np.ndarray) -> Labeled:
        weight = self.weight[rows]
        chosen = rows if self.chosen is None else self.chosen[rows]
        cluster = None if self.cluster is None else self.cluster[rows]
        weight = weight / weight.sum()
        return Labeled(self.X[rows], self.Y[rows], weight, self.origin, chosen, cluster)

    def on(self, scale: Any) -> Labeled:
        """All rows on another scale; one that makes other columns of them leaves these alone."""
        same_columns = scale is None or isinstance(scale, Scale)
        source = ScaledRows(self.X, scale) if same_columns else ScaledRows(scale(self.X), None)
        return self._replace(X=source.rows, source=source, chosen=None)


class Predictor(Protocol):
    """Rows on the scale of the fit -> (rows, t)."""

    def __call__(self, X: np.ndarray) -> np.ndarray: ...


class Recipe(Protocol):
    """How one member, or several that share work, are fitted to labeled rows and unlabeled ones."""

    @property
    def names(self) -> tuple[str, ...]: ...

    def fit(self, labeled: Labeled, unlabeled: np.ndarray) -> list[Predictor]: ...


@runtime_checkable
class RecipeWithStarts(Recipe, Protocol):
    """A recipe whose search may end in a poor optimum: on all labels, it can start from other fits."""

    def fit_after(
        self, labeled: Labeled, unlabeled: np.ndarray, folds: Sequence[Sequence[Predictor]]
    ) -> list[Predictor]: ...


class MemberSpec(NamedTuple):
    """A recipe and the scale on which it sees the rows."""

    scale: str
    recipe: Recipe
    # joblib, inside scikit-learn, sets and resets Python's warnings, which all threads share.
    in_threads: bool = True
    # By the user: it goes on to all labels, whatever its weight with some of them.
    given: bool = False
    # Fitted to all labels or to none: with some of many it would take too long.
    of_all_labels: bool = False


class MemberContext(NamedTuple):
    """What is known before any member is fitted."""

    n_columns: int  # D
    n_classes: int  # 0 for regression
    # By name: how rows, which come standardised, are scaled again; of sparse rows, directions too.
    scales: Mapping[str, Any]
    unlabeled: Any  # (rows, D) standardised, or sparse
    seed: int
    n_labels: int = 0  # of which members may first see some only


def class_codes(Y: np.ndarray) -> np.ndarray:
    """(m,) class of each row, from (m, t) numbers 1 and -1."""
    return (Y[:, 0] > 0).astype(int) if Y.shape[1] == 1 else Y.argmax(axis=1)


def as_decision_values(p: np.ndarray, least: float = LEAST_PROBABILITY) -> np.ndarray:
    """(rows, t) centred log-probabilities: like decision values, they grow with certainty."""
    log_p = np.log(np.maximum(p, least))
    if p.shape[1] == 2:
        return np.asarray((log_p[:, 1:] - log_p[:, :1]) / TWO_CLASS_UNIT)
    return np.asarray((log_p - log_p.mean(axis=1, keepdims=True)) / CLASS_UNIT)
