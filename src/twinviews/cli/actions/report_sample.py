"""Rows for a report, drawn in one pass: as many as it can use, with labels and without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

from twinviews.report import Drawn
from twinviews.report.rows import MOST_LABELED, MOST_UNLABELED


def sample_rows(
    datasets: Sequence[ds.Dataset],
    names: Sequence[str],
    target: str,
    n_labeled: int,
    n_unlabeled: int,
    seed: int,
) -> tuple[pa.Table, Drawn]:
    """Of tables one under the other; the first has labels. Every row of a kind has the same chance.

    About twice what a report uses is drawn, so that it draws as many as it wants from what is here.
    """
    rng = np.random.default_rng(seed)
    of_labeled = min(1.0, 2 * MOST_LABELED / max(n_labeled, 1))
    of_unlabeled = min(1.0, 2 * MOST_UNLABELED / max(n_unlabeled, 1))
    blanks = Counter(dict.fromkeys(names, 0))
    tables, numbers, start = [], [], 1
    for dataset in datasets:
        shared = [name for name in names if name in dataset.schema.names]
        for batch in dataset.scanner(columns=shared, use_threads=False).to_batches():
            chance = np.full(batch.num_rows, of_unlabeled)
            if dataset is datasets[0]:
                known = ~np.asarray(batch.column(target).is_null(nan_is_null=True))
                chance[known] = of_labeled
            drawn = rng.random(batch.num_rows) < chance
            blanks.update({name: batch.column(name).null_count for name in shared})
            numbers.append(start + np.flatnonzero(drawn))
            tables.append(pa.Table.from_batches([batch.filter(pa.array(drawn))]))
            start += batch.num_rows
    rows = pa.concat_tables(tables, promote_options="permissive")
    return rows, Drawn(np.concatenate(numbers), n_labeled, n_unlabeled, blanks)
