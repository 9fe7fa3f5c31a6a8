"""Cross-validation for tables with unlabeled rows: every one of them trains, none is scored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold
from sklearn.utils import check_random_state

from twinviews.passes.targets import as_array, missing_labels


class LabeledKFold(BaseCrossValidator):
    """K folds over the labeled rows; every unlabeled row is in every training set.

    With it GridSearchCV, cross_val_score and learning_curve work on a table with unlabeled rows. A
    plain KFold would score on rows that have no label.

    Parameters
    ----------
    n_splits : int, default=5
    shuffle : bool, default=True
    missing_label : object, optional
        A value that marks a row without a label, beside None, NaN and pandas.NA.
    random_state : int, RandomState or None

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from twinviews import LabeledKFold, XNVRegressor
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> y = np.full(1000, np.nan)
    >>> y[:60] = np.sin(X[:60, 0]) + X[:60, 1]
    >>> scores = cross_val_score(XNVRegressor(random_state=0), X, y, cv=LabeledKFold(random_state=0))
    >>> bool(scores.mean() > 0.9)
    True
    """

    _splitter: type[KFold | StratifiedKFold] = KFold

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        missing_label: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.missing_label = missing_label
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds; the arguments are there for compatibility."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (train, test) row numbers: test rows are labeled, the unlabeled all train.

        Training rows come in random order, so that ``learning_curve``, which takes the first of them,
        takes labeled and unlabeled rows in their proportion.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Labels; None, NaN, pandas.NA or ``missing_label`` mark a row without one. A row with a label
            for some targets counts as labeled.
        groups : ignored
        """
        if y is None:
            raise ValueError("y is needed to tell labeled rows from unlabeled ones, but it is None.")
        y = as_array(y)
        missing = missing_labels(y, self.missing_label)
        if y.ndim == 2:
            missing = np.logical_and.reduce(missing, axis=1)
        labeled, unlabeled = np.flatnonzero(~missing), np.flatnonzero(missing)
        if len(labeled) < self.n_splits:
            raise ValueError(
                f"n_splits={self.n_splits} needs that many labeled rows, but y has {len(labeled)}. Use "
                f"fewer splits or label more rows."
            )
        seed = self.random_state if self.shuffle else None
        folds = self._splitter(self.n_splits, shuffle=self.shuffle, random_state=seed)
        order = check_random_state(self.random_state if self.shuffle else 0)
        strata = None
        if self._splitter is StratifiedKFold:
            strata = np.unique(np.array(y[labeled].tolist()), return_inverse=True)[1]
        for train, test in folds.split(labeled, strata):
            rows = np.concatenate([labeled[train], unlabeled])
            yield order.permutation(rows), labeled[test]


class LabeledStratifiedKFold(LabeledKFold):
    """Like :class:`LabeledKFold`, with the classes in equal shares in every fold; the same parameters.

    Examples
    --------
    >>> from twinviews import LabeledStratifiedKFold
    >>> y = ["a", None, "a", "b", None, "b"]
    >>> for train, test in LabeledStratifiedKFold(n_splits=2, shuffle=False).split(y, y):
    ...     print(sorted(train.tolist()), test)
    [1, 2, 4, 5] [0 3]
    [0, 1, 3, 4] [2 5]
    """

    _splitter = StratifiedKFold
