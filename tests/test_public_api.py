import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import twinviews

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", twinviews.__all__)
def test_every_promised_name_is_documented(name):
    found = getattr(twinviews, name)
    doc = inspect.getdoc(found)
    assert ">>> " in doc, "an example that runs in the test suite"
    assert name in (ROOT / "README.md").read_text()
    assert found.__module__.startswith("twinviews.")


ESTIMATORS = [name for name in twinviews.__all__ if name.endswith(("Regressor", "Classifier"))]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_in_the_docstring(name):
    found = getattr(twinviews, name)
    doc = inspect.getdoc(found)
    for parameter in inspect.signature(found).parameters:
        assert f"\n{parameter} : " in doc


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_attribute_in_the_docstring_is_one_of_a_fitted_model(name):
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = getattr(twinviews, name)().fit(X, (X[:, 0] > 0).astype(int))
    _, _, attributes = inspect.getdoc(model).partition("Attributes\n----------\n")
    documented = re.findall(r"^(\w+) : ", attributes.partition("\n\n")[0], flags=re.MULTILINE)
    assert {"coef_", "loo_error_", "n_labeled_", "n_unlabeled_", "sigma_"} <= set(documented)
    assert all(hasattr(model, attribute) for attribute in documented)


@pytest.mark.parametrize("name", [name for name in twinviews.__all__ if name.endswith("Classifier")])
def test_classifiers_take_what_regressors_take(name):
    """With the same defaults; costs of classes, or their order, beside it."""
    regressor = getattr(twinviews, name.replace("Ordinal", "").replace("Classifier", "Regressor"))
    own = dict(inspect.signature(getattr(twinviews, name)).parameters)
    assert name != "XNVClassifier" or own.pop("class_weight").default is None
    assert name != "XNVOrdinalClassifier" or own.pop("classes").default is None
    assert own == dict(inspect.signature(regressor).parameters)


def test_the_demo_prints_its_table():
    demo = [sys.executable, ROOT / "examples" / "few_labels.py", "--quick"]
    output = subprocess.run(demo, capture_output=True, text=True, check=True, timeout=300).stdout
    for method in ("XNV", "XKS", "SSSL", "RFF", "KRR", "LapRLS"):
        assert method in output
