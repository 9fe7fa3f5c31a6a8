"""Columns asked for by name, and what to say when they are not there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def check_columns(wanted: Iterable[str], present: Iterable[str]) -> None:
    """Raise an error that names what is missing and what it may have been renamed to."""
    present = list(present)
    missing = [name for name in wanted if name not in present]
    if not missing:
        return
    near = {name: get_close_matches(name, present, n=1) for name in missing}
    hints = [f"{name!r} may be {found[0]!r}" for name, found in near.items() if found]
    named = ", ".join(map(repr, missing))
    what = f"There is no column {named}" if len(missing) == 1 else f"There are no columns {named}"
    hint = f" ({'; '.join(hints)})" if hints else ""
    raise ValueError(f"{what}{hint}. The table has {', '.join(present)}.")
