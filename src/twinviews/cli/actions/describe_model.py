"""twinviews inspect, as functions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from twinviews import inspect_model, load_model
from twinviews.cli.actions.fit_model import columns_of
from twinviews.data_checks.unused_labels import labels_in_words
from twinviews.evaluation.told_error import told_error

# Members of the ensemble that are listed: those that count most.
_MOST_MEMBERS = 8


def facts_of_model(path: Path) -> dict[str, Any]:
    """All that a model file tells of its model, for machines."""
    said, model = inspect_model(path), load_model(path)
    chosen = {
        name: getattr(model, f"{name}_")
        for name in ("sigma", "ridge", "correlation_ridge", "effective_dimension")
        if hasattr(model, f"{name}_")
    }
    errors = [told_error(model, target) for target in range(np.size(model.cv_error_))]
    facts = {
        "model": said.model,
        "bytes": said.n_bytes,
        "twinviews": said.twinviews,
        "about": said.about,
        "n_labeled": said.n_labeled,
        "n_labels_unused": model.n_labels_unused_,
        "n_unlabeled": said.n_unlabeled,
        "n_left_out": model.n_left_out_,
        "parameters": said.parameters,
        "chosen": {name: _plain(value) for name, value in chosen.items()},
        "error": [one.as_dict() for one in errors],
        "error_in_words": [one.words() for one in errors],
        "shift": None if model.shift_ is None else model.shift_.as_dict(),
        "members": getattr(model, "members_", []),
    }
    if hasattr(model, "classes_"):
        facts["classes"] = [_plain(label) for label in model.classes_]
    if model.columns_:
        facts["columns"] = columns_of(model)
    elif hasattr(model, "feature_names_in_"):
        facts["columns"] = [{"name": str(name)} for name in model.feature_names_in_]
    return facts


def lines_of(facts: Mapping[str, Any]) -> list[str]:
    """The same for a person."""
    left_out = f"; {facts['n_left_out']:,} were left out" if facts["n_left_out"] else ""
    unused = facts["n_labels_unused"]
    held = f" ({labels_in_words(unused, facts['n_labeled'])})" if unused else ""
    lines = [
        f"{facts['model']} of twinviews {facts['twinviews']}, {facts['bytes'] / 1e3:,.0f} kB",
        f"labels      {facts['n_labeled']:,}{held}, "
        f"and {facts['n_unlabeled']:,} rows without one{left_out}",
    ]
    about = facts["about"]
    if "target" in about:
        lines.insert(1, f"predicts    {about['target']} ({about.get('task', 'of a task not told')})")
    if "classes" in facts:
        lines.append(f"classes     {', '.join(map(str, facts['classes']))}")
    lines += _titled("error", facts["error_in_words"])
    if facts["shift"] is not None:
        lines.append(f"shift       {facts['shift']['words']}")
    chosen = [f"{name} {value:.4g}" for name, value in facts["chosen"].items() if value is not None]
    if chosen:
        lines.append(f"chosen      {', '.join(chosen)}")
    roster = facts["members"]
    if roster and isinstance(roster[0], list):
        roster = roster[0]  # of the first target
    members = [f"{weight:.3f}  {name}" for name, weight in roster[:_MOST_MEMBERS]]
    columns = facts.get("columns", [])
    wide = max((len(column["name"]) for column in columns), default=0)
    shown = [
        f"{column['name']:<{wide}}  {column.get('kind', 'number'):<8}  {column.get('words', '')}"
        for column in columns
    ]
    return lines + _titled("members", members) + _titled("columns", shown)


def _titled(title: str, lines: list[str]) -> list[str]:
    return [f"{title if i == 0 else '':<11} {line}" for i, line in enumerate(lines)]


def _plain(value: Any) -> Any:
    """As JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
