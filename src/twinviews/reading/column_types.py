"""What each column holds, from all of its rows: blocks become summaries, which merge and decide."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from twinviews.reading.date_spellings import IsoMoment, Moment
from twinviews.reading.findings import Guess
from twinviews.reading.number_spellings import NumberSpelling, WholeSpelling
from twinviews.reading.options import ReadingOptions
from twinviews.reading.spelling_base import Spelling, any_true
from twinviews.reading.spellings import ANY, CodeSpelling, Nothing, TextSpelling, of_kind, written_as
from twinviews.reading.vocabulary import DASH, MISSING, USUAL

# Values that tell whether a column has many alike.
_SOME = 400


@dataclass(frozen=True)
class MissingWords:
    """Which words mean missing; a dash does too, unless the user names words of their own."""

    words: tuple[str, ...]
    dash: bool

    @classmethod
    def of(cls, options: ReadingOptions) -> Self:
        if options.missing in (None, USUAL):
            return cls(MISSING, dash=True)
        return cls(tuple(dict.fromkeys(("", *(options.missing or ())))), dash=False)

    def tidied(self, strings: pa.Array) -> pa.Array:
        """Without blanks around the values, null where a word means missing."""
        bare = pc.utf8_trim_whitespace(strings)
        return pc.if_else(self.among(bare), pa.scalar(None, pa.string()), bare)

    def among(self, strings: pa.Array) -> pa.Array:
        """Whether each is such a word."""
        return pc.is_in(strings, pa.array([*self.words, *([DASH] if self.dash else [])]))


@dataclass(frozen=True)
class ColumnSummary:
    """What the rows seen so far leave possible."""

    possible: tuple[Spelling, ...]
    n_values: int = 0
    padded: bool = False  # some values have blanks around them,
    oddly: bool = False  # and others than the space and the tab
    signs: bool = False  # a plus sign is a value
    gaps: frozenset[str] = frozenset()  # missing, with blanks around the word, or a dash

    @classmethod
    def of(cls, strings: pa.Array, offered: tuple[Spelling, ...], missing: MissingWords) -> Self:
        if strings.null_count == len(strings):
            return cls(offered)
        possible = _possible(strings, offered)
        # Numbers, dates and booleans that parse as they stand have no blanks around them.
        if not all(isinstance(spelling, TextSpelling) for spelling in possible):
            return cls(possible, len(strings) - strings.null_count)
        distinct = distinct_values(strings)
        signs = any_true(pc.equal(distinct, "+"))
        if not _is_untidy(distinct, missing):
            return cls(possible, len(strings) - strings.null_count, signs=signs)
        tidy = missing.tidied(strings)
        gaps = pc.unique(strings.filter(pc.and_(pc.is_null(tidy), pc.is_valid(strings)))).to_pylist()
        possible = offered if tidy.null_count == len(tidy) else _possible(tidy, offered)
        return cls(
            possible,
            len(tidy) - tidy.null_count,
            padded=any_true(pc.not_equal(tidy, strings)),
            oddly=any_true(pc.not_equal(tidy, pc.utf8_trim(strings, " \t"))),
            signs=signs,
            gaps=frozenset(gaps),
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
        )


def _possible(strings: pa.Array, offered: tuple[Spelling, ...]) -> tuple[Spelling, ...]:
    first = strings[pc.index(pc.is_valid(strings), pa.scalar(True)).as_py()].as_py()
    found: list[Spelling] = []
    for spelling in offered:
        if spelling.may_be(first) and (
            any(spelling.includes(one) for one in found) or spelling.accepts(strings)
        ):
            found.append(spelling)
    return tuple(found)


def distinct_values(strings: pa.Array) -> pa.Array:
    """Each value once, where many are alike: quicker to look at. Else all of them, as they are."""
    some = strings.slice(0, _SOME)
    return pc.unique(strings) if 4 * len(pc.unique(some)) <= len(some) else strings


def _is_untidy(strings: pa.Array, missing: MissingWords) -> bool:
    """Whether a value has a blank at an end, or is a word for a missing one."""
    return any_true(missing.among(strings)) or any_true(
        pc.not_equal(pc.utf8_trim_whitespace(strings), strings)
    )


def offered_to(name: str, options: ReadingOptions) -> tuple[Spelling, ...]:
    """The spellings that a column may have, by what the user or another table says of it."""
    if name not in options.kinds and name not in options.expected:
        return ANY
    kind = options.kinds.get(name) or options.expected[name].partition(":")[0]
    expected = expected_of(name, options)
    # The expected one may be a form of the user's that is in no list.
    return of_kind(kind) if expected is None else tuple(dict.fromkeys((expected, *of_kind(kind))))


def expected_of(name: str, options: ReadingOptions) -> Spelling | None:
    """How the values of a column were written in another table, unless the user says otherwise."""
    kind = options.expected.get(name, "")
    word = kind.partition(":")[0]
    if options.kinds.get(name, word) != word:
        return None
    written = written_as(kind)
    if isinstance(written, NumberSpelling) and options.decimal not in (None, written.decimal):
        return None
    return written


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


@dataclass(frozen=True)
class ColumnChoice:
    """The spelling of every column, and what there is to say about it."""

    spellings: dict[str, Spelling]
    guesses: tuple[Guess, ...]


def choose(
    summaries: Mapping[str, ColumnSummary], options: ReadingOptions, *, commas_separate: bool = False
) -> ColumnChoice:
    """Of what is possible, the likeliest; columns help one another where several are.

    A column in which only a decimal comma (or only a day before the month) is possible decides for
    those in which both are. Without such a column, 1.234 is between one and two; so is 1,234, unless
    commas separate the cells; and days come first.
    """
    decimal = options.decimal or _decimal_of(summaries.values())
    month_first = _month_is_first(summaries.values())
    chosen: dict[str, Spelling] = {}
    guesses: list[Guess] = []
    for name, summary in summaries.items():
        fixed = name in options.kinds or name in options.expected
        if summary.n_values == 0 and not summary.signs:  # where dashes are values they are not counted
            first = summary.possible[0] if fixed else Nothing()
            chosen[name] = Nothing(first.type)
            continue
        expected = expected_of(name, options)
        if expected is not None and expected in summary.possible:
            chosen[name] = expected
        else:
            chosen[name] = _likeliest(summary.possible, decimal, month_first, commas_separate)
        guesses += _remarks(name, chosen[name], summary.possible, options)
    signs = {one.decimal for one in chosen.values() if isinstance(one, NumberSpelling)}
    if signs and options.decimal is None:
        words = " and ".join(repr(sign) for sign in sorted(signs))
        guesses.insert(0, Guess(f"decimal {words}", "--decimal"))
    return ColumnChoice(chosen, tuple(guesses))


def _decimal_of(summaries: Iterable[ColumnSummary]) -> str | None:
    votes = {".": 0, ",": 0}
    for summary in summaries:
        if not summary.n_values or any(isinstance(one, WholeSpelling) for one in summary.possible):
            continue
        signs = {one.decimal for one in summary.possible if isinstance(one, NumberSpelling)}
        if len(signs) == 1:
            votes[signs.pop()] += 1
    if votes["."] == votes[","]:
        return None
    return max(votes, key=votes.__getitem__)


def _month_is_first(summaries: Iterable[ColumnSummary]) -> bool:
    votes = 0
    for summary in summaries:
        orders = {
            one.form[:2] for one in summary.possible if isinstance(one, Moment) and "%m" in one.form
        }
        if summary.n_values and orders in ({"%d"}, {"%m"}):
            votes += 1 if orders == {"%m"} else -1
    return votes > 0


def _likeliest(
    possible: tuple[Spelling, ...], decimal: str | None, month_first: bool, commas_separate: bool
) -> Spelling:
    def unlikely(spelling: Spelling) -> tuple[bool, ...]:
        if isinstance(spelling, NumberSpelling):
            comma_for_decimals = spelling.decimal == "," and spelling.grouping is None
            return (
                decimal is not None and spelling.decimal != decimal,
                decimal is None and comma_for_decimals and commas_separate,
            )
        if isinstance(spelling, Moment):
            return (spelling.month_first != month_first,)
        return ()

    # min keeps the order of the spellings among equals: the plainest first.
    same_kind = [one for one in possible if type(one) is type(possible[0])]
    return min(same_kind, key=unlikely)


def _remarks(
    name: str, chosen: Spelling, possible: tuple[Spelling, ...], options: ReadingOptions
) -> list[Guess]:
    fixed = name in options.kinds or name in options.expected
    as_text = None if fixed else f"--kind {name}=category"
    if isinstance(chosen, CodeSpelling) and not fixed:
        return [Guess(f"{name} kept as text: codes, not numbers", f"--kind {name}=number")]
    if isinstance(chosen, NumberSpelling):
        found = []
        if options.decimal not in (None, chosen.decimal):
            sign = f"{chosen.decimal!r} before decimals, since {options.decimal!r} does not fit"
            found.append(Guess(f"{name} with {sign}", as_text))
        if chosen.grouping is not None:
            between = "blank" if chosen.grouping == " " else repr(chosen.grouping)
            found.append(Guess(f"{name} with {between} between thousands", as_text))
        if chosen.symbol is not None:
            found.append(Guess(f"{name} without its {chosen.symbol!r}", as_text))
        return found
    if isinstance(chosen, IsoMoment | Moment):
        others = [one for one in possible if isinstance(one, Moment) and one != chosen]
        if isinstance(chosen, Moment) and others:
            order = "month" if chosen.month_first else "day"
            other = None if fixed else f"--kind {name}=date:{others[0].form}"
            return [Guess(f"{name} with the {order} first", other)]
    return []
