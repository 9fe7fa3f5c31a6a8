"""All rounds of a contest, side by side on all cores, each stored when it is done."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from twinviews_experiments.contest.competing_methods import PEERS, PEERS_BY_NAME, Peer
from twinviews_experiments.contest.contest_sets import CONTEST_SETS_BY_NAME, ContestSet
from twinviews_experiments.contest.one_round import (
    Draw,
    Outcome,
    draw,
    few_labels,
    fewest_and_most_labels,
    play,
    rows_for,
)
from twinviews_experiments.contest.own_table import UserTable, user_set
from twinviews_experiments.datasets.downloads import Files, UnobtainableError
from twinviews_experiments.datasets.preparation import Task
from twinviews_experiments.datasets.public_sources import RawTable
from twinviews_experiments.result_store import ResultStore
from twinviews_experiments.worker_processes import as_they_come, workers

SEED = 2026
CONTEST_VERSION = 3  # to be raised when a change of the contest changes its numbers
STORE_NAME = "rounds.sqlite"


class Contest(NamedTuple):
    """What is to be run."""

    sets: Sequence[ContestSet]
    table: UserTable | None  # in place of the sets
    files: Files
    methods: Sequence[str]
    repetitions: dict[int, int]  # of each n
    jobs: int


class Rounds(ResultStore):
    tables = (
        """rounds (
            set_name TEXT, repetition INTEGER, n INTEGER, method TEXT, error REAL, seconds REAL,
            failure TEXT, calibration REAL, coverage REAL, width REAL, auc REAL, log_loss REAL,
            PRIMARY KEY (set_name, repetition, n, method)
        )""",
    )

    def done(self) -> set[tuple[str, int, int, str]]:
        return set(self.rows("SELECT set_name, repetition, n, method FROM rounds"))

    def outcome(self, set_name: str, repetition: int, n: int, method: str) -> Outcome:
        (found,) = self.rows(
            "SELECT error, seconds, failure, calibration, coverage, width, auc, log_loss FROM rounds "
            "WHERE set_name = ? AND repetition = ? AND n = ? AND method = ?",
            set_name,
            repetition,
            n,
            method,
        )
        return Outcome(*found)


class Entered(NamedTuple):
    """Which sets and methods take part, and what could not."""

    sets: list[ContestSet]
    labels: dict[str, list[int]]  # of each set: those n that it has room for, and some method
    room: dict[str, tuple[int, int]]  # of each set: the least and the largest n
    missing: dict[str, str]  # sets and methods -> how to get them


def run(contest: Contest, rounds: Rounds, say: Callable[[str], None]) -> Entered:
    """Play what is not yet played."""
    rounds.claim(
        "contest",
        {"version": CONTEST_VERSION, "seed": SEED},
        because=f"Version {CONTEST_VERSION} measures AUC and log loss, too; earlier ones do not.",
    )
    entered = _enter(contest, rounds, say)
    done = rounds.done()
    shared = (contest.files, contest.table)
    items = [
        (one.name, repetition, n, tuple(missing))
        for repetition in range(max(contest.repetitions.values()))
        for one in entered.sets
        for n in entered.labels[one.name]
        if repetition < contest.repetitions[n]
        and (
            missing := [
                peer.name
                for peer in _players(contest, one, n)
                if (one.name, repetition, n, peer.name) not in done
            ]
        )
    ]
    with workers(contest.jobs) as pool:
        for (name, repetition, n, _), outcomes in as_they_come(pool, _play, items, shared, "rounds"):
            rounds.insert(
                "rounds",
                [(name, repetition, n, method, *outcome) for method, outcome in outcomes.items()],
            )
    return entered


def _enter(contest: Contest, rounds: Rounds, say: Callable[[str], None]) -> Entered:
    entered = Entered([], {}, {}, {})
    for peer in PEERS:
        if peer.name in contest.methods and not peer.present:
            entered.missing[peer.name] = peer.how_to_get
    for one in contest.sets:
        try:
            raw = one.read(contest.files)
        except UnobtainableError as error:
            entered.missing[one.name] = str(error)
            continue
        rounds.claim(f"data of {one.name}", _fingerprint(raw))
        fewest, most = entered.room[one.name] = fewest_and_most_labels(raw, one.task)
        entered.labels[one.name] = [
            n for n in contest.repetitions if fewest <= n <= most and _players(contest, one, n)
        ]
        entered.sets.append(one)
    for name, how in entered.missing.items():
        say(f"{name} is missing. {how}")
    return entered


def _players(contest: Contest, one: ContestSet, n: int) -> list[Peer]:
    return [
        peer
        for peer in PEERS
        if peer.name in contest.methods and peer.present and peer.takes(one.task, n)
    ]


def _fingerprint(raw: RawTable) -> str:
    digest = hashlib.sha256(raw.y.tobytes())
    for name, column in raw.features.items():
        digest.update(name.encode())
        values = column if column.dtype != object else np.array([str(word) for word in column])
        digest.update(values.tobytes())
    return digest.hexdigest()


# --- what a worker does ------------------------------------------------------------------------------


@cache
def _raw(name: str, files: Files, table: UserTable | None) -> tuple[RawTable, Task]:
    one = CONTEST_SETS_BY_NAME[name] if table is None else user_set(*table)
    return one.read(files), one.task


@cache
def _rows(name: str, repetition: int, most_rows: int, files: Files, table: UserTable | None) -> Draw:
    raw, task = _raw(name, files, table)
    return draw(raw, task, repetition, SEED, most_rows)


def _play(
    item: tuple[str, int, int, tuple[str, ...]], shared: tuple[Files, UserTable | None]
) -> dict[str, Outcome]:
    (name, repetition, n, methods), (files, table) = item, shared
    _, task = _raw(name, files, table)
    rows = _rows(name, repetition, rows_for(n), files, table)
    few = few_labels(rows, task, n, repetition)
    return {method: play(PEERS_BY_NAME[method], few, rows) for method in methods}
