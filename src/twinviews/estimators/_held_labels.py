"""How many labeled rows a fit holds, and what it tells of those that it does not use."""

from __future__ import annotations

from typing import Any

from twinviews.data_checks import warn_of
from twinviews.data_checks.unused_labels import unused_labels
from twinviews.estimators._checks import AUTO


def held_labels(model: Any) -> dict[str, Any]:
    """What the labeled rows of a block are gathered by, from the model's parameters."""
    most = getattr(model, "max_labels", AUTO)
    return {"missing_label": model.missing_label, "max_labels": None if most == AUTO else int(most)}


def warn_of_unused_labels(model: Any) -> None:
    """Warn where a fit has not used all labels."""
    if model.n_labels_unused_:
        warn_of([unused_labels(model.n_labels_unused_, model.n_labeled_)])
