"""The page of what was tried and held: docs/trust.md, from the outcomes under build/trust.

    python trust/page.py

Every part is one file there: NAME.xml as pytest writes it for trust/test_NAME.py, coverage.json as
coverage writes it, with coverage.xml of the tests that it watched, mutants.json as trust/mutants.py and
matrix.json as trust/matrix.py do. A part that was not run is named so. The exit code is 1 where a law
failed.
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
START, END = "<!-- from here on written by make trust -->\n", "<!-- to here -->\n"


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


def table_of(name: str, laws: dict[str, Law]) -> list[str]:
    seconds = sum(law.seconds for law in laws.values())
    failures = sum(law.failures for law in laws.values())
    head = f"{len(laws)} laws, {failures} failed, {duration(seconds)}."
    lines = [f"## {name.replace('_', ' ').capitalize()}", "", head, ""]
    lines += ["| law | tried | failed | time |", "|---|---|---:|---:|"]
    for law in laws.values():
        tried = ", ".join(f"{times:,} {what}" for what, times in law.tried.items())
        tried = "skipped" if law.skipped else tried
        lines.append(f"| {law.words} | {tried} | {law.failures} | {duration(law.seconds)} |")
    return [*lines, ""]


def coverage_words(report: Path) -> list[str]:
    totals = json.loads(report.read_text())["totals"]
    lines = 100 * totals["covered_lines"] / totals["num_statements"]
    branches = 100 * totals["covered_branches"] / totals["num_branches"]
    suite = ElementTree.parse(report.with_suffix(".xml")).find("testsuite")
    failures = int(suite.get("failures")) + int(suite.get("errors"))
    tests = (
        f"{int(suite.get('tests')):,} tests, {failures} failed, {duration(float(suite.get('time')))}."
    )
    run = f"{lines:.1f}% of {totals['num_statements']:,} lines of `src` and {branches:.1f}% of"
    return ["## Coverage", "", f"{tests} They run {run} {totals['num_branches']:,} branches.", ""]


def mutant_words(report: Path) -> list[str]:
    modules = json.loads(report.read_text())
    lines = ["## Mutants", "", "Small changes to the mathematics, and whether a test notices.", ""]
    lines += ["| module | mutants | noticed | share | time |", "|---|---:|---:|---:|---:|"]
    totals = Counter()
    for name, found in modules.items():
        totals.update(found)
        lines.append(mutant_row(f"`{name}`", found))
    return [*lines, mutant_row("all", totals), ""]


def matrix_words(report: Path) -> list[str]:
    found = json.loads(report.read_text())
    lines = [
        "## Oldest and newest libraries",
        "",
        "The core of the tests in an environment of each.",
        "",
    ]
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
    return [*lines, ""]


def mutant_row(name: str, found: dict[str, float]) -> str:
    share = found["noticed"] / found["mutants"]
    numbers = f"{found['mutants']:,} | {found['noticed']:,} | {share:.1%}"
    return f"| {name} | {numbers} | {duration(found['seconds'])} |"


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def written() -> tuple[str, int]:
    """The page, and how many laws failed."""
    lines: list[str] = []
    failures = 0
    for test in sorted(ROOT.glob("trust/test_*.py")):
        name = test.stem.removeprefix("test_")
        outcome = OUTCOMES / f"{name}.xml"
        laws = laws_of(outcome) if outcome.exists() else {}
        lines += table_of(name, laws) if laws else missing(name)
        failures += sum(law.failures for law in laws.values())
    others = (("coverage", coverage_words), ("mutants", mutant_words), ("matrix", matrix_words))
    for name, words in others:
        outcome = OUTCOMES / f"{name}.json"
        lines += words(outcome) if outcome.exists() else missing(name)
    return "\n".join(lines), failures


def missing(name: str) -> list[str]:
    return [f"## {name.replace('_', ' ').capitalize()}", "", "Not run.", ""]


if __name__ == "__main__":
    around = re.split(f"{re.escape(START)}.*{re.escape(END)}", PAGE.read_text(), flags=re.DOTALL)
    words, failures = written()
    PAGE.write_text(f"{START}\n{words}\n{END}".join(around))
    sys.exit(failures > 0)
