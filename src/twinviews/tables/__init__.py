"""How rows arrive: blocks of a table, and the one verb that every engine provides, ``fold``."""

from twinviews.tables.base import ArrayTable, Block, BlockTable, SourceTable, StackedTable, Table
from twinviews.tables.engines import Engine, Wanted, register_engine

__all__ = [
    "ArrayTable",
    "Block",
    "BlockTable",
    "Engine",
    "SourceTable",
    "StackedTable",
    "Table",
    "Wanted",
    "register_engine",
]
