"""From what a user names to a typed Arrow data set, and back to a file."""

from twinviews.reading.copies import columnar_copy, typed_copy
from twinviews.reading.findings import Column, Guess, Reading
from twinviews.reading.formats import FileFormat, can_be_written, register_format, write
from twinviews.reading.options import ReadingOptions
from twinviews.reading.read_table import read, written_like

__all__ = [
    "Column",
    "FileFormat",
    "Guess",
    "Reading",
    "ReadingOptions",
    "can_be_written",
    "columnar_copy",
    "read",
    "register_format",
    "typed_copy",
    "write",
    "written_like",
]
