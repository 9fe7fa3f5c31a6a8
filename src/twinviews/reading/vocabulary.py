"""Words that mean missing, true and false: the one place that decides."""

from __future__ import annotations

# A minus sign of its own is apart: beside plus signs it is a value, everywhere else it is a gap.
DASH = "-"
MISSING = (
    *("", "NA", "Na", "na", "N/A", "n/a", "N/a", "n.a.", "<NA>", "NaN", "nan", "NAN", "NaT"),
    *("NULL", "Null", "null", "None", "nil", "--", "?", "."),
    *("#N/A", "#NA", "#DIV/0!", "#NULL!", "#NUM!", "#REF!", "#VALUE!"),
)
USUAL = (*MISSING, DASH)
# Of a column that nobody has spoken of, only these are booleans; yes and no stay the user's own words.
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")
# Of a column that the user calls boolean, these too.
TRUE_IF_ASKED = (
    *(*TRUE, "1", "t", "T", "y", "Y", "yes", "Yes", "YES", "on", "On"),
    *("ja", "Ja", "JA", "oui", "si", "sí"),
)
FALSE_IF_ASKED = (
    *(*FALSE, "0", "f", "F", "n", "N", "no", "No", "NO", "off", "Off"),
    *("nein", "Nein", "NEIN", "non"),
)
