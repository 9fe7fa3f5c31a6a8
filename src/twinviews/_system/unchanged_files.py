"""Files that are read more than once: unchanged each time, or an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:  # it need not be installed
    import pyarrow.dataset as ds


@dataclass(frozen=True)
class SameFiles:
    """Size and time of the last change of each file."""

    filesystem: Any  # of pyarrow
    stamps: tuple[tuple[str, int | None, int | None], ...]  # path, bytes, nanoseconds

    @classmethod
    def at(cls, filesystem: Any, paths: Sequence[str]) -> Self:
        found = filesystem.get_file_info(list(paths)) if paths else []
        return cls(filesystem, tuple((info.path, info.size, info.mtime_ns) for info in found))

    @classmethod
    def of(cls, dataset: ds.Dataset) -> Self:
        """The files of a data set, of which there may be none."""
        paths = getattr(dataset, "files", [])
        return cls.at(dataset.filesystem if paths else None, paths)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Raise ValueError if the files have changed when the block ends, with an error or without."""
        try:
            yield
        except Exception as error:
            self._check(error)
            raise
        self._check(None)

    def _check(self, cause: Exception | None) -> None:
        now = type(self).at(self.filesystem, [path for path, *_ in self.stamps])
        for (path, size, time), (_, size_now, time_now) in zip(self.stamps, now.stamps, strict=True):
            if (size, time) == (size_now, time_now):
                continue
            how = "was written to"
            if size != size_now:
                how = "is gone" if size_now is None else f"had {size} bytes, and has {size_now} now"
            raise ValueError(
                f"{path} changed while it was read: it {how}. Nothing was made of it; start again when "
                f"nobody writes to it any more."
            ) from cause


NO_FILES = SameFiles(None, ())
