"""What docs/extend.md registers is forgotten after it."""

from importlib import import_module

import pytest

_REGISTRIES = {
    "twinviews.method.kernels": "SHIFT_INVARIANT",
    "twinviews.ensemble.builtin_members": "_FACTORIES",
    "twinviews.active.acquisition": "_RULES",
    "twinviews.reading.formats": "_FORMATS",
    "twinviews.tables.engines": "_ENGINES",
    "twinviews.encoding.column_kinds": "_KINDS",
    "twinviews.reading.arrow_kinds": "_KINDS",
}


@pytest.fixture(autouse=True)
def forget_registrations(request, monkeypatch):
    if request.node.name != "extend.md":
        return
    for module, name in _REGISTRIES.items():
        home = import_module(module)
        known = getattr(home, name)
        monkeypatch.setattr(home, name, type(known)(known))
