"""Which columns moved the prediction of a row, and which labeled rows are most like it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from twinviews._system.threads import one_blas_thread
from twinviews.estimators._ensemble import dense
from twinviews.explanations.similar_rows import (
    SimilarRow,
    given_rows,
    metric_of,
    rows_of_the_fit,
)
from twinviews.explanations.told_values import columns_of, told_values
from twinviews.method.shapley import shapley_values


@dataclass(frozen=True)
class Explanation:
    """One row: what each column adds to the mean prediction, and the labeled rows most like it.

    Numbers have one output, "prediction"; classes have one each, their probability.
    """

    columns: tuple[str, ...]  # (P,) input columns
    outputs: tuple[str, ...]  # (t,)
    predicted: np.ndarray  # (t,)
    base: np.ndarray  # (t,) the mean prediction of the background
    contributions: np.ndarray  # (P, t); with the base they sum to what is predicted
    standard_errors: np.ndarray  # (P, t); 0 where contributions are exact
    similar: tuple[SimilarRow, ...]
    chosen: int | None  # the output that the model predicts; None if it predicts each

    def ranked(self, output: str | None = None) -> list[tuple[str, float]]:
        """Columns and what they add, the largest first; by default to the class that is predicted."""
        return self._ranked(self._place(output))

    def _ranked(self, place: int) -> list[tuple[str, float]]:
        order = np.argsort(-np.abs(self.contributions[:, place]), kind="stable")
        return [(self.columns[j], float(self.contributions[j, place])) for j in order]

    def words(self, output: str | None = None, most: int = 5) -> str:
        """A sentence with the columns that count most."""
        place = self._place(output)
        ranked = self._ranked(place)
        parts = [f"{name} {amount:+.3g}" for name, amount in ranked[:most]]
        rest = sum(amount for _, amount in ranked[most:])
        parts += [f"{len(ranked) - most} others {rest:+.3g}"] if ranked[most:] else []
        name = "" if len(self.outputs) == 1 else f"{self.outputs[place]}: "
        said = f"{name}{self.predicted[place]:.4g} = {self.base[place]:.4g} on average, "
        said += f"{', '.join(parts)}."
        if self.similar:
            labels = ", ".join(str(one.label) for one in self.similar)
            said += f" The labeled rows most like it: {labels}."
        return said

    def _place(self, output: str | None) -> int:
        if output is None and self.chosen is not None:
            return self.chosen
        if output not in self.outputs:
            known = ", ".join(self.outputs[:10])
            raise ValueError(f"output={output!r} is not there; there are {known}.")
        return self.outputs.index(output)


@dataclass(frozen=True)
class Explanations(Sequence[Explanation]):
    """Explanations of several rows, in their order."""

    each: tuple[Explanation, ...]

    def __len__(self) -> int:
        return len(self.each)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.each)

    def __getitem__(self, place: Any) -> Any:
        return self.each[place]

    def as_columns(self) -> dict[str, list[Any]]:
        """A table with a line for each row, output and column."""
        found: dict[str, list[Any]] = {
            name: []
            for name in (
                "row",
                "output",
                "predicted",
                "base",
                "column",
                "contribution",
                "standard_error",
            )
        }
        for row, one in enumerate(self.each):
            for place, output in enumerate(one.outputs):
                for j, column in enumerate(one.columns):
                    line = (
                        row,
                        output,
                        float(one.predicted[place]),
                        float(one.base[place]),
                        column,
                        float(one.contributions[j, place]),
                        float(one.standard_errors[j, place]),
                    )
                    for name, value in zip(found, line, strict=True):
                        found[name].append(value)
        return found


def explain(
    model: Any,
    rows: Any,
    *,
    background: Any = None,
    labeled: tuple[Any, Any] | None = None,
    n_background: int = 100,
    n_similar: int = 3,
    random_state: Any = None,
) -> Explanations:
    """Explain predictions row by row: Shapley values of the input columns, and similar labeled rows.

    The contribution of a column is what its value adds to the mean prediction of a background, on
    average over all orders in which the values of the row can take the place of those of the
    background. All contributions and the mean sum to the prediction. Where it takes 30,000 predictions
    at most (8 columns and 100 rows) every set of columns is asked, and contributions are exact for this
    background; else random orders are, and ``standard_errors`` tell how far contributions may be off.

    Parameters
    ----------
    model : fitted regressor or classifier of this library
        On dense rows. The numbers that a column of words or dates became count together.
    rows : array or data frame of shape (n_samples, n_features)
        As for ``predict``.
    background : array or data frame, optional
        Rows to compare with; by default some of all rows, which an ensemble keeps, or the labeled rows
        of a model without one.
    labeled : (rows, y), optional
        Where to look for similar rows: those of the fit, whose places are then told. By default the
        distinct labeled rows that the model keeps, of which labels alone are known.
    n_background : int, default=100
        How many of them, at random, at most.
    n_similar : int, default=3
        Labeled rows to name, the most similar first: by the metric that the model has learned, if it
        has learned one, else all columns count by their deviation. Of several targets there are none.
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Returns
    -------
    Explanations
        A sequence with an :class:`Explanation` for each row; ``as_columns()`` is a table.

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XNVRegressor, explain
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = np.where(np.arange(300) < 60, 3 * X[:, 0] - X[:, 1], np.nan)
    >>> model = XNVRegressor(random_state=0).fit(X, y)
    >>> (one,) = explain(model, [[2.0, 0.0, 0.0]], random_state=0)
    >>> one.ranked()[0][0]
    'column 0'
    >>> bool(np.isclose(one.base + one.contributions.sum(), one.predicted)[0])
    True
    """
    if not hasattr(model, "_solution"):
        check_is_fitted(model)
        raise TypeError(
            f"model is a {type(model).__name__}, and explain takes a fitted estimator of this library. "
            f"Of a pipeline or a search, give the estimator and the rows as it sees them."
        )
    for name, number in (("n_background", n_background), ("n_similar", n_similar)):
        least = 1 if name == "n_background" else 0
        if not isinstance(number, Integral) or isinstance(number, bool) or number < least:
            raise ValueError(f"{name}={number!r} must be a whole number of at least {least}.")
    if model._rows_are_sparse:
        raise ValueError(
            "This model was fitted to sparse rows, which explain does not take. Fit it to dense rows."
        )
    X = dense(model._prepared(rows))
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    compared = _background(model, background)
    compared = compared[np.sort(rng.permutation(len(compared))[:n_background])]
    told = told_values(model)
    # Similar rows are told with a label, and of several targets with none.
    n_similar = 0 if told.chosen is None else n_similar
    known = rows_of_the_fit(model) if labeled is None else given_rows(model, *labeled)
    known = known.with_weight(metric_of(model, compared))
    names, group_of = columns_of(model)
    found = []
    with one_blas_thread(look=False):
        predicted = told.of(X)
        chosen = [None] * len(X) if told.chosen is None else told.chosen(X).tolist()
        for row, values, output in zip(X, predicted, chosen, strict=True):
            of_row = shapley_values(told.of, row, compared, group_of, rng)
            found.append(
                Explanation(
                    names,
                    told.names,
                    values,
                    of_row.base,
                    of_row.values,
                    of_row.deviation,
                    known.most_like(row, n_similar),
                    output,
                )
            )
    return Explanations(tuple(found))


def _background(model: Any, given: Any) -> np.ndarray:
    """Rows on the scale of the fit."""
    if given is not None:
        found = dense(model._prepared(given))
        if len(found) == 0:
            raise ValueError("background has no rows. Give some, or leave it out.")
        return found
    if model._unlabeled_sample is not None:
        return np.asarray(model._unlabeled_sample)
    return rows_of_the_fit(model).X
