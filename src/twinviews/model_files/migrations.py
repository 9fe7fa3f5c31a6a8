"""Files of earlier formats, brought to the format of today: one function for each change.

``MIGRATIONS[k - 1]`` takes a file of format k to format k + 1. It works on the header as JSON and on
the list of arrays, before any object is made, and adds, renames or regroups what is there; all checks
come after it. A field or parameter that is new and has a default needs none.

A file may come from anyone, so a migration meets any header: what it stumbles over is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from twinviews.model_files.container import Contents, ModelFileError, UnknownHereError, take_entries


def _attributes_into_parts(file: Contents) -> None:
    """Format 1 had the solution and what was learned from all rows as attributes of the estimator."""
    model = file.header["model"]
    old, algorithm = model["state"], model["class"].removesuffix("Regressor").removesuffix("Classifier")
    for name in _DERIVED & set(old):
        _retire(file, old.pop(name))
    if algorithm == "KRR":
        _retire(file, old.pop("landmarks_"))
    state = model["state"] = {name: old.pop(name) for name in _KEPT & set(old)}
    if algorithm == "XNV":
        state |= {"_unlabeled_sample": old.pop("_guides"), "_ensembles": old.pop("_committees")}
    solution = {name: old.pop(f"_{name}") for name in _OF_SOLUTION}
    solution["view"] = old.pop("_features")
    solution["values"] = {name: old.pop(f"{name}_") for name in _CHOSEN if f"{name}_" in old}
    solution["fit_intercept"] = model["parameters"]["fit_intercept"]
    solution["landmarks_are_labeled"] = algorithm in ("KRR", "LapRLS")
    state["_solution"] = _add_object(file, "Solution", solution)
    # All that is left was learned, and has lost the underscores that told attributes apart.
    learned = {_RENAMED.get(name, name.strip("_")): old[name] for name in old}
    kind = _LEARNED[algorithm]
    if kind in ("LearnedCorrelation", "LearnedView"):
        learned.setdefault("landmarks", None)
    if kind == "LearnedCorrelation":
        sums = {name: learned.pop(name) for name in _OF_ALL_ROWS if name in learned}
        learned["all_rows"] = _add_object(file, "AllRows", sums) if sums else None
        learned.setdefault("basis", None)
        state.setdefault("_expected", None)
    state["_learned"] = _add_object(file, kind, learned)
    for node in file.header["objects"]:
        node["kind"] = _RENAMED.get(node["kind"], node["kind"])


def _add_object(file: Contents, kind: str, fields: dict[str, Any]) -> int:
    """The place of a new object, which has earlier ones inside, as all have."""
    file.header["objects"].append({**fields, "kind": kind})
    return len(file.header["objects"]) - 1


def _retire(file: Contents, value: Any) -> None:
    """Let the arrays of an attribute belong to nothing: it follows from others."""
    places = value.values() if isinstance(value, dict) else [value]
    file.retired.update(
        place for place in places if type(place) is int and 0 <= place < len(file.arrays)
    )


_DERIVED = {"coef_", "intercept_", "_n_features_out", "n_eigenfunctions_"}
_KEPT = {
    "n_features_in_",
    "feature_names_in_",
    "_encoder",
    "_rows_are_sparse",
    "_one_column",
    "_scaling",
    "_seed",
    "n_labeled_",
    "n_unlabeled_",
    "loo_error_",
    "classes_",
    "_scale",
    "_expected",
}
_OF_SOLUTION = ("penalty", "problems", "coef", "intercept", "readout")
_OF_ALL_ROWS = ("columns", "shift", "moments", "views", "labeled")
_CHOSEN = ("canonical_weight", "manifold_ridge", "ridge")
_LEARNED = {
    "XNV": "LearnedCorrelation",
    "XKS": "LearnedCorrelation",
    "SSSL": "LearnedView",
    "RFF": "LearnedView",
    "KRR": "LearnedWidth",
    "ExactSSSL": "LearnedEigenfunctions",
    "LapRLS": "LearnedDeformation",
}
_RENAMED = {
    "_bending": "strength",
    "_ridge_of_bending": "ridge",
    "NumberCommittee": "RegressionEnsemble",
    "ClassCommittee": "ClassificationEnsemble",
}


def _room_for_more_leaves(file: Contents) -> None:
    """Trees of format 2 had eight leaves at most, and a byte for each set of them."""
    for node in file.header["objects"]:
        if node["kind"] == "Trees" and file.arrays[node["left_out"]].dtype == np.uint8:
            file.arrays[node["left_out"]] = file.arrays[node["left_out"]].astype(np.uint64)


MIGRATIONS: list[Callable[[Contents], None]] = [_attributes_into_parts, _room_for_more_leaves]


def newest_format() -> int:
    return len(MIGRATIONS) + 1


def migrate(file: Contents) -> None:
    """Bring a file to the format of today."""
    _check_outline(file.header)
    for number in range(file.header.get("format", 1), newest_format()):
        try:
            MIGRATIONS[number - 1](file)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            reason = f"it is not a file of format {number} ({type(error).__name__})"
            raise ModelFileError(reason) from None


_HEADER = {
    "about": dict,
    "arrays": list,
    "model": dict,
    "objects": list,
    "twinviews": str,
    "whole": bool,
}
_MODEL = {"class": str, "parameters": dict, "state": dict}


def _check_outline(header: dict[str, Any]) -> None:
    """What every format has in common, so that migrations can rely on it."""
    written_in = header.get("format", 1)
    if type(written_in) is not int or written_in < 1:
        raise ModelFileError(f"its format is {written_in!r:.40}")
    if written_in > newest_format():
        raise UnknownHereError(f"it has format {written_in}")
    entries = {name: header[name] for name in header if name != "format"}
    take_entries(entries, _HEADER, "its header")
    take_entries(header["model"], _MODEL, "its model")
    for node in header["objects"]:
        if not isinstance(node, dict) or type(node.get("kind")) is not str:
            raise ModelFileError("its objects are not dictionaries with a kind")
