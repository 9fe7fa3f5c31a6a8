"""A page on one table: how good the predictions are, how certain that is, and what they rest on."""

from twinviews.report.blocks import DataTable, Definitions, Note, Section, SideBySide
from twinviews.report.charts import Bar, BarChart, Dot, Line, XYChart, axis, bar_axis
from twinviews.report.evidence import Evidence, gather
from twinviews.report.page import SECTIONS, write_report
from twinviews.report.rows import Drawn

__all__ = [
    "Bar",
    "BarChart",
    "DataTable",
    "Definitions",
    "Dot",
    "Drawn",
    "Evidence",
    "Line",
    "Note",
    "SECTIONS",
    "Section",
    "SideBySide",
    "XYChart",
    "axis",
    "bar_axis",
    "gather",
    "write_report",
]
