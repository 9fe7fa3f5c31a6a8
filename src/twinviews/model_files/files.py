"""Fitted models as files: small, sealed, the same bytes for the same model, and no code in them."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from twinviews._system.whole_files import replace_file
from twinviews.model_files.container import MOST_BYTES, ModelFileError, canonical_json, pack, unpack
from twinviews.model_files.fields import Rows
from twinviews.model_files.kinds import KINDS
from twinviews.model_files.records import Json, Reader, Sizes, Writer, read_fields
from twinviews.model_files.states import (
    MODELS,
    ModelKind,
    check_predictions,
    check_together,
    give,
    learned,
)

_MOST_ABOUT_BYTES = 4 * 2**20
_MOST_THREADS = 1024
_MOST_WHOLE = 2**63 - 1


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
        content = _to_bytes(model, about, whole)
        _to_model(content)  # nothing is written that could not be read
    except ModelFileError as reason:
        raise ValueError(f"This {type(model).__name__} cannot be saved: {reason}.") from None
    replace_file(Path(path), content)


def load_model(path: str | os.PathLike[str]) -> Any:
    """A model from a file of ``save_model``; it predicts what it predicted before.

    No code of the file is run. A file that is not exactly what ``save_model`` writes is refused with a
    ValueError: a wrong checksum, an unknown field, a number out of range, sizes that do not agree.
    What the caller of ``save_model`` added is in ``about_``.

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
    try:
        return _to_model(_read(path))
    except ModelFileError as reason:
        raise ValueError(f"{os.fspath(path)} is no model file to rely on: {reason}.") from None


def inspect_model(path: str | os.PathLike[str]) -> ModelFile:
    """What a file of ``save_model`` says of itself, without the model being made.

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
    try:
        content = _read(path)
        contents = unpack(content)
        header = _check_header(contents.header)
        state = header["model"]["state"]
        counts = ("n_features_in_", "n_labeled_", "n_unlabeled_")
        if not all(type(state.get(name)) is int for name in counts):
            raise ModelFileError("it does not say how many rows and columns there were")
        parameters = {
            name: "array" if isinstance(value, dict) and "rows" in value else _read_plain(value)
            for name, value in header["model"]["parameters"].items()
        }
    except ModelFileError as reason:
        raise ValueError(f"{os.fspath(path)} is no model file to rely on: {reason}.") from None
    return ModelFile(
        header["model"]["class"],
        parameters,
        header["about"],
        state["n_features_in_"],
        state["n_labeled_"],
        state["n_unlabeled_"],
        header["whole"],
        header["twinviews"],
        len(content),
    )


def _read(path: str | os.PathLike[str]) -> bytes:
    found = os.stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise ModelFileError("it is not a file")
    if found.st_size > MOST_BYTES:
        raise ModelFileError(f"it has {found.st_size:,} bytes, and {MOST_BYTES:,} is the most")
    with open(path, "rb") as file:
        return file.read(found.st_size)


# --- a model as bytes ------------------------------------------------------------------------------


def _to_bytes(model: Any, about: dict[str, Any] | None, whole: bool) -> bytes:
    entry = MODELS.get(type(model).__name__)
    if entry is None or type(model) is not entry.cls:
        raise ModelFileError("it is not an estimator of twinviews. Keep it with pickle or skops")
    if whole and entry.of_all_rows and model._without_all_rows:
        raise ModelFileError("whole=True, but the file it comes from left out the sums over all rows")
    whole = whole and bool(entry.of_all_rows)
    writer = Writer(KINDS)
    parameters = {
        name: _write_parameter(name, value, writer)
        for name, value in sorted(model.get_params(deep=False).items())
    }
    state = {
        name: field.encode(learned(model, name), writer)
        for name, field in entry.state_fields(whole=whole).items()
    }
    header = {
        "about": _check_about(getattr(model, "about_", {}) if about is None else about),
        "model": {"class": entry.cls.__name__, "parameters": parameters, "state": state},
        "objects": writer.objects,
        "twinviews": version("twinviews"),
        "whole": whole,
    }
    return pack(header, writer.arrays)


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


def _write_parameter(name: str, value: Any, writer: Writer) -> Json:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and np.isnan(value):
        return {"nan": True}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if name == "landmarks":
        rows = value if sparse.issparse(value) else np.asarray(value, dtype=np.float64)
        return {"rows": Rows("_ _").encode(rows, writer)}
    raise ModelFileError(
        f"{name}={value!r:.60} is not a plain value. set_params({name}=...) to one changes nothing "
        f"that was learned; or keep this model with pickle"
    )


# --- bytes as a model ------------------------------------------------------------------------------


def _to_model(content: bytes) -> Any:
    contents = unpack(content)
    header = _check_header(contents.header)
    reader = Reader(contents, KINDS)
    reader.read_objects(header["objects"])
    entry = MODELS[header["model"]["class"]]
    model = _read_parameters(entry, header["model"]["parameters"], reader)
    sizes = Sizes()
    fields = entry.state_fields(whole=header["whole"])
    state = read_fields(entry.cls.__name__, fields, header["model"]["state"], reader, sizes)
    reader.refuse_what_is_not_used()
    give(model, state)
    if entry.of_all_rows and not header["whole"]:
        model._without_all_rows = True
    check_together(model, sizes)
    check_predictions(model)
    model.about_ = header["about"]
    return model


def _check_header(header: dict[str, Any]) -> dict[str, Any]:
    if set(header) != {"about", "arrays", "model", "objects", "twinviews", "whole"}:
        raise ModelFileError("its header lacks a field or has one too many")
    model = header["model"]
    if not isinstance(model, dict) or set(model) != {"class", "parameters", "state"}:
        raise ModelFileError("its model is not told by class, parameters and state")
    name = model["class"]
    if not isinstance(name, str) or name not in MODELS:
        raise ModelFileError(f"its class {name!r:.40} is not known")
    if not isinstance(model["parameters"], dict) or not isinstance(model["state"], dict):
        raise ModelFileError("its parameters and state are no dictionaries")
    if not isinstance(header["twinviews"], str) or type(header["whole"]) is not bool:
        raise ModelFileError("it does not say who wrote it, or whether it is whole")
    if header["whole"] and not MODELS[name].of_all_rows:
        raise ModelFileError(f"it is whole, and {name} has nothing to leave out")
    _check_about(header["about"])
    return header


def _read_parameters(entry: ModelKind, node: dict[str, Json], reader: Reader) -> Any:
    names = entry.cls().get_params(deep=False)
    if set(node) != set(names):
        odd = sorted(set(node) ^ set(names))[0]
        raise ModelFileError(f"it lacks a parameter or has one too many: {odd[:40]!r}")
    parameters = {}
    for name, value in node.items():
        if name == "landmarks" and isinstance(value, dict) and set(value) == {"rows"}:
            parameters[name] = Rows("_ _").decode(value["rows"], reader, Sizes())
        else:
            parameters[name] = _read_plain(value)
    model = entry.cls(**parameters)
    try:
        model._check_parameters()
    except ValueError as reason:
        raise ModelFileError(str(reason).rstrip(".")) from None
    if (parameters["n_threads"] or 1) > _MOST_THREADS:
        raise ModelFileError(f"n_threads={parameters['n_threads']} is more than {_MOST_THREADS}")
    seed = parameters.get("random_state")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**32):
        raise ModelFileError(f"random_state={seed!r:.40} is no seed")
    return model


def _read_plain(value: Json) -> Any:
    if value == {"nan": True}:
        return np.nan
    if isinstance(value, (dict, list)) or (type(value) is int and abs(value) > _MOST_WHOLE):
        raise ModelFileError(f"the parameter {value!r:.40} is not a plain value")
    return value
