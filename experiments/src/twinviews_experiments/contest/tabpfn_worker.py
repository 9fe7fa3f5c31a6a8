"""TabPFN v2 in a Python of its own: labeled rows and rows to predict come in, predictions go out.

Run as ``python tabpfn_worker.py WEIGHTS``. Each request on standard input is its length in 8 bytes,
then arrays X, y, X_new and seed in npz format; standard output gets ``predicted`` in the same form. It
ends with its input. It needs NumPy and tabpfn, nothing of this package.
"""

from __future__ import annotations

import io
import sys
import warnings
from typing import IO, Any

import numpy as np

LENGTH_BYTES = 8


def main() -> None:
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # what libraries print is no part of an answer
    import torch
    from tabpfn import TabPFNRegressor

    torch.set_num_threads(1)
    while (given := receive(sys.stdin.buffer)) is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = TabPFNRegressor(
                model_path=sys.argv[1],
                device="cpu",
                random_state=int(given["seed"]),
                ignore_pretraining_limits=True,
            )
            predicted = model.fit(given["X"], given["y"]).predict(given["X_new"])
        send(answers, predicted=np.asarray(predicted, dtype=np.float64))


def send(to: IO[bytes], **arrays: Any) -> None:
    whole = io.BytesIO()
    np.savez(whole, **arrays)
    content = whole.getvalue()
    to.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
    to.flush()


def receive(source: IO[bytes]) -> dict[str, np.ndarray] | None:
    """The next arrays; None at the end of the stream."""
    content = source.read(int.from_bytes(source.read(LENGTH_BYTES), "big"))
    if not content:
        return None
    with np.load(io.BytesIO(content)) as arrays:
        return dict(arrays)


if __name__ == "__main__":
    main()
