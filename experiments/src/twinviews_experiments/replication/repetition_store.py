"""The repetitions of a replication, as far as they are done."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from twinviews_experiments.replication.protocol import Tuned
from twinviews_experiments.result_store import ResultStore


class RepetitionStore(ResultStore):
    tables = (
        """tuned (
            set_name TEXT, method TEXT, sigma REAL, ridge REAL, error REAL, grid TEXT,
            PRIMARY KEY (set_name, method)
        )""",
        """errors (
            set_name TEXT, repetition INTEGER, method TEXT, n INTEGER, error REAL,
            PRIMARY KEY (set_name, repetition, method, n)
        )""",
        "seconds (method TEXT, set_name TEXT, seconds REAL, PRIMARY KEY (method, set_name))",
    )

    def tuned(self, set_name: str, method: str) -> Tuned | None:
        found = self.rows(
            "SELECT sigma, ridge, error, grid FROM tuned WHERE set_name = ? AND method = ?",
            set_name,
            method,
        )
        if not found:
            return None
        sigma, ridge, error, grid = found[0]
        return Tuned(sigma, ridge, error, np.array(json.loads(grid)))

    def add_tuned(self, set_name: str, method: str, tuned: Tuned) -> None:
        grid = json.dumps(tuned.errors.tolist())
        self.insert("tuned", [(set_name, method, *tuned[:3], grid)])

    def repetitions(self, set_name: str) -> set[int]:
        """Those that are done."""
        found = self.rows("SELECT DISTINCT repetition FROM errors WHERE set_name = ?", set_name)
        return {repetition for (repetition,) in found}

    def add_repetition(
        self, set_name: str, repetition: int, labels: Sequence[int], errors: dict[str, list[float]]
    ) -> None:
        """All methods and all n of it together."""
        rows = [
            (set_name, repetition, method, n, value)
            for method, values in errors.items()
            for n, value in zip(labels, values, strict=True)
        ]
        self.insert("errors", rows)

    def errors(self, set_name: str, method: str, n: int, repetitions: int) -> np.ndarray:
        """(repetitions,) in their order."""
        found = self.rows(
            "SELECT error FROM errors WHERE set_name = ? AND method = ? AND n = ? AND repetition < ? "
            "ORDER BY repetition",
            set_name,
            method,
            n,
            repetitions,
        )
        return np.array([value for (value,) in found])

    def add_seconds(self, method: str, set_name: str, seconds: float | None) -> None:
        self.insert("seconds", [(method, set_name, seconds)])

    def seconds(self) -> dict[tuple[str, str], float | None]:
        found = self.rows("SELECT method, set_name, seconds FROM seconds")
        return {(method, set_name): seconds for method, set_name, seconds in found}
