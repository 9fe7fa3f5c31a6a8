"""The paper's protocol: choose sigma and ridge once, on 1,000 labels; then many draws of n labels.

Everything random follows from the seed, the set and the repetition, never from the order of the work:
so a run that was killed and resumed ends with the same numbers.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import pdist

from twinviews.evaluation.measures import error_rate, normalised_squared_error
from twinviews_experiments.datasets.preparation import Prepared, Task
from twinviews_experiments.replication.paper_methods import Method
from twinviews_experiments.replication.published_numbers import FIGURE_LABELS, FOLDS, TUNING_LABELS

SEED = 2013
# Both grids are the same for all methods. Sigma in units of the median distance between training rows;
# the ridge on the mean loss. The paper reports that it found ridges between 1e-5 and 0.1.
SIGMA_FACTORS = tuple(2.0**step for step in range(-2, 5))
RIDGES = tuple(float(ridge) for ridge in 10.0 ** np.arange(-6, 0.01, 0.5))
_ROWS_FOR_DISTANCES = 1000
# Which draw of random numbers is meant; repetitions come after.
_TUNING = 0


class Tuned(NamedTuple):
    sigma: float
    ridge: float
    error: float  # over the folds
    errors: np.ndarray  # (sigmas, ridges) of the whole grid


def tune(method: Method, data: Prepared, task: Task, number: int, seed: int = SEED) -> Tuned:
    """Sigma and ridge of least error in 5-fold cross-validation on 1,000 labels.

    Where several do equally well, the largest ridge and then the largest sigma, the smoothest.
    """
    draw = _Draw(data, number, _TUNING, seed)
    rows, fold = draw.rows, np.arange(len(draw.rows)) % FOLDS
    X, y = data.X[rows], data.y[rows]
    # One target for each fold, known outside it: every fold shares the pass over the unlabeled rows.
    folds = np.where(fold[:, None] == np.arange(FOLDS), np.nan, y[:, None])
    sigmas = draw.median_distance() * np.array(SIGMA_FACTORS)
    errors = np.empty((len(sigmas), len(RIDGES)))
    for s, sigma in enumerate(sigmas):
        model = method.estimator(sigma, RIDGES[0], draw.state)
        model.fit(data.X, draw.labels(folds))
        for r, ridge in enumerate(RIDGES):
            model.set_params(ridge=ridge).relabel(X, folds)
            held_out = model.predict(X)[np.arange(len(rows)), fold]
            errors[s, r] = error(task, y, held_out)
    best = np.argwhere(errors == errors.min())
    s, r = max(map(tuple, best), key=lambda place: (place[1], place[0]))
    return Tuned(float(sigmas[s]), RIDGES[r], float(errors[s, r]), errors)


def chosen_in_full_run() -> dict[tuple[str, str], Tuned]:
    """What the full run behind the published page chose, by set and method."""
    with (files(__package__) / "published" / "chosen.csv").open() as file:
        return {
            (row["name"], row["method"]): Tuned(
                float(row["sigma"]), float(row["ridge"]), float(row["error"]), np.empty((0, 0))
            )
            for row in csv.DictReader(file)
        }


def repeat(
    method: Method,
    tuned: Tuned,
    data: Prepared,
    task: Task,
    number: int,
    repetition: int,
    seed: int = SEED,
) -> list[float]:
    """Test error for each n, with one draw of labels, landmarks and frequencies."""
    draw = _Draw(data, number, 1 + repetition, seed)
    # One target for each n, known for its first n rows: every n shares the pass over the rows.
    position = np.arange(len(draw.rows))[:, None]
    nested = np.where(position < np.array(FIGURE_LABELS), data.y[draw.rows][:, None], np.nan)
    model = method.estimator(tuned.sigma, tuned.ridge, draw.state)
    predicted = model.fit(data.X, draw.labels(nested)).predict(data.X_test)
    return [error(task, data.y_test, column) for column in predicted.T]


def error(task: Task, truth: np.ndarray, predicted: np.ndarray) -> float:
    """Share of rows in the wrong class, or mean squared error over the variance of the truth."""
    if task == "classification":  # classes are 1 and -1
        return error_rate(truth > 0, predicted > 0)
    return normalised_squared_error(truth, predicted)


class _Draw:
    """What is random: 1,000 labeled rows in random order, and a seed for the method."""

    def __init__(self, data: Prepared, number: int, which: int, seed: int) -> None:
        self._rng = np.random.default_rng([seed, number, which])
        self._data = data
        known = np.flatnonzero(~np.isnan(data.y))
        if len(known) < TUNING_LABELS:
            raise ValueError(
                f"The training rows have {len(known):,} labels, and the protocol draws "
                f"{TUNING_LABELS:,}. Use a larger set."
            )
        self.rows = self._rng.permutation(known)[:TUNING_LABELS]
        self.state = int(self._rng.integers(2**31))

    def labels(self, targets: np.ndarray) -> np.ndarray:
        """(N, targets) all training rows, of which the drawn ones have labels."""
        Y = np.full((len(self._data.X), targets.shape[1]), np.nan)
        Y[self.rows] = targets
        return Y

    def median_distance(self) -> float:
        some = self._rng.permutation(len(self._data.X))[:_ROWS_FOR_DISTANCES]
        return float(np.median(pdist(self._data.X[some])))
