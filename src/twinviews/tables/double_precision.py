"""The range of double precision: numbers that fit into it, and one error where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

# Numbers are squared and summed over rows and columns; the squares of larger ones would leave no room.
LARGEST = 1e151


def refuse_too_large(name: str, values: np.ndarray, way_out: str) -> None:
    """Raise an error that names the value furthest from zero, if it is beyond ``LARGEST``.

    NaN and infinity are left to the caller, who knows what they stand for.
    """
    if values.size == 0:
        return
    furthest = max(float(values.max()), float(values.min()), key=abs)
    if LARGEST < abs(furthest) < np.inf:
        raise ValueError(
            f"{name} holds {furthest:g}, and squares of numbers beyond {LARGEST:g} do not fit into "
            f"double precision. {way_out}"
        )


@contextmanager
def in_double_precision(what: str, way_out: str) -> Iterator[None]:
    """Raise one ValueError where a result overflows or is not a number."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except (FloatingPointError, np.linalg.LinAlgError) as error:
        raise ValueError(f"{what} leaves the range of double precision ({error}). {way_out}") from error
