"""TabPFN v2 as a scikit-learn regressor that runs in another Python, as it wants older libraries.

Two environment variables say where: TWINVIEWS_TABPFN_PYTHON, the Python of an environment with
``tabpfn==2.0.0``, and TWINVIEWS_TABPFN_WEIGHTS, the file of weights of its regressor.
"""

from __future__ import annotations

import io
import os
import subprocess  # nosec B404
from pathlib import Path
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

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
        given = io.BytesIO()
        np.savez(given, X=self.X_, y=self.y_, X_new=X, seed=seed)
        python, weights = _path(self.python, PYTHON_VARIABLE), _path(self.weights, WEIGHTS_VARIABLE)
        # Modules of this environment must not be found in the other one.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(  # nosec B603
            [python, str(_WORKER), weights],
            input=given.getvalue(),
            capture_output=True,
            env=environment,
            check=False,
        )
        if done.returncode != 0:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise RuntimeError(
                f"TabPFN ended with code {done.returncode} ({lines[-1] if lines else 'no word'}). "
                f"{PYTHON_VARIABLE} must name the Python of an environment with tabpfn 2.0.0, "
                f"{WEIGHTS_VARIABLE} the weights of its v2 regressor."
            )
        with np.load(io.BytesIO(done.stdout)) as answer:
            return np.asarray(answer["predicted"])


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
