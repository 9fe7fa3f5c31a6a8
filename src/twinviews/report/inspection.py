"""What a model rests on: the importance of raw columns, how they act, and where it is uncertain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from twinviews import TableEncoder
from twinviews.evaluation.confidence import Interval, bootstrap
from twinviews.report.rows import ModelColumns, ReportRows
from twinviews.report.trial import Trial

# Predictions that all shuffles together may cost: some seconds.
_PREDICTIONS = 300_000
_MOST_SHUFFLES = 20
_AVERAGED_ROWS = 200
_QUANTILES = np.linspace(0.025, 0.975, 20)
_MOST_LEVELS = 12
_UNCERTAIN_ROWS = 10


@dataclass(frozen=True)
class ColumnImportance:
    """How much worse the model predicts without the information of a column."""

    name: str
    growth: Interval  # of the error, when the column's values are shuffled
    metric: float | None  # share of squared distances in the learned metric, if there is one


@dataclass(frozen=True)
class Importance:
    columns: tuple[ColumnImportance, ...]  # most important first
    n_shuffles: int


def permutation_importance(rows: ReportRows, trial: Trial, model: Any, *, seed: int) -> Importance:
    """The importance of every raw column on hidden rows, and its share in the learned metric.

    All numbers that a raw column became are shuffled together. scikit-learn's function shuffles one
    number at a time and gives no losses of single rows, which the interval needs.
    """
    used = [column for column in rows.columns if column.places]
    affordable = _PREDICTIONS // (trial.outcome.n_test * len(used))
    n_shuffles = int(np.clip(affordable, 1, _MOST_SHUFFLES))
    metric = getattr(model, "learned_metric_", None)
    # Errors of numbers are roots of mean squares; probabilities of classes are means themselves.
    scale = np.positive if rows.classes else np.sqrt
    before = _losses(rows, trial, [], n_shuffles=1, seed=seed)
    found = []
    for number, column in enumerate(used):
        places = list(column.places)
        after = _losses(rows, trial, places, n_shuffles=n_shuffles, seed=[seed, number])
        growth = bootstrap(lambda one, other: scale(other) - scale(one), trial.draws, before, after)
        share = None if metric is None else float(metric[places].sum())
        found.append(ColumnImportance(column.name, growth, share))
    found.sort(key=lambda one: -one.growth.value)
    return Importance(tuple(found), n_shuffles)


def _losses(
    rows: ReportRows, trial: Trial, places: list[int], *, n_shuffles: int, seed: Any
) -> np.ndarray:
    """(n,) mean loss of each hidden row over the shuffles of these columns of X.

    Squared residuals, or probabilities of all but the true class: unlike the share of wrong classes,
    they respond to a small change of the predictions.
    """
    rng = np.random.default_rng(seed)
    found = []
    for model, test in trial.judged:
        X, truth = rows.labeled[test], np.tile(rows.y[test], n_shuffles)
        shuffled = np.concatenate([rng.permutation(len(X)) for _ in range(n_shuffles)])
        many = np.tile(X, (n_shuffles, 1))
        many[:, places] = X[shuffled][:, places]
        if rows.classes:
            losses = 1 - model.predict_proba(many)[np.arange(len(many)), truth]
        else:
            losses = np.square(truth - model.predict(many))
        found.append(losses.reshape(n_shuffles, len(X)).mean(axis=0))
    return np.concatenate(found)


@dataclass(frozen=True)
class AskedModel:
    """The model that the page describes, asked with raw rows."""

    fitted: Any
    encoder: TableEncoder | ModelColumns
    classes: tuple[Any, ...]  # of its probabilities, by name

    def takes(self, raw: pa.Table) -> Any:
        """Rows as the model was fitted on them."""
        return raw if self.fitted.columns_ else self.encoder.transform(raw)


@dataclass(frozen=True)
class Dependence:
    """The mean prediction if one column had a given value in every row."""

    name: str
    values: tuple[Any, ...]  # of the column, as they stand in the table
    at: np.ndarray | None  # (values,) where they lie on a line; None for levels
    curves: np.ndarray  # (values, 1) mean prediction, or (values, classes) mean probabilities


def partial_dependence(
    rows: ReportRows, names: list[str], asked: AskedModel, *, seed: int
) -> tuple[Dependence, ...]:
    """The dependence on each named column, at quantiles of its values or its most frequent levels."""
    # Unlabeled rows come last; they are many, and what the model will be asked about.
    pool = np.arange(len(rows.y) if rows.n_unlabeled_used else 0, len(rows.X))
    background = rows.raw.take(pa.array(np.random.default_rng(seed).permutation(pool)[:_AVERAGED_ROWS]))
    predict = asked.fitted.predict_proba if rows.classes else asked.fitted.predict
    of_rows = [asked.classes.index(name) for name in rows.classes]
    found = []
    for name in names:
        column = rows.raw.column(name).take(pa.array(pool)).combine_chunks()
        on_a_line = _position(column)
        chosen = _levels(column) if on_a_line is None else _quantiles(on_a_line)
        place = background.column_names.index(name)
        curves = []
        for row in chosen:
            # A value of the table, repeated: whatever its type, the encoder has seen it.
            same = column.take(pa.array(np.full(len(background), row)))
            changed = background.set_column(place, background.schema.field(name), same)
            curves.append(predict(asked.takes(changed)).mean(axis=0))
        values = tuple(column.take(pa.array(chosen)).to_pylist())
        at = None if on_a_line is None else on_a_line[chosen]
        means = np.array(curves).reshape(len(chosen), -1)
        found.append(Dependence(name, values, at, means[:, of_rows] if of_rows else means))
    return tuple(found)


def _position(column: pa.Array) -> np.ndarray | None:
    """(rows,) where values lie on a line, NaN where blank; None for blanks alone or without order."""
    kind = column.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    numbers = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    return numbers if np.isfinite(numbers).any() else None


def _quantiles(on_a_line: np.ndarray) -> np.ndarray:
    """Rows whose values are the quantiles; each value once."""
    order = np.argsort(on_a_line)[: int(np.isfinite(on_a_line).sum())]
    rows = order[np.round(_QUANTILES * (len(order) - 1)).astype(int)]
    _, first = np.unique(on_a_line[rows], return_index=True)
    return np.asarray(rows[first])


def _levels(column: pa.Array) -> np.ndarray:
    """A row of each of the most frequent levels, blank among them, the most frequent first."""
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return np.asarray(first[np.argsort(-counts, kind="stable")][:_MOST_LEVELS])


@dataclass(frozen=True)
class UncertainRow:
    """An unlabeled row with an uncertain prediction."""

    number: int  # in the table, from 1
    prediction: Any
    uncertainty: float  # standard deviation, or probability of all other classes
    values: dict[str, Any]  # raw, by column


def most_uncertain(rows: ReportRows, asked: AskedModel) -> tuple[UncertainRow, ...]:
    """Of the unlabeled rows, the most uncertain first; with costs, those nearest to another class."""
    if rows.unlabeled is None:
        return ()
    unlabeled = asked.takes(rows.raw.slice(len(rows.y)))
    if rows.classes:
        p = asked.fitted.predict_proba(unlabeled)
        cost = p * asked.fitted.class_weight_  # of every other class, if it is that one
        chosen = cost.argmax(axis=1)
        predicted, uncertainty = [asked.classes[j] for j in chosen], 1 - p[np.arange(len(p)), chosen]
        doubt = 1 - cost.max(axis=1) / cost.sum(axis=1)
    else:
        predicted, uncertainty = asked.fitted.predict(unlabeled, return_std=True)
        doubt = uncertainty
    worst = np.argsort(-doubt, kind="stable")[:_UNCERTAIN_ROWS]
    in_all = len(rows.y) + worst
    return tuple(
        UncertainRow(int(number), predicted[place], float(uncertainty[place]), values)
        for place, number, values in zip(
            worst, rows.number[in_all], rows.raw.take(pa.array(in_all)).to_pylist(), strict=True
        )
    )
