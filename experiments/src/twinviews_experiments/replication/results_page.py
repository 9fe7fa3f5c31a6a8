"""All of a run's tables and figures as files: CSV, Markdown, SVG, PNG and one page that holds them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from twinviews._system.whole_files import replace_file
from twinviews_experiments.csv_and_markdown import write_csv
from twinviews_experiments.replication import findings_text
from twinviews_experiments.replication.comparison import Results, difference_in_standard_errors
from twinviews_experiments.replication.paper_figures import (
    XKS_FIGURE,
    XNV_FIGURE,
    averages_figure,
    error_figure,
    save,
)
from twinviews_experiments.replication.paper_methods import METHODS
from twinviews_experiments.replication.paper_tables import all_tables, methods_table
from twinviews_experiments.replication.published_numbers import FIGURE_LABELS


class PageFigure(NamedTuple):
    name: str
    title: str
    svg: str


def write_report(results: Results, output: Path) -> Path:
    """Everything, and the path of the page."""
    for folder in (output / "tables", output / "figures"):
        folder.mkdir(parents=True, exist_ok=True)
    tables = [methods_table(), *all_tables(results)]
    for table in tables:
        table.write_csv(output / "tables")
    write_csv(output / "errors.csv", *_long_errors(results))
    write_csv(output / "chosen.csv", *_long_chosen(results))
    write_csv(output / "about.csv", *_about(results))
    averages = save(averages_figure(results), output / "figures" / "averages")
    figures = [
        PageFigure(
            f"{kind}_{one.name}",
            f"{one.name}: error against the number of labels, {' and '.join(methods)}",
            save(error_figure(results, one, methods), output / "figures" / f"{kind}_{one.name}"),
        )
        for kind, methods in (("xnv", XNV_FIGURE), ("xks", XKS_FIGURE))
        for one in results.sets
    ]
    shared: dict[str, Any] = {
        "scope": findings_text.scope(results),
        "findings": findings_text.findings(results),
        "tables": tables,
        "figures": figures,
    }
    why = (files(__package__) / "templates" / "reasons.md").read_text(encoding="utf-8")
    text = _template("results.md.jinja", html=False).render(reasons=why, **shared)
    replace_file(output / "results.md", text.encode())
    page = output / "index.html"
    html = _template("page.html.jinja", html=True).render(
        reasons=_paragraphs(why), averages=_inline(averages), **_with_inline_figures(shared)
    )
    replace_file(page, html.encode())
    return page


def _template(name: str, *, html: bool) -> Any:
    environment = Environment(  # nosec B701  # Markdown, of our own numbers, is not escaped
        loader=PackageLoader("twinviews_experiments.replication"),
        autoescape=html,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template(name)


def _paragraphs(text: str) -> list[tuple[str, str]]:
    """(title, text) of paragraphs that begin with **a title.**"""
    found = []
    for paragraph in text.strip().split("\n\n"):
        _, title, rest = paragraph.split("**", 2)
        found.append((title, rest.strip()))
    return found


def _with_inline_figures(shared: dict[str, Any]) -> dict[str, Any]:
    return {**shared, "figures": [one._replace(svg=_inline(one.svg)) for one in shared["figures"]]}


def _inline(svg: str) -> str:
    """The SVG element for a page of many: no prologue, and no names that all of them share."""
    svg = svg[svg.index("<svg") :]
    referred = set(re.findall(r"#([\w-]+)", svg))
    return re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in referred else "", svg)


def _long_errors(results: Results) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    """Every mean and deviation, a line each."""
    columns = (
        "set",
        "name",
        "method",
        "n",
        "repetitions",
        "error",
        "deviation",
        "paper_error",
        "paper_deviation",
        "difference_in_standard_errors",
    )
    rows = []
    for one in results.sets:
        for method in METHODS:
            for n in FIGURE_LABELS:
                ours = results.cell(one, method.name, n)
                paper = results.paper_cell(one, method.name, n)
                theirs: tuple[object, ...] = ("", "", "")
                if paper is not None:
                    apart = difference_in_standard_errors(ours, paper)
                    theirs = (*paper, f"{apart:.2f}")
                rows.append(
                    (
                        one.number,
                        one.name,
                        method.name,
                        n,
                        ours.repetitions,
                        f"{ours.error:.6g}",
                        f"{ours.deviation:.6g}",
                        *theirs,
                    )
                )
    return columns, rows


def _long_chosen(results: Results) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    rows = [
        (name, method, repr(sigma), repr(ridge), repr(error))
        for (name, method), (sigma, ridge, error) in results.chosen.items()
    ]
    return ("name", "method", "sigma", "ridge", "error"), rows


def _about(results: Results) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    return ("what", "value"), [
        ("sets", len(results.sets)),
        ("repetitions", results.repetitions),
        ("quick", results.quick),
        ("minutes", f"{results.seconds_worked / 60:.1f}"),
        ("missing", " ".join(results.missing)),
    ]
