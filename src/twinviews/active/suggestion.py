"""Which rows to label next: candidates from one pass over any table, and the choice of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from twinviews._system.threads import one_blas_thread
from twinviews.active.acquisition import (
    DEFAULT_RULE,
    AcquisitionRule,
    Candidates,
    ChooseRows,
    find_rule,
    handful_rule,
)
from twinviews.estimators._checks import seed_from
from twinviews.estimators._table_methods import numbers_of
from twinviews.method.landmarks import row_priorities
from twinviews.passes.targets import as_array, missing_labels
from twinviews.tables import ArrayTable, Block
from twinviews.tables.base import Table
from twinviews.tables.engines import Wanted, engine_of, is_table, open_table

# More candidates than a handful for each row would only be drawn again.
_LEAST_CANDIDATES, _MOST_CANDIDATES = 2000, 8000


class Suggestions(NamedTuple):
    """Rows worth a label, the most useful first."""

    places: np.ndarray  # (k,) which rows, from 0 in the order of the table (of its partitions)
    worth: np.ndarray  # (k,) the rule's score: the uncertainty that earlier picks do not resolve
    rows: Any  # the rows themselves, as the table has them: an array, a frame or a pyarrow.Table


def suggest(
    model: Any,
    rows: Any,
    k: int = 1,
    *,
    y: Any = None,
    target: str | Sequence[str] | None = None,
    keep: Sequence[str] | None = None,
    rule: str | ChooseRows | AcquisitionRule = DEFAULT_RULE,
    handful: int | None = None,
    random_state: Any = None,
    strategy: str | None = None,
) -> Suggestions:
    """The k rows worth labeling next.

    A row scores higher when the model is uncertain about it and earlier picks do not already resolve
    that uncertainty, so no two rows of a batch are alike. Each row is the best of a handful of random
    rows: a region is chosen more often than it occurs, but outliers do not take over.

    Parameters
    ----------
    model : fitted estimator of this library
        If it has an ensemble, as XNV has by default, the uncertainty is that of the ensemble.
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
        Columns of a table that ``Suggestions.rows`` has, such as a key; by default the inputs.
    rule : str or callable, default="best of handfuls"
        Acquisition rule. "uncertainty" takes the most uncertain rows, alike or not; "random" takes any.
        A function gets the candidates (``X``, ``uncertainty``, ``directions``, ``is_classification``),
        k and a NumPy generator, and returns the places of the chosen candidates and their scores; see
        :mod:`twinviews.active.acquisition`, also for rules of your own by name.
    handful : int, optional
        For "best of handfuls": of how many random rows the best is taken; by default 5 for numbers and
        50 for classes.
    random_state : int, RandomState or None, default=None
        Seed. The same seed and rows give the same suggestions, in whatever order the rows come.
    strategy : str, optional
        The older name of ``rule``.

    Returns
    -------
    Suggestions

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from twinviews import ShiftWarning, XNVRegressor, suggest
    >>> warnings.simplefilter("ignore", ShiftWarning)  # that labels are missing beyond 1 is known
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, size=(1000, 1))
    >>> y = np.where((np.arange(1000) < 40) & (X[:, 0] < 1), np.sin(X[:, 0]), np.nan)
    >>> model = XNVRegressor(members=None, random_state=0).fit(X, y)
    >>> found = suggest(model, X, 3, y=y, random_state=0)
    >>> found.rows.ravel().round(1)  # where there is no label yet, and apart
    array([2.8, 2.1, 1.5])
    """
    check_is_fitted(model)
    _check_count("k", k)
    if handful is not None:
        _check_count("handful", handful)
    rule = rule if strategy is None else strategy
    in_blocks = _is_table(rows)
    _check_options(in_blocks, y, target, keep)
    wanted, k, seed = find_rule(rule), int(k), seed_from(random_state)
    if handful is not None and rule == DEFAULT_RULE:
        wanted = handful_rule(int(handful))
    enough = min(wanted.n_candidates(k, is_classifier(model)), _MOST_CANDIDATES)
    shortlist_of = _ShortlistOf(model, max(_LEAST_CANDIDATES, enough, k), seed, wanted.most_uncertain)
    with one_blas_thread(look=False):
        if in_blocks:
            kept = model._input_names() if keep is None else _names(keep)
            found = _shortlist(_open(model, rows, kept, _names(target)), shortlist_of)
            X = _scaled_batch(model, found.rows.combine_chunks().to_batches()[0])
        else:
            scaled = model._prepared(rows)
            found = _shortlist(_in_memory(model, scaled, y), shortlist_of)
            X = scaled[found.places]
        candidates = Candidates(
            X, model._row_uncertainty(X), model._uncertain_directions(X), is_classifier(model)
        )
        chosen, scores = wanted(candidates, k, np.random.default_rng(seed))
    places = found.places[chosen]
    if in_blocks:
        return Suggestions(places, scores, found.rows.select(kept).take(chosen))
    if sparse.issparse(rows):  # not every format can be asked for some of its rows
        rows = rows.tocsr()
    return Suggestions(places, scores, _safe_indexing(rows, places))


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")


def _check_options(is_table: bool, y: Any, target: Any, keep: Any) -> None:
    """Raise an error for options that belong to rows of the other kind."""
    if is_table and y is not None:
        raise ValueError("y goes with rows in memory. Of a table, name the column: target=...")
    if not is_table and (target is not None or keep is not None):
        raise ValueError(
            f"{'keep' if target is None else 'target'} names columns of a table, and these rows are in "
            f"memory. Give labels as y=...; rows come back with all they have."
        )


def _names(columns: str | Sequence[str] | None) -> list[str]:
    if columns is None:
        return []
    return [columns] if isinstance(columns, str) else list(columns)


def _is_table(rows: Any) -> bool:
    """Whether it is read block by block: files, data sets, Arrow tables, Dask and Spark frames."""
    if engine_of(rows) == "dask" and not hasattr(rows, "columns"):
        raise ValueError(
            "A Dask array has no names of columns, by which a model knows its inputs. Give a Dask data "
            "frame, or rows.compute()."
        )
    return is_table(rows)


def _open(model: Any, source: Any, kept: Sequence[str], targets: Sequence[str]) -> Table:
    """The source as ``fit_table`` opens it: inputs and columns to keep, as record batches."""
    from twinviews.encoding.sources import read_like_the_fit

    columns = list(dict.fromkeys([*model._input_names(), *kept]))
    wanted = Wanted(columns, targets, n_threads=model.n_threads, progress=model.progress)
    return open_table(read_like_the_fit(source, getattr(model, "about_", {})), wanted)[0]


def _in_memory(model: Any, X: Any, y: Any) -> Table:
    if y is not None:
        y = as_array(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"y has {len(y)} labels and there are {X.shape[0]} rows. Give one each.")
        y = y.reshape(len(y), -1)
    return ArrayTable(Block(X, y, None), n_threads=model.n_threads, progress=model.progress)


def _scaled_batch(model: Any, batch: Any) -> Any:
    """Rows of an Arrow record batch as numbers, on the scale of the fit."""
    return model._scaled(numbers_of(model, batch))


@dataclass(frozen=True)
class Shortlist:
    """The ``size`` rows of smallest key among those seen, no two of them equal."""

    size: int
    n_rows: int  # seen, labeled or not: places count on from there
    keys: np.ndarray  # (m,) increasing
    priorities: np.ndarray  # (m,) equal for equal rows
    places: np.ndarray  # (m,)
    rows: Any  # pyarrow.Table of m rows; None in memory, where places are enough

    def merge(self, other: Self) -> Self:
        """The shortlist of both, the rows of ``other`` counted after those of this one."""
        both = type(self)(
            self.size,
            self.n_rows + other.n_rows,
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.priorities, other.priorities]),
            np.concatenate([self.places, other.places + self.n_rows]),
            None if self.rows is None else _stack_tables(self.rows, other.rows),
        )
        return both.shortened()

    def shortened(self) -> Self:
        """The smallest keys, equal rows once."""
        _, distinct = np.unique(self.priorities, return_index=True)
        order = np.lexsort((self.priorities[distinct], self.keys[distinct]))
        best = distinct[order[: self.size]]
        return replace(
            self,
            keys=self.keys[best],
            priorities=self.priorities[best],
            places=self.places[best],
            rows=None if self.rows is None else self.rows.take(best),
        )


@dataclass(frozen=True)
class _ShortlistOf:
    """A function from the rows of a block to their shortlist: random rows, or the most uncertain."""

    model: Any
    size: int
    seed: int
    most_uncertain: bool

    def __call__(self, block: Block) -> Shortlist:
        rows, Y = block.X, block.Y
        free = np.arange(rows.shape[0])
        if Y is not None:
            free = np.flatnonzero(missing_labels(Y, self.model.missing_label).all(axis=1))
        is_batch = hasattr(rows, "schema")
        some = rows.take(free) if is_batch else rows[free]
        keys, priorities = np.empty(0), np.empty(0, np.uint64)
        if len(free):
            X = _scaled_batch(self.model, some) if is_batch else some
            priorities = row_priorities(X, self.seed)
            uncertain = self.most_uncertain
            keys = -self.model._row_uncertainty(X) if uncertain else priorities.astype(np.float64)
        raw = _stack_tables(some) if is_batch else None
        return Shortlist(self.size, rows.shape[0], keys, priorities, free, raw).shortened()


def _stack_tables(*parts: Any) -> Any:
    """Tables and record batches, one under the other."""
    import pyarrow as pa

    return pa.concat_tables([pa.table(part) for part in parts])


def _shortlist(table: Table, shortlist_of: _ShortlistOf) -> Shortlist:
    found = table.fold(shortlist_of)
    if len(found.places) == 0:
        raise ValueError(f"All {found.n_rows:,} rows have a label already. Give rows that have none.")
    return found
