"""What each column holds, from all of its rows: blocks become summaries, which merge and decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from twinviews.reading.date_spellings import DATES, Moment
from twinviews.reading.findings import Guess
from twinviews.reading.options import ReadingOptions
from twinviews.reading.spellings import (
    DASH,
    MISSING,
    USUAL,
    Boolean,
    CodeSpelling,
    Nothing,
    NumberSpelling,
    Spelling,
    TextSpelling,
    any_true,
    number_spellings,
)

_TEXT: tuple[Spelling, ...] = (TextSpelling(),)
# What a column may be of which nobody has said what it is; text fits always and comes last.
ANY: tuple[Spelling, ...] = (
    *number_spellings(codes=False), *DATES, Boolean(), CodeSpelling(), *_TEXT
)  # fmt: skip
# Of a column that is said to be of a kind; of others it is text.
_OF_KIND: dict[str, tuple[Spelling, ...]] = {
    "number": number_spellings(codes=True),
    "date": DATES,
    "boolean": (Boolean(asked=True),),
}
_BY_NOTATION = {one.notation: one for kind in ("number", "date") for one in _OF_KIND[kind]}
# Values that tell whether a column has many alike.
_SOME = 400


@dataclass(frozen=True)
class MissingWords:
    """Which words mean missing; a dash does too, unless the user names words of their own."""

    words: tuple[str, ...]
    dash: bool

    @classmethod
    def of(cls, options: ReadingOptions) -> Self:
        if options.missing is None or options.missing == USUAL:
            return cls(MISSING, dash=True)
        written = [form for word in options.missing for form in _written(word)]
        return cls(tuple(dict.fromkeys(("", *written))), dash=False)

    def tidied(self, strings: pa.Array) -> pa.Array:
        """Without blanks around the values, null where a word means missing."""
        bare = pc.utf8_trim_whitespace(strings)
        return pc.if_else(self.among(bare), pa.scalar(None, pa.string()), bare)

    def among(self, strings: pa.Array) -> pa.Array:
        """Whether each is such a word."""
        return pc.is_in(strings, pa.array([*self.words, *([DASH] if self.dash else [])]))


def _written(word: str) -> list[str]:
    """The word and, of a number, other ways to write it: -1 is also -1.0 and -1,00; -99.9 is -99,90.

    Three decimals are taken as they are written, since 9.000 may be nine thousand.
    """
    found = re.fullmatch(r"([+-]?\d+)(?:[.,](\d|\d\d|\d{4,}))?", word)
    if found is None:
        return [word]
    whole, decimals = found[1], (found[2] or "").rstrip("0")
    ends = [decimals, f"{decimals}0", f"{decimals}00"] if decimals else ["0", "00"]
    forms = [f"{whole}{sign}{end}" for sign in ".," for end in ends if len(end) != 3]
    return list(dict.fromkeys([word, *([] if decimals else [whole]), *forms]))


@dataclass(frozen=True)
class ColumnSummary:
    """What the rows seen so far leave possible."""

    possible: tuple[Spelling, ...]
    n_values: int = 0
    padded: bool = False  # some values have blanks around them,
    oddly: bool = False  # and others than the space and the tab
    signs: bool = False  # a plus sign is a value
    gaps: frozenset[str] = frozenset()  # missing, with blanks around the word, or a dash
    zero_byte: bool = False  # in a text: nothing else that holds one is accepted

    @classmethod
    def of(cls, strings: pa.Array, offered: tuple[Spelling, ...], missing: MissingWords) -> Self:
        n_values = len(strings) - strings.null_count
        if n_values == 0:
            return cls(offered)
        possible = _possible(strings, offered)
        # Numbers, dates and booleans that parse as they stand have no blanks around them.
        if possible and possible != _TEXT:
            return cls(possible, n_values)
        distinct = _distinct(strings)
        signs = any_true(pc.equal(distinct, "+"))
        zero_byte = any_true(pc.match_substring(distinct, "\0"))
        if not any_true(missing.among(distinct)) and not any_true(
            pc.not_equal(pc.utf8_trim_whitespace(distinct), distinct)
        ):
            return cls(possible, n_values, signs=signs, zero_byte=zero_byte)
        tidy = missing.tidied(strings)
        gaps = pc.unique(strings.filter(pc.and_(pc.is_null(tidy), pc.is_valid(strings)))).to_pylist()
        return cls(
            offered if tidy.null_count == len(tidy) else _possible(tidy, offered),
            len(tidy) - tidy.null_count,
            padded=any_true(pc.not_equal(tidy, strings)),
            oddly=any_true(pc.not_equal(tidy, pc.utf8_trim(strings, " \t"))),
            signs=signs,
            gaps=frozenset(gaps),
            zero_byte=zero_byte,
        )

    def merge(self, other: Self) -> Self:
        theirs = set(other.possible)
        return type(self)(
            tuple(spelling for spelling in self.possible if spelling in theirs),
            self.n_values + other.n_values,
            self.padded or other.padded,
            self.oddly or other.oddly,
            self.signs or other.signs,
            self.gaps | other.gaps,
            self.zero_byte or other.zero_byte,
        )


def _possible(strings: pa.Array, offered: tuple[Spelling, ...]) -> tuple[Spelling, ...]:
    first = strings[pc.index(pc.is_valid(strings), pa.scalar(True)).as_py()].as_py()
    # Most of what does not fit fails at the first rows already.
    parts = [strings.slice(0, _SOME), strings] if len(strings) > _SOME else [strings]
    found: list[Spelling] = []
    for spelling in offered:
        if spelling.may_be(first) and (
            any(spelling.includes(one) for one in found) or all(map(spelling.accepts, parts))
        ):
            found.append(spelling)
    return tuple(found)


def _distinct(strings: pa.Array) -> pa.Array:
    """Each value once, where many are alike: quicker to look at. Else all of them, as they are."""
    some = strings.slice(0, _SOME)
    return pc.unique(strings) if 4 * len(pc.unique(some)) <= len(some) else strings


def offered_to(name: str, options: ReadingOptions) -> tuple[Spelling, ...]:
    """The spellings that a column may have, by what the user or another table says of it."""
    if name not in options.kinds and name not in options.expected:
        return ANY
    kind = options.kinds.get(name) or options.expected[name].partition(":")[0]
    said = _written_as(kind)
    of_kind = _OF_KIND.get(kind, _TEXT) if said is None else (said,)
    # The expected one may be a form of the user's that is in no list.
    expected = _expected_of(name, options)
    return of_kind if expected is None else tuple(dict.fromkeys((expected, *of_kind)))


def _expected_of(name: str, options: ReadingOptions) -> Spelling | None:
    """How the values of a column were written in another table, unless the user says otherwise."""
    kind = options.expected.get(name, "")
    word = kind.partition(":")[0]
    if options.kinds.get(name, word) != word:
        return None
    written = _written_as(kind)
    if isinstance(written, NumberSpelling) and options.decimal not in (None, written.decimal):
        return None
    return written


def _written_as(kind: str) -> Spelling | None:
    """The spelling that a kind names by an example or a form; None if it names no more than a kind."""
    word, more, form = kind.partition(":")
    if not more or word == "category":
        return None
    if kind in _BY_NOTATION:
        return _BY_NOTATION[kind]
    if word == "date":
        return Moment(form)
    raise ValueError(f"{kind!r} shows no way to write numbers. One is number:1.234,5.")


def refusal(name: str, value: str, options: ReadingOptions) -> str:
    """That a value is not of the kind that its column is said to be of, and the way out."""
    kind = options.kinds.get(name) or options.expected[name]
    word, _, form = kind.partition(":")
    as_what = f"a {word} of the form {form}" if form and name in options.kinds else f"a {word}"
    short = value if len(value) <= 40 else value[:37] + "..."
    return (
        f"column {name!r}: {short!r} is not {as_what}. Mend or blank that cell, or use "
        f"--kind {name}=category."
    )


def choose(
    summaries: Mapping[str, ColumnSummary], options: ReadingOptions, *, commas_separate: bool
) -> tuple[dict[str, Spelling], list[Guess]]:
    """Of what is possible, the likeliest; columns help one another where several are.

    A column in which only a decimal comma (or only a day before the month) is possible decides for
    those in which both are. Without such a column, 1.234 is between one and two; so is 1,234, unless
    commas separate the cells; and days come first.
    """
    decimal = options.decimal or _decimal_of(summaries.values())
    month_first = _month_is_first(summaries.values())

    def unlikely(spelling: Spelling) -> bool:
        if isinstance(spelling, NumberSpelling):
            if decimal is not None:
                return spelling.decimal != decimal
            return commas_separate and spelling.decimal == "," and spelling.grouping is None
        return isinstance(spelling, Moment) and spelling.month_first != month_first

    chosen: dict[str, Spelling] = {}
    guesses: list[Guess] = []
    for name, summary in summaries.items():
        fixed = name in options.kinds or name in options.expected
        likeliest = summary.possible[0]
        if summary.n_values == 0 and not summary.signs:  # where dashes are values they are not counted
            chosen[name] = Nothing(likeliest.type if fixed else pa.null())
            continue
        expected = _expected_of(name, options)
        if expected is not None and expected in summary.possible:
            chosen[name] = expected
        else:
            # min keeps the order of the spellings among equals: the plainest first.
            alike = [one for one in summary.possible if one.type == likeliest.type]
            chosen[name] = min(alike, key=unlikely)
        guesses += _remarks(name, chosen[name], summary.possible, options)
    signs = {one.decimal for one in chosen.values() if isinstance(one, NumberSpelling)} - {None}
    if signs and options.decimal is None:
        words = " and ".join(repr(sign) for sign in sorted(map(str, signs)))
        guesses.insert(0, Guess(f"decimal {words}", "--decimal"))
    return chosen, guesses


def _decimal_of(summaries: Iterable[ColumnSummary]) -> str | None:
    """That of most columns in which only one sign is possible."""
    votes: list[str | None] = []
    for summary in summaries:
        signs = {one.decimal for one in summary.possible if isinstance(one, NumberSpelling)}
        if summary.n_values and len(signs) == 1:
            votes += signs
    points, commas = votes.count("."), votes.count(",")
    return None if points == commas else "." if points > commas else ","


def _month_is_first(summaries: Iterable[ColumnSummary]) -> bool:
    votes = 0
    for summary in summaries:
        orders = {
            one.form[:2] for one in summary.possible if isinstance(one, Moment) and "%m" in one.form
        }
        if summary.n_values and orders in ({"%d"}, {"%m"}):
            votes += 1 if orders == {"%m"} else -1
    return votes > 0


def _remarks(
    name: str, chosen: Spelling, possible: tuple[Spelling, ...], options: ReadingOptions
) -> list[Guess]:
    fixed = name in options.kinds or name in options.expected
    as_text = None if fixed else f"--kind {name}=category"
    found = []
    if isinstance(chosen, CodeSpelling) and not fixed:
        found.append(Guess(f"{name} kept as text: codes, not numbers", f"--kind {name}=number"))
    if isinstance(chosen, NumberSpelling) and chosen.decimal is not None:
        if options.decimal not in (None, chosen.decimal):
            sign = f"{chosen.decimal!r} before decimals, since {options.decimal!r} does not fit"
            found.append(Guess(f"{name} with {sign}", as_text))
        if chosen.grouping is not None:
            between = "blank" if chosen.grouping == " " else repr(chosen.grouping)
            found.append(Guess(f"{name} with {between} between thousands", as_text))
        if chosen.symbol is not None:
            found.append(Guess(f"{name} without its {chosen.symbol!r}", as_text))
    if isinstance(chosen, Moment):
        others = [one for one in possible if isinstance(one, Moment) and one != chosen]
        if others:
            order = "month" if chosen.month_first else "day"
            other = None if fixed else f"--kind {name}=date:{others[0].form}"
            found.append(Guess(f"{name} with the {order} first", other))
    return found
