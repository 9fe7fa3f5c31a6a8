"""Public files, fetched once: with a bar, a checksum and a cache that never holds half a file."""

from __future__ import annotations

import hashlib
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from twinviews._system.whole_files import replace_file, whole_file

_CHUNK = 1 << 16
_TIMEOUT = 60  # seconds without a byte


class UnobtainableError(Exception):
    """A set that is not in the folder and cannot be fetched; the message says how to get it."""


@dataclass(frozen=True)
class Download:
    url: str
    file: str  # its name in the cache, and in a folder of the user's
    sha256: str | None = None  # None where no one has published it: then the first download fixes it


@dataclass(frozen=True)
class Files:
    """Where files come from: the user's folder, then the cache, then the net."""

    folder: Path | None
    cache: Path
    online: bool = True

    def in_folder(self, name: str, sha256: str | None) -> Path | None:
        """A file of the user's folder, if it is there and is the one it should be."""
        if self.folder is None or not (path := self.folder / name).is_file():
            return None
        if sha256 is not None and (found := sha256_of(path)) != sha256:
            raise ValueError(
                f"{path} has the SHA-256 {found}, and the published figures are from {sha256}. Take it "
                f"out of the folder, or put the right file there."
            )
        return path

    def get(self, download: Download) -> Path:
        path = self.in_folder(download.file, download.sha256)
        if path is not None:
            return path
        if not self.online and not (self.cache / download.file).is_file():
            raise UnobtainableError(
                f"Get {download.url} and put it in the data folder as {download.file}, or leave out "
                f"--offline."
            )
        return fetch(download, self.cache)


def fetch(download: Download, cache: Path, *, progress: bool = True) -> Path:
    """The file, from the cache if it is there and whole, else from its source."""
    path = cache / download.file
    note = path.with_name(path.name + ".sha256")
    expected = download.sha256 or (note.read_text().split()[0] if note.exists() else None)
    if path.exists():
        found = sha256_of(path)
        if expected is None:  # stopped between the file and its note
            replace_file(note, f"{found}  {path.name}\n".encode())
        if expected in (None, found):
            return path
    cache.mkdir(parents=True, exist_ok=True)
    try:
        with whole_file(path) as part:
            with part.open("wb") as file:
                found = _copy(download.url, file, progress)
            if expected is not None and found != expected:
                raise UnobtainableError(
                    f"{download.url} has the SHA-256 {found}, not {expected}: it is not the file it "
                    f"was. If the new one is to be trusted, put it in the data folder as "
                    f"{download.file}."
                )
        replace_file(note, f"{found}  {path.name}\n".encode())
    except (OSError, ValueError) as error:  # urllib's errors are OSErrors
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it is the server's answer too
        raise UnobtainableError(
            f"{download.url} could not be fetched ({error}). Get it some other way and put it in the "
            f"data folder as {download.file}."
        ) from error
    return path


def _copy(url: str, file: object, progress: bool) -> str:
    """Copy, and return the SHA-256 of what came."""
    digest = hashlib.sha256()
    # The address is one of our own lists, and what comes from it is compared with a checksum.
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:  # nosec B310
        length = answer.headers.get("Content-Length")
        total = int(length) if length else None
        done = 0
        with tqdm(
            total=total,
            unit="B",
            unit_scale=True,
            desc=url.rsplit("/", 1)[-1],
            leave=False,
            disable=None if progress else True,
        ) as bar:
            while chunk := answer.read(_CHUNK):
                file.write(chunk)  # type: ignore[attr-defined]
                digest.update(chunk)
                done += len(chunk)
                bar.update(len(chunk))
    if total is not None and done != total:
        raise ValueError(f"{done:,} of {total:,} bytes came")
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
