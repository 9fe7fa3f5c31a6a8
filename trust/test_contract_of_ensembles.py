"""scikit-learn's contract, all of its checks, for the estimators with their ensembles."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from counts import FULL
from twinviews import XNVClassifier, XNVRegressor

# Those that fit again and again; without an ensemble they run in tests/estimators/test_contract.py.
_IN_MAKE_TEST = (
    "check_fit_idempotent",
    "check_fit_check_is_fitted",
    "check_methods_sample_order_invariance",
    "check_estimators_nan_inf",
    "check_estimator_tags_renamed",
)


def checks():
    for estimator in (XNVRegressor(), XNVClassifier()):
        for model, check in estimator_checks_generator(estimator):
            name = getattr(check, "func", check).__name__
            if FULL or name in _IN_MAKE_TEST:
                yield pytest.param(model, check, id=f"{type(estimator).__name__}-{name}")


# Some checks pass labels as a column or leave a fit without a warning filter of their own.
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_check(estimator, check):
    """scikit-learn's own checks hold for the estimators with their ensembles."""
    check(estimator)
