"""The answer about all rows that a page shows: from a fit, with how many more labels a wish needs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from twinviews import estimate
from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.residual_size import ResidualSize
from twinviews.estimates.sampling_design import (
    RowSizes,
    curve_of,
    draws_for_width,
    variance_before,
)
from twinviews.estimates.told_estimate import ToldEstimate
from twinviews.labeling.page_data import ToldInterval
from twinviews.method.landmarks import row_priorities


class AllRowsFit(NamedTuple):
    """What a full fit says of all rows."""

    told: tuple[ToldEstimate, ...]  # of numbers the mean, of classes the share of each
    problem: str  # why there is none; empty if there is
    size: np.ndarray  # (m,) of the residual to expect at each candidate
    label_rows: np.ndarray  # (n,) labeled rows of the table
    label_size: np.ndarray  # (n,) of the same by the fits that have not seen them

    def at(self, rows: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """(rows,) of rows of the table that are candidates, or had a label when it was fitted."""
        known = dict(zip(candidates.tolist(), self.size.tolist(), strict=True))
        known |= dict(zip(self.label_rows.tolist(), self.label_size.tolist(), strict=True))
        usual = float(np.mean(self.size))
        return np.array([known.get(row, usual) for row in rows.tolist()])


def all_rows_fit(
    model: Any,
    X: np.ndarray,
    free: np.ndarray,
    label_rows: np.ndarray,
    label_X: np.ndarray,
    y: np.ndarray,
    target: str,
    *,
    is_sample: bool,
) -> AllRowsFit | None:
    """Of candidates X, of which ``free`` have no label; None for a model without an ensemble.

    With ``is_sample`` the candidates are a random sample of the table.
    """
    if model._ensembles is None:
        return None
    predictions = CrossPredictions(model, 0)
    size = ResidualSize(predictions)
    keys = predictions.keys
    order = np.argsort(keys)
    own = row_priorities(predictions.rows_of(model._prepared(label_X)), seed=0)
    place = order[np.minimum(np.searchsorted(keys[order], own), len(keys) - 1)]
    blank = np.full(len(free), np.nan) if y.dtype.kind == "f" else np.full(len(free), None, object)
    told: tuple[ToldEstimate, ...] = ()
    problem = ""
    try:
        found = estimate(
            model,
            np.vstack([label_X, X[free]]),
            y=np.concatenate([y, blank]),
            target=target,
            population=is_sample,
        )
        told = tuple(found)
    except ValueError as error:
        problem = str(error)
    at_candidates = size(predictions.scaled(model._prepared(X)))
    return AllRowsFit(told, problem, at_candidates, label_rows, size.at_labels()[place])


def interval_of(told: ToldEstimate) -> ToldInterval:
    """An estimate as the page shows it."""
    value, low, high, *_ = told.texts()
    share = None
    if told.what.startswith("share"):
        share = (told.estimate, told.low, told.high)
        value, low, high = (f"{100 * one:.1f}%" for one in share)
    return ToldInterval(told.title(), value, f"{low} to {high}", share)


def more_labels(
    told: tuple[ToldEstimate, ...], size: np.ndarray, before: np.ndarray, half_width: float
) -> int | None:
    """How many rows drawn by the design make the widest interval this narrow, roughly; None: unknown.

    ``size`` and ``before`` are of random rows without a label: what residual to expect, and with what
    probability they were to have a label so far.
    """
    half = max(((row.high - row.low) / 2 for row in told), default=np.inf)
    if half <= half_width:
        return 0
    rows = RowSizes(size, before, np.ones(len(size)), 1.0)
    now = np.sqrt(variance_before(rows))
    if not np.isfinite([half, now]).all() or now <= 0:
        return None
    wanted = draws_for_width([curve_of(rows)], np.array([half / now]), half_width)
    return int(np.ceil(wanted[0] - 1e-6))
