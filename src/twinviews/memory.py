"""How much memory an exact method needs, and whether it is there."""

from __future__ import annotations

import os


def available_bytes() -> int:
    """Memory that a new array can take without swapping."""
    try:
        with open("/proc/meminfo") as meminfo:
            for line in meminfo:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:  # not Linux: what is free is a lower bound of what is available
        pass
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def refuse_what_cannot_fit(who: str, n_rows: int, n_matrices: int, instead: str) -> None:
    """Raise before the allocation if ``n_matrices`` full matrices over the rows are too much."""
    needed = n_matrices * 8 * n_rows**2
    available = available_bytes()
    if needed > available:
        raise MemoryError(
            f"{who} on {n_rows:,} distinct rows needs {needed / 1e9:,.1f} GB ({n_matrices} matrices of "
            f"{n_rows:,} x {n_rows:,} numbers), and {available / 1e9:,.1f} GB are available. Use "
            f"{instead}, whose memory does not grow with the rows, or fewer rows."
        )
