"""One target at the desk: its labels as numbers, who is asked next, and how the model is doing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from twinviews.active.learning_curve import LEAST_JUDGED
from twinviews.labeling.entries import Event, Origin, Target, Task, plain_label
from twinviews.labeling.learner import Learner
from twinviews.labeling.pool import Pool
from twinviews.labeling.sample import Sample
from twinviews.labeling.shown import ErrorNow, Promise
from twinviews.labeling.study import Labels, Study, is_enough
from twinviews.labeling.transfer import own_labels

# Until there are so many labels, rows are drawn at random; from then on one in so many is, so that
# there are always rows that the error can be judged by.
FIRST_AT_RANDOM = 25
ONE_IN = 5
# A new study is due after so many labels, or this share of those that the last one had.
_STUDY_AFTER, _STUDY_SHARE = 5, 0.1
# Labels of the table itself that the live model learns from.
_MOST_OWN = 2000


class Sheet:
    def __init__(self, target: Target, pool: Pool, sample: Sample, seed: int) -> None:
        self.target, self.sample = target, sample
        self._pool = pool
        self._rng = np.random.default_rng()  # two tabs should be asked different rows
        self._numbers: dict[int, np.ndarray] = {}
        self._answers: Mapping[int, Event] = {}
        self._studied: Labels | None = None  # of the last study that was begun
        self._own_rows, self._own_values = rows, values = own_labels(pool, target)  # rows increasing
        self._has_own = np.isin(sample.places, rows)
        some = np.sort(np.random.default_rng(seed).permutation(len(rows))[:_MOST_OWN])
        self._own = Labels(
            rows[some], sample.numbers(pool.rows(rows[some])), values[some], _origins(len(some))
        )
        self.learner = Learner(target.task, sample.X)
        self.labels = self._own
        self._free = self._not_answered()

    # --- labels -------------------------------------------------------------------------------------

    def take(self, answers: Mapping[int, Event]) -> None:
        """What was said of each row by now; what was taken back has not been said."""
        self._answers = {row: event for row, event in answers.items() if event.entry.answer != "clear"}
        self.labels = self._labels()
        self._free = self._not_answered()
        self.learner.learn(self.labels)

    def _labels(self) -> Labels:
        events = sorted(
            (event for event in self._answers.values() if event.entry.answer == "label"),
            key=lambda event: event.number,
        )
        new = [event.entry.row for event in events if event.entry.row not in self._numbers]
        if new:
            found = self.sample.numbers(self._pool.rows(new))
            self._numbers.update(zip(new, found, strict=True))
        # What is said here of a row that had a label in the table counts instead of that.
        kept = np.array([row not in self._answers for row in self._own.rows.tolist()], dtype=bool)
        own = Labels(*(part[kept] for part in self._own)) if len(kept) else self._own
        if not events:
            return own
        rows = np.array([event.entry.row for event in events])
        X = np.array([self._numbers[row] for row in rows.tolist()])
        y = np.array([event.entry.value for event in events], dtype=own.y.dtype)
        origin = np.array([event.entry.origin for event in events], dtype=object)
        return Labels(
            *(np.concatenate(pair) for pair in zip(own, Labels(rows, X, y, origin), strict=True))
        )

    def label_of(self, row: int) -> float | str | None:
        """What the table itself has."""
        place = int(np.searchsorted(self._own_rows, row))
        found = place < len(self._own_rows) and self._own_rows[place] == row
        return plain_label(self._own_values[place]) if found else None

    def shown_target(self) -> Target:
        """With the classes that were typed so far, which are offered like the others."""
        if self.target.task == "regression":
            return self.target
        return replace(
            self.target, classes=tuple(dict.fromkeys([*self.target.classes, *self.labels.y]))
        )

    @property
    def n_labeled(self) -> int:
        """Here, and in the table where nothing was said here."""
        said = sum(event.entry.answer == "label" for event in self._answers.values())
        return said + len(self._own_rows) - sum(self.label_of(row) is not None for row in self._answers)

    # --- who is asked next --------------------------------------------------------------------------

    def _not_answered(self) -> np.ndarray:
        """Places in the sample."""
        return np.flatnonzero(~(np.isin(self.sample.places, list(self._answers)) | self._has_own))

    def next_rows(self, k: int, besides: Collection[int]) -> list[tuple[int, Origin]]:
        """Rows of the table, the most useful first; fewer than k if no more are left."""
        free = self._free
        if besides:
            free = free[~np.isin(self.sample.places[free], list(besides))]
        n_random = self._due_at_random(min(k, len(free)))
        drawn = self._rng.choice(free, n_random, replace=False)
        found: list[tuple[int, Origin]] = [(int(self.sample.places[one]), "random") for one in drawn]
        others = free[~np.isin(free, drawn)]
        if k > n_random and len(others):
            chosen = self.learner.choose(others, min(k - n_random, len(others)), self._rng)
            found += [(int(self.sample.places[place]), "suggested") for place in chosen]
        if len(found) < k:
            found += self._beyond_the_sample(k - len(found), {*besides, *(row for row, _ in found)})
        return found

    def _due_at_random(self, k: int) -> int:
        """How many of the next k rows are drawn at random."""
        if self.learner.study is None or self.labels.n_labels < FIRST_AT_RANDOM:
            return k
        asked = np.isin(self.labels.origin, ("random", "suggested"))
        later = self.labels.random[FIRST_AT_RANDOM:][asked[FIRST_AT_RANDOM:]]
        return min(k, max(0, (len(later) + k) // ONE_IN - int(later.sum())))

    def _beyond_the_sample(self, k: int, besides: Collection[int]) -> list[tuple[int, Origin]]:
        """The sample is used up: any other rows."""
        n = self._pool.n_rows
        free = np.ones(n, dtype=bool)
        free[self._own_rows] = False
        free[list(self._answers)] = False
        free[[row for row in besides if 0 <= row < n]] = False
        left = np.flatnonzero(free)
        return [
            (int(row), "random") for row in self._rng.choice(left, min(k, len(left)), replace=False)
        ]

    def reason(self, row: int, origin: Origin) -> str:
        """Why this row, in words."""
        if origin == "random":
            if self.learner.study is None or self.labels.n_labels < FIRST_AT_RANDOM:
                return "drawn at random, as the first rows are"
            return f"drawn at random, as one row in {ONE_IN} is, to judge the model by"
        if origin == "chosen":
            return "chosen by you"
        place = self.sample.place_of(row)
        if self.learner.study is None or place is None:
            return "suggested"
        surer = self.learner.share_surer(place)
        if surer < 0.5:
            return "of a handful of rows drawn at random, the one most worth a label"
        return f"the model is less sure of it than of {surer:.0%} of the rows"

    # --- how the model is doing ---------------------------------------------------------------------

    def study_is_due(self) -> bool:
        if self.sample.encoder is None or not is_enough(self.labels):
            return False
        n, last = self.labels.n_labels, self._studied
        if last is None:
            return True
        if self.learner.study is None:  # it failed, or was forgotten
            return n != last.n_labels
        if not last.pairs() <= self.labels.pairs():  # a slip that it learned from has been corrected
            return True
        return n - last.n_labels >= max(_STUDY_AFTER, int(_STUDY_SHARE * last.n_labels))

    def begin_study(self) -> Labels:
        """What to learn from."""
        self._studied = self.labels
        return self.labels

    def adopt(self, study: Study | str) -> None:
        if isinstance(study, str):
            self.learner.failure = study
        else:
            self.learner.adopt(study, self.labels)

    def curve(self) -> tuple[ErrorNow, ...]:
        study = self.learner.study
        if study is None or study.forecast is None:
            return ()
        found = zip(study.forecast.labels.tolist(), study.forecast.curve, strict=True)
        return tuple(ErrorNow(n, *map(float, estimate)) for n, estimate in found)

    def promises(self) -> tuple[Promise, ...]:
        study = self.learner.study
        if study is None or study.forecast is None:
            return ()
        now = study.forecast.now.value
        found = zip(study.forecast.more.tolist(), study.forecast.promised, strict=True)
        return tuple(
            Promise(more, value, lower, upper, _promise_in_words(more, now, value, self.target.task))
            for more, (value, lower, upper) in found
        )

    def baseline(self) -> float | None:
        study = self.learner.study
        return None if study is None or study.forecast is None else study.forecast.baseline

    def words(self, busy: bool) -> str:
        """What the model is doing."""
        if self.sample.encoder is None:
            return f"no model: {self.sample.problem}"
        study = self.learner.study
        if study is None:
            if self.learner.failure is not None:
                return f"no model yet: {self.learner.failure}"
            if busy:
                return "learning from the first labels"
            return "learns from 10 labels on, of two values or classes at least"
        since = self.labels.n_labels - study.n_labels
        learned = f"learned from {study.n_labels:,} labels"
        if since:
            learned += f", and {since} since then" if since > 0 else f", {-since} of them taken back"
        if study.forecast is not None and not self.labels.random.sum() >= LEAST_JUDGED:
            learned += (
                "; judged by labels from elsewhere until there are enough of rows drawn at random"
            )
        return f"{learned}; a closer look is being taken" if busy else learned


def _origins(count: int) -> np.ndarray:
    """Of labels that the table has itself."""
    return np.full(count, "imported", dtype=object)


def _promise_in_words(more: int, now: float, then: float, task: Task) -> str:
    if not then < 0.99 * now:
        return f"{more} more labels would hardly lower it"
    error = f"{then:.2g}" if task == "regression" else f"{then:.1%}"
    return f"{more} more labels would bring it to about {error}"
