"""XNV for classes that have an order, such as ratings and grades."""

from __future__ import annotations

from typing import Any

from twinviews.estimators._checks import AUTO
from twinviews.estimators._docstrings import documented
from twinviews.estimators._ordinal_classifier import SemiSupervisedOrdinalClassifier
from twinviews.estimators.xnv import XNV


@documented(score=0.64)
class XNVOrdinalClassifier(SemiSupervisedOrdinalClassifier, XNV):
    """Correlated Nystroem views, for ordered classes: Algorithm 1 of the paper, and an ensemble.

    Parameters
    ----------
    classes : list or None, default=None
        All classes in their order, the lowest first; some may have no label. None takes the order of an
        ordered pandas Categorical, else that of sorted labels: right for numbers, and for words told by
        a warning. The rank of a class is what members are fitted to, so all steps count the same.
    """

    def __init__(
        self,
        *,
        classes: Any = None,
        n_components: Any = AUTO,
        sigma: Any = AUTO,
        ridge: Any = AUTO,
        correlation_ridge: Any = AUTO,
        canonical_weight: Any = 1.0,
        kernel: Any = "gaussian",
        degree: int = 3,
        fit_intercept: bool = True,
        scale: str | None = AUTO,
        members: Any = AUTO,
        committee: Any = AUTO,
        cca: str = "exact",
        sketch_ratio: float = 0.25,
        landmarks: Any = None,
        missing_label: Any = None,
        max_labels: Any = AUTO,
        n_threads: int | None = None,
        progress: bool = True,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_components=n_components,
            sigma=sigma,
            ridge=ridge,
            correlation_ridge=correlation_ridge,
            canonical_weight=canonical_weight,
            kernel=kernel,
            degree=degree,
            fit_intercept=fit_intercept,
            scale=scale,
            members=members,
            committee=committee,
            cca=cca,
            sketch_ratio=sketch_ratio,
            landmarks=landmarks,
            missing_label=missing_label,
            max_labels=max_labels,
            n_threads=n_threads,
            progress=progress,
            random_state=random_state,
        )
        self.classes = classes
