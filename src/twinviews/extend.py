"""Registrations for parts from outside the package, in one place; docs/extend.md shows each.

A part is registered once, before it is used: by whoever calls ``fit``, and again by whoever loads a
model file that names it. Names are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "register_kernel": "twinviews.method.kernels",
    "DistanceKernel": "twinviews.method.kernels",
    "ProductKernel": "twinviews.method.kernels",
    "register_member": "twinviews.ensemble.builtin_members",
    "MemberContext": "twinviews.ensemble.member",
    "MemberSpec": "twinviews.ensemble.member",
    "Labeled": "twinviews.ensemble.member",
    "register_format": "twinviews.reading",
    "FileFormat": "twinviews.reading",
    "register_engine": "twinviews.tables",
    "Engine": "twinviews.tables",
    "BlockTable": "twinviews.tables",
    "register_column_kind": "twinviews.encoding",
    "ColumnKind": "twinviews.encoding",
    "register_rule": "twinviews.active.acquisition",
    "AcquisitionRule": "twinviews.active.acquisition",
    "register_stored_class": "twinviews.model_files",
    "Method": "twinviews.estimators._method",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'twinviews.extend' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
