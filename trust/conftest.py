"""Writes down for the page, as properties of each test: its law, and what was tried."""

import pytest

import counts


def pytest_collection_modifyitems(config, items):
    """Laws that take minutes are tried by ``make trust`` alone."""
    if counts.FULL:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if item not in long]


@pytest.fixture(autouse=True)
def noted(request, record_property):
    counts.taken()
    yield
    record_property("law", " ".join(request.function.__doc__.split()))
    for what, times in counts.taken().items():
        record_property(what, times)
