"""How long does `twinviews --help` take to appear, and `import twinviews` to return?

Each beside its measure in the same run, in turn, as processor seconds of a fresh interpreter (least of
many): bytes come from the cache of the file system, and other processes do not count.
"""

import argparse
import resource
import subprocess
import sys
from pathlib import Path

from workload import report

HELP = [str(Path(sys.executable).parent / "twinviews"), "--help"]


def importing(words: str) -> list[str]:
    return [sys.executable, "-c", words]


RATIOS = [
    ("twinviews --help / import numpy", HELP, importing("import numpy"), 3.0),
    (
        "import twinviews / import sklearn.linear_model",
        importing("import twinviews"),
        importing("import sklearn.linear_model"),
        1.2,
    ),
    (
        "from twinviews import XNVRegressor / import sklearn.linear_model",
        importing("from twinviews import XNVRegressor"),
        importing("import sklearn.linear_model"),
        1.2,
    ),
]


def seconds(command: list[str]) -> float:
    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return used() - before


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repetitions", type=int, default=10)
    repetitions = arguments.parse_args().repetitions
    for name, ours, theirs, most in RATIOS:
        pairs = [(seconds(ours), seconds(theirs)) for _ in range(repetitions)]
        ratio = min(first for first, _ in pairs) / min(second for _, second in pairs)
        report(name, ratio, f"at most {most:g}", ratio <= most)


if __name__ == "__main__":
    main()
