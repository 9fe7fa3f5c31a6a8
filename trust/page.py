"""The page of what was tried and held: docs/trust.md, from the outcomes under build/trust.

    python trust/page.py

Every part is one file there: NAME.xml as pytest writes it for trust/test_NAME.py, coverage.json as
coverage writes it, with coverage.xml of the tests that it watched, mutants.json as trust/mutants.py and
matrix.json as trust/matrix.py do. A part that was not run is named so. The exit code is 1 where a law
failed or a bar was missed.
"""

import json
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
OUTCOMES = ROOT / "build" / "trust"
PAGE = ROOT / "docs" / "trust.md"
# Per cent of the lines and branches that tests must run, and of the mutants that they must notice.
LINES, BRANCHES, MUTANTS = 95, 90, 85
START, END = "<!-- from here on written by make trust -->\n", "<!-- to here -->\n"


@dataclass
class Part:
    """A section of the page, one line about it for the top, and what failed or fell short in it."""

    title: str
    lines: list[str]
    summary: str
    failures: int = 0
    seconds: float = 0.0


@dataclass
class Law:
    """One test function: what it says, what was tried, and how that went."""

    words: str = ""
    tried: Counter = field(default_factory=Counter)
    failures: int = 0
    skipped: int = 0
    seconds: float = 0.0


def laws_of(outcome: Path) -> dict[str, Law]:
    """By the name of the test, whatever its parameters."""
    laws: dict[str, Law] = {}
    for case in ElementTree.parse(outcome).iter("testcase"):
        law = laws.setdefault(case.get("name").split("[")[0], Law())
        law.seconds += float(case.get("time"))
        law.failures += any(case.find(kind) is not None for kind in ("failure", "error"))
        law.skipped += case.find("skipped") is not None
        for noted in case.iter("property"):
            if noted.get("name") == "law":
                law.words = noted.get("value")
            else:
                law.tried[noted.get("name")] += int(noted.get("value"))
    return laws


def laws_part(outcome: Path) -> Part:
    laws = laws_of(outcome)
    lines = ["| law | tried | failed | time |", "|---|---|---:|---:|"]
    for law in laws.values():
        tried = ", ".join(f"{times:,} {what}" for what, times in law.tried.items())
        tried = "skipped" if law.skipped else tried
        lines.append(f"| {law.words} | {tried} | {law.failures} | {duration(law.seconds)} |")
    all_tried: Counter = sum((law.tried for law in laws.values()), Counter())
    most = ", ".join(f"{times:,} {what}" for what, times in all_tried.most_common(3))
    return Part(
        title_of(outcome.stem),
        lines,
        f"{len(laws)} laws: {most}" if most else f"{len(laws)} laws",
        sum(law.failures for law in laws.values()),
        sum(law.seconds for law in laws.values()),
    )


def coverage_part(report: Path) -> Part:
    totals = json.loads(report.read_text())["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    suite = ElementTree.parse(report.with_suffix(".xml")).find("testsuite")
    failures = int(suite.get("failures")) + int(suite.get("errors"))
    tests = f"{int(suite.get('tests')):,} tests besides the laws above, {failures} failed"
    run = f"{lines:.1f}% of {totals['num_statements']:,} lines of `src` and {branches:.1f}% of"
    sentence = f"{tests}. They run {run} {totals['num_branches']:,} branches."
    return Part(
        "Coverage",
        [sentence],
        f"{lines:.1f}% of the lines, {branches:.1f}% of the branches",
        failures + (lines < LINES) + (branches < BRANCHES),
        float(suite.get("time")),
    )


def mutants_part(report: Path) -> Part:
    modules = json.loads(report.read_text())
    lines = ["Small changes to the mathematics, and whether a test notices.", ""]
    lines += ["| module | mutants | tried | noticed | share | time |", "|---|---:|---:|---:|---:|---:|"]
    totals = Counter()
    for name, found in modules.items():
        totals.update(found)
        lines.append(mutant_row(f"`{name}`", found))
    share = 100 * totals["noticed"] / totals["tried"]
    tried = f"{totals['tried']:,}"
    if totals["tried"] < totals["mutants"]:
        tried += f" drawn out of {totals['mutants']:,}"
    return Part(
        "Mutants",
        [*lines, mutant_row("all", totals)],
        f"{share:.1f}% of {tried} noticed",
        int(share < MUTANTS),
        totals["seconds"],
    )


def matrix_part(report: Path) -> Part:
    found = json.loads(report.read_text())
    lines = ["The core of the tests in an environment of each.", ""]
    lines += ["| set | versions | passed | failed | time |", "|---|---|---:|---:|---:|"]
    for name, ran in found["sets"].items():
        versions = ", ".join(f"{library} {version}" for library, version in ran["versions"].items())
        took = duration(ran["seconds"])
        lines.append(f"| {name} | {versions} | {ran['passed']:,} | {ran['failed']:,} | {took} |")
    apart, allowed = found["difference"], found["tolerance"]
    lines += [
        "",
        f"Predictions of the same seeded models differ by {apart:.0e}; {allowed:.0e} is allowed.",
    ]
    sets = found["sets"].values()
    return Part(
        "Oldest and newest libraries",
        lines,
        f"{sum(ran['passed'] for ran in sets):,} tests; predictions {apart:.0e} apart",
        sum(ran["failed"] for ran in sets) + (apart > allowed),
        sum(ran["seconds"] for ran in sets),
    )


def mutant_row(name: str, found: dict[str, float]) -> str:
    share = found["noticed"] / found["tried"]
    numbers = f"{found['mutants']:,} | {found['tried']:,} | {found['noticed']:,} | {share:.1%}"
    return f"| {name} | {numbers} | {duration(found['seconds'])} |"


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def parts() -> list[Part]:
    """Every section, in the order of the page."""
    tests = sorted(ROOT.glob("trust/test_*.py"))
    known = [(OUTCOMES / f"{test.stem.removeprefix('test_')}.xml", laws_part) for test in tests]
    known += [
        (OUTCOMES / "coverage.json", coverage_part),
        (OUTCOMES / "mutants.json", mutants_part),
        (OUTCOMES / "matrix.json", matrix_part),
    ]
    return [
        read(outcome) if outcome.exists() else Part(title_of(outcome.stem), ["Not run."], "not run")
        for outcome, read in known
    ]


def title_of(name: str) -> str:
    return name.replace("_", " ").capitalize()


def written(parts: list[Part]) -> str:
    """A line for each part, then a section."""
    lines = ["| part | tried | failed | time |", "|---|---|---:|---:|"]
    lines += [
        f"| {part.title} | {part.summary} | {part.failures} | {duration(part.seconds)} |"
        for part in parts
    ]
    for part in parts:
        lines += ["", f"## {part.title}", "", *part.lines]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    around = re.split(f"{re.escape(START)}.*{re.escape(END)}", PAGE.read_text(), flags=re.DOTALL)
    found = parts()
    PAGE.write_text(f"{START}\n{written(found)}\n{END}".join(around))
    sys.exit(any(part.failures for part in found))
