"""Columns of words, dates and blanks as numbers: the transformer that the estimators use inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from twinviews.estimators._all_or_nothing import all_or_nothing
from twinviews.estimators._raw_rows import as_arrow, check_frame, is_frame, names_of, remember_columns

if TYPE_CHECKING:
    from twinviews.encoding.codes import Code
    from twinviews.encoding.facts import TableFacts


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into numbers, whatever they hold.

    =============  ==============================================================================
    column         numbers
    =============  ==============================================================================
    numbers        as they are; a blank counts as the mean
    booleans       0 and 1
    words          a column of 0 and 1 for each of the 32 most frequent levels, if 3 rows have it;
                   with more levels than columns, also the frequency of the level
    dates          days; time of day, week and year as points on a circle, if they vary
    blanks         a column of 0 and 1 that flags them, if the fit saw any
    =============  ==============================================================================

    Columns are left out that are empty, have the same value in all rows, number the rows, or have
    a different word in nearly every row. A level that the fit has not seen is 0 in all columns of its
    levels; blanks in a column that had none in the fit count as the mean. All estimators do this by
    themselves, in ``fit`` with a data frame that needs it and in ``fit_table``.

    Parameters
    ----------
    kinds : mapping of str to str, optional
        Types of columns, by name: "number", "boolean", "date" or "category". Such a column is left
        out only if it carries no information.

    Attributes
    ----------
    columns_ : list
        For each input column its ``name``, its ``kind``, the ``outputs`` it became and, in ``words``,
        what was done with it.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if all names are strings.

    Examples
    --------
    >>> import pandas as pd
    >>> from twinviews import TableEncoder
    >>> town = ["Rome", "Oslo", "Rome", None, "Oslo", "Oslo", "Rome"]
    >>> table = pd.DataFrame({"age": [31, None, 45, 28, 39, 28, 62], "town": town})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['age', 'age is missing', 'town=Oslo', 'town=Rome', 'town is missing']
    >>> encoder.transform(table[:2]).round(1)
    array([[31. ,  0. ,  0. ,  1. ,  0. ],
           [38.8,  1. ,  1. ,  0. ,  0. ]])
    """

    columns_: list[Code]
    _facts: TableFacts

    def __init__(self, kinds: Mapping[str, Any] | None = None) -> None:
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all rows how each column becomes numbers.

        Parameters
        ----------
        X : data frame (pandas, polars, pyarrow) or array of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            self._code(self._facts_of(X, reset=True))
            self._check_not_empty()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take in more rows; the result is that of one fit on all rows."""
        with all_or_nothing(self):
            if not hasattr(self, "_facts"):
                return self._code(self._facts_of(X, reset=True))
            return self._code(self._facts.merge(self._facts_of(X, reset=False)))

    def merge(self, other: Self) -> Self:
        """Take in the rows of another fit, which is not changed."""
        check_is_fitted(self)
        check_is_fitted(other)
        if list(self._facts.columns) != list(other._facts.columns):
            raise ValueError(
                f"These two cannot be merged: one was fitted on {', '.join(self._facts.columns)}, the "
                f"other on {', '.join(other._facts.columns)}."
            )
        return self._code(self._facts.merge(other._facts))

    def transform(self, X: Any) -> np.ndarray:
        """Numbers, without blanks.

        Parameters
        ----------
        X : data frame or array with the columns of the fit, in any order

        Returns
        -------
        array of shape (n_samples, n_outputs)
        """
        check_is_fitted(self)
        self._check_not_empty()
        return self._encoder(self._as_arrow(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the numbers, such as "town=Oslo"."""
        check_is_fitted(self)
        return np.array(self._encoder.outputs, dtype=object)

    @property
    def _given(self) -> Mapping[str, Any]:
        return {} if self.kinds is None else self.kinds

    def _facts_of(self, X: Any, *, reset: bool) -> TableFacts:
        frame = self._as_arrow(X, reset=reset)
        from twinviews.encoding.encoder import facts_of_frame, kinds_of, known_kinds

        if reset:
            return facts_of_frame(frame, kinds_of(frame.schema, frame.schema.names, self._given))
        return facts_of_frame(frame, {**known_kinds(self._facts, frame.schema), **self._given})

    def _code(self, facts: TableFacts) -> Self:
        from twinviews.encoding.encoder import Encoder, code_columns

        self._encoder = Encoder(code_columns(facts, self._given))
        self._facts, self.columns_ = facts, list(self._encoder.codes)
        return self

    def _check_not_empty(self) -> None:
        """The first rows of a stream may carry no information; all rows together must."""
        from twinviews.encoding.encoder import check_not_empty

        check_not_empty(self._encoder, self._facts)

    def _as_arrow(self, X: Any, *, reset: bool) -> Any:
        check_frame(X)
        if is_frame(X):
            frame = as_arrow(X)
            if reset:
                remember_columns(self, names_of(X), frame.num_columns)
            return frame
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        return as_arrow({f"x{j}": column for j, column in enumerate(X.T)})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
