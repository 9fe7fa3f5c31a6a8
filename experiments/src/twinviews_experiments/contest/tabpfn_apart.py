"""TabPFN v2 as a scikit-learn regressor that runs in another Python, as it wants older libraries.

Two environment variables say where: TWINVIEWS_TABPFN_PYTHON, the Python of an environment with
``tabpfn==2.0.0``, and TWINVIEWS_TABPFN_WEIGHTS, the file of weights of its regressor. The other Python
is started once, since its imports take longer than a prediction, and ends with this one.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import subprocess  # nosec B404
import tempfile
import threading
from pathlib import Path
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from twinviews_experiments.contest.tabpfn_worker import receive, send

PYTHON_VARIABLE = "TWINVIEWS_TABPFN_PYTHON"
WEIGHTS_VARIABLE = "TWINVIEWS_TABPFN_WEIGHTS"
_WORKER = Path(__file__).with_name("tabpfn_worker.py")


def tabpfn_is_given() -> bool:
    """Whether both environment variables are set."""
    return bool(os.environ.get(PYTHON_VARIABLE) and os.environ.get(WEIGHTS_VARIABLE))


class TabPFNApart(RegressorMixin, BaseEstimator):
    """TabPFN v2, asked anew for each ``predict``: it has no fit but a look at the labeled rows.

    Parameters
    ----------
    python, weights : path or None
        None takes the environment variable.
    random_state : int or None
        Seed of its permutations; None is 0.
    """

    def __init__(
        self,
        python: str | None = None,
        weights: str | None = None,
        random_state: int | None = None,
    ) -> None:
        self.python = python
        self.weights = weights
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Keep the rows: they are sent along with those to predict."""
        _path(self.python, PYTHON_VARIABLE)
        _path(self.weights, WEIGHTS_VARIABLE)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.X_, self.y_ = X.copy(), y.astype(np.float64)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        seed = 0 if self.random_state is None else self.random_state
        python, weights = _path(self.python, PYTHON_VARIABLE), _path(self.weights, WEIGHTS_VARIABLE)
        return _worker(python, weights).predict(self.X_, self.y_, X, seed)


class _Worker:
    """The other Python, which answers one request after the other."""

    def __init__(self, python: str, weights: str) -> None:
        self._one_at_a_time = threading.Lock()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        # Modules of this environment must not be found in the other one.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self._process = subprocess.Popen(  # nosec B603
            [python, str(_WORKER), weights],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=environment,
        )

    def predict(self, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> np.ndarray:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._one_at_a_time:
            try:
                send(self._process.stdin, X=X, y=y, X_new=X_new, seed=seed)
                answer = receive(self._process.stdout)
            except BrokenPipeError:
                answer = None
        if answer is None:
            raise self._failure()
        return np.asarray(answer["predicted"])

    def _failure(self) -> RuntimeError:
        code = self._process.wait()
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        close_workers()  # the next call starts another one
        return RuntimeError(
            f"TabPFN ended with code {code} ({lines[-1] if lines else 'no word'}). "
            f"{PYTHON_VARIABLE} must name the Python of an environment with tabpfn 2.0.0, "
            f"{WEIGHTS_VARIABLE} the weights of its v2 regressor."
        )

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):  # it has ended by itself
            self._process.communicate()
        self._said.close()


# By Python, weights and our own process: a fork must not write to the pipes of its parent.
_workers: dict[tuple[str, str, int], _Worker] = {}


def _worker(python: str, weights: str) -> _Worker:
    key = (python, weights, os.getpid())
    if key not in _workers:
        _workers[key] = _Worker(python, weights)
    return _workers[key]


@atexit.register
def close_workers() -> None:
    """End the other Pythons that this process has started."""
    for key in [key for key in _workers if key[-1] == os.getpid()]:
        _workers.pop(key).close()


def _path(given: str | None, variable: str) -> str:
    path = given or os.environ.get(variable)
    if not path or not Path(path).is_file():
        said = "is not set" if not path else f"is {path!r}, which is no file"
        raise ValueError(
            f"{variable} {said}. Set it to "
            + (
                "the Python of an environment with tabpfn 2.0.0."
                if variable == PYTHON_VARIABLE
                else "the file of weights of TabPFN's v2 regressor."
            )
        )
    return path
