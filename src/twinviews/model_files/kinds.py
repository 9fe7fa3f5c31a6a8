"""The objects that a fitted model may be made of: one entry each, with every field and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from twinviews.ensemble.anchor_graph import Anchors, OverAnchors
from twinviews.ensemble.blending import ClassBlend
from twinviews.ensemble.boosted_trees import BoostedClasses, Trees
from twinviews.ensemble.ensembles import ClassCommittee, Member, NumberCommittee
from twinviews.ensemble.learned_metric import InMetric, Metric
from twinviews.ensemble.linear_ridge import Plane
from twinviews.ensemble.member import ScaledRows
from twinviews.method.correlation import CanonicalBasis
from twinviews.method.kernel_values import (
    DistanceColumns,
    ProductColumns,
    SparseDistanceColumns,
    row_squares,
)
from twinviews.method.kernels import SHIFT_INVARIANT
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.moments import Moments
from twinviews.method.views import FourierColumns, Readout, TwinFeatures, View
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.fields import (
    NOT_NEGATIVE,
    OF_DISTANCE,
    OF_PRODUCT,
    POSITIVE,
    Flag,
    Floats,
    Labels,
    Many,
    Maybe,
    Named,
    Number,
    Part,
    Rows,
    Text,
    Whole,
    Wholes,
    check_places,
)
from twinviews.model_files.records import LARGEST, Field, Kind, Sizes
from twinviews.model_files.table_kinds import TABLE_KINDS
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.scaling import RankScaling, Scaling

_LEAST = 1 / LARGEST

SCALES = (Scaling, RankScaling)
COLUMNS = (DistanceColumns, SparseDistanceColumns, ProductColumns, FourierColumns)
# What members of a committee leave behind: rows (., D) -> (., t).
PREDICTORS = (InMetric, Plane, OverAnchors, Readout, BoostedClasses)


# --- what shapes and ranges do not say -------------------------------------------------------------


def _columns_are_of_distances(columns: DistanceColumns, sizes: Sizes) -> None:
    """The exponent is then never positive beyond rounding, and the kernel at most one."""
    if sizes["rows"] != sizes["D"] + 2:
        raise ModelFileError(f"{sizes['rows']} rows of numbers do not go with {sizes['D']} columns")
    U = columns.right[:-2].T
    _nearly_equal(columns.right[-2], np.full(len(U), -0.5))
    _nearly_equal(columns.right[-1], -0.5 * row_squares(U))


def _sparse_columns_are_of_distances(columns: SparseDistanceColumns, sizes: Sizes) -> None:
    _nearly_equal(columns.y_squares, row_squares(columns.U))


def _nearly_equal(stored: np.ndarray, expected: np.ndarray) -> None:
    if not np.allclose(stored, expected, rtol=1e-9, atol=_LEAST):
        raise ModelFileError("its kernel columns are not those of distances")


def _columns_are_of_both_views(features: TwinFeatures, sizes: Sizes) -> None:
    if sizes["m1"] + sizes["m2"] != sizes["c"]:
        raise ModelFileError(f"{sizes['c']} columns are not those of both views")
    sizes["m"] = sizes["r1"] + sizes["r2"]


def _knots_rise(scaling: RankScaling, sizes: Sizes) -> None:
    for knots, values in zip(scaling.knots, scaling.values, strict=True):
        if len(knots) != len(values) or len(knots) == 0:
            raise ModelFileError(f"a column has {len(knots)} knots and {len(values)} values")
        if (np.diff(knots) <= 0).any() or (np.diff(values) < 0).any():
            raise ModelFileError("a column has knots that do not rise")


def _weights_are_shares(problem: LabeledProblem, sizes: Sizes) -> None:
    if not abs(problem.weight.sum() - 1) < 1e-6:
        raise ModelFileError(f"weights of labels sum to {problem.weight.sum():g}, not to 1")


def _all_chosen(fit: InMetric, sizes: Sizes) -> None:
    if fit.chosen is None:
        sizes.bind("m", sizes["s"])


def _anchors_have_neighbours(anchors: Anchors, sizes: Sizes) -> None:
    if sizes["c"] < 2:
        raise ModelFileError(f"{sizes['c']} anchors are less than 2")


def _classes_are_known(boosted: BoostedClasses, sizes: Sizes) -> None:
    n, k = boosted.n_classes, sizes["k"]
    sizes["t"] = 1 if n == 2 else n
    if sizes["known"] != (2 if k == 1 else k) or (np.diff(boosted.known) <= 0).any():
        raise ModelFileError(f"{k} columns of trees do not tell {sizes['known']} classes apart")
    check_places(boosted.known, n)


def _members_agree(committee: NumberCommittee | ClassCommittee, sizes: Sizes) -> None:
    for member in committee.members:
        if member.scale not in committee.scales:
            raise ModelFileError(f"a member is on the scale {member.scale[:40]!r}, which there is not")


def _bounds_are_in_order(committee: NumberCommittee, sizes: Sizes) -> None:
    _members_agree(committee, sizes)
    check_places(committee.fold_of, sizes["f"])
    if committee.bounds[0] > committee.bounds[1]:
        raise ModelFileError(f"its bounds are {committee.bounds}")


def _parts_go_together(rows: LabeledRows, sizes: Sizes) -> None:
    parts = (rows.keys, rows.X_parts, rows.Y_parts, rows.weight_parts)
    if len({len(part) for part in parts}) > 1:
        raise ModelFileError("labeled rows have different numbers of parts")
    for keys, X, Y, weight in zip(*parts, strict=True):
        if not len(keys) == X.shape[0] == len(Y) == len(weight):
            raise ModelFileError("labeled rows have parts of different lengths")


def _bytes_in_metric(values: Mapping[str, Any], sizes: Sizes) -> int:
    rows, D = sizes["s"] if values["chosen"] is None else sizes["m"], sizes["D"]
    product = rows * D * D // 8 if values["metric"].L.ndim == 2 else 0
    return 8 * rows * (D + 2) + product


def _bytes_of_rows(values: Mapping[str, Any], sizes: Sizes) -> int:
    return 8 * sizes["D"] * sizes["m"]


# --- the entries -----------------------------------------------------------------------------------


def kind(
    cls: type,
    *,
    make: Any = None,
    check: Any = None,
    cost: Any = None,
    kept: bool = False,
    parts: Any = None,
    **fields: Field,
) -> Kind:
    """A class and its fields; ``parts`` tells where a field is that is no attribute."""
    return Kind(cls, fields, make or cls, check, cost, kept, parts or {})


_SCALE = Maybe(Part(*SCALES, D="D"))
_COLUMNS = Part(*COLUMNS, D="D", m="m")
_PREDICTOR = Part(*PREDICTORS, D="D", t="t")
_OF_COMMITTEE: dict[str, Any] = {
    "scales": Named(_SCALE),
    "members": Many(Part(Member, D="D", t="t", f="f"), "j", least=1),
}

_ENTRIES = [
    kind(Scaling, centre=Floats("D"), spread=Floats("D", least=_LEAST), clip=Maybe(POSITIVE)),
    kind(RankScaling, knots=Many(Floats("_"), "D"), values=Many(Floats("_"), "D"), check=_knots_rise),
    kind(
        DistanceColumns,
        profile=OF_DISTANCE,
        always_mend=Flag(),
        sigma=POSITIVE,
        centre=Floats("D"),
        right=Floats("rows m"),
        check=_columns_are_of_distances,
    ),
    kind(
        SparseDistanceColumns,
        profile=OF_DISTANCE,
        always_mend=Flag(),
        sigma=POSITIVE,
        U=Rows("m D"),
        y_squares=Floats("m", least=0.0),
        check=_sparse_columns_are_of_distances,
    ),
    kind(ProductColumns, profile=OF_PRODUCT, right=Rows("D m"), unit_length=Flag()),
    kind(FourierColumns, frequencies=Floats("D m"), phases=Floats("m"), n_components=Whole(1)),
    kind(View, columns=_COLUMNS, W=Floats("m r"), scale=NOT_NEGATIVE),
    kind(
        TwinFeatures,
        columns=Part(*COLUMNS, D="D", m="c"),
        W1=Floats("m1 r1"),
        W2=Floats("m2 r2"),
        check=_columns_are_of_both_views,
    ),
    kind(Readout, view=Part(View, D="D", r="t"), constant=Floats("t")),
    kind(
        LabeledProblem,
        distinct=Rows("s D"),
        place=Wholes("m", below="s"),
        Y=Floats("m t"),
        weight=Floats("m", least=0.0),
        spread=Floats("t", least=0.0),
        targets=Wholes("t"),
        check=_weights_are_shares,
    ),
    kind(ScaledRows, X=Floats("m D"), scale=_SCALE, cost=_bytes_of_rows, kept=True),
    kind(Metric, L=Floats("D", other="D D")),
    kind(
        InMetric,
        kernel=Text(tuple(SHIFT_INVARIANT)),
        metric=Part(Metric, D="D"),
        source=Part(ScaledRows, m="s", D="D"),
        chosen=Maybe(Wholes("m", below="s")),
        alpha=Floats("m t"),
        constant=Floats("t"),
        make=InMetric.again,
        check=_all_chosen,
        cost=_bytes_in_metric,
        parts={"alpha": attrgetter("fit.alpha"), "constant": attrgetter("fit.constant")},
    ),
    kind(Plane, coef=Floats("D t"), constant=Floats("t")),
    kind(Anchors, centres=Floats("c D"), neighbours=Whole(1), check=_anchors_have_neighbours),
    kind(OverAnchors, anchors=Part(Anchors, c="c", D="D"), values=Floats("c t"), constant=Floats("t")),
    kind(
        Trees,
        n_columns=Whole(1, size="D"),
        baseline=Floats("k"),
        feature=Wholes("n k 7", below="D"),
        threshold=Floats("n k 7"),
        left_out=Wholes("n k 7", dtype="|u1"),
        value=Floats("n k 8"),
    ),
    kind(
        BoostedClasses,
        trees=Part(Trees, D="D", k="k"),
        known=Wholes("known"),
        n_classes=Whole(2, 1000),
        check=_classes_are_known,
    ),
    kind(
        Member, name=Text(), scale=Text(), weight=POSITIVE, fit=_PREDICTOR, folds=Many(_PREDICTOR, "f")
    ),
    kind(
        NumberCommittee,
        **_OF_COMMITTEE,
        bounds=Many(Number(), "2"),
        held_out=Floats("m t"),
        fold_of=Wholes("m"),
        check=_bounds_are_in_order,
    ),
    kind(ClassBlend, weights=Floats("j", least=0.0), sureness=Floats("j"), temper=Number()),
    kind(
        ClassCommittee,
        **_OF_COMMITTEE,
        blend=Part(ClassBlend, j="j"),
        held_out=Floats("m t"),
        check=_members_agree,
    ),
    kind(CanonicalBasis, B1=Floats("a k"), B2=Floats("b k"), correlations=Floats("k", least=0.0)),
    kind(Moments, shift=Floats("c"), count=POSITIVE, total=Floats("c"), scatter=Floats("c c")),
    kind(
        LabeledRows,
        keys=Many(Wholes("_", dtype="<u8"), least=1),
        X_parts=Many(Rows("_ D")),
        Y_parts=Many(Labels("_ t", missing=True)),
        weight_parts=Many(Floats("_", least=_LEAST)),
        check=_parts_go_together,
    ),
]

KINDS: dict[str, Kind] = {entry.name: entry for entry in [*_ENTRIES, *TABLE_KINDS]}
