"""The evidence as one HTML file: no script, nothing from outside, every word of the table escaped."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from twinviews._system.visible_text import visible
from twinviews._system.whole_files import replace_file
from twinviews.report import figures
from twinviews.report import sentences as words
from twinviews.report.charts import DataTable
from twinviews.report.evidence import Evidence
from twinviews.report.figures import THIS_MODEL
from twinviews.report.held_out import HeldOutClasses, HeldOutNumbers

_MOST_COLUMNS_SHOWN = 12
_MEANINGS = {
    "n_components": "features of each view",
    "sigma": "width of the kernel: rows closer than this are alike",
    "ridge": "how strongly large coefficients are held back",
    "correlation_ridge": "how strongly directions of tiny variance are held back",
    "canonical_weight": "how strongly directions are held back on which the views differ",
    "loo_error": "the model's own guess of its error, by labels left out of the fit",
}


def write_report(path: str | Path, evidence: Evidence) -> Path:
    """Write the page, whole or not at all: what was there before stays until then."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent}. Make it, or name another.")
    replace_file(path, render(evidence).encode())
    return path


def render(evidence: Evidence) -> str:
    style = (files("twinviews.report") / "templates" / "style.css").read_text(encoding="utf-8")
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            evidence=evidence,
            words=words,
            style=Markup(style),  # nosec B704  # our own file
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            **_figures(evidence),
            **_tables(evidence),
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("twinviews.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_spelled_out,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": words.number, "percent": words.percent, "value": words.value}
    environment.filters |= {"short": words.short}
    return environment


def _spelled_out(found: Any) -> Any:
    """Text as it is shown; what the templates themselves have made is left alone."""
    return visible(found) if isinstance(found, str) and not isinstance(found, Markup) else found


def _figures(evidence: Evidence) -> dict[str, Any]:
    held_out, spectrum = evidence.outcome.held_out, evidence.spectrum
    made = {
        "labels": figures.labels_figure(evidence),
        "errors": figures.errors_figure(evidence),
        "importance": figures.importance_figure(evidence),
        "metric": figures.metric_figure(evidence),
        "dependence": figures.dependence_figures(evidence),
        "spectrum": None if spectrum is None else figures.spectrum_figure(spectrum),
        "misses": [],
    }
    if isinstance(held_out, HeldOutNumbers):
        made["misses"] = [figures.truth_figure(held_out), figures.residuals_figure(held_out)]
        made["doubts"] = figures.coverage_figure(held_out)
    elif isinstance(held_out, HeldOutClasses):
        made["doubts"] = figures.reliability_figure(held_out)
    return made


def _tables(evidence: Evidence) -> dict[str, Any]:
    made = evidence.making
    names = [column.name for column in evidence.importance.columns]
    return {
        "bought": _bought(evidence),
        "shown_columns": names[:_MOST_COLUMNS_SHOWN],
        "roster": DataTable(
            ("member, scale of its columns", "weight"),
            tuple((name, words.percent(weight)) for name, weight in made.committee),
        ),
        "chosen": DataTable(
            ("name", "value", "meaning"),
            tuple((name, words.number(value), _MEANINGS[name]) for name, value in made.chosen),
            of_text=True,
        ),
        "parameters": DataTable(("name", "as given"), made.parameters, of_text=True),
    }


def _bought(evidence: Evidence) -> DataTable | None:
    outcome, alone = evidence.outcome, evidence.outcome.alone
    if alone is None:
        return None
    gained, interval = words.gain(evidence, alone)
    columns = ("model", "error", "95% interval")
    rows = [
        (name, words.error(evidence, one.value), words.between(evidence, one))
        for name, one in ((THIS_MODEL, outcome.error), (alone.name, alone.error))
    ]
    return DataTable(columns, (*rows, ("gain, row by row", gained, interval)))
