"""What a person types to find rows, and which rows of a batch that means."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from twinviews.encoding.facts import kind_of
from twinviews.reading.vocabulary import FALSE_IF_ASKED, TRUE_IF_ASKED

_QUOTED = r'"(?:[^"]|"")*"'
_TERM = re.compile(
    rf"(?:(?P<name>{_QUOTED}|[^\s\"<>=]+)(?P<sign><=|>=|[<>=]))?(?P<value>{_QUOTED}|[^\s\"]*)(?=\s|$)"
)
_ROW_NUMBER = re.compile(r"#([\d,]+)|(\d+)")
_COMPARE: dict[str, Callable[[Any, Any], pa.Array]] = {
    "=": pc.equal,
    "<": pc.less,
    ">": pc.greater,
    "<=": pc.less_equal,
    ">=": pc.greater_equal,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# By the number of colons, what a moment is given to.
_FINENESS = (timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1))


class Term(Protocol):
    def among(self, batch: pa.RecordBatch) -> pa.Array:
        """Whether each row is meant; null is no."""


def row_number(query: str) -> int | None:
    """The row, from 0, if the query is the number of one, from 1."""
    found = _ROW_NUMBER.fullmatch(query.strip())
    return None if found is None else int((found[1] or found[2]).replace(",", "") or 0) - 1


def terms_of(query: str, schema: pa.Schema) -> list[Term]:
    """All of them must hold: ``city="New York" age>3 smith`` are two columns and a word in any text."""
    terms: list[Term] = []
    rest = query.strip()
    while rest:
        found = _TERM.match(rest)
        if found is None:
            raise ValueError(f"A quote in {query!r} has no partner. Write it twice inside quotes.")
        value = _unquoted(found["value"])
        if found["name"] is None:
            terms.append(Word(value, _text_columns(schema)))
        else:
            terms.append(_comparison(_unquoted(found["name"]), found["sign"], value, schema))
        rest = rest[found.end() :].lstrip()
    return terms


def matching(terms: Sequence[Term], batch: pa.RecordBatch) -> pa.Array:
    """Whether all terms hold, row by row."""
    every = pa.repeat(True, batch.num_rows)
    for term in terms:
        every = pc.and_(every, pc.fill_null(term.among(batch), False))
    return every


@dataclass(frozen=True)
class Word:
    """Text in any cell of text, in capitals or not."""

    text: str
    columns: tuple[str, ...]

    def among(self, batch: pa.RecordBatch) -> pa.Array:
        anywhere = pa.repeat(False, batch.num_rows)
        for name in self.columns:
            cells = pc.utf8_lower(batch.column(name))
            found = pc.match_substring(cells, _lower(self.text))
            anywhere = pc.or_(anywhere, pc.fill_null(found, False))
        return anywhere


@dataclass(frozen=True)
class Blank:
    name: str

    def among(self, batch: pa.RecordBatch) -> pa.Array:
        return batch.column(self.name).is_null(nan_is_null=True)


@dataclass(frozen=True)
class Text:
    name: str
    text: str

    def among(self, batch: pa.RecordBatch) -> pa.Array:
        return pc.equal(pc.utf8_lower(batch.column(self.name)), _lower(self.text))


@dataclass(frozen=True)
class Compared:
    """With a number or a truth value."""

    name: str
    sign: str
    value: pa.Scalar

    def among(self, batch: pa.RecordBatch) -> pa.Array:
        column = batch.column(self.name)
        if column.type != self.value.type:  # whole numbers with one that is not
            column = column.cast(self.value.type, safe=False)
        return _COMPARE[self.sign](column, self.value)


@dataclass(frozen=True)
class Between:
    """Moments before, in or after a day, a minute or a second."""

    name: str
    sign: str
    start: int  # microseconds since 1970, UTC
    end: int

    def among(self, batch: pa.RecordBatch) -> pa.Array:
        column = batch.column(self.name)
        unit = pa.timestamp("us", getattr(column.type, "tz", None))
        moment = column.cast(unit, safe=False).cast(pa.int64())
        not_before, not_after = pc.greater_equal(moment, self.start), pc.less(moment, self.end)
        if self.sign == "=":
            return pc.and_(not_before, not_after)
        if self.sign in ("<", ">="):
            return not_before if self.sign == ">=" else pc.invert(not_before)
        return not_after if self.sign == "<=" else pc.invert(not_after)


def _unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text


def _lower(text: str) -> str:
    """As Arrow sees it, which is not always as Python does."""
    return str(pc.utf8_lower(pa.scalar(text)).as_py())


def _text_columns(schema: pa.Schema) -> tuple[str, ...]:
    return tuple(field.name for field in schema if kind_of(field.type) == "category")


def _comparison(name: str, sign: str, value: str, schema: pa.Schema) -> Term:
    field = schema.field(_known_name(name, schema.names))
    kind = kind_of(field.type)
    if not value or kind == "empty":
        if sign != "=" or value:
            raise ValueError(
                f"{name}{sign}{value} can find nothing: nothing is {sign} a blank. Use {name}= for "
                f"blank cells."
            )
        return Blank(field.name)
    if kind == "number":
        return Compared(field.name, sign, _number(field, value))
    if kind == "date":
        return Between(field.name, sign, *_moment(field.name, value))
    if sign != "=":
        what = "words" if kind == "category" else "true and false"
        raise ValueError(
            f"Column {field.name!r} holds {what}, which have no {sign}. Use {field.name}=."
        )
    if kind == "boolean":
        return Compared(field.name, sign, _truth(field.name, value))
    return Text(field.name, value)


def _known_name(name: str, names: Sequence[str]) -> str:
    """Capitals do not matter where they tell no columns apart."""
    alike = [one for one in names if one.casefold() == name.casefold()]
    if name in names or len(alike) == 1:
        return name if name in names else alike[0]
    some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    raise ValueError(
        f"There is no column {name!r}. The columns are {some}. To look for text that holds =, < or >, "
        f"put it in quotes."
    )


def _number(field: pa.Field, value: str) -> pa.Scalar:
    text = value.replace("\N{MINUS SIGN}", "-")
    try:
        if pa.types.is_floating(field.type):
            return pa.scalar(float(text), field.type)
        try:
            return pa.scalar(int(text), field.type)
        except (ValueError, OverflowError, pa.ArrowInvalid):
            return pa.scalar(float(text), pa.float64())
    except (ValueError, OverflowError):
        raise ValueError(
            f"{value!r} is no number, and column {field.name!r} holds numbers. Write one such as 3.5, "
            f"with a point and no commas."
        ) from None


def _moment(name: str, value: str) -> tuple[int, int]:
    try:
        start = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(
            f"{value!r} is no date, and column {name!r} holds dates. Write one such as 2024-12-31 or "
            f'"2024-12-31 23:59".'
        ) from None
    start = start.replace(tzinfo=UTC) if start.tzinfo is None else start.astimezone(UTC)
    time = re.split("[+Z-]", value[10:])[0]
    width = _MICROSECOND if "." in time else _FINENESS[time.count(":")]
    first = (start - _EPOCH) // _MICROSECOND
    return first, first + width // _MICROSECOND


def _truth(name: str, value: str) -> pa.Scalar:
    if value.lower() in TRUE_IF_ASKED or value.lower() in FALSE_IF_ASKED:
        return pa.scalar(value.lower() in TRUE_IF_ASKED)
    raise ValueError(f"Column {name!r} holds true and false, and {value!r} is neither.")
