"""How well the rarer of two classes is found, and when it is predicted, as it is told everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from twinviews.data_checks.data_finding import quoted

# With a smaller share of the labels it is rare, and how well it is found is told.
_RARE = 0.2
_MOST_DECIMALS = 6


class ToldRarity(NamedTuple):
    """The rarer of two classes."""

    name: str
    share: float  # of the labels
    threshold: float  # the probability from which on it is predicted
    recall: float  # share of it that is predicted as such, cross-validated; NaN where unknown
    has_costs: bool

    @property
    def is_rare(self) -> bool:
        return self.share < _RARE

    @property
    def is_told(self) -> bool:
        return self.is_rare or self.has_costs

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        recall = self.recall if np.isfinite(self.recall) else None
        found = {"rarer_class": self.name, "share": self.share, "threshold": self.threshold}
        return {**found, "recall": recall}

    def words(self, measured: Mapping[str, float]) -> list[str]:
        """For a person: what was measured of a rare class, and the threshold where there are costs."""
        precision, lift = (measured.get(key, np.nan) for key in ("average_precision", "lift"))
        found = []
        if self.is_rare and np.isfinite(precision):
            of = f"of {quoted(self.name)}, {self.share:.1%} of the labels"
            found.append(f"average precision {precision:.2f} ({of})")
        if self.is_rare and np.isfinite(lift):
            ends = f"90% interval {measured['lift_low']:.1f} to {measured['lift_high']:.1f}"
            found.append(f"lift of the likeliest tenth {lift:.1f} ({ends})")
        return [*found, self.predicted_from()] if self.is_told else found

    def predicted_from(self) -> str:
        """Such as "'yes' is predicted from a probability of 0.12 on, which finds 71% of them"."""
        said = (
            f"{quoted(self.name)} is predicted from a probability of {probability(self.threshold)} on"
        )
        if not np.isfinite(self.recall):
            return said
        reach = f"finds {self.recall:.0%} of them" if self.recall else "no held-out label of it reaches"
        return f"{said}, which {reach}"


def told_rarity(model: Any) -> ToldRarity | None:
    """Of a fitted model of two classes; None of another."""
    shares = getattr(model, "class_prior_", None)
    if shares is None or len(shares) != 2:
        return None
    rarer = int(np.argmin(shares))
    threshold = model.threshold_ if rarer == 1 else 1 - model.threshold_
    has_costs = getattr(model, "class_weight", None) is not None
    recall = np.nan if model.cv_recall_ is None else float(model.cv_recall_[rarer])
    name = str(model.classes_[rarer])
    return ToldRarity(name, float(shares[rarer]), float(threshold), recall, has_costs)


def probability(number: float) -> str:
    """With two digits that count, however close to 0 or 1: 0.12, 0.031, 0.9970."""
    near = min(number, 1 - number)
    decimals = 2 if not near > 0 else max(2, 1 - int(np.floor(np.log10(near))))
    return f"{number:.{min(decimals, _MOST_DECIMALS)}f}"
