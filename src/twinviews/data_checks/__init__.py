"""What a careful colleague would ask about a target and the labeled rows before a fit.

Plain functions of arrays; each returns findings and changes nothing. ``check_numbers`` looks at the
labels of a regression, ``check_classes`` at class labels, ``check_text`` at text that is mostly
numbers, ``check_inputs`` at the columns of the labeled rows; ``outlying_labels`` tells what a fit has
found of its labels. In Python, ``warn_of`` turns findings
into warnings. The command line prints ``finding.for_command_line()``, and ends where
``finding.stops`` is set and the user has not settled the matter with ``--task``.
"""

from twinviews.data_checks.class_target import check_classes
from twinviews.data_checks.data_finding import DataWarning, Finding, warn_of
from twinviews.data_checks.input_columns import check_inputs
from twinviews.data_checks.number_target import check_numbers
from twinviews.data_checks.outlying_label import outlying_labels
from twinviews.data_checks.text_target import check_text

__all__ = [
    "check_numbers",
    "check_classes",
    "check_text",
    "check_inputs",
    "outlying_labels",
    "Finding",
    "DataWarning",
    "warn_of",
]
