"""Rows to predict against what the fit has seen: told of columns as a warning, of rows on request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from twinviews.data_checks.outside_sentences import describe_outside, warn_of_outside
from twinviews.estimators._inputs import as_numbers, check_weight
from twinviews.estimators._raw_rows import as_arrow
from twinviews.passes.input_profile import ColumnRanges, InputProfile
from twinviews.passes.outside_rows import Outside, OutsideCounts, look_at_numbers
from twinviews.tables.base import merge_all, rows_per_block

# The column of predictions that names the columns in which a row is outside.
OUTSIDE = "outside"


def profile_of(model: Any) -> InputProfile | None:
    """What the fit has seen; None for models that an earlier version saved."""
    profile: InputProfile | None = model._profile if model._encoder is None else model._encoder.profile
    return profile


def input_columns(model: Any) -> list[str]:
    """Names of the columns of the fit; their numbers where they have none."""
    if model._encoder is not None:
        return [code.name for code in model._encoder.codes]
    if hasattr(model, "feature_names_in_"):
        return [str(name) for name in model.feature_names_in_]
    return [f"column {number}" for number in range(model.n_features_in_)]


def look_at(model: Any, rows: Any) -> Outside:
    """Some rows: numbers, or raw columns for a model that encodes them."""
    profile = profile_of(model)
    assert profile is not None, "whoever looks has asked for it"
    if model._encoder is None:
        return look_at_numbers(profile, rows)
    from twinviews.encoding.seen_columns import look_at_columns

    return look_at_columns(profile, model._encoder.codes, rows)


def _in_blocks(model: Any, rows: Any) -> Iterator[Outside]:
    if model._encoder is not None or rows.shape[0] == 0:
        yield look_at(model, rows)
        return
    size = rows_per_block(rows)
    for start in range(0, rows.shape[0], size):
        yield look_at(model, rows[start : start + size])


def warn_if_outside(model: Any, rows: Any) -> None:
    """Rows as ``look_at`` takes them, of any number."""
    if profile_of(model) is not None:
        warn_of_counts(model, merge_all(found.counts for found in _in_blocks(model, rows)))


def warn_of_counts(model: Any, counts: OutsideCounts | None) -> None:
    told, sentences = told_of(model, counts)
    if told:
        warn_of_outside(sentences, told)


def told_of(model: Any, counts: OutsideCounts | None) -> tuple[list[str], list[str]]:
    """Names of columns of which more rows are outside than chance explains, and a sentence on each."""
    profile = profile_of(model)
    if counts is None or profile is None:
        return [], []
    names = input_columns(model)
    columns = counts.told_columns(profile, names)
    codes = () if model._encoder is None else model._encoder.codes
    dates = {j for j, code in enumerate(codes) if code.kind == "date"}
    return [names[j] for j in columns], describe_outside(counts, profile, names, columns, dates)


def names_outside(model: Any, found: Outside, n_rows: int) -> list[str | None]:
    """For each row the names of the columns in which it is outside; None for a row that is in none."""
    names, said = input_columns(model), [[] for _ in range(n_rows)]  # type: list[str], list[list[str]]
    for column in sorted(found.flags):
        for row in np.flatnonzero(found.flags[column]):
            said[row].append(names[column])
    return [", ".join(columns) if columns else None for columns in said]


def refuse_without_profile(model: Any) -> None:
    if profile_of(model) is None:
        raise ValueError(
            "This model comes from a file of an earlier version, which does not tell what the fit has "
            "seen of each column. Fit it again to know which rows are outside."
        )


def outside(self: Any, X: Any) -> np.ndarray:
    """Which values are outside what the fit has seen.

    Such a value is a number beyond the least and the greatest of the fit by more than half of the
    distance between them (where all have one sign, in logarithms too), a fraction in a column of
    whole numbers, a level that no row had, or a blank in a column that had none. Rows of the fit are
    never outside. Nothing is claimed of columns that the fit left out, nor of levels of a column that
    has more than 10,000.

    If more rows of a column are outside than chance explains, ``predict`` and its like raise an
    :class:`OutsideWarning`. With rows that were drawn like those of the fit, numbers raise one in less
    than one of 10,000 calls; for words that is an approximation.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)

    Returns
    -------
    array of bool, of shape (n_samples, n_features_in_)
    """
    check_is_fitted(self)
    refuse_without_profile(self)
    rows = as_numbers(self, X) if self._encoder is None else as_arrow(X)
    flags = np.zeros((rows.shape[0], len(input_columns(self))), bool)
    start = 0
    for found in _in_blocks(self, rows):
        for column, values in found.flags.items():
            flags[start : start + found.counts.n_rows, column] = values
        start += found.counts.n_rows
    return flags


# --- what a fit has seen ---------------------------------------------------------------------------


def remember_ranges(model: Any, ranges: ColumnRanges | None, n_rows: int) -> None:
    """Of a fit on plain numbers; an encoder brings what it has seen along."""
    model._profile = None if ranges is None else InputProfile(n_rows, ranges, {})


def merge_profiles(model: Any, other: InputProfile | None) -> None:
    """What the model and other rows have seen; unknown if one is."""
    ours = profile_of(model)
    merged = None if ours is None or other is None else ours.merge(other)
    if model._encoder is None:
        model._profile = merged
    else:
        model._encoder = replace(model._encoder, profile=merged)


def profile_of_rows(model: Any, raw: Any, numbers: Any, sample_weight: Any) -> InputProfile:
    """Of more rows: as a user gives them, and as numbers without those of weight zero."""
    if model._encoder is None:
        return InputProfile(numbers.shape[0], ColumnRanges.of(numbers), {})
    from twinviews.encoding.encoder import facts_of_frame
    from twinviews.encoding.seen_columns import profile_of_facts

    codes = model._encoder.codes
    kinds = {code.name: code.kind for code in codes if code.outputs}
    weight = None if sample_weight is None else check_weight(sample_weight, raw)
    return profile_of_facts(facts_of_frame(as_arrow(raw), kinds, weight), codes)
