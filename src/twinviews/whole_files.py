"""A file appears when it is complete; until then, and if that fails, the old one stays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name beside the path, beginning with a dot, to write to; nothing of it is left behind."""
    part = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """The same for content in memory, which is on the disk before it has its name."""
    with whole_file(path) as part, part.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
