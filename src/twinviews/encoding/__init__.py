"""Columns of any kind become numbers: facts of all rows, rules, and a code for each column."""

from twinviews.encoding.column_kinds import ColumnKind, register_column_kind

__all__ = ["ColumnKind", "register_column_kind"]
