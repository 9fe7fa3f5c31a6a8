"""How large is the library, and how easy to find one's way in?

Counts Python lines of both wheels as they are built from this folder, classes of our own in the method
resolution order of each estimator, names that occur twice, and the largest file and function.
"""

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import twinviews
from workload import report

ROOT = Path(__file__).parent.parent
WHEEL = ROOT / "src" / "twinviews"
EXPERIMENTS = ROOT / "experiments" / "src" / "twinviews_experiments"

MOST_LINES = 20_000
MOST_CLASSES = 4
MOST_LINES_OF_A_FUNCTION = 60


class Place(NamedTuple):
    lines: int
    where: str


def modules(package: Path) -> list[Path]:
    return sorted(package.rglob("*.py"))


def lines_of(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def definitions(package: Path) -> Iterator[tuple[Path, ast.AST]]:
    for path in modules(package):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            yield path, node


def twice(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def module_names_twice(package: Path) -> list[str]:
    return twice(path.stem for path in modules(package) if path.stem != "__init__")


def class_names_twice(package: Path) -> list[str]:
    return twice(node.name for _, node in definitions(package) if isinstance(node, ast.ClassDef))


def largest_file(package: Path) -> Place:
    return max(Place(lines_of(path), str(path.relative_to(ROOT))) for path in modules(package))


def largest_function(package: Path) -> Place:
    """Docstrings of public functions are long on purpose, so that only the code after them counts."""
    return max(
        Place(lines_of_code(node), f"{path.relative_to(ROOT)}:{node.lineno} {node.name}")
        for path, node in definitions(package)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    lines = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None and first.end_lineno is not None:
        lines -= first.end_lineno - first.lineno + 1
    return lines


def own_classes() -> dict[str, int]:
    """Classes of the package in the method resolution order of each estimator, itself included."""
    found = {}
    for name in twinviews.__all__:
        public = getattr(twinviews, name)
        if isinstance(public, type) and hasattr(public, "get_params"):
            own = [base for base in public.__mro__ if base.__module__.partition(".")[0] == "twinviews"]
            found[name] = len(own)
    return found


def main() -> int:
    held = []

    def judge(what: str, number: float, most: int, *names: str) -> None:
        held.append(number <= most)
        report(what, number, f"at most {most:,}", held[-1])
        if names and number:
            print(f"    {', '.join(names)}")

    judge("Python lines of the wheel", sum(map(lines_of, modules(WHEEL))), MOST_LINES - 1)
    print(f"Python lines of twinviews-experiments: {sum(map(lines_of, modules(EXPERIMENTS))):,}")
    classes = own_classes()
    most = max(classes.values())
    deepest = [name for name, count in classes.items() if count == most]
    judge("own classes in the MRO of an estimator", most, MOST_CLASSES, *deepest)
    for package in (WHEEL, EXPERIMENTS):
        modules_twice, classes_twice = module_names_twice(package), class_names_twice(package)
        judge(f"module names twice in {package.name}", len(modules_twice), 0, *modules_twice)
        judge(f"class names twice in {package.name}", len(classes_twice), 0, *classes_twice)
        function, what = largest_function(package), f"lines of the largest function of {package.name}"
        judge(what, function.lines, MOST_LINES_OF_A_FUNCTION, function.where)
        file = largest_file(package)
        print(f"The largest file of {package.name} has {file.lines} lines: {file.where}")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
