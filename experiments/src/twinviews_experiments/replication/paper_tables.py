"""One function for each table of the paper, ours and theirs side by side, as text to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from twinviews_experiments.csv_and_markdown import TextTable
from twinviews_experiments.datasets.paper_sets import PAPER_SETS
from twinviews_experiments.replication.comparison import (
    Cell,
    Reduction,
    Results,
    difference_in_standard_errors,
    our_reduction,
    paper_reduction,
    sets_won,
)
from twinviews_experiments.replication.paper_methods import METHODS, METHODS_BY_NAME
from twinviews_experiments.replication.published_numbers import (
    N_SETS,
    TABLE_LABELS,
    Published,
    published_averages,
    published_seconds,
)
from twinviews_experiments.replication.runtimes import RUNTIME_METHODS, RUNTIME_SETS

NYSTROEM = ("SSSL_M", "SSSL_2M", "XNV", "XNV literal")
FOURIER = ("RFF_M", "RFF_2M", "XKS", "XKS literal")
MISSING = "–"


@dataclass(frozen=True)
class Comparison:
    """A table of averages of the paper: a method against the better of some others."""

    method: str
    baselines: tuple[str, ...]
    printed: str | None  # the table's name in the published numbers

    @property
    def title(self) -> str:
        better = " and ".join(self.baselines)
        return f"{self.method} against {'the better of ' if len(self.baselines) > 1 else ''}{better}"


AGAINST_SSSL = Comparison("XNV", ("SSSL_M", "SSSL_2M"), "XNV against SSSL")
COMPARISONS = (
    AGAINST_SSSL,
    Comparison("XNV literal", ("SSSL_M", "SSSL_2M"), "XNV against SSSL"),
    Comparison("XNV", ("XKS",), "XNV against XKS"),
    Comparison("XNV literal", ("XKS literal",), "XNV against XKS"),
    Comparison("XKS", ("RFF_M", "RFF_2M"), "XKS against RFF"),
    Comparison("XKS literal", ("RFF_M", "RFF_2M"), "XKS against RFF"),
    Comparison("SSSL_M", ("KRR",), "SSSL_M against KRR"),
    Comparison("XNV", ("KRR",), "XNV against KRR"),
    Comparison("XNV literal", ("KRR",), "XNV against KRR"),
)


def all_tables(results: Results) -> list[TextTable]:
    return [
        sets_table(results),
        averages_table(results),
        wins_table(results),
        *(errors_table(results, "XNV", NYSTROEM, n) for n in TABLE_LABELS),
        *(errors_table(results, "XKS", FOURIER, n) for n in TABLE_LABELS),
        runtimes_table(results),
        chosen_table(results),
    ]


def sets_table(results: Results) -> TextTable:
    """Table 1 of the paper."""
    rows = []
    here = {one.name for one in results.sets}
    for one in PAPER_SETS:
        if one.name not in here and one.name not in results.missing:
            continue  # not asked for
        paper = f"{one.paper_rows:,} x {one.paper_columns:,}"
        if one.name in here:
            train, columns, test = results.rows[one.name]
            ours = f"{train:,} x {columns:,}"
            said = "; ".join(part for part in (one.prepared, one.differs) if part)
            rows.append((str(one.number), one.name, one.task, paper, ours, f"{test:,}", said))
        else:
            how = f"missing. {results.missing[one.name]}"
            rows.append((str(one.number), one.name, one.task, paper, MISSING, MISSING, how))
    return TextTable(
        "sets",
        "The sets",
        (
            "set",
            "name",
            "task",
            "paper N x D",
            "training rows x columns",
            "test rows",
            "how prepared, what differs",
        ),
        tuple(rows),
    )


def averages_table(results: Results) -> TextTable:
    """The paper's tables of average reductions, and SI.2 on KRR."""
    printed = published_averages()
    rows = []
    for comparison in COMPARISONS:
        method, baselines = comparison.method, comparison.baselines
        for what in ("error", "spread"):
            take: Callable[[Reduction], float] = (
                (lambda r: r.error) if what == "error" else (lambda r: r.spread)
            )
            ours = [take(our_reduction(results, method, baselines, n)) for n in TABLE_LABELS]
            rows.append((comparison.title, what, "ours", *map(_percent, ours)))
            published = printed.get((comparison.printed or "", what))
            if published is not None:
                rows.append(("", "", "paper, 18 sets", *(_percent(published[n]) for n in TABLE_LABELS)))
            same = [
                paper_reduction(
                    results.sets,
                    method.removesuffix(" literal"),
                    [name.removesuffix(" literal") for name in baselines],
                    n,
                )
                for n in TABLE_LABELS
            ]
            known = [take(one) for one in same if one is not None]
            if len(known) == len(TABLE_LABELS):
                rows.append(("", "", "paper, these sets", *map(_percent, known)))
    return TextTable(
        "averages",
        "How much lower, mean over the sets",
        ("", "of", "", *(f"n = {n}" for n in TABLE_LABELS)),
        tuple(rows),
        "Percent by which the first method's error (or its standard deviation over the repetitions) is "
        "below that of the other, or of the better of two on each set; negative is above. "
        "“Paper, these sets” is computed from the paper's printed errors on the sets that are "
        "compared here.",
    )


def wins_table(results: Results) -> TextTable:
    """Number of sets on which XNV beats XKS, and the others."""
    printed = published_averages()["sets on which XNV beats XKS", "sets"]
    total = len(results.sets)
    rows: list[tuple[str, ...]] = []
    for method, rivals in (
        ("XNV", ("XKS",)),
        ("XNV literal", ("XKS literal",)),
        ("XNV", ("XKS literal",)),
        ("XNV", ("SSSL_M", "SSSL_2M")),
        ("XNV literal", ("SSSL_M", "SSSL_2M")),
        ("XNV", ("KRR",)),
    ):
        wins = [sets_won(results, method, rivals, n) for n in TABLE_LABELS]
        rows.append((f"{method} beats {' and '.join(rivals)}", *(f"{won} of {total}" for won in wins)))
    rows.append(("paper: XNV beats XKS", *(f"{printed[n]:.0f} of {N_SETS}" for n in TABLE_LABELS)))
    return TextTable(
        "wins", "Sets won", ("mean error lower", *(f"n = {n}" for n in TABLE_LABELS)), tuple(rows)
    )


def errors_table(results: Results, of: str, methods: Sequence[str], n: int) -> TextTable:
    """The complete results of the supplement for one n."""
    rows = []
    for one in results.sets:
        row = [str(one.number), one.name]
        for method in methods:
            ours = results.cell(one, method, n)
            row.append(_mean_and_deviation(ours))
            if not method.endswith("literal"):
                paper = results.paper_cell(one, method, n)
                row.append(MISSING if paper is None else _mean_and_deviation(paper))
        ours, paper = results.cell(one, of, n), results.paper_cell(one, of, n)
        if paper is None:
            row.append(MISSING)
        else:
            row.append(f"{difference_in_standard_errors(ours, paper):+.1f}")
        rows.append(tuple(row))
    columns = ["set", "name"]
    for method in methods:
        columns.append(method)
        if not method.endswith("literal"):
            columns.append("paper")
    return TextTable(
        f"errors_{of.lower()}_{n}",
        f"{of}: errors with n = {n} labels",
        (*columns, f"{of} − paper, in standard errors"),
        tuple(rows),
        "Mean over the repetitions (standard deviation). Normalised mean squared error for regression, "
        "error rate for classification.",
    )


def runtimes_table(results: Results) -> TextTable:
    printed = published_seconds()
    rows = []
    for method in RUNTIME_METHODS:
        row = [method]
        for name in RUNTIME_SETS:
            ours, paper = results.seconds.get((method, name)), printed[method, name]
            row += [_seconds(ours), _seconds(paper)]
            row.append(MISSING if ours is None or paper is None else f"{paper / ours:,.0f} x")
        rows.append(tuple(row))
    columns = [f"{name}{part}" for name in RUNTIME_SETS for part in ("", ", paper", ", faster")]
    return TextTable(
        "runtimes",
        "Seconds for one fit",
        ("method", *columns),
        tuple(rows),
        "One fit with numbers given, 500 labels, on tables of the paper's sizes (sylva's rows are "
        "filled up to 72,626 with noisy copies). The paper's were measured in Matlab on a Core i5 in "
        "2013: the columns say how long one waits, not which program is better.",
    )


def chosen_table(results: Results) -> TextTable:
    rows = []
    for one in results.sets:
        row = [str(one.number), one.name]
        for method in METHODS:
            sigma, ridge, _ = results.chosen[one.name, method.name]
            row.append(f"{sigma:.3g}, {ridge:.0e}")
        rows.append(tuple(row))
    return TextTable(
        "chosen",
        "Chosen sigma and ridge",
        ("set", "name", *(method.name for method in METHODS)),
        tuple(rows),
        "By 5-fold cross-validation on 1,000 labels, on one grid for all methods.",
    )


def methods_table() -> TextTable:
    rows = tuple((name, METHODS_BY_NAME[name].words) for name in METHODS_BY_NAME)
    return TextTable("methods", "The methods", ("name", "what it is"), rows)


def _mean_and_deviation(cell: Cell | Published) -> str:
    return f"{cell.error:.3f} ({cell.deviation:.3f})"


def _percent(value: float) -> str:
    return f"{value:.0f}%" if abs(value) < 1000 else f"{value:.1e}%"


def _seconds(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:.3f}" if value < 1 else f"{value:,.1f}"
