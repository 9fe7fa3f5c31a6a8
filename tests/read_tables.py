"""What the tests of reading share: the corpus in files, bytes as tables, columns as CSV."""

import csv
import datetime
import io

from hypothesis import strategies as st

from messy.tables import Messy
from twinviews.reading import ReadingOptions, read


def put(messy: Messy, folder):
    path = folder / f"table{messy.suffix}"
    path.write_bytes(messy.content)
    return path


def from_bytes(content: bytes, **options):
    return read("-", ReadingOptions(**options), stream=io.BytesIO(content))


def said(found):
    return [str(guess) for guess in found.guesses]


TRICKY = st.sampled_from(
    [
        *(None, "0", "1", "12", "-5", "007", "1.5", "1,5", "1.234", "1,234", "1.234,5", "1,234.5"),
        *("0.123", "1 234", "1'000", "1e5", "1e-3", ".5", "5 €", "€5", "5 %", "12345678901234567890"),
        *("inf", "+1", "2024-01-05", "2024-1-5", "2024-01-05 10:00", "2024-01-05T10:00:00.5"),
        *("2024-01-05T10:00Z", "1/2/2024", "1/13/2024", "13/1/2024", "31.12.2024", "31.12.24"),
        *("31.02.2024", "5 Jan 2024", "true", "False", "yes", "-", " 5", "5 ", " ", " NA", "+", "x"),
    ]
)


def as_csv(columns, dialect, form, newline, quoting=csv.QUOTE_MINIMAL):
    def cell(value):
        if value is None:
            return ""
        if isinstance(value, datetime.date):
            return value.strftime(form) if value.year >= 1000 else ""
        return repr(value).replace(".", dialect["decimal"]) if isinstance(value, float) else str(value)

    sink = io.StringIO(newline="")
    writer = csv.writer(
        sink,
        delimiter=dialect["delimiter"],
        quotechar=dialect["quote"],
        lineterminator=newline,
        quoting=quoting,
    )
    writer.writerow([f"name {j}" for j in range(len(columns))])
    writer.writerows([[cell(value) for value in row] for row in zip(*columns, strict=True)])
    return sink.getvalue().encode(dialect["encoding"])
