"""ONNX graphs say what the models say, to 1e-5, in a runtime that knows nothing of them."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from conftest import CLASSIFIERS, REGRESSORS, make
from twinviews import KRRRegressor, XNVClassifier, XNVRegressor, export_onnx


def rows(N=60, D=3, seed=0):
    return np.random.default_rng(seed).normal(size=(N, D))


def numbers(X, n=30):
    return np.where(np.arange(len(X)) < n, np.sin(X[:, 0]) + 0.3 * X[:, 1], np.nan)


def classes(X, names, n=30):
    labels = np.array(names, dtype=object)[np.digitize(X[:, 0], [-0.4, 0.4][: len(names) - 1])]
    labels[n:] = None
    return labels


def answers(model, X, folder):
    """What onnxruntime makes of the exported model."""
    export_onnx(model, folder / "model.onnx")
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def assert_same_numbers(model, X, folder):
    (predicted,) = answers(model, X, folder).values()
    assert_allclose(predicted, model.predict(X), atol=1e-5 * np.nanstd(model.predict(X)))


def assert_same_classes(model, X, folder):
    found = answers(model, X, folder)
    assert list(found) == ["label", "probability"]
    assert_allclose(found["probability"], model.predict_proba(X), atol=1e-5)
    assert_array_equal(found["label"], model.predict(X))


@pytest.mark.parametrize("scale", [None, "standard", "robust", "rank"])
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name, scale, tmp_path):
    X = rows()
    model = make(name, scale=scale)
    if "committee" in model.get_params():
        model.set_params(committee=False)
    model.fit(X, numbers(X))
    assert_same_numbers(model, np.vstack([X, rows(40, seed=1), 10 * rows(5, seed=2)]), tmp_path)


@pytest.mark.parametrize("names", [("ape", "bee", "cat"), ("no", "yes"), (7, 3, 5), (True, False)])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name, names, tmp_path):
    X = rows()
    model = make(name)
    if "committee" in model.get_params():
        model.set_params(committee=False)
    assert_same_classes(model.fit(X, classes(X, names)), np.vstack([X, rows(40, seed=1)]), tmp_path)


@pytest.mark.parametrize("names", [("ape", "bee", "cat"), ("no", "yes")])
def test_costs_of_classes(names, tmp_path):
    X = rows()
    model = make("XNVClassifier").set_params(committee=False).fit(X, classes(X, names))
    costly = make("XNVClassifier").set_params(committee=False, class_weight={names[0]: 30})
    costly.fit(X, classes(X, names))
    assert (costly.predict(X) == names[0]).sum() > (model.predict(X) == names[0]).sum()
    assert_same_classes(costly, np.vstack([X, rows(40, seed=1)]), tmp_path)


@pytest.mark.parametrize(
    "kernel", ["laplace", "matern32", "matern52", "linear", "polynomial", "cosine"]
)
def test_kernels(kernel, tmp_path):
    X = rows()
    model = KRRRegressor(kernel=kernel).fit(X, numbers(X))
    assert_same_numbers(model, np.vstack([X, np.zeros((1, 3)), rows(40, seed=1)]), tmp_path)


@pytest.mark.filterwarnings("ignore:column 2. all 20 rows:twinviews.OutsideWarning")
def test_a_column_that_never_varied(tmp_path):
    X = rows()
    X[:, 2] = 4
    model = KRRRegressor(scale="rank").fit(X, numbers(X))
    assert_same_numbers(model, rows(20, seed=1), tmp_path)


@pytest.fixture
def all_sit(monkeypatch):
    """Committees that keep members of the smallest weight, so that every kind is asked."""
    monkeypatch.setattr("twinviews.ensemble.blending._LEAST_SHARE", 0.0)


def test_a_committee_for_several_targets(all_sit, tmp_path):
    X = rows(90, 2)
    model = XNVRegressor(n_components=8, random_state=0).fit(X, np.column_stack([numbers(X), X[:, 1]]))
    assert_same_numbers(model, np.vstack([X, 5 * rows(20, 2, seed=1)]), tmp_path)


@pytest.mark.parametrize("names", [("ape", "bee", "cat"), ("no", "yes")])
def test_a_committee_for_classes(names, all_sit, tmp_path):
    X = rows(90, 2)
    model = XNVClassifier(n_components=8, random_state=0).fit(X, classes(X, names, 40))
    kinds = {type(member.fit).__name__ for member in model._ensembles[0].members}
    assert kinds == {"BoostedClasses", "InMetric", "OverAnchors", "Plane", "Readout"}
    assert_same_classes(model, np.vstack([X, 3 * rows(20, 2, seed=1)]), tmp_path)


def own_kernel(U, V):
    return U @ V.T + 1


def test_what_has_no_graph_says_so(tmp_path):
    X = rows()
    path = tmp_path / "model.onnx"
    with pytest.raises(NotFittedError):
        export_onnx(XNVRegressor(), path)
    with pytest.raises(ValueError, match="Ridge is not an estimator of twinviews"):
        export_onnx(Ridge().fit(X, X[:, 0]), path)
    with pytest.raises(ValueError, match="no ONNX graph: CallableColumns"):
        export_onnx(KRRRegressor(kernel=own_kernel).fit(X, numbers(X)), path)
    for kernel in ("gaussian", "linear"):
        model = KRRRegressor(kernel=kernel).fit(sparse.csr_array(X), numbers(X))
        with pytest.raises(ValueError, match=r"no ONNX graph: .*parse"):
            export_onnx(model, path)
    words = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 0] > 0, "up", "down")})
    with pytest.raises(ValueError, match="fitted on a table of words"):
        export_onnx(KRRRegressor().fit(words, numbers(X)), path)
    assert not path.exists()
