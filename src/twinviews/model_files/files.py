"""Fitted models as files: small, sealed, the same bytes for the same model, and no code in them."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from twinviews._system.whole_files import replace_file
from twinviews.model_files.container import (
    MOST_BYTES,
    Contents,
    ModelFileError,
    UnknownHereError,
    canonical_json,
    pack,
    unpack,
)
from twinviews.model_files.estimator_states import (
    ESTIMATORS,
    read_estimator,
    read_parameter,
    write_estimator,
)
from twinviews.model_files.migrations import migrate, newest_format
from twinviews.model_files.records import Json, Reader, Writer
from twinviews.model_files.stored_classes import KINDS, kind_of

_MOST_ABOUT_BYTES = 4 * 2**20
_VERSION = version("twinviews")  # found here, since loading a model opens no other file
_ANY_VERSION = re.compile(r"[0-9A-Za-z.+!]{1,40}")


@dataclass(frozen=True)
class ModelFile:
    """What a model file says of itself."""

    model: str  # name of the class
    parameters: dict[str, Any]  # as given to the class; "array" for landmarks of one's own
    about: dict[str, Any]  # what the caller of save_model added
    n_features: int
    n_labeled: int
    n_unlabeled: int
    whole: bool  # whether partial_fit and merge can go on from it
    twinviews: str  # version that wrote it
    n_bytes: int


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    about: dict[str, Any] | None = None,
    *,
    whole: bool = False,
) -> None:
    """Write a fitted model to a file: numbers and text, no code.

    The same model gives the same bytes. The file appears when it is complete, and until then the old
    one, if there is one, stays as it is.

    Parameters
    ----------
    model : a fitted estimator of twinviews
    path : path
        By convention it ends with ``.twinviews``.
    about : dict, optional
        What else should be known of the model, such as the target's name: text, numbers, lists and
        dictionaries, up to 4 MB. None keeps what a loaded model brought along.
    whole : bool, default=False
        Whether to keep what ``partial_fit``, ``merge`` and ``transform_pair`` of XNV and XKS need:
        both views and the sums over all rows. A small file can do all else, ``relabel`` included.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from twinviews import XNVRegressor, load_model, save_model
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.where(np.arange(300) < 20, np.sin(X[:, 0]), np.nan)
    >>> model = XNVRegressor(n_components=20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "sine.twinviews")
    ...     save_model(model, path, about={"target": "sine"})
    ...     again = load_model(path)
    >>> bool(np.all(again.predict(X) == model.predict(X)))
    True
    """
    check_is_fitted(model)
    try:
        writer = Writer(kind_of)
        written = write_estimator(model, writer, whole=whole)
        header = {
            "about": _check_about(getattr(model, "about_", {}) if about is None else about),
            "format": newest_format(),
            "model": written,
            "objects": writer.objects,
            "twinviews": _VERSION,
            "whole": whole and hasattr(model, "partial_fit"),  # if not, nothing is left out
        }
        _to_model(Contents(header, writer.arrays))  # what could not be read is not written
        content = pack(header, writer.arrays)
    except ModelFileError as reason:
        raise ValueError(f"This {type(model).__name__} cannot be saved: {reason}.") from None
    replace_file(Path(path), content)


def load_model(path: str | os.PathLike[str]) -> Any:
    """A model from a file of ``save_model``; it predicts what it predicted before.

    No code of the file is run. A file that is not exactly what ``save_model`` writes is refused with a
    ValueError: a wrong checksum, an unknown field, a number out of range, sizes that do not agree.
    Files of earlier versions are read; parameters that they do not have take their defaults. A file
    that needs a later version says which. What the caller of ``save_model`` added is in ``about_``.

    Parameters
    ----------
    path : path

    Returns
    -------
    the fitted estimator

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from twinviews import SSSLClassifier, load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SSSLClassifier(n_components=20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, os.path.join(folder, "iris.twinviews"))
    ...     model = load_model(os.path.join(folder, "iris.twinviews"))
    >>> model.predict(X[[0, 50, 100]])
    array([0, 1, 2])
    """
    with _opened(path) as (file, _):
        return _to_model(file)


def inspect_model(path: str | os.PathLike[str]) -> ModelFile:
    """What a file of ``save_model`` says of itself; the model is not made.

    Parameters
    ----------
    path : path

    Returns
    -------
    ModelFile
        With ``model``, ``parameters``, ``about``, ``n_features``, ``n_labeled``, ``n_unlabeled``,
        ``whole``, ``twinviews`` and ``n_bytes``.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from twinviews import SSSLClassifier, inspect_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SSSLClassifier(n_components=20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.twinviews")
    ...     save_model(model, path, about={"target": "species"})
    ...     found = inspect_model(path)
    >>> found.model, found.n_features, found.parameters["n_components"], found.about
    ('SSSLClassifier', 4, 20, {'target': 'species'})
    """
    with _opened(path) as (file, n_bytes):
        header, model = file.header, file.header["model"]
        counts = {
            "n_features": model["state"].get("n_features_in_"),
            "n_labeled": model["state"].get("n_labeled_"),
            "n_unlabeled": model["state"].get("n_unlabeled_"),
        }
        if not all(type(count) is int for count in counts.values()):
            raise ModelFileError("it does not say how many rows and columns there were")
        return ModelFile(
            model=model["class"],
            parameters={
                name: read_parameter(name, value) for name, value in model["parameters"].items()
            },
            about=header["about"],
            whole=header["whole"],
            twinviews=header["twinviews"],
            n_bytes=n_bytes,
            **counts,
        )


def _read(path: str | os.PathLike[str]) -> bytes:
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise ModelFileError("it is not a file")
    if found.st_size > MOST_BYTES:
        raise ModelFileError(f"it has {found.st_size:,} bytes, and {MOST_BYTES:,} is the most")
    with open(path, "rb") as file:
        return file.read(found.st_size)


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[tuple[Contents, int]]:
    """A file in the format of today and its bytes; says in one line which file is refused, and why."""
    wrote = None
    try:
        content = _read(path)
        file = unpack(content)
        wrote = file.header.get("twinviews")
        if not isinstance(wrote, str) or not _ANY_VERSION.fullmatch(wrote):
            raise ModelFileError("it does not say which version wrote it")
        migrate(file)
        _check_header(file.header)
        yield file, len(content)
    except UnknownHereError as reason:
        raise ValueError(
            f"{os.fspath(path)} is from another version of twinviews: {reason}, which twinviews "
            f"{_VERSION} does not know. twinviews {wrote} wrote it: use that version or a later one."
        ) from None
    except ModelFileError as reason:
        raise ValueError(f"{os.fspath(path)} is not a valid model file: {reason}.") from None


def _check_header(header: dict[str, Json]) -> None:
    _check_about(header["about"])
    name = header["model"]["class"]
    if name not in ESTIMATORS:
        raise UnknownHereError(f"it holds the class {name!r:.40}")
    if header["whole"] and not hasattr(ESTIMATORS[name].cls, "partial_fit"):
        raise ModelFileError(f"it is whole, and {name} has nothing to leave out")


def _check_about(about: Any) -> Json:
    try:
        text = canonical_json(about)
        same = isinstance(about, dict) and json.loads(text) == about
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise ModelFileError(
            f"about={about!r:.60} is not a dictionary of text, finite numbers, booleans, None, lists "
            f"and such dictionaries"
        )
    if len(text) > _MOST_ABOUT_BYTES:
        raise ModelFileError(f"about has {len(text):,} bytes, of {_MOST_ABOUT_BYTES:,} at most")
    return about


def _to_model(file: Contents) -> Any:
    reader = Reader(file.arrays, file.retired)
    for node in file.header["objects"]:
        if node["kind"] not in KINDS:
            raise UnknownHereError(f"it has an object of the kind {node['kind'][:40]!r}")
        reader.read_object(node, KINDS[node["kind"]])
    model = read_estimator(file.header["model"], reader, whole=file.header["whole"])
    model.about_ = file.header["about"]
    return model
