"""Which rows to label next, for a narrow interval, each with a known probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from twinviews._system.threads import one_blas_thread
from twinviews.estimates.cross_predictions import CrossPredictions, refuse_without_folds
from twinviews.estimates.design_pool import DesignPool, DesignPoolOf
from twinviews.estimates.estimate import estimate
from twinviews.estimates.group_designs import GroupDesigns
from twinviews.estimates.interval_ends import critical_value
from twinviews.estimates.labels_so_far import SoFar, labels_so_far
from twinviews.estimates.opened_rows import RowColumns, names_of_targets, open_rows
from twinviews.estimates.planned_labels import LabelPlan
from twinviews.estimates.residual_size import ResidualSize
from twinviews.estimates.sampling_design import variance_before
from twinviews.estimates.told_estimate import Estimates
from twinviews.estimators._checks import seed_from
from twinviews.tables.engines import engine_of, is_table

What = Literal["mean", "total", "share", "quantile"]
# Random rows of a group that are compared: so many for each label, and at the least.
_FOR_EACH_LABEL, _LEAST_ROWS, _MOST_ROWS = 10, 2000, 20_000


def plan_labels(
    model: Any,
    rows: Any,
    k: int | None = None,
    *,
    half_width: float | None = None,
    y: Any = None,
    target: str | None = None,
    what: What | None = None,
    by: str | Sequence[str] | None = None,
    above: float | None = None,
    below: float | None = None,
    quantile: float = 0.5,
    coverage: float = 0.95,
    weight: str | None = None,
    label_probability: str | None = None,
    strata: str | None = None,
    assume_random: bool = False,
    keep: Sequence[str] | None = None,
    random_state: Any = None,
    reading: Any = None,
) -> LabelPlan:
    """The k rows to label next so that an estimate becomes narrow, drawn with known probabilities.

    A row is the more probable, the larger the residual that the model expects there; a part of the
    probability is the same for all rows. With ``by``, labels go where they are needed for all groups
    to reach the same half-width. Labels so far count with the new ones: ``label_probability`` is that
    of a label in any phase, for ``fit_table`` and :func:`estimate` once the rows have their labels.

    Parameters
    ----------
    model : fitted XNV estimator of one target, with an ensemble
        It must have been fitted on the labels of these rows.
    rows : array, data frame, or table of any size
        As in :func:`estimate`.
    k : int, optional
        How many rows. Give it or ``half_width``.
    half_width : float, optional
        As many rows as an interval of plus or minus this needs, in each group of ``by``.
    y, target, what, by, above, below, quantile, coverage, weight, reading
        The question, as in :func:`estimate`; ``target`` names one column.
    label_probability : str, optional
        Column with the probability with which each row was given a label so far, rows without one
        included, as the last plan has told it.
    strata : str, optional
        Column within whose values the labels so far were given at random.
    assume_random : bool, default=False
        Take the labels so far for a random sample even if they do not look like one. Otherwise such
        labels stand for themselves, and the new ones for all rows without a label.
    keep : list of str, optional
        Columns of a table that ``LabelPlan.rows`` has, such as a key; by default the inputs.
    random_state : int, RandomState or None, default=None
        Seed. The same seed and rows give the same plan, in whatever order the rows come.

    Returns
    -------
    LabelPlan
        ``places`` and ``rows`` to label, in random order; ``label_probability`` of every row of the
        table; for each group the half-width now and the one to expect.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XNVRegressor, plan_labels
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 3, size=(2000, 1))
    >>> truth = np.sin(X[:, 0]) + X[:, 0] * rng.normal(size=2000)  # noise grows with x
    >>> y = np.where(np.arange(2000) < 50, truth, np.nan)
    >>> model = XNVRegressor(random_state=0).fit(X, y)
    >>> plan = plan_labels(model, X, 50, y=y, random_state=0)
    >>> bool(plan.rows.mean() > X.mean())  # labels go where errors are large
    True
    >>> y[plan.places] = truth[plan.places]
    >>> model.fit(X, y, label_probability=plan.label_probability).n_labeled_
    100
    """
    check_is_fitted(model)
    refuse_without_folds(model)
    _check_request(k, half_width)
    n_targets = 1 if is_classifier(model) else model._solution.coef.shape[1]
    if n_targets != 1:
        raise ValueError(
            f"The model predicts {n_targets} targets, and rows are planned for one. Fit one of them."
        )
    names = names_of_targets(model, target, 1)
    groups = () if by is None else (by,) if isinstance(by, str) else tuple(map(str, by))
    in_memory = not is_table(rows) and not hasattr(rows, "columns") and engine_of(rows) == "pyarrow"
    kept = None if in_memory else tuple(model._input_names() if keep is None else keep)
    beside = RowColumns(groups, kept or (), weight, label_probability, strata)
    (table,) = open_rows(model, rows, y, names, beside, reading)
    ask: dict[str, Any] = {
        "y": y,
        "target": None if in_memory else names,
        "what": what,
        "above": above,
        "below": below,
        "quantile": quantile,
        "coverage": coverage,
        "weight": weight,
        "label_probability": label_probability,
        "strata": strata,
        "assume_random": assume_random,
        "reading": reading,
    }
    with one_blas_thread(look=False):
        predictions, seed = CrossPredictions(model, 0), seed_from(random_state)
        pool = table.fold(
            DesignPoolOf(predictions, groups, kept, _rows_compared(k, bool(groups)), seed)
        )
        if not any(len(rows.keys) for *_, rows in pool.groups.values()):
            raise ValueError(f"All {pool.n_rows:,} rows have a label already. There is none to plan.")
        so_far = labels_so_far(model, pool, predictions.problem.importance, assume_random=assume_random)
        now = None if so_far.note is not None else estimate(model, rows, **ask)
        designs = _designs(predictions, pool, so_far, ask, now, half_width)
        draws = designs.draws(k, half_width)
        chosen, row_groups = designs.drawn(draws, seed)
    found = chosen.rows
    if in_memory:  # not every sparse format can be asked for some of its rows
        found = _safe_indexing(rows.tocsr() if sparse.issparse(rows) else rows, chosen.places)

    def probabilities() -> np.ndarray:
        with one_blas_thread(look=False):
            return designs.probabilities(table, groups, draws)

    notes = () if so_far.note is None else (so_far.note,)
    told = designs.told(draws)
    return LabelPlan(names[0], groups, chosen.places, found, row_groups, told, notes, probabilities)


def _check_request(k: Any, half_width: Any) -> None:
    if (k is None) == (half_width is None):
        raise ValueError("Give either k, how many rows to label, or half_width, of the interval.")
    if k is not None and (not isinstance(k, Integral) or isinstance(k, bool) or k < 1):
        raise ValueError(f"k={k!r} must be a whole number of at least 1.")
    if half_width is not None and not (isinstance(half_width, Real) and 0 < float(half_width) < np.inf):
        raise ValueError(f"half_width={half_width!r} must be a number above 0.")


def _rows_compared(k: int | None, is_grouped: bool) -> int:
    """How many random rows of a group are compared."""
    if k is None:
        return _LEAST_ROWS if is_grouped else _MOST_ROWS
    return max(2 * k, min(max(_LEAST_ROWS, _FOR_EACH_LABEL * k), _MOST_ROWS))


def _designs(
    predictions: CrossPredictions,
    pool: DesignPool,
    so_far: SoFar,
    ask: dict[str, Any],
    now: Estimates | None,
    half_width: float | None,
) -> GroupDesigns:
    """Designs in the unit of the interval that there is now."""
    threshold = ask["above"] if ask["above"] is not None else ask["below"]
    if ask["what"] == "quantile":
        if now is None:
            raise ValueError(f"{so_far.note} Plan for a mean first: nothing is known of a quantile.")
        threshold = now[0].estimate
    size = ResidualSize(predictions, None if threshold is None else float(threshold))
    plain = GroupDesigns(predictions, size, pool, so_far, ask["what"] == "total", 1.0)
    if now is None:
        return replace(plain, unit=critical_value(ask["coverage"], len(pool.labeled.keys) - 1))
    half = max((row.high - row.low) / 2 for row in now)
    squares = sum(
        np.square(scale * weight) * variance_before(rows)
        for scale, weight, rows in zip(plain.scale, plain.weights, plain.rows, strict=True)
    )
    total = 1.0 if plain.of_total else plain.weights.sum()
    deviation = float(np.sqrt(squares)) / total
    return replace(plain, unit=half / deviation if 0 < deviation < np.inf else 1.0)
