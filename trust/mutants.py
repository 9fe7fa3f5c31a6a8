"""Small changes to the mathematics, one at a time, and whether a quick test notices: mutation testing.

    python trust/mutants.py                        every mutant: build/trust/mutants.json
    python trust/mutants.py --sample 60 method.kernels    at most 60 of one module, drawn with a seed

What is changed is what mutmut's operators change: numbers, comparisons, signs, arguments, ternaries,
assignments. Mutmut's own runner leaves out properties and collects the tests again for each mutant, so
here the tests are collected once and run once, to learn which of them reach which line and how long
they take. After that each mutant is a fork of this process: the child puts the changed code into the
functions that are loaded, and runs the tests that reach the changed lines, the quickest first, until
one fails.

Left alone is what is not mathematics: texts, errors and warnings, assertions, annotations, and the
constants of a module, which are choices. Every mutant counts, also one that computes the same.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType

import coverage
import libcst as cst
import pytest
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators, operator_string

ROOT = Path(__file__).resolve().parent.parent
OUTCOMES = ROOT / "build" / "trust"

MODULES = [
    *("active.acquisition", "active.learning_curve"),
    *("evaluation.measures", "evaluation.paired_comparison"),
    *("method.correlation", "method.kernel_values", "method.kernels", "method.labeled_problem"),
    *("method.landmarks", "method.moments", "method.neighbor_graph", "method.regression"),
    *("method.tuning", "method.uncertainty", "method.views"),
    *("passes.labeled_rows", "passes.scaling", "passes.targets"),
    *("ensemble.anchor_graph", "ensemble.blending", "ensemble.gaussian_process"),
    *("ensemble.cross_fitting", "ensemble.kernel_ridge", "ensemble.learned_metric"),
    "ensemble.linear_ridge",
]
# The tests of these modules, and others that are quick and see much of them.
TESTS = [
    *("active/test_acquisition", "active/test_learning_curve", "ensemble/test_members"),
    *("estimators/test_single_view", "evaluation/test_measures"),
    *("evaluation/test_paired_comparison", "method/test_correlation", "method/test_intervals"),
    *("method/test_kernel_values", "method/test_kernels", "method/test_landmarks"),
    *("method/test_moments", "method/test_neighbor_graph", "method/test_probability"),
    *("method/test_regression", "method/test_sketch", "method/test_tuning", "method/test_views"),
    *("passes/test_labeled_rows", "passes/test_scaling", "passes/test_targets"),
]
# A test that takes longer is not asked, and no mutant is tried for longer, in seconds of a core.
SLOWEST_TEST, LONGEST_TRIAL = 1.5, 4.0
WORKERS = 2
# How many times longer a trial may take than it should: other work may hold it up.
PATIENCE = 30
MEMORY = 8 << 30
# Functions whose arguments are checked by Python itself, so that a change says nothing.
UNCHANGED_CALLS = {"len", "isinstance", "issubclass", "cast", "TypeVar"}

Sources = Callable[[], list[tuple[ModuleType, str]]]  # loaded modules, and the code they are to have


@dataclass(frozen=True)
class Mutant:
    """One changed place of a module."""

    module: str
    lines: range  # that a test must reach to notice
    before: cst.CSTNode
    after: cst.CSTNode
    tree: cst.Module

    def sources(self) -> list[tuple[ModuleType, str]]:
        changed = self.tree.visit(_Replace(self.before, self.after))
        assert isinstance(changed, cst.Module)
        return [(load(self.module), changed.code)]

    def __str__(self) -> str:
        was, now = (
            " ".join(self.tree.code_for_node(node).split()) for node in (self.before, self.after)
        )
        return f"{self.module}:{self.lines[0]}: {was} -> {now}"


class _Replace(cst.CSTTransformer):
    def __init__(self, before: cst.CSTNode, after: cst.CSTNode) -> None:
        super().__init__()
        self.before, self.after = before, after

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:
        return self.after if original_node is self.before else updated_node


def mutants_of(name: str) -> list[Mutant]:
    """All of a module, in the order of its lines."""
    wrapper = MetadataWrapper(cst.parse_module(path_of(name).read_text()))
    positions = wrapper.resolve(PositionProvider)
    found = []

    def look(node: cst.CSTNode, inside: range | None) -> None:
        if _is_not_mathematics(node):
            return
        if isinstance(node, cst.FunctionDef):
            at = positions[node]
            inside = range(at.start.line, at.end.line + 1)
        elif inside and isinstance(node, cst.SimpleStatementLine | cst.If | cst.For | cst.While):
            at = positions[node]
            last = positions[node.body].start.line if hasattr(node, "test") else at.end.line
            inside = range(at.start.line, last + 1)
        if inside:
            for kind, operator in mutation_operators:
                if isinstance(node, kind) and operator is not operator_string:
                    found.extend(
                        Mutant(name, inside, node, after, wrapper.module) for after in operator(node)
                    )
        for child in node.children:
            look(child, inside)

    look(wrapper.module, None)
    return found


def _is_not_mathematics(node: cst.CSTNode) -> bool:
    match node:
        case cst.Annotation() | cst.Decorator() | cst.Raise() | cst.Assert():
            return True
        case cst.Expr(value=cst.SimpleString()):  # a docstring
            return True
        case cst.Call(func=cst.Name(value=called)):
            return called in UNCHANGED_CALLS
        case cst.Call(func=cst.Attribute(value=cst.Name(value="warnings"))):
            return True
    return False


def load(name: str) -> ModuleType:
    return importlib.import_module(f"twinviews.{name}")


def path_of(name: str) -> Path:
    return ROOT / "src" / "twinviews" / f"{name.replace('.', '/')}.py"


def put_in(module: ModuleType, source: str) -> None:
    """Gives the functions of a loaded module the code of another source.

    They stay the same objects, so whoever has imported one calls the new code.
    """
    fresh = ModuleType(module.__name__)
    fresh.__file__ = module.__file__
    exec(compile(source, str(module.__file__), "exec"), fresh.__dict__)
    functions = dict(functions_of(fresh))
    for name, function in functions_of(module):
        changed = functions[name]
        function.__code__ = changed.__code__
        function.__defaults__ = changed.__defaults__
        function.__kwdefaults__ = changed.__kwdefaults__


def functions_of(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    """Functions and methods that the module's file defines, by their qualified names."""
    for thing in list(vars(module).values()):
        members = vars(thing).values() if inspect.isclass(thing) else [thing]
        for member in members:
            if isinstance(member, property | cached_property):
                member = member.fget if isinstance(member, property) else member.func
            function = inspect.unwrap(getattr(member, "__func__", member))
            if inspect.isfunction(function) and function.__code__.co_filename == module.__file__:
                yield function.__qualname__, function


class Hunt:
    """A plugin of pytest that runs the tests as usual first, and then against every mutant."""

    def __init__(self, modules: list[str], sample: int | None) -> None:
        self.modules, self.sample = modules, sample
        self.failed: list[str] = []
        self.counts: dict[str, dict[str, float]] = {}
        self.unnoticed: list[str] = []

    def pytest_configure(self) -> None:
        """Examples are the same for every mutant, and one that fails needs no smaller one."""
        from hypothesis import Phase, settings  # late: pytest wants to see it imported

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", derandomize=True, database=None, phases=phases)
        settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(f"{report.nodeid}: {report.longreprtext}")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.learn(session.items)
        self.check_that_nothing_is_noticed_without_a_change()
        for name in self.modules:
            self.try_out(name)
        return True

    def learn(self, items: list[pytest.Item]) -> None:
        """Which tests reach which lines, and how long they take."""
        watched = coverage.Coverage(
            data_file=None, config_file=False, include=[str(path_of(name)) for name in MODULES]
        )
        self.seconds: dict[str, float] = {}
        watched.start()
        for item in items:
            watched.switch_context(item.nodeid)
            start = time.process_time()
            run([item])
            self.seconds[item.nodeid] = time.process_time() - start
        watched.stop()
        self.reached = watched.get_data()
        self.items = [item for item in items if self.seconds[item.nodeid] <= SLOWEST_TEST]
        if self.failed:
            raise pytest.UsageError("Tests fail on the code as it is.\n" + "\n".join(self.failed))

    def tests_of(self, name: str, lines: range) -> list[pytest.Item]:
        """Those that reach one of the lines, the quickest first."""
        by_line = self.reached.contexts_by_lineno(str(path_of(name)))
        reaching = {test for line in lines for test in by_line.get(line, [])}
        chosen, total = [], 0.0
        for item in sorted(self.items, key=lambda item: self.seconds[item.nodeid]):
            seconds = self.seconds[item.nodeid]
            if item.nodeid in reaching and total + seconds <= LONGEST_TRIAL:
                chosen.append(item)
                total += seconds
        return chosen

    def try_out(self, name: str) -> None:
        mutants = mutants_of(name)
        there_are = len(mutants)
        if self.sample is not None and len(mutants) > self.sample:
            mutants = random.Random(0).sample(mutants, self.sample)
        start = time.perf_counter()
        noticed = 0
        running: dict[int, Mutant] = {}
        for mutant in mutants:
            if len(running) == WORKERS:
                noticed += self.wait(running)
            items = self.tests_of(name, mutant.lines)
            running[self.fork(items, mutant.sources)] = mutant
        while running:
            noticed += self.wait(running)
        seconds = time.perf_counter() - start
        self.counts[f"{name.replace('.', '/')}.py"] = {
            "mutants": there_are,
            "tried": len(mutants),
            "noticed": noticed,
            "seconds": seconds,
        }
        print(f"{name}: {noticed} of {len(mutants)} in {seconds:.0f} s", file=sys.__stderr__)
        self.write()

    def write(self) -> None:
        """What is known so far, each file whole."""
        OUTCOMES.mkdir(parents=True, exist_ok=True)
        for name, text in (
            ("mutants.json", json.dumps(self.counts, indent=1)),
            ("unnoticed_mutants.txt", "\n".join(self.unnoticed)),
        ):
            part = OUTCOMES / f"{name}.part"
            part.write_text(text + "\n")
            part.replace(OUTCOMES / name)

    def check_that_nothing_is_noticed_without_a_change(self) -> None:
        """The tests must pass in a fork, too, and on the same code put in again."""
        loaded = [(load(name), path_of(name).read_text()) for name in MODULES]
        if os.waitpid(self.fork(self.items, lambda: loaded), 0)[1] != 0:
            raise pytest.UsageError("Tests fail in a fork, though nothing was changed.")

    def fork(self, items: list[pytest.Item], sources: Sources) -> int:
        """The process that tries other sources; its exit code is 0 where no test failed."""
        child = os.fork()
        if child == 0:
            # An endless loop ends by the alarm, which is as good as a test that fails.
            seconds = sum(self.seconds[item.nodeid] for item in items)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE * (1 + seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            try:
                for module, source in sources():
                    put_in(module, source)
                run(items, until=self.failed)
            except BaseException:
                os._exit(1)
            os._exit(len(self.failed) > 0)
        return child

    def wait(self, running: dict[int, Mutant]) -> bool:
        """Whether the mutant that is done first was noticed."""
        child, status = os.wait()
        mutant = running.pop(child)
        if status == 0:
            self.unnoticed.append(str(mutant))
        return status != 0


def run(items: list[pytest.Item], until: list[str] | None = None) -> None:
    """The tests, or as many as it takes until one has failed."""
    for place, item in enumerate(items, start=1):
        after = items[place] if place < len(items) else None
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if until:
            break


def main() -> int:
    parser = argparse.ArgumentParser(description="Small changes, tried on the tests.")
    parser.add_argument("modules", nargs="*", default=MODULES, help="such as method.kernels")
    parser.add_argument("--sample", type=int, help="at most so many mutants of each module")
    chosen = parser.parse_args()
    hunt = Hunt(chosen.modules, chosen.sample)
    tests = [str(ROOT / "tests" / f"{name}.py") for name in TESTS]
    plain = ["-o", "addopts=", "-m", "not slow"]
    without = [f"-pno:{plugin}" for plugin in ("cacheprovider", "terminal", "xdist")]
    return pytest.main([*plain, *without, *tests], plugins=[hunt])


if __name__ == "__main__":
    sys.exit(main())
