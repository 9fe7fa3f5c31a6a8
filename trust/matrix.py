"""The suite's core under the oldest and under the newest libraries that are supported.

    python trust/matrix.py [oldest] [newest]

Each set is a virtual environment under build/matrix. In the oldest every dependency is at the lower
bound that pyproject.toml gives it, and warnings of things to come may pass; in the newest everything is
what pip takes today, and a warning is an error. Both fit the models of trust/fixed_models.py, whose
predictions may differ by TOLERANCE. What came of it is written to build/trust/matrix.json; the exit
code is 1 where a test failed or predictions differ by more.
"""

import json
import os
import subprocess
import sys
import time
import tomllib
import venv
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent
ENVIRONMENTS = ROOT / "build" / "matrix"
OUTCOME = ROOT / "build" / "trust" / "matrix.json"

EXTRAS = ("dask", "excel", "files", "onnx", "plots", "report", "test")
# What is mathematics, tables, files and the face; pages, browsers and downloads are not.
TESTS = (
    "method", "passes", "tables", "encoding", "reading", "ensemble", "estimators", "active",
    "evaluation", "model_files", "plots", "system/test_threads.py",
    "system/test_user_warnings.py", "test_public_api.py",
)  # fmt: skip
LAWS = ("numerical_truth", "same_everywhere")
# Spark is a download of 400 MB for a few tests, which make test has.
WITHOUT = "not spark and not clusters"
SHOWN = ("numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow", "dask")
# Of a prediction, relative to the spread of all of that model: versions of BLAS add in another order.
TOLERANCE = 1e-6
THINGS_TO_COME = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
SETS = {
    "oldest": [option for kind in THINGS_TO_COME for option in ("-W", f"ignore::{kind}")],
    "newest": [],
}


def lower_bounds() -> list[str]:
    """Every direct dependency at the highest of the lower bounds that it has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = list(project["dependencies"])
    for extra in EXTRAS:
        named += project["optional-dependencies"][extra]
    least: dict[str, Version] = {}
    for requirement in map(Requirement, named):
        bounds = [Version(part.version) for part in requirement.specifier if part.operator == ">="]
        least[requirement.name] = max([*bounds, least.get(requirement.name, Version("0"))])
    return [f"{name}=={version}" for name, version in sorted(least.items())]


def make_environment(name: str) -> Path:
    """A fresh one with the library installed as a user would; returns its Python."""
    folder = ENVIRONMENTS / name
    venv.create(folder, clear=True, with_pip=True)
    python = folder / "bin" / "python"
    constraints = folder / "constraints.txt"
    constraints.write_text("\n".join(lower_bounds()) if name == "oldest" else "")
    wanted = f"{ROOT}[{','.join(EXTRAS)}]"
    install = [python, "-m", "pip", "install", "--quiet", "--constraint", constraints, wanted]
    subprocess.run(install, check=True)
    return python


def versions_in(python: Path) -> dict[str, str]:
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format", "json"], check=True, capture_output=True
    )
    found = {package["name"]: package["version"] for package in json.loads(listed.stdout)}
    return {name: found[name] for name in SHOWN}


def run_tests(name: str, python: Path) -> dict[str, int]:
    report = ENVIRONMENTS / f"{name}.xml"
    paths = [f"tests/{test}" for test in TESTS] + [f"trust/test_{law}.py" for law in LAWS]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = [python, "-m", "pytest", "--numprocesses", "2", "-p", "no:cacheprovider"]
    subprocess.run(
        [*run, "-k", WITHOUT, "--junit-xml", report, *SETS[name], *paths],
        cwd=ROOT,
        env=os.environ | one_thread,
        check=False,  # what failed is in the report
    )
    suites = list(ElementTree.parse(report).iter("testsuite"))
    count = {what: sum(int(suite.get(what)) for suite in suites) for what in ("tests", "skipped")}
    failed = sum(int(suite.get(what)) for suite in suites for what in ("failures", "errors"))
    return {
        "passed": count["tests"] - count["skipped"] - failed,
        "failed": failed,
        "skipped": count["skipped"],
    }


def fixed_predictions(python: Path) -> dict[str, list[float]]:
    ran = subprocess.run([python, ROOT / "trust" / "fixed_models.py"], check=True, capture_output=True)
    return json.loads(ran.stdout)


def difference(one: dict[str, list[float]], other: dict[str, list[float]]) -> float:
    """The largest over all models, relative to the spread of each model's predictions."""
    return max(
        float(np.abs(np.subtract(one[model], other[model])).max() / np.std(one[model])) for model in one
    )


def main(names: list[str]) -> int:
    found = {}
    predictions = {}
    for name in names:
        began = time.monotonic()
        python = make_environment(name)
        predictions[name] = fixed_predictions(python)
        found[name] = {"versions": versions_in(python), **run_tests(name, python)}
        found[name]["seconds"] = round(time.monotonic() - began)
    first, last = names[0], names[-1]
    outcome = {
        "sets": found,
        "difference": difference(predictions[first], predictions[last]),
        "tolerance": TOLERANCE,
    }
    OUTCOME.parent.mkdir(parents=True, exist_ok=True)
    OUTCOME.write_text(json.dumps(outcome, indent=2))
    print(json.dumps(outcome, indent=2))
    return int(outcome["difference"] > TOLERANCE or any(each["failed"] for each in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(SETS)))
