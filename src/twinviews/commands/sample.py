"""Rows for a report: every label, and as many rows without one as it can use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds

# A report draws from at most so many; see ``twinviews.report``.
MOST_UNLABELED = 20_000


def sample_rows(
    dataset: ds.Dataset, more: Sequence[ds.Dataset], target: str, n_unlabeled: int, seed: int
) -> pa.Table:
    """In one pass; of the rows without a label each is drawn with the same chance."""
    rng = np.random.default_rng(seed)
    chance = min(1.0, MOST_UNLABELED / max(n_unlabeled, 1))
    kept = [_some(batch, target, chance, rng) for batch in dataset.to_batches()]
    schema = dataset.schema
    for other in more:
        names = [name for name in other.schema.names if name in schema.names and name != target]
        kept += [_drawn(batch, chance, rng) for batch in other.scanner(columns=names).to_batches()]
    tables = [pa.Table.from_batches([batch]) for batch in kept if batch.num_rows]
    return pa.concat_tables(tables, promote_options="permissive")


def _some(
    batch: pa.RecordBatch, target: str, chance: float, rng: np.random.Generator
) -> pa.RecordBatch:
    known = ~np.asarray(batch.column(target).is_null(nan_is_null=True))
    return batch.filter(pa.array(known | (rng.random(batch.num_rows) < chance)))


def _drawn(batch: pa.RecordBatch, chance: float, rng: np.random.Generator) -> pa.RecordBatch:
    return batch.filter(pa.array(rng.random(batch.num_rows) < chance))
