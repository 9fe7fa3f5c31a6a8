"""The first pass over a table: a sample of its distinct rows, its labeled rows, its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from twinviews.labels import LabeledRows
from twinviews.landmarks import RowSample, row_priorities
from twinviews.tables import Block


@dataclass(frozen=True)
class Survey:
    n_rows: int
    sample: RowSample
    labeled: LabeledRows

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.n_rows + other.n_rows,
            self.sample.merge(other.sample),
            self.labeled.merge(other.labeled),
        )


def survey_of(block: Block, *, sample_size: int, seed: int, missing_label: Any = None) -> Survey:
    X, Y, weight = block
    sample = RowSample.of(X, row_priorities(X, seed), sample_size)
    return Survey(X.shape[0], sample, LabeledRows.of(X, Y, weight, missing_label))
