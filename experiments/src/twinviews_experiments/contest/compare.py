"""One command: enter sets and methods, play what is not yet played, write the standings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from twinviews._system.cache_folder import default_cache
from twinviews._system.whole_files import replace_file
from twinviews_experiments.contest.competing_methods import PEERS, PEERS_BY_NAME
from twinviews_experiments.contest.contest_sets import choose_contest_sets, user_set
from twinviews_experiments.contest.play_rounds import STORE_NAME, Contest, Rounds, UserTable, run
from twinviews_experiments.contest.standings import Standings, all_tables, standings_of, write_means
from twinviews_experiments.contest.standings_figures import write_figures
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
    labels: Sequence[int],
    repetitions: int,
    online: bool,
    jobs: int | None,
    say: Callable[[str], None],
) -> None:
    unknown = [name for name in methods if name not in PEERS_BY_NAME]
    if unknown:
        raise ValueError(
            f"There is no method {unknown[0]!r}. The methods are {', '.join(PEERS_BY_NAME)}."
        )
    contest = Contest(
        sets=choose_contest_sets(names, half) if table is None else [user_set(*table)],
        table=table,
        files=Files(data, default_cache(), online),
        methods=methods or [peer.name for peer in PEERS],
        labels=labels,
        repetitions=repetitions,
        jobs=jobs or default_jobs(),
    )
    if table is not None:
        say(f"{table.path}: {contest.sets[0].task} of {table.target!r}.")
    with Rounds(output / STORE_NAME) as rounds:
        entered = run(contest, rounds, say)
        if not any(entered.labels.values()):
            raise ValueError(
                f"No set has labels enough for n = {min(labels)}: a third of them are kept for "
                f"testing, and as many as are used must be left unlabeled. Use smaller --labels."
            )
        standings = standings_of(contest, entered, rounds)
    page = write_standings(standings, output)
    say(f"The standings are in {page}.")


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
        f"{n_sets} {'set' if n_sets == 1 else 'sets'}, {standings.repetitions} draws each: test rows "
        f"that no method has seen, n labels that all methods share, and the rest of the rows without "
        f"labels. Every method chooses its numbers with those n labels alone. "
        f"{standings.seconds_worked / 60:.1f} minutes of work.",
        "",
        "| method | what it is |",
        "|---|---|",
        *(f"| {name} | {PEERS_BY_NAME[name].words} |" for name in standings.methods),
        "",
    ]
    if standings.missing:
        lines += [f"{name} is missing. {how}  " for name, how in standings.missing.items()]
        lines.append("")
    for (name, n, method), failed in standings.failures.items():
        lines.append(
            f"{method} failed on {name} with n = {n} in {len(failed)} of {standings.repetitions} "
            f"draws, which count as its best constant. The first failure: {failed[0]}  "
        )
    return "\n".join([*lines, ""])
