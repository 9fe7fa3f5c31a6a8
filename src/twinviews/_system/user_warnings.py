"""Warnings that point at the user's own line, however deep inside the package they arise."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

# Scikit-learn wraps `fit` and `predict`, and joblib calls them for its searches: a user wrote neither.
_NOT_THE_USER = frozenset({"twinviews", "sklearn", "joblib"})


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as ``warnings.warn`` does, at the line of the nearest caller outside the package."""
    frame = _frame_of_the_user(sys._getframe(1))
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__") or "<unknown>",
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def _frame_of_the_user(frame: FrameType) -> FrameType:
    """The first frame, going outwards, of none of these packages; else the outermost of all."""
    while _package(frame) in _NOT_THE_USER and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
