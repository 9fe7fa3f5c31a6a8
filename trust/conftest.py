"""Writes down for the page, as properties of each test: its law, and what was tried."""

import pytest

import counts


@pytest.fixture(autouse=True)
def noted(request, record_property):
    counts.taken()
    yield
    record_property("law", " ".join(request.function.__doc__.split()))
    for what, times in counts.taken().items():
        record_property(what, times)
