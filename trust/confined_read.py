"""Tables, read one by one in a process that may take little memory.

    python trust/confined_read.py NOTE PATH ...

prints as JSON, for each, the line that it was refused with, or the number of its rows.
"""

import codecs
import json
import sys

import python_calamine  # noqa: F401  # imported when a workbook is met, and an import would be seen

import confinement
from twinviews.reading import read

codecs.lookup("cp437")  # of the names in a ZIP file
MOST_BYTES = 1 << 30


def outcome(path):
    try:
        found = read(path)
        with found.plain_errors():
            rows = sum(batch.num_rows for batch in found.dataset.to_batches(use_threads=False))
    except ValueError as error:
        return str(error)
    return rows


def main(note, *paths):
    watch = confinement.Watch(note, "/")
    confinement.confine(MOST_BYTES)
    outcomes = []
    for number, path in enumerate(paths):
        with watch.piece(number):
            outcomes.append(outcome(path))
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
