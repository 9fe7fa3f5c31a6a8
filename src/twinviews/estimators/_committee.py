"""XNV on a committee: methods that differ join the views, each weighed by labels it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from twinviews._system.threads import one_blas_thread
from twinviews.ensemble.correlated_views import ViewRidge
from twinviews.ensemble.ensembles import (
    GUIDE_ROWS,
    LEAST_LABELS,
    MOST_LABELS,
    ClassCommittee,
    Committee,
    NumberCommittee,
    class_committee,
    number_committee,
)
from twinviews.ensemble.member import Labeled
from twinviews.estimators._checks import AUTO, check_flag
from twinviews.estimators._correlated import CorrelatedViews
from twinviews.method.intervals import LeftOut
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.passes.first_pass import FirstPass
from twinviews.passes.scaling import Scaling
from twinviews.tables import Table


class WithCommittee(CorrelatedViews):
    """Step 4, beyond the paper: others are asked too, and heard by how right they were."""

    committee: Any
    kernel: Any
    landmarks: Any
    _committees: Sequence[NumberCommittee | ClassCommittee] | None
    committee_: list[Any]
    _guides: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.committee, str) or self.committee != AUTO:
            check_flag("committee", self.committee)

    def _wants_committee(self) -> bool:
        if self.committee != AUTO:
            return bool(self.committee)
        given = (self.sigma, self.ridge, self.correlation_ridge)
        all_open = all(isinstance(value, str) and value == AUTO for value in given)
        plain = isinstance(self.kernel, str) and self.kernel == "gaussian" and self.landmarks is None
        return all_open and plain and self.fit_intercept and not self._rows_are_sparse

    def _scale_kind(self) -> str | None:
        if self.scale != AUTO:
            return self.scale
        # A table of words, dates and numbers has no unit in common.
        mixed = self._encoder is not None
        return "standard" if mixed or self._wants_committee() else None

    def _learn(self, table: Table, first_pass: FirstPass, problems: Sequence[LabeledProblem]) -> None:
        super()._learn(table, first_pass, problems)
        rows = first_pass.sample.rows[:GUIDE_ROWS]
        if self.committee is True and sparse.issparse(rows):
            raise ValueError(
                'committee=True needs rows that are not sparse. Use committee="auto" or X.toarray().'
            )
        self._guides = np.asarray(rows, dtype=np.float64) if self._wants_committee() else None

    def _solve(self, n_labeled: int, problems: Sequence[LabeledProblem]) -> Self:
        super()._solve(n_labeled, problems)
        self._seat(None)
        if self._guides is None or min(len(problem.Y) for problem in problems) < LEAST_LABELS:
            return self
        few = [problem.first(MOST_LABELS) for problem in problems]
        with one_blas_thread(look=False) as allowed:
            n_threads = self.n_threads or allowed
            if is_classifier(self):
                self._seat_classes(few[0], problems[0], n_threads)
            else:
                self._seat_numbers(few, problems, n_threads)
        return self

    def _seat_classes(self, few: LabeledProblem, problem: LabeledProblem, n_threads: int) -> None:
        own = self._own_recipe(problem, np.arange(problem.Y.shape[1]))
        labeled = Labeled(_dense(few.X), few.Y, few.weight)
        committee = class_committee(labeled, self._guides, self._units(), own, n_threads, self._seed)
        self._seat([committee])
        self._judge([few], [committee.held_out])
        self._scale = 1.0  # the committee's log-odds are calibrated already

    def _seat_numbers(
        self, few: Sequence[LabeledProblem], problems: Sequence[LabeledProblem], n_threads: int
    ) -> None:
        committees: dict[int, NumberCommittee] = {}
        for some, problem in zip(few, problems, strict=True):
            for place, target in enumerate(problem.targets):
                labeled = Labeled(_dense(some.X), some.Y[:, [place]], some.weight)
                own = self._own_recipe(problem, np.array([place]))
                committees[int(target)] = number_committee(
                    labeled, self._guides, self._units(), own, n_threads
                )
        self._seat([committees[target] for target in sorted(committees)])
        held_out = [
            np.hstack([committees[int(target)].held_out for target in some.targets]) for some in few
        ]
        self._judge(few, held_out)

    @property
    def learned_metric_(self) -> Any:
        """How much each column counts when members that learned a metric compare rows."""
        check_is_fitted(self)
        metrics = [committee.metric() for committee in self._committees or ()]
        if not metrics:
            return None
        return metrics[0] if self._one_column or is_classifier(self) else metrics

    def _seat(self, committees: Sequence[NumberCommittee | ClassCommittee] | None) -> None:
        self._committees = committees
        rosters = [_by_weight(committee) for committee in committees or ()]
        one = self._one_column or is_classifier(self)
        self.committee_ = rosters[0] if rosters and one else rosters

    def _units(self) -> np.ndarray | None:
        """(D,) what columns were divided by, where that is all that was done to them."""
        scaling = self._scaling
        return scaling.spread if isinstance(scaling, Scaling) and scaling.clip is None else None

    def _own_recipe(self, problem: LabeledProblem, places: np.ndarray) -> ViewRidge:
        beyond = None
        if len(problem.Y) > MOST_LABELS:
            weight = problem.weight[MOST_LABELS:]
            rows = problem.distinct[problem.place[MOST_LABELS:]]
            beyond = Labeled(rows, problem.Y[MOST_LABELS:][:, places], weight / weight.sum())
        return ViewRidge(self._features, self._penalty, self.fit_intercept, beyond)

    def _decision(self, X: Any) -> np.ndarray:
        if self._committees is None:
            return super()._decision(X)
        X = _dense(X)
        return np.hstack([self._by_blocks(committee, X) for committee in self._committees])

    def _uncertainty(self, X: Any) -> np.ndarray:
        """How far committees that lack a fold of the labels are apart, over the targets."""
        if self._committees is None:
            return super()._uncertainty(X)
        total = np.zeros(X.shape[0])
        for target in range(len(self._committees)):
            left_out = self._left_out_fits(target)
            noise = left_out.weight @ np.square(left_out.residual)
            spread = self._by_blocks(left_out.predict, _dense(X)).var(axis=1)
            total += spread / noise if noise > 0 else spread
        return total

    def _left_out_fits(self, target: int) -> LeftOut:
        if self._committees is None:
            return super()._left_out_fits(target)
        committee = self._committees[target]
        assert isinstance(committee, NumberCommittee), "regressors have no others"
        problem, place = self._problem_of(target)
        some = problem.first(MOST_LABELS)
        residual = some.Y[:, place] - committee.held_out[:, 0]
        return LeftOut(committee.without_folds, committee.fold_of, residual, some.weight)


def _by_weight(committee: Committee) -> list[tuple[str, float]]:
    """Who counts how much, the most first."""
    members = sorted(committee.members, key=lambda member: -member.weight)
    return [(f"{member.name}, {member.scale}", round(member.weight, 3)) for member in members]


def _dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
