"""The labels of a table, found among those of the fit, with what the fits say of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from twinviews.data_checks.unused_labels import labels_in_words
from twinviews.estimates.cross_predictions import CrossPredictions
from twinviews.estimates.label_weights import label_weights
from twinviews.estimates.quantity import PredictedLabels
from twinviews.estimates.table_pass import LabeledPart, TableTotals
from twinviews.estimates.target_question import LEAST_LABELS
from twinviews.passes.clusters import check_clusters
from twinviews.passes.targets import read_numbers


def labels_found_again(
    predictions: CrossPredictions, found: TableTotals, assume_random: bool
) -> tuple[PredictedLabels, str | None]:
    """The labels of the table with what the fits say of their rows."""
    labeled, keys = found.labeled, predictions.keys
    if len(labeled.y) < LEAST_LABELS:
        raise ValueError(
            f"These rows have {len(labeled.y)} labels, and an interval needs at least {LEAST_LABELS}. "
            f"Give rows with their labels: y=... or target=..."
        )
    order = np.argsort(keys)
    place = np.minimum(np.searchsorted(keys[order], labeled.keys), len(keys) - 1)
    place = order[place]
    unknown = int(np.sum(keys[place] != labeled.keys))
    if unknown and predictions.model.n_labels_unused_:
        model = predictions.model
        raise ValueError(
            f"{unknown:,} of {len(place):,} labeled rows are not in the sample that the fit has used "
            f"({labels_in_words(model.n_labels_unused_, model.n_labeled_)}). Fit the model with "
            f"max_labels={model.n_labeled_} (--max-labels)."
        )
    if unknown:
        raise ValueError(
            f"{unknown:,} of {len(place):,} labeled rows were not among those of the fit, which tells "
            f"how far off predictions are. Fit the model on the labels of these rows."
        )
    model, problem = predictions.model, predictions.problem
    y = (
        _codes(model, labeled.y)
        if predictions.is_classification
        else _numbers(predictions, labeled, place)
    )
    importance = None if problem.importance is None else problem.importance[place]
    weights = label_weights(model, found, importance, assume_random=assume_random)
    by_fold, shipped = predictions.at_labeled()
    fold = predictions.fold_of[place]
    cluster = None if labeled.cluster is None else _clusters_of(labeled.cluster, fold)
    return (
        PredictedLabels(
            y,
            by_fold[place],
            shipped[place],
            fold,
            weights.stands_for,
            labeled.weight,
            weights.stratum,
            cluster,
        ),
        weights.note,
    )


def _clusters_of(cluster: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """(n,) codes of clusters; an error if the folds of the fit cut some apart."""
    check_clusters(cluster)
    _, first, codes = np.unique(cluster, return_index=True, return_inverse=True)
    if len(first) < LEAST_LABELS:
        raise ValueError(
            f"The labels are of {len(first)} clusters, and an interval needs at least {LEAST_LABELS}."
        )
    cut = len(np.unique(codes[fold != fold[first][codes]]))
    if cut:
        raise ValueError(
            f"{cut:,} of {len(first):,} clusters are in several folds of the fit, which has predicted "
            f"their labels with others of the same cluster. Give the cluster to the fit, too: "
            f"fit(..., cluster=...) or fit_table(..., cluster=...)."
        )
    return np.asarray(codes)


def _numbers(predictions: CrossPredictions, labeled: LabeledPart, place: np.ndarray) -> np.ndarray:
    """Labels as numbers; an error if they are not those of the fit."""
    y = read_numbers(labeled.y, predictions.model.missing_label)
    if len(y) != predictions.model.n_labeled_:
        return y
    known = predictions.labels_of_fit()
    n = np.bincount(place, minlength=len(known))
    mean = np.bincount(place, predictions.as_fitted(y) * labeled.weight, len(known)) / np.maximum(
        np.bincount(place, labeled.weight, len(known)), 1e-300
    )
    wrong = (n > 0) & (np.abs(mean - known) > 1e-6 * (1e-12 + np.abs(known).max()))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"{int(wrong.sum()):,} labels are not those of the fit, such as {mean[at]:g} for "
            f"{known[at]:g}. Fit the model again on these labels."
        )
    return y


def _codes(model: Any, y: np.ndarray) -> np.ndarray:
    """Which class each label is."""
    names = {_name(one): code for code, one in enumerate(model.classes_)}
    try:
        return np.array([names[_name(label)] for label in y], dtype=np.intp)
    except KeyError as error:
        raise ValueError(
            f"A label is {error.args[0]!r}, which is no class of the fit. Fit the model again on these "
            f"labels."
        ) from None


def _name(label: Any) -> str:
    """The same for 1, 1.0 and "1"."""
    try:
        return repr(float(str(label)))
    except ValueError:
        return str(label)
