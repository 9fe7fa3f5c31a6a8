"""One seed, from which everything random in a fit follows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seed_from(random_state: Any) -> int:
    """A seed drawn from a ``random_state`` as scikit-learn defines it."""
    try:
        random = check_random_state(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r} must be a whole number from 0 to 2**32 - 1, a "
            f"numpy.random.RandomState, or None."
        ) from None
    return int(random.randint(np.iinfo(np.int32).max))  # nosec B311  # no secret
