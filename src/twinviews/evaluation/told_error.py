"""The error of a fitted model as it is told everywhere: one quantity, one name, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from twinviews.evaluation.told_rarity import ToldRarity, told_rarity
from twinviews.method.error_estimate import (
    ERROR_RATE,
    ROOT_MEAN_SQUARE,
    STEPS,
    ErrorEstimate,
    is_rough,
)

# What else was measured, as it is written for a person.
_WORDS = {
    "r2": "R\N{SUPERSCRIPT TWO}",
    "d2": "D\N{SUPERSCRIPT TWO} of the Poisson deviance",
}
# An interval whose ends differ by more than this factor tells nothing.
_HOPELESS = 5.0
# Error rates that differ by more than this are both told.
_APART = 0.05
# With so many labels it is not for want of them: some label is far outside.
_MANY = 50


class ToldError(NamedTuple):
    """Cross-validated error of a model of one target."""

    error: ErrorEstimate
    name: str  # what it is: an error rate, a root mean squared error, or one in steps
    too_few_labels: bool  # to tell one number: the interval is told
    n_labels: int
    # R2 (NaN if all labels are the same), of counts D2; of classes AUC, log loss, balanced error,
    # average precision, and lift with the ends of its interval; of ordered classes error rate and log
    # loss.
    others: dict[str, float]
    rarity: ToldRarity | None = None  # of two classes
    has_costs: bool = False  # classes, by class_weight

    def as_dict(self) -> dict[str, Any]:
        """For machines; None where unknown."""
        numbers = {
            self.name.replace(" ", "_"): self.error.value,
            "low": self.error.low,
            "high": self.error.high,
            **self.others,
        }
        known = {key: float(value) if np.isfinite(value) else None for key, value in numbers.items()}
        found = {**known, "confidence": 0.9, "too_few_labels": self.too_few_labels}
        return found if self.rarity is None else {**found, **self.rarity.as_dict()}

    @property
    def is_rate(self) -> bool:
        return self.name == ERROR_RATE

    def short(self) -> str:
        """The error, or its interval if labels are too few for one number, or "unknown"."""
        if self._why_unknown():
            return "unknown"
        value, low, high = map(self._in_words, self.error)
        return f"between {low} and {high}" if self.too_few_labels else value

    def interval(self) -> str:
        """Its ends; empty where they are unknown."""
        if self._why_unknown() or not np.isfinite(self.error.high):
            return ""
        return f"{self._in_words(self.error.low)} to {self._in_words(self.error.high)}"

    def words(self) -> str:
        """For a person: the error and what it means, without a full stop."""
        unknown = self._why_unknown()
        if unknown:
            return f"unknown{unknown}"
        how = "cross-validated"
        if self.too_few_labels:
            how = f"90% interval; {self.n_labels:,} labels are too few for one number"
        elif self.interval():
            how += f"; 90% interval {self.interval()}"
        what = "of rows" if self.is_rate else self.name
        return "; ".join([f"{self.short()} ({what}, {how})", *self.others_in_words()])

    def others_in_words(self) -> list[str]:
        """What else was measured in the same way, such as "AUC 0.93"."""
        if self.is_rate:
            return self._of_classes()
        if self.name == STEPS:
            rate, log_loss = self.others["error_rate"], self.others["log_loss"]
            return [f"error rate {rate:.0%}", f"log loss {log_loss:.2f}"] if np.isfinite(rate) else []
        return [self._share_explained(name) for name in ("r2", "d2") if np.isfinite(self._other(name))]

    def _other(self, name: str) -> float:
        return self.others.get(name, np.nan)

    def _share_explained(self, name: str) -> str:
        """Such as "R2 0.83", or an interval where the error is told as one."""
        share = self.others[name]
        verdict = "" if share > 0 else ": no better than always saying the mean"
        if not self.too_few_labels or name != "r2":
            return f"{_WORDS[name]} {share:.2f}{verdict}"
        least, most = (1 - (1 - share) * np.square(end / self.error.value) for end in self.error[:0:-1])
        return f"{_WORDS[name]} between {least:.2f} and {most:.2f}{verdict}"

    def _of_classes(self) -> list[str]:
        balanced = self.others.get("balanced_error", np.nan)
        apart = abs(balanced - self.error.value) > _APART  # classes differ in how often they are found
        found = []
        if apart or (self.has_costs and np.isfinite(balanced)):
            found.append(f"mean error rate of a class {balanced:.0%}")
        names = {"AUC": self.others["auc"], "log loss": self.others["log_loss"]}
        found += [f"{name} {value:.2f}" for name, value in names.items() if np.isfinite(value)]
        return found if self.rarity is None else [*found, *self.rarity.words(self.others)]

    def _why_unknown(self) -> str:
        """Empty if it is known."""
        if not np.isfinite(self.error.value):
            return ", as some label alone decides what is learned"
        if np.isnan(self.others.get("r2", 0.0)):
            return ", as all labels are the same"
        if self.name == ROOT_MEAN_SQUARE and self.error.high > _HOPELESS * self.error.low:
            if self.n_labels < _MANY:
                return f": {self.n_labels:,} labels are too few to judge"
            return f": the errors on a few of the {self.n_labels:,} labels outweigh all others"
        return ""

    def _in_words(self, number: float) -> str:
        if not self.is_rate:
            return readable(number)
        return f"{number:.0%}" if self.too_few_labels else f"{number:.1%}"


def told_error(model: Any, target: int = 0) -> ToldError:
    """What a fitted model tells of its error, for one of its targets."""
    ends = model.cv_error_interval_
    value = np.ravel(model.cv_error_)[target]
    low, high = (np.nan, np.nan) if ends is None else np.reshape(ends, (-1, 2))[target]
    error = ErrorEstimate(float(value), float(low), float(high))
    if model._measure == ROOT_MEAN_SQUARE:
        # A model of an earlier version has neither an interval nor R2.
        others = {} if ends is None else {"r2": float(np.ravel(model.cv_r2_)[target])}
        if hasattr(model, "cv_d2_"):
            others["d2"] = model.cv_d2_
    elif model._measure == STEPS:
        others = {"error_rate": model.cv_error_rate_, "log_loss": model.cv_log_loss_}
    else:
        others = {
            "auc": model.cv_auc_,
            "log_loss": model.cv_log_loss_,
            "balanced_error": model.cv_balanced_error_,
            "average_precision": model.cv_average_precision_,
            **_lift_of(model),
        }
    has_costs = getattr(model, "class_weight", None) is not None
    rough = is_rough(error, rate=model._measure != ROOT_MEAN_SQUARE)
    rarity = told_rarity(model) if model._measure == ERROR_RATE else None
    return ToldError(error, model._measure, rough, model.n_labeled_, others, rarity, has_costs)


def _lift_of(model: Any) -> dict[str, float]:
    ends = getattr(model, "cv_lift_interval_", None)  # None in models of an earlier version
    if ends is None:
        return {}
    return {"lift": model.cv_lift_, "lift_low": float(ends[0]), "lift_high": float(ends[1])}


def told_estimate(error: Sequence[float], n_labels: int, *, is_rate: bool) -> ToldError:
    """The same for an error and the ends of its interval, of which nothing else is known."""
    estimate, name = ErrorEstimate(*map(float, error)), ERROR_RATE if is_rate else ROOT_MEAN_SQUARE
    unknown = {"auc": np.nan, "log_loss": np.nan} if is_rate else {}
    return ToldError(estimate, name, is_rough(estimate, rate=is_rate), n_labels, unknown)


def readable(number: float) -> str:
    """Four digits, without an exponent where that is short enough."""
    rounded = float(f"{number:.4g}")
    return f"{rounded:,.10g}" if 1e-4 < abs(rounded) < 1e9 else f"{rounded:g}"
