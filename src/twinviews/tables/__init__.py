"""How rows arrive: blocks of a table, and the one verb that every engine provides, ``fold``."""

from twinviews.tables.arrays import ArrayTable
from twinviews.tables.base import Block, BlockTable, SourceTable, StackedTable, Summary, Table
from twinviews.tables.engines import Engine, Wanted, register_engine

__all__ = [
    "ArrayTable",
    "Block",
    "BlockTable",
    "Engine",
    "SourceTable",
    "StackedTable",
    "Summary",
    "Table",
    "Wanted",
    "register_engine",
]
