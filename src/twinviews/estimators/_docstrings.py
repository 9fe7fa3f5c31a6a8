"""Docstrings of the estimators: what several have in common is written once, here.

The docstring of an algorithm explains it and describes what is its own, parameters and attributes; a
name alone stands for the text here. Its regressor and its classifier say in a line what they are, and
:func:`documented` completes them.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

Estimator = TypeVar("Estimator", bound=type)

_PARAMETERS = """
sigma : float or "auto", default="auto"
    Width of the kernel; inputs are divided by it. If columns differ in their units, use ``scale``.
    "auto" searches around the median distance between rows.
ridge : float or "auto", default="auto"
    The paper's gamma: penalty on the squared coefficients of the features. The loss is a mean over
    the labeled rows (scikit-learn's ``alpha``, for a sum, is n times as large).
correlation_ridge : float or "auto", default="auto"
    rho, the ridge inside CCA, in units of the kernel: views are whitened with (C + rho I)^(-1/2).
    Without it, directions of tiny variance that both views happen to share go almost unpenalised.
canonical_weight : float or "auto", default=1.0
    eta, a factor on the canonical norm; 1 in the paper.
kernel : str or callable, default="gaussian"
    "gaussian", "laplace", "matern32", "matern52", "linear", "polynomial", "cosine", or a function
    of two arrays of rows (divided by sigma) that returns their kernel matrix.
degree : int, default=3
    Degree of the polynomial kernel; the others ignore it.
fit_intercept : bool, default=True
    Whether to fit a constant that is not penalised (centring features and labels).
scale : {"standard", "robust", "rank"} or None, default=None
    How columns are brought to one scale, from the first pass over all rows: "standard" is mean 0
    and variance 1; "robust" is median 0 and interquartile range 1 (from 8,192 rows), where values
    beyond 3 are compressed smoothly; "rank" maps ranks to a normal distribution.
cca : {"exact", "randomized"}, default="exact"
    "exact" sums the second moments of both views over all rows. "randomized" sums them over a
    sketch of the rows (Avron et al. 2013), as the paper does.
sketch_ratio : float, default=0.25
    Share of the rows that the sketch keeps, for ``cca="randomized"``.
missing_label : object, default=None
    A value in y that marks a row without a label, in addition to None, NaN and pandas.NA.
max_labels : "auto" or int, default="auto"
    How many labeled rows a fit holds at the most. Of more it uses a sample as good as random, which is
    told, and ``n_labels_unused_`` says how many labels were not used. "auto" is a million, and fewer of
    tables of more than 50 numbers a row: 50 million numbers in all.
n_threads : int or None, default=None
    Threads that work on blocks of rows; None means as many as BLAS may use. The model does not
    depend on it.
progress : bool, default=True
    Whether passes of more than two seconds show a bar, if the output is a terminal.
random_state : int, RandomState or None, default=None
    Seed of the choice of landmarks, which depends on the seed and the values of the rows only.
"""

_ATTRIBUTES = """
views_ : tuple of two views
    Functions x -> z(x).
basis_ : CanonicalBasis
    ``B1``, ``B2`` (directions of the two views, one per column) and ``correlations``.
correlations_ : ndarray of shape (k,)
    Canonical correlations, largest first.
effective_dimension_ : float
    Sum of their squares, which bounds the variance in Theorem 1.
"""

_EVERY_ESTIMATOR = """
n_labeled_ : int
    Labeled rows of the last solve.
n_labels_unused_ : int
    Labels beyond those that the last solve held: see ``max_labels``.
n_unlabeled_ : int
    Unlabeled rows of the last fit.
n_left_out_ : int
    Unlabeled rows that ``fit_table(..., without_unlabeled=True)`` has left out.
shift_ : CovariateShift or None
    How the labeled rows differ from all rows: ``p_value``, ``is_shifted``, ``columns``,
    ``unlabeled_levels``, ``share_outside``, ``n_effective`` and ``words()``. None where it is unknown:
    too few rows to compare, more labels than are held, a model that an earlier version saved, or rows
    taken in since.
"""

_REGRESSOR = """
One column of numbers to predict, or several that share one pass over the rows.

Attributes
----------
coef_ : ndarray of shape (k,) or (n_targets, k)
    Coefficients of the k features that labels are regressed on, and their ``intercept_``.
cv_error_ : float or ndarray of shape (n_targets,)
    Cross-validated root mean squared error: over the labeled rows, each predicted by fits that have
    not seen it.
cv_error_interval_ : ndarray of shape (2,) or (n_targets, 2)
    90% confidence interval of that error on rows without a label, provided that labels are a random
    sample; NaN where it is unknown, None in models that an earlier version saved.
cv_r2_ : float or ndarray of shape (n_targets,)
    Cross-validated R2: 1 less the mean squared error over the variance of the labels.
loo_error_ : float or ndarray of shape (n_targets,)
    The square of ``cv_error_``, under its older name.

Examples
--------
>>> import numpy as np
>>> from twinviews import {name}
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(800, 3))
>>> y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=800)
>>> labels = np.where(np.arange(800) < 100, y, np.nan)
>>> model = {name}({seed}).fit(X, labels)
>>> round(model.score(X[100:], y[100:]), 2)
{score}
>>> model.relabel(X[:200], y[:200]).n_labeled_  # more labels, no new pass over the rows
200
"""

_CLASSIFIER = """
Any number of classes, which may be strings, numbers or booleans. Least squares on 1 and -1, one
class against the rest, with one pass over the rows for all.

Attributes
----------
classes_ : ndarray of shape (n_classes,)
coef_ : ndarray of shape (1, k) for two classes, else (n_classes, k)
    Coefficients of the k features that labels are regressed on, and their ``intercept_``.
cv_error_ : float
    Cross-validated error rate: the share of the labeled rows that fits that have not seen them put in
    the wrong class.
cv_error_interval_ : ndarray of shape (2,)
    90% confidence interval of that error on rows without a label, provided that labels are a random
    sample; None in models that an earlier version saved.
cv_auc_ : float
    Cross-validated area under the ROC curve; with several classes the mean of one against the rest.
cv_log_loss_ : float
    Cross-validated mean of minus the logarithm of the probability of the true class.
cv_balanced_error_ : float
    Cross-validated mean over classes of the share of their rows that is put in another class.
cv_recall_ : ndarray of shape (n_classes,)
    Cross-validated share of the rows of each class that is put in it; None in models that an earlier
    version saved.
cv_average_precision_ : float
    Cross-validated average precision of the rarer of two classes; the mean over classes of more.
cv_lift_ : float
    Cross-validated lift: how many times as many rows of the rarer class are in the tenth of the rows
    that is likeliest to be of it as in a random tenth; with more classes the mean over them.
cv_lift_interval_ : ndarray of shape (2,)
    90% confidence interval of the lift; None in models that an earlier version saved.
class_prior_ : ndarray of shape (n_classes,)
    Share of each class in the labels.
class_weight_ : ndarray of shape (n_classes,)
    What probabilities are multiplied by before the class of the largest is predicted: ones without
    ``class_weight``.
threshold_ : float or None
    The probability of the second of two classes from which on it is predicted; None for more.
loo_error_ : float
    The same as ``cv_error_``, under its older name.

Examples
--------
>>> from sklearn.datasets import load_digits
>>> from sklearn.utils import shuffle
>>> from twinviews import {name}
>>> X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
>>> labels = y.astype(object)
>>> labels[200:] = None
>>> model = {name}({seed}).fit(X, labels)
>>> round(model.score(X[200:], y[200:]), 2)
{score}
"""

_COUNTS = """
One column of counts: whole numbers from 0 up, or other amounts that are never below 0. Members are
fitted to the square root of the counts or, where the Poisson deviance is clearly lower with it, to the
counts or to log(1 + y); residuals of held-out labels turn their predictions into mean counts.

Attributes
----------
coef_ : ndarray of shape (k,)
    Coefficients, on that scale, of the k features that labels are regressed on, and their
    ``intercept_``.
count_scale_ : str
    That scale: "identity", "square root" or "logarithm".
cv_error_ : float
    Cross-validated root mean squared error of the predicted means: over the labeled rows, each
    predicted by fits that have not seen it.
cv_error_interval_ : ndarray of shape (2,)
    90% confidence interval of that error on rows without a label, provided that labels are a random
    sample; NaN where it is unknown.
cv_r2_ : float
    Cross-validated R2: 1 less the mean squared error over the variance of the labels.
cv_deviance_ : float
    Cross-validated mean Poisson deviance.
cv_d2_ : float
    Cross-validated D2: 1 less that deviance over the deviance of the mean of the labels.
loo_error_ : float
    The square of ``cv_error_``.

Examples
--------
>>> import numpy as np
>>> from twinviews import {name}
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(800, 3))
>>> y = rng.poisson(np.exp(X[:, 0] + 0.5 * X[:, 1]))
>>> labels = np.where(np.arange(800) < 100, y, np.nan)
>>> model = {name}(members=None, {seed}).fit(X, labels)
>>> round(model.score(X[100:], y[100:]), 2)
{score}
>>> model.predict_interval(X[100:102])
array([[2., 9.],
       [0., 3.]])
"""

_ORDERED_CLASSES = """
Classes that have an order, such as ratings: numbers, or words whose order is given. Least squares on
their ranks, and a cumulative link (proportional odds) model of held-out ranks for the probabilities.

Attributes
----------
classes_ : ndarray of shape (n_classes,)
    In their order.
coef_ : ndarray of shape (1, k)
    Coefficients of the k features that ranks are regressed on, and their ``intercept_``.
cv_error_ : float
    Cross-validated mean absolute error in steps from class to class: over the labeled rows, each
    predicted by fits that have not seen it.
cv_error_interval_ : ndarray of shape (2,)
    90% confidence interval of that error on rows without a label, provided that labels are a random
    sample.
cv_error_rate_ : float
    Cross-validated share of the labeled rows that are put in another class, however near.
cv_log_loss_ : float
    Cross-validated mean of minus the logarithm of the probability of the true class.
loo_error_ : float
    The same as ``cv_error_``.

Examples
--------
>>> import numpy as np
>>> from twinviews import {name}
>>> rng = np.random.default_rng(0)
>>> X = rng.normal(size=(800, 3))
>>> level = X[:, 0] + np.sin(X[:, 1]) + 0.5 * rng.normal(size=800)
>>> y = np.array(["bad", "fair", "good", "excellent"])[np.digitize(level, [-1, 0, 1])]
>>> labels = np.where(np.arange(800) < 100, y, None)
>>> order = ["bad", "fair", "good", "excellent"]
>>> model = {name}(classes=order, members=None, {seed}).fit(X, labels)
>>> round(model.score(X[100:], y[100:]), 2)
{score}
>>> round(model.cv_error_, 2)  # in steps
0.3
"""
_TASKS = {
    "SemiSupervisedRegressor": _REGRESSOR,
    "SemiSupervisedCountRegressor": _COUNTS,
    "SemiSupervisedClassifier": _CLASSIFIER,
    "SemiSupervisedOrdinalClassifier": _ORDERED_CLASSES,
}


def documented(*, score: float) -> Callable[[Estimator], Estimator]:
    """A class decorator that completes the docstring; ``score`` is what the example prints."""

    def complete(cls: Estimator) -> Estimator:
        if cls.__doc__ is not None:  # python -OO leaves none
            cls.__doc__ = _completed(cls, score)
        return cls

    return complete


def _completed(cls: type, score: float) -> str:
    """The docstring of a regressor or classifier, whose second base is the algorithm."""
    parameters = inspect.signature(cls).parameters
    own, algorithm = _sections(cls.__doc__ or ""), _sections(cls.__bases__[1].__doc__ or "")
    of_task = _TASKS[cls.__bases__[0].__name__]
    seed = "random_state=0" if "random_state" in parameters else ""
    task = _sections(of_task.format(name=cls.__name__, seed=seed, score=score))

    described = {
        **_entries(_PARAMETERS),
        **_entries(algorithm["Parameters"]),
        **_entries(own["Parameters"]),
    }
    attributes = {
        **_entries(algorithm["Attributes"]),
        **_entries(task["Attributes"]),
        **_entries(own["Attributes"]),
        **_entries(_EVERY_ESTIMATOR),
    }
    for name in parameters:
        if number := re.match(r'\w+ : (int|float) or "auto"', described[name]):
            used = f"{name}_ : {number[1]}\n    The value used: the one that was given, or chosen."
            attributes[f"{name}_"] = used
    summary, _, more = own["Text"].partition("\n\n")
    _, _, explanation = algorithm["Text"].partition("\n\n")
    text = [summary, explanation, task["Text"], more]
    sections = {
        "Parameters": "\n".join(described[name] for name in parameters),
        "Attributes": "\n".join(attributes.values()),
        "References": algorithm["References"],
        "Examples": task["Examples"],
    }
    text += [f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items() if body]
    return "\n\n".join(filter(None, text)) + "\n"


def _sections(docstring: str) -> defaultdict[str, str]:
    """Title -> text; what stands before the first title is the "Text"."""
    text, *rest = re.split(r"\n\n(\w+)\n-+\n", inspect.cleandoc(docstring))
    return defaultdict(str, {"Text": text, **dict(zip(rest[::2], rest[1::2], strict=True))})


def _entries(section: str) -> dict[str, str]:
    """Name -> description, of a section in numpydoc form; of a name alone, the one that is known."""
    found = {}
    for entry in filter(None, re.split(r"\n(?=\S)", section.strip("\n"))):
        name, typed, _ = entry.partition(" : ")
        found[name] = entry if typed else _entries(_ATTRIBUTES)[name]
    return found
