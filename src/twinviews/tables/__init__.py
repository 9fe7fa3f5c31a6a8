"""How rows arrive: blocks of a table, and the one verb that every engine provides, ``fold``."""

from twinviews.tables.arrays import ArrayTable
from twinviews.tables.base import Block, BlockTable, StackedTable, Summary, Table

__all__ = ["ArrayTable", "Block", "BlockTable", "StackedTable", "Summary", "Table"]
