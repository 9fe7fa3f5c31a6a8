"""Values of a table, formatted for display."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import pyarrow as pa

_DIGITS = 6
_LONGEST_TEXT = 2000


def text_of(value: pa.Scalar) -> str | None:
    """A value formatted for display; None for a blank."""
    types = pa.types
    if not value.is_valid:
        return None
    if types.is_floating(value.type):
        x = float(value.as_py())
        return None if math.isnan(x) else number_text(x)
    if types.is_integer(value.type):
        return number_text(value.as_py())
    if types.is_boolean(value.type):
        return "yes" if value.as_py() else "no"
    if types.is_timestamp(value.type) or types.is_date(value.type):
        return _time_text(value)
    text = str(value.as_py())
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def number_text(x: float) -> str:
    """A number with six digits, or all of a whole number; from 10,000 with commas, so not in years."""
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    size = abs(x)
    if isinstance(x, int) or (x.is_integer() and size < 1e15):
        text = f"{int(x):,}" if size >= 10_000 else str(int(x))
    elif 1e-5 <= size < 1e15:
        decimals = max(_DIGITS - 1 - math.floor(math.log10(size)), 0)
        text = f"{x:,.{decimals}f}" if size >= 10_000 else f"{x:.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if decimals else text
    else:
        digits, exponent = f"{x:.{_DIGITS - 1}e}".split("e")
        text = f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"
    return text.replace("-", "−")


def _time_text(value: pa.Scalar) -> str:
    """The day, and the time of day unless it is midnight; in UTC if there is a zone."""
    zone = getattr(value.type, "tz", None)
    microseconds = value.cast(pa.timestamp("us", zone), safe=False).value
    try:
        moment = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{number_text(microseconds / 86_400_000_000)} days after 1970"
    if moment.time() == datetime.min.time():
        return moment.date().isoformat()
    finest = "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    return moment.isoformat(" ", finest) + (" UTC" if zone else "")
