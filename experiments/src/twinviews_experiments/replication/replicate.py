"""One command: find the sets, run what is not yet run, write tables, figures and the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from twinviews._system.cache_folder import default_cache
from twinviews_experiments.datasets.downloads import Files
from twinviews_experiments.datasets.paper_sets import choose_sets
from twinviews_experiments.replication.comparison import results_of
from twinviews_experiments.replication.findings_text import findings, scope
from twinviews_experiments.replication.results_page import write_report
from twinviews_experiments.replication.run_protocol import Plan, open_store, run
from twinviews_experiments.worker_processes import default_jobs


def replicate(
    *,
    data: Path | None,
    output: Path,
    names: Sequence[str],
    repetitions: int,
    quick: bool,
    online: bool,
    jobs: int | None,
    say: Callable[[str], None],
) -> None:
    plan = Plan(
        sets=choose_sets(names),
        files=Files(data, default_cache(), online),
        repetitions=repetitions,
        jobs=jobs or default_jobs(),
        quick=quick,
    )
    if quick:
        say("A quick run: few repetitions, with the sigma and ridge of the full run.")
    with open_store(output) as store:
        found = run(plan, store, say)
        results = results_of(
            store,
            found.present,
            found.missing,
            found.rows,
            repetitions=repetitions,
            quick=quick,
        )
    page = write_report(results, output)
    for sentence in [*scope(results), *findings(results)]:
        say(sentence)
    say(f"The page is {page}; tables and figures are beside it.")
