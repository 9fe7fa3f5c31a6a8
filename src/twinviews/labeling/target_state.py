"""The state of one target: its labels as numbers, the rows to label next, and its model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import numpy as np

from twinviews.active.acquisition import AcquisitionRule
from twinviews.active.label_sampling import RANDOM_SHARE
from twinviews.evaluation.told_error import told_estimate
from twinviews.labeling.answer_now import AllRowsFit, interval_of, more_labels
from twinviews.labeling.candidate_rows import CandidateRows
from twinviews.labeling.entries import Answer, Event, LabelTarget, Origin, Task, plain_label
from twinviews.labeling.label_rounds import Round, Wish, draw_round, probability_of_rows
from twinviews.labeling.live_model import AskedOfAllRows, LiveModel, RowLabels
from twinviews.labeling.page_data import AnswerState, ErrorNow, Promise
from twinviews.labeling.table_copy import TableCopy, table_labels

# The first labels are of rows drawn at random; from then on one row in four is, so that the error can
# always be estimated.
FIRST_AT_RANDOM = 25
ONE_IN = round(1 / RANDOM_SHARE)
# A new full fit is due after so many labels, or this share of the labels of the last one.
_REFIT_AFTER, _REFIT_SHARE = 5, 0.1
# Rows of a design that are drawn at once; the next ones are drawn by a model that knows their labels.
_ROUND = 20
_MOST_SHARES = 8
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
        save_round: Callable[[Round], None],
    ) -> None:
        self._save_round = save_round
        self.wish = Wish()
        self.rounds: tuple[Round, ...] = ()
        self.target, self.table, self.candidates = target, table, candidates
        self.events: Mapping[int, Event] = {}  # the last event of each row
        self.answer_counts: Counter[Answer] = Counter()
        self._rng = np.random.default_rng()  # two tabs should get different rows
        self._encoded: dict[int, np.ndarray] = {}  # labeled rows as numbers
        self._answered: list[int] = []  # rows whose answer has not been cleared
        self._asked = False  # whether the last full fit was asked for an answer about all rows
        self._fitted: RowLabels | None = None  # labels of the last full fit that was begun
        self._table_rows, self._table_values = rows, values = table_labels(table, target)
        # Places of the candidates that have no label in the table.
        self._unlabeled = np.flatnonzero(~np.isin(candidates.rows, rows))
        some = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_MOST_TABLE_LABELS])
        origin = np.full(len(some), "imported", dtype=object)
        self._table_labels = RowLabels(
            rows[some], candidates.encode(table.rows(rows[some])), values[some], origin
        )
        self._rule = rule
        self.model = LiveModel(target.task, candidates.X, rule)
        self.labels = self._table_labels

    # --- labels -------------------------------------------------------------------------------------

    def update(self, events: Mapping[int, Event]) -> None:
        """Learn from the last event of each row; a cleared answer is none."""
        self.events = events
        self._answered = [row for row, event in events.items() if event.entry.answer != "clear"]
        self.answer_counts = Counter(events[row].entry.answer for row in self._answered)
        self.labels = self._labels()
        self.model.learn(self.labels)

    def _labels(self) -> RowLabels:
        # An answer here replaces the label that the table has.
        kept = ~np.isin(self._table_labels.rows, self._answered)
        own = RowLabels(*(part[kept] for part in self._table_labels))
        events = sorted(self.events.values(), key=lambda event: event.number)
        entries = [event.entry for event in events if event.entry.answer == "label"]
        if not entries:
            return own
        rows = [entry.row for entry in entries]
        if new := [row for row in rows if row not in self._encoded]:
            encoded = self.candidates.encode(self.table.rows(new))
            self._encoded.update(zip(new, encoded, strict=True))
        ours = RowLabels(
            np.array(rows),
            np.array([self._encoded[row] for row in rows]),
            np.array([entry.value for entry in entries], dtype=own.y.dtype),
            np.array([entry.origin for entry in entries], dtype=object),
        )
        return RowLabels(*(np.concatenate(pair) for pair in zip(own, ours, strict=True)))

    def answer_to(self, row: int) -> tuple[Answer | None, float | str | None]:
        """The answer in force and its value; without one, the label that the table has."""
        event = self.events.get(row)
        if event is not None and event.entry.answer != "clear":
            return event.entry.answer, event.entry.value
        place = int(np.searchsorted(self._table_rows, row))  # which are increasing
        if place < len(self._table_rows) and self._table_rows[place] == row:
            return "label", plain_label(self._table_values[place])
        return None, None

    def target_with_classes(self) -> LabelTarget:
        """The target with all classes that occur, which the page offers."""
        if self.target.task == "regression":
            return self.target
        classes = dict.fromkeys([*self.target.classes, *self.labels.y])
        return replace(self.target, classes=tuple(classes))

    @property
    def n_labeled(self) -> int:
        """The number of labels: of answers, and of the table where there is no answer."""
        kept = ~np.isin(self._table_rows, self._answered)
        return self.answer_counts["label"] + int(kept.sum())

    # --- rows to label next -------------------------------------------------------------------------

    def next_rows(self, k: int, besides: Collection[int]) -> list[tuple[int, Origin]]:
        """k rows of the table and how they were chosen; fewer if no more are left."""
        if self.wish.on and (fit := self._all_rows_fit) is not None:
            return self._designed_rows(k, besides, fit)
        candidates, taken = self.candidates.rows, [*self._answered, *besides]
        free = self._unlabeled[~np.isin(candidates[self._unlabeled], taken)]
        n_random = self._due_at_random(min(k, len(free)))
        drawn = self._rng.choice(free, n_random, replace=False)
        chosen = np.empty(0, dtype=np.intp)
        others = free[~np.isin(free, drawn)]
        if k > n_random and len(others):
            chosen = self.model.choose(others, min(k - n_random, len(others)), self._rng)
        found: list[tuple[int, Origin]] = [(int(row), "random") for row in candidates[drawn]]
        found += [(int(row), "suggested") for row in candidates[chosen]]
        if len(found) < k:  # all candidates are answered, so any rows of the table
            left = np.setdiff1d(np.arange(self.table.n_rows), self._table_rows)
            left = left[~np.isin(left, [*taken, *(row for row, _ in found)])]
            more = self._rng.choice(left, min(k - len(found), len(left)), replace=False)
            found += [(int(row), "random") for row in more]
        return found

    def _designed_rows(
        self, k: int, besides: Collection[int], fit: AllRowsFit
    ) -> list[tuple[int, Origin]]:
        """Of the last round, and of new ones once all its rows are answered."""
        taken = {*self._answered, *besides, *self._table_rows.tolist()}
        last = self.rounds[-1].drawn if self.rounds else ()
        found = [row for row in last if row not in taken][:k]
        while len(found) < k:
            free = self.candidates.rows[self._unlabeled]
            free = free[~np.isin(free, [*taken, *found])]
            if not len(free):
                break
            self._begin_round(free, fit)
            found += self.rounds[-1].drawn[: k - len(found)]
        return [(int(row), "designed") for row in found]

    def _begin_round(self, free: np.ndarray, fit: AllRowsFit) -> None:
        rows = np.union1d(self.candidates.rows, self.labels.rows)
        share = len(self.candidates.rows) / self.table.n_rows
        drawn = draw_round(
            rows,
            fit.at(rows, self.candidates.rows),
            self.probability_of(rows),
            np.isin(rows, free),
            _ROUND,
            share,
            self._rng,
        )
        self._save_round(drawn)
        self.rounds = (*self.rounds, drawn)

    def probability_of(self, rows: np.ndarray) -> np.ndarray:
        """(rows,) with what probability each has a label by now."""
        how = dict(zip(self.labels.rows.tolist(), self.labels.origin.tolist(), strict=True))
        return probability_of_rows(rows, how, self.table.n_rows, self.rounds)

    @property
    def _all_rows_fit(self) -> AllRowsFit | None:
        """None while rows are still drawn at random, or no fit was asked for an answer."""
        if self._is_beginning or self.model.full_fit is None:
            return None
        return self.model.full_fit.all_rows

    @property
    def _is_beginning(self) -> bool:
        return self.model.full_fit is None or self.labels.n_labels < FIRST_AT_RANDOM

    def _due_at_random(self, k: int) -> int:
        """How many of the next k rows are drawn at random."""
        if self._is_beginning or self._rule.at_random:
            return k
        later = self.labels.origin[FIRST_AT_RANDOM:]
        n_random, n_suggested = (later == "random").sum(), (later == "suggested").sum()
        return min(k, max(0, int((n_random + n_suggested + k) // ONE_IN - n_random)))

    def reason(self, row: int, origin: Origin) -> str:
        """Why the page shows this row."""
        if origin == "random":
            if self._rule.at_random:
                return "drawn at random"
            if self._is_beginning:
                return "drawn at random, as the first rows are"
            return f"drawn at random, as one row in {ONE_IN} is, to estimate the error"
        if origin == "chosen":
            return "chosen by you"
        if origin == "designed":
            return "drawn for the answer about all rows, more often where errors are large"
        place = self.candidates.place_of(row)
        if self.model.full_fit is None or place is None:
            return "suggested"
        uncertainty = self.model.full_fit.uncertainty
        share = min(float(np.mean(uncertainty < uncertainty[place])), 0.99)
        if share < 0.5:
            return "the most useful of some random rows, according to the model"
        return f"the model is less certain about it than about {share:.0%} of the rows"

    # --- the model ----------------------------------------------------------------------------------

    def fit_is_due(self) -> bool:
        """Whether a full fit should be made now."""
        if self.candidates.encoder is None or not self.labels.are_enough:
            return False
        n, last = self.labels.n_labels, self._fitted
        if last is None:
            return True
        full_fit = self.model.full_fit
        if self.wish.on and full_fit is not None and full_fit.all_rows is None and not self._asked:
            return True
        if self.model.full_fit is None:  # it failed, or an undo left too few labels
            return n != last.n_labels
        if not last.pairs() <= self.labels.pairs():  # a label that it learned from was corrected
            return True
        return n - last.n_labels >= max(_REFIT_AFTER, int(_REFIT_SHARE * last.n_labels))

    def begin_fit(self) -> RowLabels:
        """The labels for a full fit that begins now."""
        self._fitted, self._asked = self.labels, self.wish.on
        return self.labels

    def asked_of_all_rows(self) -> AskedOfAllRows | None:
        """What the fit that begins now is to say of all rows; None if nobody wants it."""
        if not (self.wish.on or self.rounds):
            return None
        free = np.flatnonzero(~np.isin(self.candidates.rows, self.labels.rows))
        is_sample = len(self.candidates.rows) < self.table.n_rows
        return AskedOfAllRows(self.target.name, self.probability_of(self.labels.rows), free, is_sample)

    def all_rows(self) -> AnswerState:
        """The answer about all rows, as far as there is one."""
        if not self.wish.on:
            return AnswerState(False, self.wish.half_width, (), "")
        fit = None if self.model.full_fit is None else self.model.full_fit.all_rows
        if fit is None or self._is_beginning:
            n = max(FIRST_AT_RANDOM - self.labels.n_labels, 0)
            words = f"{n} more labels of random rows come first." if n else "An answer is being made."
            return AnswerState(True, self.wish.half_width, (), words)
        intervals = tuple(map(interval_of, fit.told[:_MOST_SHARES]))
        return AnswerState(
            True, self.wish.half_width, intervals, fit.problem or self._more_in_words(fit)
        )

    def _more_in_words(self, fit: AllRowsFit) -> str:
        half_width = self.wish.half_width
        if half_width is None or not fit.told:
            return ""
        free = self.candidates.rows[~np.isin(self.candidates.rows, self.labels.rows)]
        size = fit.at(free, self.candidates.rows)
        more = more_labels(fit.told, size, self.probability_of(free), half_width)
        if more is None:
            return ""
        is_share = self.target.task == "classification"
        wanted = f"±{100 * half_width:g}%" if is_share else f"±{half_width:g}"
        if more == 0:
            return f"The interval is as narrow as {wanted}."
        if more >= len(free):
            return f"{wanted} needs a label for nearly every row."
        return f"About {more:,} more labels for {wanted}."

    def error(self) -> tuple[float | None, tuple[ErrorNow, ...], tuple[Promise, ...]]:
        """The error without a model, the learning curve, and the errors to expect with more labels."""
        found = None if self.model.full_fit is None else self.model.full_fit.forecast
        if found is None:
            return None, (), ()
        now, task = found.now.value, self.target.task
        curve = tuple(
            ErrorNow(
                n,
                float(error.value),
                float(error.lower),
                float(error.upper),
                told_estimate(error, n, is_rate=task == "classification").words(),
            )
            for n, error in zip(found.labels.tolist(), found.curve, strict=True)
        )
        promises = tuple(
            Promise(more, *error, _promise_text(more, now, error.value, task))
            for more, error in zip(found.more.tolist(), found.promised, strict=True)
        )
        return found.baseline, curve, promises

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
        if full_fit.forecast is not None:
            status += self._judged_in_words()
        return f"{status}; a full fit is running" if busy else status

    def _judged_in_words(self) -> str:
        """On which labels the error is estimated, if not on all alike."""
        n_sampled, n = int(self.labels.sampled.sum()), self.labels.n_labels
        if n_sampled == n:
            return ""
        return (
            f"; in its error {n - n_sampled:,} suggested or chosen rows stand for themselves, and "
            f"{n_sampled:,} random ones for all others"
        )


def _promise_text(more: int, now: float, then: float, task: Task) -> str:
    if not then < 0.99 * now:
        return f"{more} more labels would hardly reduce it"
    error = f"{then:.2g}" if task == "regression" else f"{then:.1%}"
    return f"{more} more labels would reduce it to about {error}"
