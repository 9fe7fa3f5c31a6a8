"""What a user may say of a table instead of having it found out."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Kind = Literal["number", "category", "date", "boolean", "skip"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a table; None means: find out.

    Parameters
    ----------
    delimiter : str, optional
        Between the cells of a line: one character, or "tab".
    quote : str, optional
        Around cells that hold the delimiter: one character.
    encoding : str, optional
        Of text files, by Python's names: "utf-8", "cp1252", "utf-16", ...
    decimal : {".", ","}, optional
        Sign before the decimals of a number.
    sheet : str, optional
        Of a workbook; by default the first one.
    missing : tuple of str, optional
        Words that mean that a value is missing, instead of those of ``spellings.USUAL``. A blank cell
        always does.
    kinds : mapping of str to str
        For a column by name "number", "category", "date", "boolean" or "skip". A date may say how it is
        written: "date:%m/%d/%Y".
    expected : mapping of str to str
        The kinds that another table had (``Reading.kinds``), for more rows of the same. Like ``kinds``,
        but a column that is not there is no error. They also say how values were written, by an
        example: "number:1.234,5 €" has points between thousands, decimal commas and a unit,
        "date:2024-12-31 23:59:59Z" is ISO with a zone, and in "category:+-" a dash is a value. Values
        that are written otherwise are found out as if only the kind had been said.
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    missing: tuple[str, ...] | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.delimiter in ("tab", "\\t"):
            object.__setattr__(self, "delimiter", "\t")
        for option in ("delimiter", "quote"):
            sign = getattr(self, option)
            if sign is not None and (len(sign) != 1 or not sign.isascii() or sign in "\r\n"):
                raise ValueError(f"{option} {sign!r} must be one ASCII character, or tab.")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal {self.decimal!r} must be '.' or ','.")
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise ValueError(
                f"encoding {self.encoding!r} is not known. Use utf-8, cp1252, utf-16 or another of "
                f"Python's names."
            ) from None
        with_more = {"number", "date", "category"}
        for kinds, may_say_more in ((self.expected, with_more), (self.kinds, {"date"})):
            for name, kind in kinds.items():
                word, more, _ = kind.partition(":")
                if word not in KINDS or (more and word not in may_say_more):
                    raise ValueError(
                        f"Kind {kind!r} of column {name!r} must be one of {', '.join(KINDS)}, or a "
                        f"date with its form, such as date:%d/%m/%Y."
                    )
