"""Which rows to label next: the choice of a rule, and rows drawn at random, from any table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from twinviews.active.label_sampling import RANDOM_SHARE, check_share, n_at_random
from twinviews.active.row_pool import RowPool, RowPoolOf, Shortlist, scaled_batch
from twinviews.estimators._checks import seed_from
from twinviews.passes.targets import as_array
from twinviews.tables import ArrayTable, Block
from twinviews.tables.base import Table
from twinviews.tables.engines import Wanted, engine_of, is_table, open_table

# More candidates than a handful for each row would only be drawn again.
_LEAST_CANDIDATES, _MOST_CANDIDATES = 2000, 8000
# Distinct rows from which those at random are drawn, for each of them and at the least: copies count,
# and a row with many may come before others of smaller priority.
_FOR_EACH_AT_RANDOM, _LEAST_AT_RANDOM = 10, 1000


class Suggestions(NamedTuple):
    """Rows worth a label, the most useful first, and rows drawn at random among them."""

    places: np.ndarray  # (k,) which rows, from 0 in the order of the table (of its partitions)
    worth: np.ndarray  # (k,) the rule's score; of a row drawn at random, its uncertainty
    rows: Any  # the rows themselves, as the table has them: an array, a frame or a pyarrow.Table
    how: np.ndarray  # (k,) "suggested" by the rule, or drawn at "random"


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
    random_share: float = RANDOM_SHARE,
    random_state: Any = None,
    strategy: str | None = None,
) -> Suggestions:
    """The k rows to label next: most of them those worth the most, and a share drawn at random.

    A row scores higher when the model is uncertain about it and earlier picks do not already resolve
    that uncertainty, so no two rows of a batch are alike. Each row is the best of a handful of random
    rows: a region is chosen more often than it occurs, but outliers do not take over.

    Suggested rows are no sample of the table, so no error of the table can be estimated from them. Of
    the rows that come back a quarter is therefore drawn at random, and ``how`` tells which. Keep it
    with the labels: :func:`label_probabilities` makes of it what ``fit`` needs to tell errors and
    intervals that hold for all rows.

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
    random_share : float, default=0.25
        The share of the k rows that is drawn at random from all rows without a label, whatever the
        rule. In calls for one row after the other it is one call in four. 0 for suggestions only;
        nothing then tells how good the model is on other rows.
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
    >>> found = suggest(model, X, 4, y=y, random_state=1)
    >>> found.rows.ravel().round(1)  # where there is no label yet, and apart; then any row
    array([ 1.7,  2. ,  2.9, -0.1])
    >>> found.how.tolist()
    ['suggested', 'suggested', 'suggested', 'random']
    """
    check_is_fitted(model)
    _check_count("k", k)
    if handful is not None:
        _check_count("handful", handful)
    rule = rule if strategy is None else strategy
    in_blocks = _is_table(rows)
    _check_options(in_blocks, y, target, keep)
    share = check_share("random_share", random_share)
    wanted, k, seed = find_rule(rule), int(k), seed_from(random_state)
    if handful is not None and rule == DEFAULT_RULE:
        wanted = handful_rule(int(handful))
    pool_of = _pool_of(model, wanted, k, seed)
    with one_blas_thread(look=False):
        if in_blocks:
            kept = model._input_names() if keep is None else _names(keep)
            pool = _pool(_open(model, rows, kept, _names(target)), pool_of)
        else:
            scaled = model._prepared(rows)
            pool = _pool(_in_memory(model, scaled, y), pool_of)

        def numbers(some: Shortlist) -> Any:
            if not in_blocks:
                return scaled[some.places]
            return scaled_batch(model, some.rows.combine_chunks().to_batches()[0])

        share = 1.0 if wanted.at_random else share
        found, worth, how = _choose(model, pool, numbers, wanted, k, share, seed)
    if in_blocks:
        return Suggestions(found.places, worth, found.rows.select(kept), how)
    if sparse.issparse(rows):  # not every format can be asked for some of its rows
        rows = rows.tocsr()
    return Suggestions(found.places, worth, _safe_indexing(rows, found.places), how)


def _pool_of(model: Any, rule: AcquisitionRule, k: int, seed: int) -> RowPoolOf:
    enough = min(rule.n_candidates(k, is_classifier(model)), _MOST_CANDIDATES)
    n_candidates = max(_LEAST_CANDIDATES, enough, k)
    n_random = max(_LEAST_AT_RANDOM, _FOR_EACH_AT_RANDOM * k)  # some of which the rule may choose
    return RowPoolOf(model, n_candidates, n_random, seed, rule.most_uncertain)


def _choose(
    model: Any,
    pool: RowPool,
    numbers: Callable[[Shortlist], Any],
    rule: AcquisitionRule,
    k: int,
    share: float,
    seed: int,
) -> tuple[Shortlist, np.ndarray, np.ndarray]:
    """The rows in the order to be labeled, their scores, and how each was chosen.

    Those at random come from the rows that the rule leaves: they stand for the rows without a label.
    """
    k = min(k, pool.n_free)
    n_random = n_at_random(k, pool.n_free, share)
    chosen, scores = pool.candidates.take(np.empty(0, np.intp)), np.empty(0)
    if k > n_random:
        X = numbers(pool.candidates)
        candidates = Candidates(
            X, model._row_uncertainty(X), model._uncertain_directions(X), is_classifier(model)
        )
        best, scores = rule(candidates, k - n_random, np.random.default_rng(seed))
        chosen = pool.candidates.take(best)
    drawn = pool.at_random.without(chosen.places).drawn(n_random)
    if not len(drawn.places):
        return chosen, scores, np.full(len(scores), "suggested", dtype=object)
    order = _spread(len(scores), len(drawn.places))
    worth = np.concatenate([scores, model._row_uncertainty(numbers(drawn))])[order]
    how = np.where(order < len(scores), "suggested", "random").astype(object)
    return chosen.followed_by(drawn).take(order), worth, how


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


def _pool(table: Table, pool_of: RowPoolOf) -> RowPool:
    found = table.fold(pool_of)
    if found.n_free == 0:
        raise ValueError(f"All {found.n_rows:,} rows have a label already. Give rows that have none.")
    return found


def _spread(n_chosen: int, n_drawn: int) -> np.ndarray:
    """The order in which to label: the last of each few rows is one of those drawn at random.

    Whoever labels only the first rows keeps the share. Numbers from ``n_chosen`` are those drawn.
    """
    k = n_chosen + n_drawn
    order = np.empty(k, dtype=np.intp)
    is_drawn = np.zeros(k, dtype=bool)
    is_drawn[[-(-(one + 1) * k // n_drawn) - 1 for one in range(n_drawn)]] = True
    order[is_drawn] = np.arange(n_chosen, k)
    order[~is_drawn] = np.arange(n_chosen)
    return order
