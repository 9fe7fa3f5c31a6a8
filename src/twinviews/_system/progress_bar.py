"""A progress bar for work that takes longer than two seconds, on a terminal only."""

from __future__ import annotations

from typing import Any

from tqdm import tqdm

_PATIENCE = 2  # seconds


def progress_bar(total: int | None, wanted: bool, unit: str = "rows") -> Any:
    """A bar of what is done, how fast, and the time left; ``update(n)`` after each n rows."""
    return tqdm(
        total=total,
        unit=f" {unit}",
        unit_scale=True,
        delay=_PATIENCE,
        leave=False,
        # None: silent unless the output is a terminal
        disable=None if wanted else True,
    )
