"""The public sources of the paper's sets, read as they are published."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from twinviews_experiments.datasets.downloads import Download, Files, UnobtainableError
from twinviews_experiments.datasets.file_formats import (
    Columns,
    numbered,
    read_delimited,
    read_matlab,
    read_matrix,
)


class RawTable(NamedTuple):
    """A set as its source has it, before any row is drawn or any column scaled."""

    features: Columns
    y: np.ndarray  # (rows,) numbers; 1 and -1 for two classes; NaN where unknown
    test: np.ndarray | None = None  # (rows,) the official split, if there is one


# The checksums are those that public registries of these files record; IBN_SINA has none.
UCI = "https://archive.ics.uci.edu/static/public"
ABALONE = Download(
    f"{UCI}/1/abalone.zip",
    "abalone.zip",
    "755a6a67c5b266961a3f149ea13be2cfb6e6c727e48cee3c83bc0b4526210ee4",
)
ADULT = Download(
    f"{UCI}/2/adult.zip",
    "adult.zip",
    "7537312dd56c2b98035880805ce99e68183a30ee468aa5329d6df0fbb3cc21bb",
)
CT = Download(
    f"{UCI}/206/relative+location+of+ct+slices+on+axial+axis.zip",
    "slice_localization_data.zip",
    "9411f92082678169d2a01356f036708498c3ab507f6595919456bbb04a1d942a",
)
GPML = "http://www.gaussianprocess.org/gpml/data"
SARCOS_TRAIN = Download(
    f"{GPML}/sarcos_inv.mat",
    "sarcos_inv.mat",
    "b8a249733253ba6097372fedee7696833fcf30de42037d5b4a7227f21a6d1d97",
)
SARCOS_TEST = Download(
    f"{GPML}/sarcos_inv_test.mat",
    "sarcos_inv_test.mat",
    "161a59b5c3b4f4b404584323f181607b2acbe620eb134dc720760dc3f38f5cec",
)
IBN_SINA = Download("http://www.causality.inf.ethz.ch/al_data/IBN_SINA.zip", "IBN_SINA.zip")
KDD_CUP = "https://kdd.org/cupfiles/KDDCupData/2009"
ORANGE_DATA = Download(
    f"{KDD_CUP}/orange_small_train.data.zip",
    "orange_small_train.data.zip",
    "31ccb810bdbb71c16e079326443166dc3dfbf73cd358fc4a4ce7440fb1bc6040",
)
ORANGE_LABELS = Download(
    f"{KDD_CUP}/orange_small_train_appetency.labels",
    "orange_small_train_appetency.labels",
    "edbfa40e7513804cf25c3f8b3c8f4a6cf5c77116cffc2f87ef770351250a963c",
)

ABALONE_COLUMNS = (
    "Sex",
    "Length",
    "Diameter",
    "Height",
    "WholeWeight",
    "ShuckedWeight",
    "VisceraWeight",
    "ShellWeight",
    "Rings",
)
ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
)


def shell_weight(columns: Columns) -> RawTable:
    """Abalone: the shell weight from the six other measurements."""
    return RawTable({name: columns[name] for name in ABALONE_COLUMNS[1:7]}, columns["ShellWeight"])


def abalone(files: Files) -> RawTable:
    return shell_weight(read_delimited(files.get(ABALONE), "abalone.data", names=ABALONE_COLUMNS))


def adult(files: Files) -> RawTable:
    path = files.get(ADULT)
    train = read_delimited(path, "adult.data", names=ADULT_COLUMNS)
    test = read_delimited(path, "adult.test", names=ADULT_COLUMNS, skip=1)  # a line of its own in front
    columns = {name: np.concatenate([train[name], test[name]]) for name in ADULT_COLUMNS}
    for name, values in columns.items():
        if values.dtype == object:  # words have a space in front, and in the test file a dot behind
            columns[name] = np.array([word.strip(" .") for word in values], dtype=object)
    income = columns.pop("income")
    is_test = np.arange(len(income)) >= len(train["age"])
    return RawTable(columns, np.where(income == ">50K", 1.0, -1.0), is_test)


def ct(files: Files) -> RawTable:
    """Patient number and 384 histogram values (-0.25 is outside the image); target: axial position."""
    columns = read_delimited(files.get(CT), "slice_localization_data.csv")
    return RawTable(columns, columns.pop("reference"))


def sarcos(joint: int) -> Callable[[Files], RawTable]:
    def read(files: Files) -> RawTable:
        train = read_matlab(files.get(SARCOS_TRAIN), "sarcos_inv")
        test = read_matlab(files.get(SARCOS_TEST), "sarcos_inv_test")
        # Nearly every official test row is also a training row; those are taken out of the training.
        known = {row.tobytes() for row in test[:, :21]}
        train = train[[row.tobytes() not in known for row in train[:, :21]]]
        rows = np.vstack([train, test])
        is_test = np.arange(len(rows)) >= len(train)
        return RawTable(numbered(rows[:, :21]), rows[:, 20 + joint], is_test)

    return read


def ibn_sina(files: Files) -> RawTable:
    path = files.get(IBN_SINA)
    X, labels = read_matrix(path, "ibn_sina.data"), read_matrix(path, "ibn_sina.label")
    if len(labels) > len(X):
        raise ValueError(f"{path} holds {len(labels):,} labels for {len(X):,} rows.")
    y = np.full(len(X), np.nan)  # the challenge may hold back labels of the last rows
    y[: len(labels)] = np.where(labels[:, 0] > 0, 1.0, -1.0)
    return RawTable(numbered(X), y)


def orange(files: Files) -> RawTable:
    """KDD Cup 2009, small: 190 columns of numbers, then 40 of categories; target: appetency."""
    columns = read_delimited(files.get(ORANGE_DATA), "orange_small_train.data", delimiter="\t")
    labels = read_matrix(files.get(ORANGE_LABELS), "orange_small_train_appetency.labels")
    return RawTable(columns, np.where(labels[:, 0] > 0, 1.0, -1.0))


def openml(data_id: int, *, classes: bool = False) -> Callable[[Files], RawTable]:
    """A set of numbers on OpenML. scikit-learn checks and keeps what it fetches."""

    def read(files: Files) -> RawTable:
        from sklearn.datasets import fetch_openml

        if not files.online:
            raise UnobtainableError(
                f"It is OpenML's data set {data_id}. Leave out --offline to fetch it."
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about trying again; what matters is said below
                found = fetch_openml(
                    data_id=data_id, as_frame=False, parser="liac-arff", data_home=str(files.cache)
                )
        except (OSError, ValueError) as error:
            raise UnobtainableError(
                f"OpenML's data set {data_id} could not be fetched ({error})."
            ) from error
        y = found.target.astype(float)
        return RawTable(numbered(found.data), np.where(y > 0, 1.0, -1.0) if classes else y)

    return read
