"""How much memory is available, and an error before a method takes more.

psutil would tell the first on more systems, but does not know the limit of a container.
"""

from __future__ import annotations

from pathlib import Path


def available_bytes() -> int | None:
    """Memory that a new array can take without swapping; None where the system does not tell."""
    limits = [_from_meminfo(), _from_container()]
    known = [limit for limit in limits if limit is not None]
    return min(known, default=None)


def _from_meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:  # not Linux
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def _from_container() -> int | None:
    group = Path("/sys/fs/cgroup")
    try:
        most, now = (group / "memory.max").read_text(), (group / "memory.current").read_text()
    except OSError:  # no control group of this kind
        return None
    return None if most.strip() == "max" else max(0, int(most) - int(now))


def refuse_what_cannot_fit(who: str, n_rows: int, n_matrices: int, instead: str) -> None:
    """Raise MemoryError if ``n_matrices`` matrices of all rows by all rows do not fit."""
    needed = n_matrices * 8 * n_rows**2
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"{who} on {n_rows:,} distinct rows needs {needed / 1e9:,.1f} GB ({n_matrices} matrices of "
            f"{n_rows:,} x {n_rows:,} numbers), and {available / 1e9:,.1f} GB are available. Use "
            f"{instead}, whose memory does not grow with the rows, or fewer rows."
        )
