"""Which rows to label next: one pass over any table for candidates, and the model's choice of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from twinviews._system.random_seed import seed_from
from twinviews._system.threads import one_blas_thread
from twinviews.active.acquisition import best_of_handfuls
from twinviews.method.landmarks import row_priorities, stack_rows
from twinviews.passes.targets import as_array, missing_labels
from twinviews.tables import ArrayTable, Block
from twinviews.tables.engines import engine_of
from twinviews.tables.opening import is_table, open_table

Strategy = Literal["best of handfuls", "uncertainty", "random"]
STRATEGIES = ("best of handfuls", "uncertainty", "random")
# Of how many rows at random the best is taken; chosen on the contest's development half.
NUMBER_HANDFUL, CLASS_HANDFUL = 5, 50
# Candidates beyond one handful a row would only be drawn again.
_LEAST_CANDIDATES, _MOST_CANDIDATES = 2000, 8000


class Suggestions(NamedTuple):
    """Rows worth a label, the most useful first."""

    places: np.ndarray  # (k,) which rows, from 0 in the order of the table (of its partitions)
    worth: np.ndarray  # (k,) the model's doubt, as far as rows further up the list leave it open
    rows: Any  # the rows themselves, as the table has them: an array, a frame or a pyarrow.Table


def suggest(
    model: Any,
    rows: Any,
    k: int = 1,
    *,
    y: Any = None,
    target: str | Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    strategy: Strategy = "best of handfuls",
    handful: int | None = None,
    random_state: Any = None,
) -> Suggestions:
    """The k rows worth labeling next.

    A row is worth the more, the less sure the model is of it (committees without some of the labels
    disagree, probabilities are even), as far as labels of the rows chosen before it would leave that
    open; so no two rows of a batch are alike. Each is the best of a handful drawn at random: a region
    is asked about more often than it occurs, but not for the sake of its outliers.

    Parameters
    ----------
    model : fitted estimator of this library
        With a committee, as XNV has by default, its doubt is that of the committee.
    rows : array, data frame, or table of any size
        Where to choose from: rows in memory as ``fit`` takes them, or whatever ``fit_table`` takes,
        which is read once, block by block.
    k : int, default=1
        How many. Fewer are returned if there are fewer distinct rows.
    y : array-like, optional
        Labels of rows in memory, as in ``fit``; rows that have one are not suggested.
    target : str or list of str, optional
        The same for a table: the column of its labels, or the columns of several targets.
    keep : list of str, optional
        Of a table, columns that ``Suggestions.rows`` has, such as a key; by default the inputs.
    strategy : {"best of handfuls", "uncertainty", "random"}, default="best of handfuls"
        "uncertainty" takes the rows of greatest doubt, alike or not; "random" any.
    handful : int, optional
        Of how many rows the best is taken; by default 5 for numbers and 50 for classes.
    random_state : int, RandomState or None, default=None
        Seed of what is drawn, which depends on nothing else but the rows' values.

    Returns
    -------
    Suggestions

    Examples
    --------
    >>> import numpy as np
    >>> from twinviews import XNVRegressor, suggest
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(1000, 1))
    >>> y = np.where((np.arange(1000) < 40) & (X[:, 0] < 1), np.sin(X[:, 0]), np.nan)
    >>> model = XNVRegressor(committee=False, random_state=0).fit(X, y)
    >>> found = suggest(model, X, 3, y=y, random_state=0)
    >>> found.rows.ravel().round(1)  # where there is no label yet, and apart
    array([2.8, 2.1, 1.5])
    """
    check_is_fitted(model)
    _check_count("k", k)
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        raise ValueError(f"strategy={strategy!r} must be one of {', '.join(STRATEGIES)}.")
    if handful is None:
        handful = CLASS_HANDFUL if is_classifier(model) else NUMBER_HANDFUL
    else:
        _check_count("handful", handful)
    seed = seed_from(random_state)
    size = int(k)
    if strategy == "best of handfuls":
        size = max(_LEAST_CANDIDATES, min(handful * size, _MOST_CANDIDATES), size)
    candidates = _Candidates(model, size, seed, by_doubt=strategy == "uncertainty")
    with one_blas_thread(look=False):
        if engine_of(rows) == "dask" and not hasattr(rows, "columns"):
            raise ValueError(
                "A Dask array has no names of columns, by which a model knows its inputs. Give a Dask "
                "data frame, or rows.compute()."
            )
        if is_table(rows):
            if y is not None:
                raise ValueError("y goes with rows in memory. Of a table, name the column: target=...")
            found = _of_table(candidates, rows, _names(target), keep)
        else:
            if target is not None or keep is not None:
                raise ValueError(
                    f"{'keep' if target is None else 'target'} names columns of a table, and these "
                    f"rows are in memory. Give labels as y=...; rows come back with all they have."
                )
            found = _of_rows(candidates, rows, y)
        if len(found.places) == 0:
            raise ValueError(
                f"All {found.n_rows:,} rows have a label already. Give rows that have none."
            )
        if strategy == "best of handfuls":
            T = model._open_directions(found.X)
            rng = np.random.default_rng(seed)
            chosen, worth = best_of_handfuls(T, model._doubt(found.X), int(k), handful, rng)
        else:
            chosen = np.arange(min(int(k), len(found.places)))
            worth = model._doubt(found.X[chosen])
    places = found.places[chosen]
    if found.raw is not None:
        return Suggestions(places, worth, found.raw.take(chosen))
    if sparse.issparse(rows):  # not every format can be asked for some of its rows
        rows = rows.tocsr()
    return Suggestions(places, worth, _safe_indexing(rows, places))


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")


def doubts(model: Any, X: Any) -> np.ndarray:
    """(rows,) how unsure a fitted model is of each row: the larger, the less sure."""
    with one_blas_thread(look=False):
        return model._doubt(model._check_scaled_rows(X))


def open_directions(model: Any, X: Any) -> np.ndarray:
    """(rows, q) directions whose squared lengths are the predictive variances."""
    with one_blas_thread(look=False):
        return model._open_directions(model._check_scaled_rows(X))


@dataclass(frozen=True)
class Shortlist:
    """The ``size`` rows of smallest key among those seen, no two of them equal."""

    size: int
    n_rows: int  # seen, labeled or not: places count on from there
    keys: np.ndarray  # (m,) increasing
    priorities: np.ndarray  # (m,) equal for equal rows
    places: np.ndarray  # (m,)
    X: Any  # (m, D) on the scale of the fit
    raw: Any  # pyarrow.Table of the same rows; None in memory

    def merge(self, other: Self) -> Self:
        n_rows = self.n_rows + other.n_rows
        if len(other.places) == 0:
            return replace(self, n_rows=n_rows)
        places = other.places + self.n_rows
        if len(self.places) == 0:
            return replace(other, n_rows=n_rows, places=places)
        priorities = np.concatenate([self.priorities, other.priorities])
        keys = np.concatenate([self.keys, other.keys])
        best = _smallest(keys, priorities, self.size)
        return type(self)(
            self.size,
            n_rows,
            keys[best],
            priorities[best],
            np.concatenate([self.places, places])[best],
            stack_rows([self.X, other.X])[best],
            None if self.raw is None else _stack_tables(self.raw, other.raw).take(best),
        )


def _smallest(keys: np.ndarray, priorities: np.ndarray, size: int) -> np.ndarray:
    """Which have the smallest keys, equal rows once."""
    _, distinct = np.unique(priorities, return_index=True)
    order = np.lexsort((priorities[distinct], keys[distinct]))
    return distinct[order[:size]]


def _stack_tables(first: Any, second: Any) -> Any:
    import pyarrow as pa

    return pa.concat_tables([first, second])


@dataclass(frozen=True)
class _Candidates:
    """Rows of a block -> those that may be suggested."""

    model: Any
    size: int
    seed: int
    by_doubt: bool
    kept: tuple[str, ...] | None = None  # columns of a table to bring home; None: rows in memory

    def __call__(self, block: Block) -> Shortlist:
        rows, Y, _ = block
        n_rows = rows.shape[0]
        free = np.arange(n_rows)
        if Y is not None:
            free = np.flatnonzero(missing_labels(Y, self.model.missing_label).all(axis=1))
        if len(free) == 0:
            return Shortlist(self.size, n_rows, np.empty(0), np.empty(0, np.uint64), free, None, None)
        rows = rows.take(free) if self.kept is not None else rows[free]
        X = rows if self.kept is None else self._numbers(rows)
        priorities = row_priorities(X, self.seed)
        keys = -self.model._doubt(X) if self.by_doubt else priorities.astype(np.float64)
        best = _smallest(keys, priorities, self.size)
        raw = None
        if self.kept is not None:
            import pyarrow as pa

            raw = pa.Table.from_batches([rows.select(list(self.kept)).take(best)])
        return Shortlist(self.size, n_rows, keys[best], priorities[best], free[best], X[best], raw)

    def _numbers(self, batch: Any) -> np.ndarray:
        """Of a record batch, on the scale of the fit."""
        model = self.model
        if model._encoder is not None:
            return model._scale_checked(model._encoder(batch))
        from twinviews.tables.arrow import Selection

        inputs = Selection(batch.schema, model._input_names(), [], None).inputs(batch)
        return model._scale_checked(inputs)


def _names(columns: str | Sequence[str] | None) -> list[str]:
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else list(columns)


def _of_table(
    candidates: _Candidates, source: Any, targets: Sequence[str], keep: Sequence[str] | None
) -> Shortlist:
    model = candidates.model
    names = model._input_names()
    kept = tuple(names if keep is None else _names(keep))
    from twinviews.encoding.sources import read_like_the_fit

    table, _ = open_table(
        read_like_the_fit(source, getattr(model, "about_", {})),
        columns=list(dict.fromkeys([*names, *kept])),
        targets=targets,
        weight=None,
        raw=True,
        n_threads=model.n_threads,
        progress=model.progress,
    )
    return table.fold(replace(candidates, kept=kept))


def _of_rows(candidates: _Candidates, rows: Any, y: Any) -> Shortlist:
    model = candidates.model
    X = model._check_scaled_rows(rows)
    if y is not None:
        y = as_array(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"y has {len(y)} labels and there are {X.shape[0]} rows. Give one each.")
        y = y.reshape(len(y), -1)
    block = Block(X, y, None)
    return ArrayTable(block, n_threads=model.n_threads, progress=model.progress).fold(candidates)
