"""The folder for files that can be made or fetched again."""

from __future__ import annotations

import os
from pathlib import Path


def default_cache() -> Path:
    """``$XDG_CACHE_HOME/twinviews``, or ``~/.cache/twinviews``."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "twinviews"
