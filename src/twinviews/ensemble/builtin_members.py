"""The built-in members, and the names under which members are registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scipy.sparse import issparse

from twinviews.ensemble.anchor_graph import AnchorGraph, Anchors, centres_of
from twinviews.ensemble.boosted_trees import (
    MOST_CLASSES_FOR_BOOSTING,
    MOST_CLASSES_OF_MANY,
    Boosting,
)
from twinviews.ensemble.gaussian_process import ColumnWidths
from twinviews.ensemble.learned_metric import MetricRidges, TunedWidth
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.logistic_regression import Logistic
from twinviews.ensemble.many_labels import SOME_LABELS
from twinviews.ensemble.member import MemberContext, MemberSpec, Recipe
from twinviews.ensemble.scales import RANK, STANDARD, on_scale
from twinviews.ensemble.sparse_linear import SparseLinear

_ANCHORS_OF_A_ROW = (3, 8)
_WITHOUT_MATRIX = ("plain", "factors")
# With fewer columns and few labels, trees of numbers have never had a weight worth their time.
FEW_COLUMNS = 64

MemberFactory = Callable[[MemberContext], Iterable[MemberSpec]]


def builtin_members(context: MemberContext) -> list[MemberSpec]:
    """All members of the library for this task."""
    if not issparse(context.unlabeled):
        return _for_classes(context) if context.n_classes else _for_numbers(context)
    scales = {name: scale for name, scale in context.scales.items() if scale is not None}
    n_directions = next(iter(scales.values())).directions.shape[1]
    inner = context._replace(scales=scales, n_columns=n_directions)
    dense = _for_classes(inner) if context.n_classes else _for_numbers(inner)
    linear: list[Recipe] = [LinearRidge()]
    if context.n_classes:
        linear.append(Logistic(context.n_classes))
    return [*(MemberSpec(STANDARD, recipe, in_threads=False) for recipe in linear), *dense]


def _for_numbers(context: MemberContext) -> list[MemberSpec]:
    D, seed, first = context.n_columns, context.seed, next(iter(context.scales))
    specs = [MemberSpec(first, TunedWidth(D))]
    for scale in context.scales:
        kernels = ("gaussian", "laplace")
        specs += [MemberSpec(scale, MetricRidges(kernel, 2.0, D)) for kernel in kernels]
        specs += _smooth(scale)
        specs.append(MemberSpec(scale, ColumnWidths("matern32")))
    if D > FEW_COLUMNS or context.n_labels > SOME_LABELS:
        specs.append(MemberSpec(first, Boosting(seed, classes=False), in_threads=False))
    if D > FEW_COLUMNS:
        specs.append(MemberSpec(first, SparseLinear(), in_threads=False))
    return specs


def _for_classes(context: MemberContext) -> list[MemberSpec]:
    D, seed, first = context.n_columns, context.seed, next(iter(context.scales))
    specs = [MemberSpec(first, TunedWidth(D))]
    for name, scale in context.scales.items():
        specs.append(MemberSpec(name, MetricRidges("laplace", 1.0, D, _WITHOUT_MATRIX)))
        specs += _smooth(name)
        rows = on_scale(scale, context.unlabeled)
        centres = centres_of(rows, seed)
        specs += [
            MemberSpec(name, AnchorGraph.of(Anchors(centres, near), rows)) for near in _ANCHORS_OF_A_ROW
        ]
    for name in (first, RANK):
        if name in context.scales:
            specs.append(MemberSpec(name, Logistic(context.n_classes), in_threads=False))
    few = context.n_classes <= MOST_CLASSES_FOR_BOOSTING
    if few or (context.n_labels > SOME_LABELS and context.n_classes <= MOST_CLASSES_OF_MANY):
        boosting = Boosting(seed, classes=True)
        specs.append(MemberSpec(first, boosting, in_threads=False, of_all_labels=not few))
        if D > FEW_COLUMNS:
            specs.append(MemberSpec(first, SparseLinear(), in_threads=False))
    return specs


def _smooth(scale: str) -> list[MemberSpec]:
    return [MemberSpec(scale, ColumnWidths()), MemberSpec(scale, LinearRidge())]


BUILT_IN = "built-in"
_FACTORIES: dict[str, MemberFactory] = {BUILT_IN: builtin_members}


def register_member(name: str, factory: MemberFactory) -> None:
    """Register a name for ``members=[..., name]`` of XNV: it stands for the members of the factory.

    Parameters
    ----------
    name : str
    factory : callable
        Takes a ``MemberContext`` (numbers of columns and classes, scales, unlabeled rows, seed) and
        returns the ``MemberSpec`` of each member.
    """
    if name == BUILT_IN:
        raise ValueError(f"{name!r} is the name of the library's own members. Choose another.")
    _FACTORIES[name] = factory


def member_factory(name: str) -> MemberFactory:
    """The members registered under a name."""
    if name not in _FACTORIES:
        known = ", ".join(map(repr, _FACTORIES))
        raise ValueError(
            f"members has {name!r}, which is not registered; there are {known}. Register it with "
            f"twinviews.extend.register_member, or give an estimator."
        )
    return _FACTORIES[name]
