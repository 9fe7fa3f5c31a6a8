"""What the numbers say, in plain words: every sentence is made from them."""

from __future__ import annotations

from twinviews_experiments.replication.comparison import (
    Reduction,
    Results,
    difference_in_standard_errors,
    no_worse_than_printed,
    our_reduction,
    sets_won,
)
from twinviews_experiments.replication.paper_methods import CORRELATION_RIDGE
from twinviews_experiments.replication.paper_tables import AGAINST_SSSL
from twinviews_experiments.replication.published_numbers import (
    N_SETS,
    REPETITIONS,
    TABLE_LABELS,
    published_averages,
)

_SSSL = AGAINST_SSSL.baselines


def scope(results: Results) -> list[str]:
    """What was run."""
    said = [
        f"{len(results.sets)} of the paper's {N_SETS} sets, {results.repetitions} repetitions each "
        f"(the paper: {REPETITIONS}), {results.seconds_worked / 60:.1f} minutes of work."
    ]
    if results.quick:
        said.append(
            "This is a quick run, with sigma and ridge taken from the full run. Means of so few "
            "repetitions say little, and spreads less."
        )
    if results.missing:
        said.append(f"Missing: {', '.join(results.missing)}. The table of sets says how to get them.")
    return said


def findings(results: Results) -> list[str]:
    """What reproduces and what does not."""
    ours = {n: our_reduction(results, "XNV", _SSSL, n) for n in TABLE_LABELS}
    literal = {n: our_reduction(results, "XNV literal", _SSSL, n) for n in TABLE_LABELS}
    wins = {n: sets_won(results, "XNV", ["XKS"], n) for n in TABLE_LABELS}
    wins_literal = {n: sets_won(results, "XNV literal", ["XKS literal"], n) for n in TABLE_LABELS}
    total = len(results.sets)
    said = [
        f"Algorithm 1 as printed, with no ridge inside CCA. Its error, mean over the sets, against "
        f"that of the better SSSL: {_over_n(literal, 'error')}. The paper prints "
        f"{_over_n_paper('error')}.",
        f"With a ridge of {CORRELATION_RIDGE:g} inside CCA, the same comparison: "
        f"{_over_n(ours, 'error')}. Its spread over the repetitions: {_over_n(ours, 'spread')}. The "
        f"paper prints {_over_n_paper('spread')}.",
        f"XNV against XKS, both with the ridge: XNV has the lower error on {_range(wins)} of {total} "
        f"sets, depending on n. Both as printed: on {_range(wins_literal)}. The paper: on 15 to 16 of "
        f"{N_SETS}.",
        _krr_sentence(results),
        _printed_sentence(results),
    ]
    return [sentence for sentence in said if sentence]


def _krr_sentence(results: Results) -> str:
    """The paper's largest claim: 48 to 63 percent below kernel ridge regression."""
    printed = published_averages()["XNV against KRR", "error"]
    ours = [our_reduction(results, "XNV", ["KRR"], n).error for n in TABLE_LABELS]
    return (
        f"Against kernel ridge regression, tuned on the same grid with the same folds, XNV's error is "
        f"{_change(max(ours))} to {_change(min(ours))}, depending on n. The paper prints "
        f"{min(printed.values()):.0f}% to {max(printed.values()):.0f}% lower."
    )


def _printed_sentence(results: Results) -> str:
    whole = [one for one in results.sets if one.whole and one.comparable]
    if not whole:
        return ""
    parts = []
    for n in (200, 400):
        within = no_worse_than_printed(results, "XNV", n)
        better = 0
        for one in whole:
            paper = results.paper_cell(one, "XNV", n)
            if paper is not None:
                apart = difference_in_standard_errors(results.cell(one, "XNV", n), paper)
                better += apart < -2
        parts.append(
            f"n = {n}: at most two printed deviations above the paper's value on {len(within)} of "
            f"{len(whole)} complete sets, and more than two standard errors below it on {better}"
        )
    return "XNV with the ridge, set by set. " + "; ".join(parts) + "."


def _over_n(reductions: dict[int, Reduction], what: str) -> str:
    return ", ".join(f"{_change(getattr(one, what))} at n = {n}" for n, one in reductions.items())


def _over_n_paper(what: str) -> str:
    printed = published_averages()["XNV against SSSL", what]
    return ", ".join(_change(printed[n]) for n in TABLE_LABELS)


def _change(percent: float) -> str:
    amount = abs(percent)
    number = f"{amount:.0f}%" if amount < 1000 else f"{amount / 100:,.0f} times"
    if number == "0%":
        return "the same"
    return f"{number} {'lower' if percent > 0 else 'higher'}"


def _range(counts: dict[int, int]) -> str:
    low, high = min(counts.values()), max(counts.values())
    return str(low) if low == high else f"{low} to {high}"
