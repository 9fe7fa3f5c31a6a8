"""Step 4, beyond the paper: other methods join the correlated views, weighted by held-out error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from twinviews._system.threads import one_blas_thread
from twinviews._system.user_warnings import warn_user
from twinviews.ensemble.builtin_members import BUILT_IN, member_factory
from twinviews.ensemble.correlated_views import ViewRidge
from twinviews.ensemble.ensembles import (
    LEAST_LABELS,
    MOST_ROUNDS,
    ClassificationEnsemble,
    RegressionEnsemble,
    classification_ensemble,
    regression_ensemble,
)
from twinviews.ensemble.estimator_member import EstimatorMember
from twinviews.ensemble.member import Labeled, MemberContext, MemberSpec, Recipe
from twinviews.ensemble.scales import STANDARD, scales_of
from twinviews.estimators._checks import AUTO
from twinviews.estimators._method import Solution
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.passes.scaling import Scale, Scaling

Members = list[Any]  # of names, estimators, (name, estimator) pairs and recipes


def check_members(members: Any, committee: Any, *, classes: bool) -> None:
    """Both parameters as they may be: ``committee`` is the older name, for the built-in members."""
    if not isinstance(committee, str) and not isinstance(committee, (bool, np.bool_)):
        raise ValueError(f'committee={committee!r} must be True, False or "auto".')
    if isinstance(committee, str) and committee != AUTO:
        raise ValueError(f'committee={committee!r} must be True, False or "auto".')
    if members is None and committee is True:
        raise ValueError(
            "members=None asks for the correlated views alone, and committee=True for an ensemble. "
            "Leave committee out: it is the older name."
        )
    if members is None or (isinstance(members, str) and members == AUTO):
        return
    if isinstance(members, str) or not isinstance(members, Sequence):
        raise ValueError(
            f'members={members!r} must be "auto", None or a list, such as ["built-in", estimator].'
        )
    if committee is not AUTO and committee != AUTO:
        raise ValueError(
            f"committee={committee!r} does not go with a list of members. Leave committee out: it is "
            f'the older name for members=None (False) and members=["built-in"] (True).'
        )
    for member in members:
        _check_member(member, classes=classes)


def _check_member(member: Any, *, classes: bool) -> None:
    if isinstance(member, str):
        member_factory(member)
        return
    name, found = _named(member)
    fits = hasattr(found, "fit") and (hasattr(found, "predict") or hasattr(found, "names"))
    if not isinstance(name, str) or not fits:
        raise ValueError(
            f"members has {member!r:.80}, which is not a name, an estimator with fit and predict, a "
            f"pair of both, or a recipe with names and fit."
        )
    if isinstance(found, type):
        raise ValueError(
            f"members has the class {found.__name__}. Give an estimator: {found.__name__}()."
        )
    if isinstance(found, BaseEstimator) and (is_regressor if classes else is_classifier)(found):
        wanted = "classifier" if classes else "regressor"
        raise ValueError(
            f"members has {name}, which is no {wanted}, and this model is one. Give a {wanted}."
        )


def _named(member: Any) -> tuple[Any, Any]:
    if isinstance(member, tuple) and len(member) == 2:
        return member
    return type(member).__name__, member


def members_asked_for(members: Any, committee: Any, by_itself: bool) -> Members | None:
    """The members that are to join, None for the views alone; ``by_itself``: what "auto" means."""
    if not isinstance(committee, str):
        return [BUILT_IN] if committee else None
    if isinstance(members, str):
        return [BUILT_IN] if by_itself else None
    return list(members) if members else None


def specs_of(members: Members, own: Recipe, context: MemberContext) -> list[MemberSpec]:
    """What is to be fitted: the correlated views first, then the members in their order."""
    specs = [MemberSpec(STANDARD, own)]
    for member in members:
        if isinstance(member, str):
            specs += member_factory(member)(context)
            continue
        name, found = _named(member)
        if isinstance(found, BaseEstimator) or hasattr(found, "predict"):
            found = EstimatorMember(name, found, context.n_classes, context.seed)
        specs.append(MemberSpec(STANDARD, found, in_threads=False, given=True))
    for scale, recipe, *_ in specs:
        if scale not in context.scales:
            raise ValueError(
                f"The member {recipe.names[0]!r} wants rows on the scale {scale!r}, and here there are "
                f"{', '.join(context.scales)}. Use {STANDARD!r}, or look at context.scales first."
            )
    return specs


class EnsembleFit:
    """How ensembles are fitted: members, unlabeled rows and the options of the estimator."""

    def __init__(
        self,
        members: Members,
        unlabeled: Any,
        scaling: Scale | None,
        *,
        asked_for: bool,
        n_threads: int | None,
        progress: bool,
        seed: int,
    ) -> None:
        self.members, self.unlabeled, self.asked_for = members, unlabeled, asked_for
        # What columns were divided by, where that is all that was done to them.
        plain = isinstance(scaling, Scaling) and scaling.clip is None
        self.units = scaling.spread if plain and isinstance(scaling, Scaling) else None
        self.n_threads, self.progress, self.seed = n_threads, progress, seed

    def classification(self, solution: Solution) -> list[ClassificationEnsemble] | None:
        """One ensemble for all classes; None if labels are too few."""
        if self._labels_are_too_few(solution):
            return None
        (problem,) = solution.problems
        context = self._context(max(problem.Y.shape[1], 2), len(problem.Y))
        own = ViewRidge(solution.view, solution.penalty, solution.fit_intercept)
        labeled = Labeled(self._rows(problem), problem.Y, problem.weight, cluster=problem.cluster)
        specs = specs_of(self.members, own, context)
        with one_blas_thread(look=False) as allowed:
            threads = self.n_threads or allowed
            return [
                classification_ensemble(
                    labeled, problem.choosing, specs, context, threads, progress=self.progress
                )
            ]

    def regression(
        self, solution: Solution, *, most_rounds: int = MOST_ROUNDS
    ) -> list[RegressionEnsemble] | None:
        """An ensemble for each target; None if labels of one are too few.

        ``most_rounds=0`` for labels that are never slips: ranks have ends, and counts have long tails.
        """
        if self._labels_are_too_few(solution):
            return None
        found: dict[int, RegressionEnsemble] = {}
        with one_blas_thread(look=False) as allowed:
            threads = self.n_threads or allowed
            for problem in solution.problems:
                context = self._context(0, len(problem.Y))
                for place, target in enumerate(problem.targets):
                    labeled = Labeled(
                        self._rows(problem),
                        problem.Y[:, [place]],
                        problem.weight,
                        cluster=problem.cluster,
                    )
                    own = ViewRidge(solution.view, solution.penalty, solution.fit_intercept)
                    specs = specs_of(self.members, own, context)
                    found[int(target)] = regression_ensemble(
                        labeled,
                        problem.choosing,
                        specs,
                        context,
                        threads,
                        progress=self.progress,
                        most_rounds=most_rounds,
                    )
        return [found[target] for target in sorted(found)]

    def _labels_are_too_few(self, solution: Solution) -> bool:
        """Whether there is nothing to weigh members by; told to whoever has asked for them."""
        n = min(problem.n_independent for problem in solution.problems)
        if n < LEAST_LABELS and self.asked_for:
            warn_user(
                f"{n} labeled rows that differ are too few to weigh members by: predictions are those "
                f"of the correlated views alone. Label at least {LEAST_LABELS}, or use members=None."
            )
        return n < LEAST_LABELS

    def _rows(self, problem: LabeledProblem) -> Any:
        """(m, D) sparse where the unlabeled rows are."""
        return sparse.csr_array(problem.X) if sparse.issparse(self.unlabeled) else dense(problem.X)

    def _context(self, n_classes: int, n_labels: int) -> MemberContext:
        scales = scales_of(self.unlabeled, self.units, classes=n_classes > 0)
        D = self.unlabeled.shape[1]
        return MemberContext(D, n_classes, scales, self.unlabeled, self.seed, n_labels)


def labels_of(
    ensemble: RegressionEnsemble | ClassificationEnsemble, problem: LabeledProblem
) -> LabeledProblem:
    """The labels that an ensemble was judged by: all, or the first 1,000 in older files."""
    return problem.first(len(ensemble.held_out))


def dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
