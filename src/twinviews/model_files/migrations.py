"""Files of earlier formats, brought to the format of today: one function for each change.

``MIGRATIONS[k - 1]`` takes a file of format k to format k + 1. It works on the header as JSON and on
the list of arrays, before any object is made, and adds, renames or regroups what is there; all checks
come after it. A field or parameter that is new and has a default needs none.

A file may come from anyone, so a migration meets any header: what it stumbles over is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from twinviews.model_files.container import Contents, ModelFileError, UnknownHereError


@dataclass
class OldFile:
    """A file on its way to the format of today."""

    header: dict[str, Any]
    arrays: list[np.ndarray]
    order: list[int]  # in which objects are read: each after those that it names
    retired: set[int] = field(default_factory=set)  # arrays that followed from others

    @property
    def model(self) -> dict[str, Any]:
        """Class, parameters and state of the estimator."""
        return self.header["model"]

    @property
    def state(self) -> dict[str, Any]:
        return self.model["state"]

    def objects(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Place and fields of each object of a kind."""
        for place, node in enumerate(self.header["objects"]):
            if node["kind"] == kind:
                yield place, node

    def rename_kind(self, old: str, new: str) -> None:
        for _, node in self.objects(old):
            node["kind"] = new

    def rename_field(self, kind: str, old: str, new: str) -> None:
        for _, node in self.objects(kind):
            node[new] = node.pop(old)

    def add_field(self, kind: str, name: str, value: Any) -> None:
        """Give a field to all objects of a kind: a plain value, or the place of an array or object."""
        for _, node in self.objects(kind):
            node[name] = value

    def add_array(self, array: np.ndarray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def add_object(self, kind: str, fields: dict[str, Any], *, before: int | None = None) -> int:
        """The place of a new object, which the object ``before``, or only the state, then names."""
        self.header["objects"].append({**fields, "kind": kind})
        place = len(self.header["objects"]) - 1
        self.order.insert(len(self.order) if before is None else self.order.index(before), place)
        return place

    def group(self, name: str, kind: str, fields: dict[str, str]) -> None:
        """Make attributes of the estimator into one object; ``fields`` gives each its name there."""
        values = {new: self.state.pop(old) for old, new in fields.items()}
        self.state[name] = self.add_object(kind, values)

    def retire(self, name: str) -> None:
        """Drop an attribute of the estimator that follows from others."""
        value = self.state.pop(name)
        places = [value.get(part) for part in value] if isinstance(value, dict) else [value]
        self.retired |= {
            place for place in places if type(place) is int and 0 <= place < len(self.arrays)
        }


def _attributes_into_parts(file: OldFile) -> None:
    """Format 1 had the solution and what was learned from all rows as attributes of the estimator."""
    state, name = file.state, file.model["class"]
    algorithm = name.removesuffix("Regressor").removesuffix("Classifier")
    chosen = ("canonical_weight", "manifold_ridge", "ridge")
    values = {key: state.pop(f"{key}_") for key in chosen if f"{key}_" in state}
    for derived in ("coef_", "intercept_", "_n_features_out", "n_eigenfunctions_"):
        if derived in state:
            file.retire(derived)
    if algorithm == "KRR":
        file.retire("landmarks_")
    parts = ("penalty", "problems", "coef", "intercept", "readout")
    solution = {part: state.pop(f"_{part}") for part in parts}
    state["_solution"] = file.add_object(
        "Solution",
        {
            **solution,
            "view": state.pop("_features"),
            "values": values,
            "fit_intercept": file.model["parameters"]["fit_intercept"],
            "landmarks_are_labeled": algorithm in ("KRR", "LapRLS"),
        },
    )
    kind, attributes = _LEARNED[algorithm]
    learned = {new: state.pop(old) for old, new in attributes.items() if old in state}
    if kind in ("LearnedCorrelation", "LearnedView"):
        learned.setdefault("landmarks", None)
    if kind == "LearnedCorrelation":
        sums = {part: state.pop(old) for old, part in _ALL_ROWS.items() if old in state}
        learned["basis"] = state.pop("basis_", None)
        learned["all_rows"] = file.add_object("AllRows", sums) if sums else None
        state.setdefault("_expected", None)
    state["_learned"] = file.add_object(kind, learned)
    if algorithm == "XNV":
        state["_unlabeled_sample"] = state.pop("_guides")
        state["_ensembles"] = state.pop("_committees")
    file.rename_kind("NumberCommittee", "RegressionEnsemble")
    file.rename_kind("ClassCommittee", "ClassificationEnsemble")


_OF_VIEW = {
    "sigma_": "sigma",
    "n_components_": "n_components",
    "landmarks_": "landmarks",
    "_view": "view",
}
_OF_CORRELATION = {
    **_OF_VIEW,
    "correlation_ridge_": "correlation_ridge",
    "correlations_": "correlations",
    "effective_dimension_": "effective_dimension",
    "_offsets": "offsets",
}
_ALL_ROWS = {
    "_columns": "columns",
    "_shift": "shift",
    "_moments": "moments",
    "views_": "views",
    "_labeled": "labeled",
}
# For each algorithm of format 1, what its attributes are now.
_LEARNED = {
    "XNV": ("LearnedCorrelation", _OF_CORRELATION),
    "XKS": ("LearnedCorrelation", _OF_CORRELATION),
    "SSSL": ("LearnedView", _OF_VIEW),
    "RFF": ("LearnedView", _OF_VIEW),
    "KRR": ("LearnedWidth", {"sigma_": "sigma"}),
    "ExactSSSL": (
        "LearnedEigenfunctions",
        {
            "sigma_": "sigma",
            "landmarks_": "landmarks",
            "_view": "view",
            "eigenvalues_": "eigenvalues",
        },
    ),
    "LapRLS": (
        "LearnedDeformation",
        {
            "sigma_": "sigma",
            "landmarks_": "landmarks",
            "n_neighbors_": "n_neighbors",
            "_kernel_of_rows": "kernel_of_rows",
            "_bending": "strength",
            "_deformation": "deformation",
            "_ridge_of_bending": "ridge",
        },
    ),
}

MIGRATIONS: list[Callable[[OldFile], None]] = [_attributes_into_parts]


def newest_format() -> int:
    return len(MIGRATIONS) + 1


def migrate(contents: Contents) -> OldFile:
    """A file in the format of today. Its header has passed ``check_outline``."""
    file = OldFile(contents.header, contents.arrays, list(range(len(contents.header["objects"]))))
    for number in range(contents.header.get("format", 1), newest_format()):
        try:
            MIGRATIONS[number - 1](file)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            reason = f"it is not a file of format {number} ({type(error).__name__})"
            raise ModelFileError(reason) from None
    return file


def check_outline(header: dict[str, Any]) -> None:
    """What every format has in common, so that migrations can rely on it."""
    written_in = header.get("format", 1)
    if type(written_in) is not int or written_in < 1:
        raise ModelFileError(f"its format is {written_in!r:.40}")
    if written_in > newest_format():
        raise UnknownHereError(f"it has format {written_in}")
    model, objects = header.get("model"), header.get("objects")
    if not isinstance(model, dict) or set(model) != {"class", "parameters", "state"}:
        raise ModelFileError("its model is not told by class, parameters and state")
    if not isinstance(model["parameters"], dict) or not isinstance(model["state"], dict):
        raise ModelFileError("its parameters and state are not dictionaries")
    if not isinstance(model["class"], str):
        raise ModelFileError("its class is not text")
    if not isinstance(objects, list):
        raise ModelFileError("its objects are not a list")
    if not all(isinstance(node, dict) and isinstance(node.get("kind"), str) for node in objects):
        raise ModelFileError("its objects are not dictionaries with a kind")
