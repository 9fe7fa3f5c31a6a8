"""Which rows to label next: candidates from one pass over any table, and the choice of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, NamedTuple

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
from twinviews.active.model_view import (
    input_names,
    scaled_rows,
    uncertain_directions,
    uncertainty,
)
from twinviews.active.shortlist import Shortlist, ShortlistOf
from twinviews.estimators.random_seed import seed_from
from twinviews.passes.targets import as_array
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
    >>> import numpy as np
    >>> from twinviews import XNVRegressor, suggest
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
    size = max(_LEAST_CANDIDATES, enough, k)
    shortlist_of = ShortlistOf(model, size, seed, wanted.most_uncertain)
    with one_blas_thread(look=False):
        if in_blocks:
            found = _from_table(shortlist_of, rows, _names(target), keep)
        else:
            found = _from_memory(shortlist_of, rows, y)
        if len(found.places) == 0:
            raise ValueError(
                f"All {found.n_rows:,} rows have a label already. Give rows that have none."
            )
        chosen, scores = wanted(_candidates(model, found.X), k, np.random.default_rng(seed))
    places = found.places[chosen]
    if found.raw is not None:
        return Suggestions(places, scores, found.raw.take(chosen))
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


def _candidates(model: Any, X: Any) -> Candidates:
    return Candidates(
        X,
        uncertainty(model, X, scaled=True),
        uncertain_directions(model, X, scaled=True),
        is_classifier(model),
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


def _open(model: Any, source: Any, columns: Sequence[str], targets: Sequence[str]) -> Table:
    """The source as ``fit_table`` opens it, its rows as record batches."""
    from twinviews.encoding.sources import read_like_the_fit

    wanted = Wanted(columns, targets, n_threads=model.n_threads, progress=model.progress)
    return open_table(read_like_the_fit(source, getattr(model, "about_", {})), wanted)[0]


def _from_table(
    shortlist_of: ShortlistOf, source: Any, targets: Sequence[str], keep: Sequence[str] | None
) -> Shortlist:
    model = shortlist_of.model
    names = input_names(model)
    kept = tuple(names if keep is None else _names(keep))
    table = _open(model, source, list(dict.fromkeys([*names, *kept])), targets)
    return table.fold(replace(shortlist_of, kept=kept))


def _from_memory(shortlist_of: ShortlistOf, rows: Any, y: Any) -> Shortlist:
    model = shortlist_of.model
    X = scaled_rows(model, rows)
    if y is not None:
        y = as_array(y)
        if len(y) != X.shape[0]:
            raise ValueError(f"y has {len(y)} labels and there are {X.shape[0]} rows. Give one each.")
        y = y.reshape(len(y), -1)
    table = ArrayTable(Block(X, y, None), n_threads=model.n_threads, progress=model.progress)
    return table.fold(shortlist_of)
