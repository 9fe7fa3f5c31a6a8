"""The evidence as one HTML file: no script, nothing from outside, every string escaped."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from twinviews._system.visible_text import visible
from twinviews._system.whole_files import replace_file
from twinviews.report import (
    accuracy_sections,
    all_rows_section,
    model_sections,
    ranking_section,
    sentences,
    shift_section,
)
from twinviews.report.blocks import Maker
from twinviews.report.evidence import Evidence

# In the order of the page. A section is a function of the evidence; None leaves it out.
SECTIONS: tuple[Maker, ...] = (
    accuracy_sections.error_section,
    shift_section.shift_section,
    all_rows_section.all_rows_section,
    accuracy_sections.comparison_section,
    accuracy_sections.unlabeled_section,
    accuracy_sections.mistakes_section,
    ranking_section.ranking_section,
    accuracy_sections.uncertainty_section,
    model_sections.columns_section,
    model_sections.dependence_section,
    model_sections.uncertain_rows_section,
    model_sections.views_section,
    model_sections.table_section,
    model_sections.fit_section,
)


def write_report(path: str | Path, evidence: Evidence, *, sections: Iterable[Maker] = SECTIONS) -> Path:
    """The path of a page that is written whole or not at all; an earlier page stays until then.

    Parameters
    ----------
    path : str or Path
    evidence : Evidence
        What :func:`gather` returns.
    sections : iterable of functions of the evidence
        Each returns a :class:`Section`, or None where it has nothing to say. All their strings are
        escaped.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}. Make it, or name another.")
    replace_file(path, render(evidence, sections).encode())
    return path


def render(evidence: Evidence, sections: Iterable[Maker] = SECTIONS) -> str:
    environment = _environment()
    style = environment.get_template("style.css").render()
    rows = evidence.rows
    return environment.get_template("page.html.jinja").render(
        target=sentences.short(evidence.target),
        subtitle=f"From a table with {rows.n_labeled + rows.n_unlabeled:,} rows: "
        f"{rows.n_labeled:,} labeled and {rows.n_unlabeled:,} unlabeled.",
        answers=sentences.answers(evidence),
        sections=[section for make in sections if (section := make(evidence)) is not None],
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("twinviews.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_plain_text,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["pc"] = "{:.2f}%".format
    return environment


def _plain_text(shown: Any) -> str:
    """The text of anything that a template shows, to be escaped: markup has no privilege here."""
    return visible(str(shown))
