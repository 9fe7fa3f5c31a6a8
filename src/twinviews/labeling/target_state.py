"""The state of one target: its labels as numbers, the rows to label next, and its model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from twinviews.active.acquisition import AcquisitionRule
from twinviews.active.error_forecast import ErrorForecast
from twinviews.active.learning_curve import LEAST_JUDGED
from twinviews.labeling.candidate_rows import CandidateRows
from twinviews.labeling.entries import Answer, Event, LabelTarget, Origin, Task, plain_label
from twinviews.labeling.full_fit import FullFit, RowLabels, is_enough
from twinviews.labeling.live_model import LiveModel
from twinviews.labeling.page_data import ErrorNow, Promise
from twinviews.labeling.table_copy import TableCopy
from twinviews.labeling.table_labels import table_labels

# The first labels are of rows drawn at random; from then on one row in five is, so that the error can
# always be estimated.
FIRST_AT_RANDOM = 25
ONE_IN = 5
# A new full fit is due after so many labels, or this share of the labels of the last one.
_REFIT_AFTER, _REFIT_SHARE = 5, 0.1
# The most labels in the table itself that the live model learns from.
_MOST_TABLE_LABELS = 2000


class TargetState:
    """One target, as far as its labels are known to this process."""

    def __init__(
        self,
        target: LabelTarget,
        table: TableCopy,
        candidates: CandidateRows,
        rule: AcquisitionRule,
        seed: int,
    ) -> None:
        self.target, self.candidates = target, candidates
        self._table = table
        self._rng = np.random.default_rng()  # two tabs should get different rows
        self._encoded: dict[int, np.ndarray] = {}  # labeled rows as numbers
        self._answers: Mapping[int, Event] = {}
        self.answer_counts: Counter[Answer] = Counter()
        self._fitted: RowLabels | None = None  # labels of the last full fit that was begun
        self._table_rows, self._table_values = rows, values = table_labels(table, target)
        self._is_labeled_in_table = np.isin(candidates.rows, rows)
        some = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_MOST_TABLE_LABELS])
        origin = np.full(len(some), "imported", dtype=object)
        self._table_labels = RowLabels(
            rows[some], candidates.encode(table.rows(rows[some])), values[some], origin
        )
        self.model = LiveModel(target.task, candidates.X, rule)
        self.labels = self._table_labels
        self._free = self._not_answered()

    # --- labels -------------------------------------------------------------------------------------

    def update(self, answers: Mapping[int, Event]) -> None:
        """Learn from the last event of each row; a cleared answer is none."""
        self._answers = {row: event for row, event in answers.items() if event.entry.answer != "clear"}
        self.answer_counts = Counter(event.entry.answer for event in self._answers.values())
        self.labels = self._labels()
        self._free = self._not_answered()
        self.model.learn(self.labels)

    def _labels(self) -> RowLabels:
        events = sorted(
            (event for event in self._answers.values() if event.entry.answer == "label"),
            key=lambda event: event.number,
        )
        new = [event.entry.row for event in events if event.entry.row not in self._encoded]
        if new:
            found = self.candidates.encode(self._table.rows(new))
            self._encoded.update(zip(new, found, strict=True))
        # An answer here replaces the label that the table has.
        kept = np.array(
            [row not in self._answers for row in self._table_labels.rows.tolist()], dtype=bool
        )
        own = RowLabels(*(part[kept] for part in self._table_labels))
        if not events:
            return own
        rows = np.array([event.entry.row for event in events])
        X = np.array([self._encoded[row] for row in rows.tolist()])
        y = np.array([event.entry.value for event in events], dtype=own.y.dtype)
        origin = np.array([event.entry.origin for event in events], dtype=object)
        ours = RowLabels(rows, X, y, origin)
        return RowLabels(*(np.concatenate(pair) for pair in zip(own, ours, strict=True)))

    def table_label(self, row: int) -> float | str | None:
        """The label of a row in the table itself."""
        place = int(np.searchsorted(self._table_rows, row))  # which are increasing
        found = place < len(self._table_rows) and self._table_rows[place] == row
        return plain_label(self._table_values[place]) if found else None

    def target_with_classes(self) -> LabelTarget:
        """The target with all classes that occur, which the page offers."""
        if self.target.task == "regression":
            return self.target
        return replace(
            self.target, classes=tuple(dict.fromkeys([*self.target.classes, *self.labels.y]))
        )

    @property
    def n_labeled(self) -> int:
        """The number of labels: of answers, and of the table where there is no answer."""
        replaced = sum(self.table_label(row) is not None for row in self._answers)
        return self.answer_counts["label"] + len(self._table_rows) - replaced

    # --- rows to label next -------------------------------------------------------------------------

    def _not_answered(self) -> np.ndarray:
        """Places of the candidates without an answer or a label."""
        answered = np.isin(self.candidates.rows, list(self._answers))
        return np.flatnonzero(~(answered | self._is_labeled_in_table))

    def next_rows(self, k: int, besides: Collection[int]) -> list[tuple[int, Origin]]:
        """k rows of the table and how they were chosen; fewer if no more are left."""
        free = self._free
        if besides:
            free = free[~np.isin(self.candidates.rows[free], list(besides))]
        n_random = self._due_at_random(min(k, len(free)))
        drawn = self._rng.choice(free, n_random, replace=False)
        found: list[tuple[int, Origin]] = [(int(self.candidates.rows[one]), "random") for one in drawn]
        others = free[~np.isin(free, drawn)]
        if k > n_random and len(others):
            chosen = self.model.choose(others, min(k - n_random, len(others)), self._rng)
            found += [(int(self.candidates.rows[one]), "suggested") for one in chosen]
        if len(found) < k:
            found += self._other_rows(k - len(found), {*besides, *(row for row, _ in found)})
        return found

    def _due_at_random(self, k: int) -> int:
        """How many of the next k rows are drawn at random."""
        if self.model.full_fit is None or self.labels.n_labels < FIRST_AT_RANDOM:
            return k
        from_page = np.isin(self.labels.origin, ("random", "suggested"))
        later = self.labels.random[FIRST_AT_RANDOM:][from_page[FIRST_AT_RANDOM:]]
        return min(k, max(0, (len(later) + k) // ONE_IN - int(later.sum())))

    def _other_rows(self, k: int, besides: Collection[int]) -> list[tuple[int, Origin]]:
        """Random rows of the whole table, for when all candidates are answered."""
        n = self._table.n_rows
        free = np.ones(n, dtype=bool)
        free[self._table_rows] = False
        free[list(self._answers)] = False
        free[[row for row in besides if 0 <= row < n]] = False
        left = np.flatnonzero(free)
        return [
            (int(row), "random") for row in self._rng.choice(left, min(k, len(left)), replace=False)
        ]

    def reason(self, row: int, origin: Origin) -> str:
        """Why the page shows this row."""
        if origin == "random":
            if self.model.full_fit is None or self.labels.n_labels < FIRST_AT_RANDOM:
                return "drawn at random, as the first rows are"
            return f"drawn at random, as one row in {ONE_IN} is, to estimate the error"
        if origin == "chosen":
            return "chosen by you"
        place = self.candidates.place_of(row)
        if self.model.full_fit is None or place is None:
            return "suggested"
        share = self.model.share_more_certain(place)
        if share < 0.5:
            return "the most useful of some random rows, according to the model"
        return f"the model is less certain about it than about {share:.0%} of the rows"

    # --- the model ----------------------------------------------------------------------------------

    def fit_is_due(self) -> bool:
        """Whether a full fit should be made now."""
        if self.candidates.encoder is None or not is_enough(self.labels):
            return False
        n, last = self.labels.n_labels, self._fitted
        if last is None:
            return True
        if self.model.full_fit is None:  # it failed, or an undo left too few labels
            return n != last.n_labels
        if not last.pairs() <= self.labels.pairs():  # a label that it learned from was corrected
            return True
        return n - last.n_labels >= max(_REFIT_AFTER, int(_REFIT_SHARE * last.n_labels))

    def begin_fit(self) -> RowLabels:
        """The labels for a full fit that begins now."""
        self._fitted = self.labels
        return self.labels

    def adopt(self, outcome: FullFit | str) -> None:
        """Use a full fit, or remember why there is none."""
        if isinstance(outcome, str):
            self.model.failure = outcome
        else:
            self.model.adopt(outcome, self.labels)

    @property
    def _forecast(self) -> ErrorForecast | None:
        return None if self.model.full_fit is None else self.model.full_fit.forecast

    def curve(self) -> tuple[ErrorNow, ...]:
        """The learning curve; empty if there is none yet."""
        if self._forecast is None:
            return ()
        found = zip(self._forecast.labels.tolist(), self._forecast.curve, strict=True)
        return tuple(ErrorNow(n, *map(float, estimate)) for n, estimate in found)

    def promises(self) -> tuple[Promise, ...]:
        """The errors to expect with more labels."""
        if self._forecast is None:
            return ()
        now = self._forecast.now.value
        found = zip(self._forecast.more.tolist(), self._forecast.promised, strict=True)
        return tuple(
            Promise(more, value, lower, upper, _promise_text(more, now, value, self.target.task))
            for more, (value, lower, upper) in found
        )

    def baseline(self) -> float | None:
        """The error without a model."""
        return None if self._forecast is None else self._forecast.baseline

    def model_status(self, busy: bool) -> str:
        """What the model has learned from, or why there is none."""
        if self.candidates.encoder is None:
            return f"no model: {self.candidates.problem}"
        full_fit = self.model.full_fit
        if full_fit is None:
            if self.model.failure is not None:
                return f"no model yet: {self.model.failure}"
            if busy:
                return "learning from the first labels"
            return "no model yet: it needs 10 labels, of at least two values or classes"
        since = self.labels.n_labels - full_fit.n_labels
        status = f"learned from {full_fit.n_labels:,} labels"
        if since:
            status += f", and {since} since then" if since > 0 else f", {-since} of them undone"
        if full_fit.forecast is not None and not self.labels.random.sum() >= LEAST_JUDGED:
            status += "; its error is estimated on imported labels until more rows are drawn at random"
        return f"{status}; a full fit is running" if busy else status


def _promise_text(more: int, now: float, then: float, task: Task) -> str:
    if not then < 0.99 * now:
        return f"{more} more labels would hardly reduce it"
    error = f"{then:.2g}" if task == "regression" else f"{then:.1%}"
    return f"{more} more labels would reduce it to about {error}"
