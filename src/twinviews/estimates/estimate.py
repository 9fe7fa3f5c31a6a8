"""Estimates for all rows of a table, with intervals: the public function."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal

from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from twinviews._system.threads import one_blas_thread
from twinviews.estimates.coefficient_answers import coefficient_estimates
from twinviews.estimates.cross_predictions import CrossPredictions, refuse_without_folds
from twinviews.estimates.group_answers import Options
from twinviews.estimates.imputed_values import Grid
from twinviews.estimates.labels_of_table import labels_found_again
from twinviews.estimates.opened_rows import RowColumns, names_of_targets, open_rows
from twinviews.estimates.table_pass import SummariseRows
from twinviews.estimates.target_question import (
    SAMPLE_OF_GROUP,
    SAMPLE_ROWS,
    Condition,
    TargetQuestion,
)
from twinviews.estimates.told_estimate import Estimates, ToldEstimate

What = Literal["mean", "total", "share", "quantile", "coefficients"]
_WHATS = ("mean", "total", "share", "quantile", "coefficients")


def estimate(
    model: Any,
    rows: Any,
    *,
    y: Any = None,
    target: str | Sequence[str] | None = None,
    what: What | None = None,
    by: str | Sequence[str] | None = None,
    above: float | None = None,
    below: float | None = None,
    quantile: float = 0.5,
    columns: Sequence[str] | None = None,
    versus: str | None = None,
    coverage: float = 0.95,
    population: bool = False,
    weight: str | None = None,
    label_probability: str | None = None,
    strata: str | None = None,
    cluster: Any = None,
    assume_random: bool = False,
    reading: Any = None,
) -> Estimates:
    """Estimate a mean, total, share, quantile or coefficients over all rows, with intervals.

    Labels are few and predictions are for all rows. The difference between both, on rows whose labels
    a fit has not seen, corrects the predictions and tells how far off they are: prediction-powered
    inference with the folds of the ensemble. The interval holds if labels were given at random, or
    with known probabilities, however good or bad the predictions are; good ones make it narrow.

    Parameters
    ----------
    model : fitted regressor or classifier of this library
        It must have been fitted on the labels of these rows. Predictions of labeled rows are those of
        the fits without their fold: of the ensemble or, without one, of the ridge regression.
    rows : array, data frame, or table of any size
        The rows to speak about, with their labels: those of the fit, or some of them. Whatever
        ``fit_table`` takes is read once, block by block.
    y : array-like, optional
        Labels of rows in memory, as in ``fit``.
    target : str or list of str, optional
        Columns of the labels in a table.
    what : {"mean", "total", "share", "quantile", "coefficients"}, optional
        By default "mean" for numbers and "share" for classes. "share" of numbers needs ``above`` or
        ``below``; "total" of classes counts rows. Ratings that are numbers have a "mean", too.
    by : str or list of str, optional
        Columns whose values are groups of rows. A group with fewer than 10 labels is drawn towards
        all rows, and ``is_shrunk`` says so.
    above, below : float, optional
        Of numbers, for "share": rows above this value, or at most this value.
    quantile : float, default=0.5
        Which, for "quantile".
    columns : list of str, optional
        For "coefficients": columns of numbers to regress the target on, linear for numbers, logistic
        for two classes.
    versus : str, optional
        With one column as ``by``: differences between each group and this one.
    coverage : float, default=0.95
        Of the intervals.
    population : bool, default=False
        Whether to speak about the population that the rows were drawn from, instead of these rows.
    weight : str, optional
        Column of weights: a row of weight 2 counts as two.
    label_probability : str, optional
        Column with the probability with which a labeled row was given its label. By default labels
        count as in the fit.
    strata : str, optional
        Column within whose values rows were chosen at random for a label.
    cluster : str, optional
        Column with the same value in rows that depend on each other, such as those of one patient;
        of rows in an array, the values. Clusters are then what labels are a random sample of. The
        model must have been fitted with the same clusters.
    assume_random : bool, default=False
        Take labels for a random sample even if they do not look like one.
    reading : twinviews.reading.ReadingOptions, optional
        As in ``fit_table``.

    Returns
    -------
    Estimates
        A sequence of estimates, each with ``estimate``, ``low`` and ``high``, the same of labels
        alone, and ``more_labels``: how many more labels the rows without one count as.
        ``labels_for(half_width)`` says how many labels a narrower interval needs.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XNVRegressor, estimate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(2000, 1))
    >>> y = np.where(np.arange(2000) < 60, np.sin(X[:, 0]) + X[:, 0], np.nan)
    >>> model = XNVRegressor(random_state=0).fit(X, y)
    >>> found = estimate(model, X, y=y)[0]
    >>> found.low < float(np.mean(np.sin(X) + X)) < found.high
    True
    >>> found.high - found.low < 0.1 * (found.labels_alone_high - found.labels_alone_low)
    True
    """
    check_is_fitted(model)
    refuse_without_folds(model)
    what = _checked_what(model, what, above, below, columns)
    _check_numbers(coverage, quantile)
    names = [] if by is None else [by] if isinstance(by, str) else [str(name) for name in by]
    if versus is not None and (len(names) != 1 or what in ("quantile", "coefficients", "total")):
        raise ValueError(
            f"versus={versus!r} compares means or shares of groups: it goes with one column in by, and "
            f'what="mean" or "share".'
        )
    if what == "total" and population:
        raise ValueError("A total is of the rows given: population=True has no number of rows.")
    if cluster is not None and population:
        raise ValueError(
            "population=True speaks of rows drawn one by one, and cluster says that they depend on "
            "each other. Leave one of them out."
        )
    if what == "coefficients" and (names or population):
        raise ValueError("Coefficients are of all rows given. Leave by and population out.")
    n_targets = 1 if is_classifier(model) else model._solution.coef.shape[1]
    targets = names_of_targets(model, target, n_targets)
    regressors = tuple(columns or ())
    beside = RowColumns(tuple(names), regressors, weight, label_probability, strata, cluster)
    tables = open_rows(model, rows, y, targets, beside, reading)
    found: list[ToldEstimate] = []
    notes: list[str] = []
    for number, (table, name) in enumerate(zip(tables, targets, strict=True)):
        predictions = CrossPredictions(model, number)
        summarise = SummariseRows(
            predictions,
            beside.by,
            regressors if what == "coefficients" else None,
            None if predictions.is_classification else Grid(*predictions.bounds),
            SAMPLE_OF_GROUP if names else SAMPLE_ROWS,
        )
        with one_blas_thread(look=False):
            totals = table.fold(summarise)
            labels, note = labels_found_again(predictions, totals, assume_random)
            notes += [] if note is None or note in notes else [note]
            if what == "coefficients":
                found += coefficient_estimates(
                    predictions, totals, labels, name, regressors, coverage, table
                )
                continue
            question = TargetQuestion(predictions, totals, labels, name, names)
            options = Options(population)
            if what == "quantile":
                found += question.quantiles(quantile, coverage, options)
            else:
                condition = _condition(above, below)
                found += question.means(what, condition, coverage, options, versus)
    return Estimates(tuple(found), coverage, tuple(notes))


def _checked_what(
    model: Any, what: str | None, above: Any, below: Any, columns: Any
) -> Literal["mean", "total", "share", "quantile", "coefficients"]:
    classes = is_classifier(model)
    if what is None:
        what = "share" if classes or above is not None or below is not None else "mean"
    if what not in _WHATS:
        raise ValueError(f"what={what!r} must be one of {', '.join(_WHATS)}.")
    of_ratings = model._task == "ordinal" and what == "mean" and model.classes_.dtype.kind in "iuf"
    if classes and what in ("mean", "quantile") and not of_ratings:
        raise ValueError(f'what={what!r} is of numbers, and the target has classes. Use "share".')
    one_side = (above is None) != (below is None)
    if not classes and what == "share" and not one_side:
        raise ValueError('what="share" of numbers needs either above=... or below=...')
    if (above is not None or below is not None) and (classes or what != "share"):
        raise ValueError('above and below are for what="share" of numbers.')
    if (what == "coefficients") != (columns is not None and len(columns) > 0):
        raise ValueError('columns and what="coefficients" go together. Give both, or none.')
    return what  # type: ignore[return-value]


def _check_numbers(coverage: Any, quantile: Any) -> None:
    for name, value in (("coverage", coverage), ("quantile", quantile)):
        if not isinstance(value, Real) or not 0 < float(value) < 1:
            raise ValueError(f"{name}={value!r} must be above 0 and below 1.")


def _condition(above: float | None, below: float | None) -> Condition | None:
    if above is not None:
        return Condition(float(above), True)
    return None if below is None else Condition(float(below), False)
