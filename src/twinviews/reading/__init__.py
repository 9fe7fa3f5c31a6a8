"""From what a user names on a command line to a typed Arrow data set, and back to a file."""

from twinviews.reading.findings import Column, Guess, Reading
from twinviews.reading.options import ReadingOptions
from twinviews.reading.read_table import read
from twinviews.reading.writing import write

__all__ = ["read", "Reading", "ReadingOptions", "Column", "Guess", "write"]
