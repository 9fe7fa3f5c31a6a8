"""A warning names the line that a user wrote."""

import inspect
import warnings

import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_validate

from twinviews._system.user_warnings import warn_user


def called_from(packages, function):
    """The function, called through a module of each package; the last of them is the outermost."""
    for package in packages:
        module = {"__name__": f"{package}.somewhere", "function": function}
        exec("def call(*args):\n    return function(*args)", module)
        function = module["call"]
    return function


def this_line():
    return inspect.currentframe().f_back.f_lineno


@pytest.mark.parametrize(
    "packages",
    [
        ["twinviews"],
        ["twinviews"] * 5,
        ["twinviews", "sklearn", "twinviews", "joblib", "sklearn"],
    ],
)
def test_the_depth_of_the_package_does_not_matter(packages):
    deep = called_from(packages, warn_user)
    with pytest.warns(UserWarning, match="fewer rows") as caught:
        deep("fewer rows")
    line = this_line() - 1
    assert [(one.filename, one.lineno) for one in caught] == [(__file__, line)]


class Subclass(BaseEstimator):
    """A user's estimator whose ``fit`` goes on to the package."""

    def fit(self, X, y=None):
        called_from(["twinviews", "sklearn"], warn_user)("from below")
        return self


def test_a_subclass_of_the_user_is_the_users_line():
    first = inspect.getsourcelines(Subclass.fit)[1]
    with pytest.warns(UserWarning, match="from below") as caught:
        called_from(["sklearn"], Subclass().fit)([[1.0]])
    assert [(one.filename, one.lineno) for one in caught] == [(__file__, first + 1)]


def test_a_search_of_scikit_learn_is_passed_over():
    module = {"__name__": "twinviews.somewhere", "BaseEstimator": BaseEstimator, "warn_user": warn_user}
    exec(
        "class OfThePackage(BaseEstimator):\n"
        "    def fit(self, X, y=None):\n"
        "        warn_user('in a search')\n"
        "        return self\n"
        "    def score(self, X, y=None):\n"
        "        return 0.0\n",
        module,
    )
    with pytest.warns(UserWarning, match="in a search") as caught:
        cross_validate(module["OfThePackage"](), [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], cv=3)
    line = this_line() - 1
    assert {(one.filename, one.lineno) for one in caught} == {(__file__, line)}


def test_a_line_warns_once_as_with_the_standard_warnings():
    deep = called_from(["twinviews"], warn_user)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            deep("again and again")
        deep("again and again")
    assert len(caught) == 2


def test_categories_can_be_made_errors():
    deep = called_from(["twinviews"], warn_user)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(RuntimeWarning, match="too few"):
            deep("too few", RuntimeWarning)
