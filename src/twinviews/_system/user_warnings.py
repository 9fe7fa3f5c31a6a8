"""Warnings that point at the user's own line, however deep inside the package they arise."""

from __future__ import annotations

import sys
import warnings

# Scikit-learn wraps `fit` and `predict`, and joblib calls them for its searches: a user wrote neither.
_NOT_THE_USER = frozenset({"twinviews", "sklearn", "joblib"})


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the nearest caller outside these packages; else of the outermost of all."""
    frame, level = sys._getframe(1), 2
    while _package(frame.f_globals) in _NOT_THE_USER and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
