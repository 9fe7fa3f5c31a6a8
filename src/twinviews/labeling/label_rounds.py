"""Rounds of rows drawn for an answer about all rows, what a person wants of it, and both on disk.

A round draws rows without a label, each with a known probability (``estimates/sampling_design.py``). A
label then has the probability of any phase: of the random labels, or of a round. Of a round of which
only some rows have a label so far, chances count in that proportion, as its rows come in random order.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from twinviews._system.sqlite import Database
from twinviews.active.label_sampling import label_probabilities
from twinviews.estimates.sampling_design import (
    RowSizes,
    over_phases,
    rule_for,
    systematic_draw,
)

# Made when the first answer about all rows is asked for; files of earlier versions have none.
_SCHEMA = (
    """CREATE TABLE IF NOT EXISTS rounds (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        target TEXT NOT NULL,
        share REAL NOT NULL,
        rows BLOB NOT NULL,
        chances BLOB NOT NULL,
        drawn TEXT NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS wishes (
        target TEXT PRIMARY KEY, "on" INTEGER NOT NULL, half_width REAL
    )""",
)


@dataclass(frozen=True)
class Round:
    """Rows that were drawn together."""

    share: float  # of all rows, those that it was drawn from
    rows: np.ndarray  # (m,) rows of the table that it was drawn from, and all with a label, increasing
    chance: np.ndarray  # (m,) to be drawn, for a row without a label
    drawn: tuple[int, ...]  # in random order

    def chance_of(self, rows: np.ndarray) -> np.ndarray:
        """(rows,) NaN where the round does not know a row."""
        if not len(self.rows):
            return np.full(len(rows), np.nan)
        place = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[place] == rows, self.chance[place], np.nan)


class Wish(NamedTuple):
    """What a person wants: an answer about all rows or not, and plus or minus how much."""

    on: bool = False
    half_width: float | None = None


def draw_round(
    rows: np.ndarray,
    size: np.ndarray,
    before: np.ndarray,
    is_free: np.ndarray,
    k: int,
    share: float,
    rng: np.random.Generator,
) -> Round:
    """k of the free rows, of which more are drawn where the residual ``size`` is larger."""
    free = np.flatnonzero(is_free)
    sizes = RowSizes(size[free], before[free], np.ones(len(free)), 1.0)
    k = min(k, len(free))
    rule = rule_for(sizes, k)
    chance = rule.chance(size, before)
    order = free[np.argsort(size[free], kind="stable")]
    drawn = order[systematic_draw(chance[order], k, rng.random())]
    in_order = np.argsort(rows)
    return Round(share, rows[in_order], chance[in_order], tuple(rng.permutation(rows[drawn]).tolist()))


def probability_of_rows(
    rows: np.ndarray, how: Mapping[int, str], n_rows: int, rounds: Sequence[Round]
) -> np.ndarray:
    """(rows,) with what probability each has a label; NaN of rows that no round knows.

    ``how`` says how each labeled row was found. Rows of a round that is not known, as in an imported
    list, stand for themselves.
    """
    known = {row for one in rounds for row in one.drawn}
    drawn = {row for row, word in how.items() if word == "designed" and row in known}
    others = {
        row: "chosen" if word == "designed" else word for row, word in how.items() if row not in drawn
    }
    own = label_probabilities(list(others.values()), n_rows)
    stands = dict(zip(others, own.tolist(), strict=True))
    at_random = [p for row, p in stands.items() if others[row] not in ("chosen", "suggested")]
    before = at_random[0] if at_random else 0.0
    missed = np.ones(len(rows))
    for one in rounds:
        labeled = sum(row in drawn for row in one.drawn)
        missed *= 1 - one.chance_of(rows) * (labeled / max(len(one.drawn), 1))
    in_rounds = (rounds[0].share if rounds else 0.0) * (1 - missed)
    found = over_phases(np.full(len(rows), before), in_rounds)
    certain = np.array([others.get(int(row)) in ("chosen", "suggested") for row in rows], bool)
    # Labels of rows that no round has seen count as the mean row of the rounds.
    unseen = np.isnan(found) & np.array([int(row) in how for row in rows], bool)
    found[unseen] = np.nanmean(found) if np.isfinite(found).any() else max(before, 1 / n_rows)
    return np.where(certain, 1.0, found)


# --- on disk ----------------------------------------------------------------------------------------


def make_tables(database: Database) -> None:
    """The tables of rounds and wishes, if they are not there."""
    for statement in _SCHEMA:
        database.rows(statement)


def has_tables(database: Database) -> bool:
    return bool(database.rows("SELECT 1 FROM sqlite_master WHERE name = 'rounds'"))


def read_rounds(database: Database, target: str) -> tuple[Round, ...]:
    """In the order in which they were drawn."""
    if not has_tables(database):
        return ()
    found = database.rows(
        "SELECT share, rows, chances, drawn FROM rounds WHERE target = ? ORDER BY number", target
    )
    return tuple(
        Round(
            share,
            np.frombuffer(zlib.decompress(rows), dtype="<i8"),
            np.frombuffer(zlib.decompress(chances), dtype="<f8"),
            tuple(json.loads(drawn)),
        )
        for share, rows, chances, drawn in found
    )


def count_rounds(database: Database, target: str) -> int:
    if not has_tables(database):
        return 0
    return int(database.rows("SELECT COUNT(*) FROM rounds WHERE target = ?", target)[0][0])


def write_round(database: Database, target: str, one: Round) -> None:
    make_tables(database)
    database.insert(
        "rounds",
        target=target,
        share=one.share,
        rows=zlib.compress(one.rows.astype("<i8").tobytes()),
        chances=zlib.compress(one.chance.astype("<f8").tobytes()),
        drawn=json.dumps(one.drawn),
    )


def read_wish(database: Database, target: str) -> Wish:
    if not has_tables(database):
        return Wish()
    found = database.rows('SELECT "on", half_width FROM wishes WHERE target = ?', target)
    return Wish(bool(found[0][0]), found[0][1]) if found else Wish()


def write_wish(database: Database, target: str, wish: Wish) -> None:
    make_tables(database)
    database.rows(
        "INSERT OR REPLACE INTO wishes VALUES (?, ?, ?)", target, int(wish.on), wish.half_width
    )
