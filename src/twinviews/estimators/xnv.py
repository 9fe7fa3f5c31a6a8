"""XNV, Algorithm 1: correlated Nystroem views, and an ensemble around them."""

from __future__ import annotations

from functools import partial
from typing import Any

from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, is_classifier
from sklearn.utils.validation import check_is_fitted

from twinviews.ensemble.column_spread import LEAST_LABELS, scaling_by_evidence
from twinviews.ensemble.ensembles import n_unlabeled_rows
from twinviews.estimators import _correlated_methods
from twinviews.estimators._base import SemiSupervisedEstimator
from twinviews.estimators._checks import AUTO, check_landmarks
from twinviews.estimators._classifier import SemiSupervisedClassifier
from twinviews.estimators._correlated_views import MOMENT_RCOND, CorrelatedViews, PairOfViews
from twinviews.estimators._count_regressor import SemiSupervisedCountRegressor
from twinviews.estimators._docstrings import documented
from twinviews.estimators._ensemble import EnsembleFit, Members, check_members, dense, members_asked_for
from twinviews.estimators._inputs import check_given_landmarks
from twinviews.estimators._regressor import SemiSupervisedRegressor
from twinviews.method.views import nystroem_views
from twinviews.passes.first_pass import FirstPass
from twinviews.passes.scaling import SCALES, Scale, Scaling


class XNV(ClassNamePrefixFeaturesOutMixin, TransformerMixin, SemiSupervisedEstimator):
    """Correlated Nystroem views, for regression and classification.

    1. 2M landmarks, drawn from all rows, make two views of M Nystroem features each.
    2. Canonical correlation analysis of the two views, over all rows.
    3. Ridge regression of the labels on view 1 in its canonical basis, where a direction that the views
       agree on with correlation lambda is penalised by eta (1 - lambda) / lambda + ridge.
    4. Beyond the paper, an ensemble: kernel ridge in metrics learned from gradients at unlabeled rows,
       Gaussian processes with a width for each column, linear ridge, and in wide tables the lasso and
       boosted trees join the views, on columns scaled by moments, by quartiles and by ranks. Each
       member is fitted again without each tenth of the labels (each fifth, from 250 labels on); its
       predictions of those labels decide its weight (``members_``). Any scikit-learn estimator may be
       a member too.

    All parameters that are "auto" are chosen together, by the closed-form leave-one-out error on the
    labels. If sigma, ridge or correlation_ridge is a number, there is no step 4 unless ``members`` asks
    for it. The algorithm as printed in the paper, which has no ridge inside CCA, is::

        XNVRegressor(n_components=200, sigma=..., ridge=..., correlation_ridge=0)

    Its errors are larger than those of plain kernel ridge. ``correlation_ridge`` repairs that, and the
    ensemble has the best mean rank of the methods compared in docs/contest.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        M, the features of each view; 2M distinct rows become landmarks. "auto" is the paper's 200, or
        half of the distinct rows if there are fewer than 400.
    scale : {"auto", "standard", "robust", "rank"} or None, default="auto"
        How columns are brought to one scale, from the first pass over all rows: "standard" is mean 0
        and variance 1; "robust" is median 0 and interquartile range 1 (from 8,192 rows), where values
        beyond 3 are compressed smoothly; "rank" maps ranks to a normal distribution. "auto" is
        "standard" with an ensemble or for tables that hold more than numbers, else None; with an
        ensemble the variance is that of the labeled rows where leave-one-out errors are clearly lower
        with it, as they may be if a few unlabeled rows lie far away from all others.
        ``landmarks_`` are then on that scale.
    members : "auto", None or list, default="auto"
        Members of the ensemble beside the correlated views. None means the paper's algorithm alone. A
        list may hold names ("built-in" for all members that the library has, or a name given to
        ``twinviews.extend.register_member``), scikit-learn estimators, and (name, estimator) pairs.
        "auto" means ["built-in"] if sigma, ridge and correlation_ridge are "auto", kernel and landmarks
        are the default and there is an intercept; else None. An ensemble needs 5 labels. Members see
        standardised numeric columns; of sparse rows, the 64 leading directions of a sample of all rows,
        beside a linear member that sees all columns. With more than 1,000 labels, those that have a
        weight with the first 1,000 go on to all, on landmarks, and boosted trees join them. A model
        with estimators of your own cannot be saved with :func:`save_model`, which stores no code.
    committee : bool or "auto", default="auto"
        Older name: True is ``members=["built-in"]``, False is ``members=None``. It cannot be given
        together with a list of members.
    landmarks : array of shape (2 * M, n_features) or None, default=None
        Landmarks of your own; the first half makes view 1. Fits on parts of a table that share them,
        and a number for sigma, can be merged.

    Attributes
    ----------
    landmarks_ : ndarray or sparse matrix of shape (2 * n_components_, n_features_in_)
        The first half makes view 1. Uniform among distinct rows, whatever their order.
    views_
    basis_
    correlations_
    effective_dimension_
    members_ : list of (str, float), or a list of those for several targets
        Name and weight of each member, the largest weight first; empty without an ensemble. ``coef_``
        and the other attributes of the views belong to the member "correlated views".
    committee_ : list
        Older name of ``members_``.
    learned_metric_ : ndarray, or a list of those for several targets
        Weight of each standardised column in the squared distance between two rows; they sum to 1. It
        is the weighted mean over the members that learned a metric. None if no member did.

    References
    ----------
    B. McWilliams, D. Balduzzi, J. M. Buhmann. Correlated random features for fast semi-supervised
    learning. NIPS 2013.
    """

    _scales = (*SCALES, AUTO)

    def __init__(
        self,
        *,
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
        self.n_components = n_components
        self.sigma = sigma
        self.ridge = ridge
        self.correlation_ridge = correlation_ridge
        self.canonical_weight = canonical_weight
        self.kernel = kernel
        self.degree = degree
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.members = members
        self.committee = committee
        self.cca = cca
        self.sketch_ratio = sketch_ratio
        self.landmarks = landmarks
        self.missing_label = missing_label
        self.max_labels = max_labels
        self.n_threads = n_threads
        self.progress = progress
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_members(self.members, self.committee, classes=self._members_are_classifiers)

    def _scale_kind(self) -> str | None:
        if self.scale != AUTO:
            return self.scale
        # A table of words, dates and numbers has no unit in common.
        mixed = self._encoder is not None
        ensemble = self._members_asked_for() and not self._rows_are_sparse
        return "standard" if mixed or ensemble else None

    def _find_scaling(self, first_pass: FirstPass) -> Scale | None:
        scaling = super()._find_scaling(first_pass)
        n_labeled = first_pass.labeled.count
        chosen = self.scale != AUTO or self._members_asked_for() is None or self._rows_are_sparse
        if chosen or not LEAST_LABELS <= n_labeled < first_pass.n_rows:
            return scaling
        assert isinstance(scaling, Scaling), '"auto" is "standard" with an ensemble'
        return scaling_by_evidence(scaling, self._read_problems(first_pass.labeled, self._one_column))

    # --- steps 1 to 3: two views, what they agree on, ridge on the labels ---------------------------

    def _method(self) -> CorrelatedViews:
        return CorrelatedViews(self)

    def _pair_of_views(self, first_pass: FirstPass) -> PairOfViews:
        if self.landmarks is None:
            M = check_landmarks(first_pass.sample, self.n_components, n_views=2)
            landmarks = first_pass.sample.rows[: 2 * M]
        else:
            landmarks = check_given_landmarks(self.landmarks, first_pass.sample.rows.shape[1])
            M = landmarks.shape[0] // 2
        views_of = partial(nystroem_views, self._kernel(), landmarks, rcond=MOMENT_RCOND)
        return PairOfViews(views_of, M, landmarks)

    # --- step 4: an ensemble ------------------------------------------------------------------------

    def _members_asked_for(self) -> Members | None:
        """The members to fit with, as the parameters say before the first pass."""
        numbers = (self.sigma, self.ridge, self.correlation_ridge)
        all_open = all(isinstance(value, str) and value == AUTO for value in numbers)
        plain = isinstance(self.kernel, str) and self.kernel == "gaussian" and self.landmarks is None
        by_itself = all_open and plain and self.fit_intercept
        return members_asked_for(self.members, self.committee, by_itself)

    def _sample_for_ensemble(self, first_pass: FirstPass) -> Any:
        if self._members_asked_for() is None:
            return None
        rows = first_pass.sample.rows
        rows = rows[: n_unlabeled_rows(rows)]
        return sparse.csr_array(rows) if sparse.issparse(rows) else dense(rows)

    def _ensemble_fit(self) -> EnsembleFit | None:
        # Whether "auto" means an ensemble was decided by the fit, which kept rows for it.
        check_members(self.members, self.committee, classes=self._members_are_classifiers)
        sample = self._unlabeled_sample
        members = members_asked_for(self.members, self.committee, by_itself=sample is not None)
        if members is not None and sample is None:
            raise ValueError(
                "This model was fitted without an ensemble and has kept no unlabeled rows for one, so "
                "members cannot join now. Call fit again."
            )
        if members is None or sample is None:
            return None
        return EnsembleFit(
            members,
            sample,
            self._scaling,
            asked_for=self.members != AUTO or self.committee != AUTO,
            n_threads=self.n_threads,
            progress=self.progress,
            seed=self._seed,
        )

    @property
    def members_(self) -> list[Any]:
        """Members of the ensemble and their weights, the largest first; empty without an ensemble."""
        check_is_fitted(self)
        found = [ensemble.by_weight() for ensemble in self._ensembles or ()]
        return found[0] if found and self._one_target else found

    committee_ = members_  # the older name

    @property
    def learned_metric_(self) -> Any:
        """How much each column counts when members that learned a metric compare rows."""
        check_is_fitted(self)
        metrics = [ensemble.metric() for ensemble in self._ensembles or ()]
        if not metrics:
            return None
        return metrics[0] if self._one_target else metrics

    @property
    def _one_target(self) -> bool:
        return self._one_column or is_classifier(self)

    views_ = property(_correlated_methods.views_)
    basis_ = property(_correlated_methods.basis_)
    transform = _correlated_methods.transform
    transform_pair = _correlated_methods.transform_pair
    partial_fit = _correlated_methods.partial_fit
    merge = _correlated_methods.merge


@documented(score=0.92)
class XNVRegressor(SemiSupervisedRegressor, XNV):
    """Correlated Nystroem views, for numbers: Algorithm 1 of the paper, and an ensemble."""


@documented(score=0.61)
class XNVCountRegressor(SemiSupervisedCountRegressor, XNV):
    """Correlated Nystroem views, for counts: Algorithm 1 of the paper, and an ensemble."""


@documented(score=0.97)
class XNVClassifier(SemiSupervisedClassifier, XNV):
    """Correlated Nystroem views, for classes: Algorithm 1 of the paper, and an ensemble.

    The built-in members include a graph that joins each row to its neighbours through anchors, and
    boosted trees. Probabilities are the mixture of the members' probabilities that has the greatest
    likelihood on labels that the members were not fitted to.

    Parameters
    ----------
    class_weight : None, "balanced" or dict, default=None
        What an error on a row of each class costs; classes that a dictionary does not name cost 1.
        ``predict`` chooses the class of least expected cost, by the probabilities, which stay as they
        are. "balanced" makes all classes count the same, however rare they are.
    """

    def __init__(
        self,
        *,
        class_weight: Any = None,
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
        self.class_weight = class_weight
