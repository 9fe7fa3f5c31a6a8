"""How often a law is tried, and how often it was."""

import os
from collections import Counter

FULL = os.environ.get("TWINVIEWS_TRUST") == "full"

_tried: Counter = Counter()


def often(quick, full):
    """The number of tries in ``make test``, or in ``make trust``."""
    return full if FULL else quick


def tried(what, times=1):
    """Notes for the page that something was tried, and held."""
    _tried[what] += times


def taken():
    """What was noted since it was last asked for."""
    notes = dict(_tried)
    _tried.clear()
    return notes
