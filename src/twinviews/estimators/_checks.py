"""Parameters that the user set: what each may be, and what it stands for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from twinviews._system.memory import available_bytes
from twinviews.method.landmarks import RowSample
from twinviews.method.tuning import PAPER_COMPONENTS

AUTO = "auto"
# Features whose matrices may be too large for the memory there is.
_MANY = 10_000


def check_number(name: str, value: Any, *, least: float, open_end: bool = False) -> None:
    """A real number of at least (or, with ``open_end``, above) ``least``, or "auto"."""
    if isinstance(value, str) and value == AUTO:
        return
    number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not number or not least <= value <= sys.float_info.max or (open_end and value == least):
        limit = f"above {least:g}" if open_end else f"of at least {least:g}"
        raise ValueError(f'{name}={value!r} must be a finite number {limit}, or "auto".')


def check_count(name: str, value: Any, *, least: int = 1, or_else: str | None = AUTO) -> None:
    """A whole number of at least ``least``, or one other accepted value."""
    if (or_else is None and value is None) or (isinstance(value, str) and value == or_else):
        return
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least:
        other = "None" if or_else is None else f'"{or_else}"'
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}, or {other}.")


def check_flag(name: str, value: Any) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be True or False.")


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} must be one of {', '.join(map(repr, choices))}.")


def _check_ratio(name: str, value: Any) -> None:
    if not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise ValueError(f"{name}={value!r} must be above 0 and at most 1.")


def check_parameter(name: str, value: Any) -> None:
    """What a parameter of that name may be, whatever estimator has it; others pass."""
    if name in _CHECKS:
        _CHECKS[name](name, value)


_CHECKS: dict[str, Callable[[str, Any], None]] = {
    "n_components": check_count,
    "n_eigenfunctions": check_count,
    "n_neighbors": check_count,
    "degree": check_count,
    "n_threads": partial(check_count, or_else=None),
    "max_labels": partial(check_count, least=2),
    "sigma": partial(check_number, least=0, open_end=True),
    "ridge": partial(check_number, least=0),
    "correlation_ridge": partial(check_number, least=0),
    "canonical_weight": partial(check_number, least=0),
    "manifold_ridge": partial(check_number, least=0),
    "fit_intercept": check_flag,
    "progress": check_flag,
    "cca": partial(check_choice, choices=("exact", "randomized")),
    "sketch_ratio": _check_ratio,
}


def check_class_weight(class_weight: Any) -> None:
    """None, "balanced", or what an error costs by class."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f'class_weight={class_weight!r:.60} must be None, "balanced" or a dictionary, such as '
            f'{{"yes": 10, "no": 1}}.'
        )
    for label, weight in class_weight.items():
        number = isinstance(weight, Real) and not isinstance(weight, (bool, np.bool_))
        if not number or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"class_weight[{label!r:.40}]={weight!r:.40} must be a number above 0: what an error "
                f"on a row of that class costs."
            )


def components(n_components: Any) -> int:
    """M, the features of a view: the given number, or the paper's; its square must fit in memory."""
    M = PAPER_COMPONENTS if n_components == AUTO else int(n_components)
    available = available_bytes() if M > _MANY else None
    if available is not None and available < 8 * M**2:
        raise ValueError(
            f"n_components={M} needs matrices of as many rows and columns, {8 * M**2 // 10**9:,} GB, "
            f"and {available // 10**9:,} GB are available. Use a few hundred or thousand."
        )
    return M


def check_landmarks(sample: RowSample, n_components: Any, n_views: int) -> int:
    """n_components as a number for which the table has enough distinct rows."""
    distinct = len(sample.priorities)
    most = distinct // n_views
    M = min(PAPER_COMPONENTS, most) if n_components == AUTO else int(n_components)
    if most < M or M == 0:
        way_out = f"Use n_components={most} or fewer." if most else "Add rows."
        raise ValueError(
            f"n_components={max(M, 1)} needs {n_views * max(M, 1)} landmarks, but the table has "
            f"n_samples={distinct} distinct rows. {way_out}"
        )
    return M


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
