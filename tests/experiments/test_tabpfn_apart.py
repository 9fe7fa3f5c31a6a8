"""TabPFN in a Python of its own. Here that Python has a stand-in: least squares, and the seed."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from twinviews import XNVRegressor
from twinviews_experiments.contest.competing_methods import PEERS_BY_NAME
from twinviews_experiments.contest.tabpfn_apart import (
    PYTHON_VARIABLE,
    WEIGHTS_VARIABLE,
    TabPFNApart,
    close_workers,
)

STAND_IN = """
import numpy as np

class TabPFNRegressor:
    def __init__(self, model_path, device, random_state, ignore_pretraining_limits):
        self.seed = random_state
        print(open(model_path).read())
    def fit(self, X, y):
        self.coef = np.linalg.lstsq(np.c_[X, np.ones(len(X))], y, rcond=None)[0]
        return self
    def predict(self, X):
        if (X == 1).all():
            raise ValueError("no rows of ones")
        return np.c_[X, np.ones(len(X))] @ self.coef + self.seed
"""


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Both environment variables, with a stand-in for tabpfn and torch."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "tabpfn.py").write_text(STAND_IN)
    (modules / "torch.py").write_text("def set_num_threads(n): pass\n")
    python = tmp_path / "python"
    start = f"import runpy, sys; sys.path.insert(0, {str(modules)!r}); del sys.argv[0]"
    run = "runpy.run_path(sys.argv[0], run_name='__main__')"
    python.write_text(f"#!{sys.executable}\n{start}\n{run}\n")
    python.chmod(0o755)
    weights = tmp_path / "weights.ckpt"
    weights.write_text("weights, printed by a library")
    monkeypatch.setenv(PYTHON_VARIABLE, str(python))
    monkeypatch.setenv(WEIGHTS_VARIABLE, str(weights))
    yield python, weights
    close_workers()


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, X @ [1.0, -2.0] + 5


def test_predictions_are_those_of_the_other_python(given, rows):
    X, y = rows
    model = clone(TabPFNApart(random_state=3)).fit(X[:40], y[:40])
    assert_allclose(model.predict(X[40:]), y[40:] + 3)
    assert TabPFNApart().fit(X, y).score(X, y) == pytest.approx(1)


def test_the_other_python_is_started_once_and_again_after_a_failure(given, rows):
    python, _ = given
    X, y = rows
    model = TabPFNApart(random_state=0).fit(X, y)
    first = model.predict(X)
    module = python.parent / "modules" / "tabpfn.py"
    module.write_text("raise ImportError('gone')")
    assert_allclose(model.predict(X[::-1]), first[::-1])  # the one that runs has imported it
    with pytest.raises(RuntimeError, match=r"code 1 \(ValueError: no rows of ones"):
        model.predict(np.ones((3, 2)))
    with pytest.raises(RuntimeError, match=r"code 1 \(ImportError: gone"):
        model.predict(X)
    module.write_text(STAND_IN)
    assert_allclose(model.predict(X), first)


def test_paths_may_be_given_in_place_of_the_variables(given, rows, monkeypatch):
    python, weights = given
    monkeypatch.delenv(PYTHON_VARIABLE)
    monkeypatch.delenv(WEIGHTS_VARIABLE)
    model = TabPFNApart(python=str(python), weights=str(weights)).fit(*rows)
    assert_allclose(model.predict(rows[0]), rows[1])


def test_it_is_a_member_of_the_ensemble(given, rows):
    X, y = rows
    members = [("TabPFN", TabPFNApart(random_state=0))]
    model = XNVRegressor(members=members, random_state=0, progress=False).fit(X, y)
    weights = [weight for name, weight in model.members_ if name.startswith("TabPFN")]
    assert sum(weights) > 0.5  # the truth is linear, as the stand-in is


def test_it_takes_part_only_if_both_variables_are_set(given, monkeypatch):
    peer = PEERS_BY_NAME["TabPFN v2"]
    assert peer.present
    monkeypatch.delenv(WEIGHTS_VARIABLE)
    assert not peer.present
    assert PYTHON_VARIABLE in peer.how_to_get
    assert WEIGHTS_VARIABLE in peer.how_to_get


def test_errors_say_which_variable(given, rows, monkeypatch):
    _, weights = given
    model = TabPFNApart().fit(*rows)
    weights.unlink()
    with pytest.raises(ValueError, match=rf"{WEIGHTS_VARIABLE} is '.*', which is no file\. Set it to"):
        model.predict(rows[0])
    monkeypatch.delenv(PYTHON_VARIABLE)
    with pytest.raises(ValueError, match=f"{PYTHON_VARIABLE} is not set. Set it to the Python"):
        TabPFNApart().fit(*rows)


def test_what_the_other_python_says_before_it_fails_is_told(given, rows):
    python, _ = given
    (python.parent / "modules" / "tabpfn.py").write_text("raise ImportError('no such network')")
    with pytest.raises(RuntimeError, match=r"code 1 \(ImportError: no such network\)"):
        TabPFNApart().fit(*rows).predict(rows[0])
