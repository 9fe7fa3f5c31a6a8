"""A page on one table: how good the predictions are, how sure that is, and what they rest on."""

from twinviews.report.evidence import Evidence, gather
from twinviews.report.page import write_report
from twinviews.report.rows import Drawn

__all__ = ["Drawn", "Evidence", "gather", "write_report"]
