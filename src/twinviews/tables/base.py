"""A table is anything that can fold its blocks into one small summary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from twinviews.threads import map_in_order, one_blas_thread

Rows = Any  # (rows, D) ndarray or CSR matrix


class Block(NamedTuple):
    """Some rows of a table, in any order and of any number."""

    X: Rows
    Y: np.ndarray | None  # (rows, targets) labels as the user gave them; None: no label at all
    weight: np.ndarray | None  # (rows,) positive; None: all rows count once


class Summary(Protocol):
    """What a block becomes: small, and able to absorb the summary of other rows."""

    def merge(self, other: Self, /) -> Self: ...


S = TypeVar("S", bound=Summary)


class Table(Protocol):
    """All an engine must provide: apply ``summarise`` to each block and merge what comes out."""

    def fold(self, summarise: Callable[[Block], S]) -> S: ...


class BlockTable(ABC):
    """A table that this process reads block by block, on as many threads as BLAS would take."""

    n_threads: int | None = None

    @abstractmethod
    def blocks(self) -> Iterator[Block]:
        """The rows, each exactly once; the same blocks in the same order on every call."""

    def fold(self, summarise: Callable[[Block], S]) -> S:
        with one_blas_thread() as allowed:
            summaries = map_in_order(summarise, self.blocks(), self.n_threads or allowed)
            merged = next(summaries)
            for summary in summaries:
                merged = merged.merge(summary)
        return merged
