"""TabPFN v2 in a Python of its own: labeled rows and rows to predict come in, predictions go out.

Run as ``python tabpfn_worker.py WEIGHTS``, with arrays X, y, X_new and seed in npz format on standard
input; standard output gets ``predicted`` in the same format. It needs NumPy and tabpfn, nothing of
this package.
"""

from __future__ import annotations

import io
import sys
import warnings

import numpy as np


def main() -> None:
    answer, sys.stdout = sys.stdout.buffer, sys.stderr  # what libraries print is no part of the answer
    with np.load(io.BytesIO(sys.stdin.buffer.read())) as given:
        X, y, X_new, seed = given["X"], given["y"], given["X_new"], int(given["seed"])
    import torch
    from tabpfn import TabPFNRegressor

    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TabPFNRegressor(
            model_path=sys.argv[1], device="cpu", random_state=seed, ignore_pretraining_limits=True
        )
        predicted = model.fit(X, y).predict(X_new)
    whole = io.BytesIO()
    np.savez(whole, predicted=np.asarray(predicted, dtype=np.float64))
    answer.write(whole.getvalue())


if __name__ == "__main__":
    main()
