"""One command: enter sets and methods, play what is not yet played, write the standings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from twinviews._system.cache_folder import default_cache
from twinviews._system.whole_files import replace_file
from twinviews_experiments.contest.competing_methods import PEERS, PEERS_BY_NAME, Peer
from twinviews_experiments.contest.contest_sets import choose_contest_sets
from twinviews_experiments.contest.one_round import LABELS, REPETITIONS
from twinviews_experiments.contest.own_table import (
    UserTable,
    chosen_repetitions,
    listed,
    user_set,
)
from twinviews_experiments.contest.play_rounds import (
    STORE_NAME,
    Contest,
    Entered,
    Rounds,
    run,
)
from twinviews_experiments.contest.standings import Standings, standings_of, write_means
from twinviews_experiments.contest.standings_figures import write_figures
from twinviews_experiments.contest.standings_tables import all_tables
from twinviews_experiments.datasets.downloads import Files
from twinviews_experiments.worker_processes import default_jobs


def compare(
    *,
    table: UserTable | None,
    data: Path | None,
    output: Path,
    names: Sequence[str],
    half: str | None,
    methods: Sequence[str],
    labels: Sequence[int] | None,
    repetitions: int | None,
    online: bool,
    jobs: int | None,
    say: Callable[[str], None],
) -> None:
    """``labels`` and ``repetitions`` that are None suit the user's table, or are the contest's own."""
    unknown = [name for name in methods if name not in PEERS_BY_NAME]
    if unknown:
        raise ValueError(
            f"There is no method {unknown[0]!r}. The methods are {', '.join(PEERS_BY_NAME)}."
        )
    files = Files(data, default_cache(), online)
    sets = choose_contest_sets(names, half) if table is None else [user_set(*table)]
    if table is None:
        counts = dict.fromkeys(labels or LABELS, repetitions or REPETITIONS)
    else:
        counts, words = chosen_repetitions(
            sets[0].read(files), table, sets[0].task, labels, repetitions
        )
        say(words)
    contest = Contest(
        sets=sets,
        table=table,
        files=files,
        methods=methods or [peer.name for peer in PEERS],
        repetitions=counts,
        jobs=jobs or default_jobs(),
    )
    with Rounds(output / STORE_NAME) as rounds:
        entered = run(contest, rounds, say)
        if not any(entered.labels.values()):
            raise ValueError(_why_no_round(contest, entered))
        standings = standings_of(contest, entered, rounds)
    page = write_standings(standings, output)
    say(f"The standings are in {page}.")


def _why_no_round(contest: Contest, entered: Entered) -> str:
    asked = list(contest.repetitions)
    if not entered.room:
        return "None of the sets could be read. The lines above say what is missing."
    fewest = min(fewest for fewest, _ in entered.room.values())
    most = max(most for _, most in entered.room.values())
    if any(fewest <= n <= most for n in asked):
        about = [f"{name} ({_for_whom(PEERS_BY_NAME[name])})" for name in contest.methods]
        return (
            f"No method takes part with n = {listed(asked)} on these sets: {', '.join(about)}. "
            f"Use other --methods or --labels."
        )
    return (
        f"No set has room for n = {listed(asked)}: every class must have a label, three in ten labels "
        f"are kept for testing, and as many rows as are used must be left unlabeled. Use --labels from "
        f"{fewest:,} to {most:,}."
    )


def _for_whom(peer: Peer) -> str:
    if not peer.present:
        return f"missing: {peer.how_to_get}"
    most = "" if peer.most_labels is None else f", up to {peer.most_labels:,} labels"
    return " and ".join(peer.tasks) + most


def write_standings(standings: Standings, output: Path) -> Path:
    """Every table as CSV, every figure, and all of them as one Markdown file."""
    tables = all_tables(standings)
    (output / "tables").mkdir(parents=True, exist_ok=True)
    for table in tables:
        table.write_csv(output / "tables")
    write_means(standings, output / "means.csv")
    figures = write_figures(standings, output / "figures")
    page = output / "standings.md"
    shown = [f"![{words}](figures/{name}.svg)\n" for name, words in figures.items()]
    parts = [_introduction(standings), *shown, *(table.to_markdown() for table in tables)]
    replace_file(page, "\n".join(parts).encode())
    return page


def _introduction(standings: Standings) -> str:
    n_sets = len(standings.sets)
    lines = [
        "# The contest",
        "",
        f"{n_sets} {'set' if n_sets == 1 else 'sets'}, {_draws_each(standings)} each: test rows "
        f"that no method has seen, n labels that all methods share, and the rest of the rows without "
        f"labels. Every method chooses its numbers with those n labels alone. "
        f"{standings.seconds_worked / 60:.1f} minutes of work.",
        "",
        "| method | what it is |",
        "|---|---|",
        *(f"| {name} | {_about(PEERS_BY_NAME[name])} |" for name in standings.methods),
        "",
    ]
    if standings.missing:
        lines += [f"{name} is missing. {how}  " for name, how in standings.missing.items()]
        lines.append("")
    for (name, n, method), failed in standings.failures.items():
        lines.append(
            f"{method} failed on {name} with n = {n} in {len(failed)} of {standings.draws[n]} "
            f"draws, which count as its best constant. The first failure: {failed[0]}  "
        )
    return "\n".join([*lines, ""])


def _draws_each(standings: Standings) -> str:
    counts = sorted({standings.draws[n] for some in standings.labels.values() for n in some})
    if counts == [1]:
        return "1 draw"
    return f"{counts[0]} draws" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} draws"


def _about(peer: Peer) -> str:
    most = "" if peer.most_labels is None else f"; up to {peer.most_labels:,} labels"
    return f"{peer.words}{most}"
