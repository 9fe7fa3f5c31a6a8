"""The classes that a fitted model may be made of: one line each, with the name that it has in files.

Names in files do not change when a class is renamed or moved. The fields come from the annotations of
the class (``schema.py``); here stands what annotations do not say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, get_args

import numpy as np

from twinviews.ensemble.anchor_graph import Anchors, OverAnchors
from twinviews.ensemble.blending import ClassBlend
from twinviews.ensemble.boosted_trees import BoostedClasses, Trees, first_leaf
from twinviews.ensemble.ensembles import (
    ClassificationEnsemble,
    Ensemble,
    Member,
    RegressionEnsemble,
)
from twinviews.ensemble.estimator_member import FittedEstimator
from twinviews.ensemble.leading_directions import LeadingDirections, OnDirections
from twinviews.ensemble.learned_metric import InMetric, Metric
from twinviews.ensemble.linear_ridge import Plane
from twinviews.ensemble.member import Predictor, ScaledRows
from twinviews.ensemble.unvaried_columns import UnvariedColumns
from twinviews.estimators._correlated_views import AllRows, LearnedCorrelation
from twinviews.estimators._method import Solution
from twinviews.estimators.exact_sssl import LearnedEigenfunctions
from twinviews.estimators.krr import LearnedWidth
from twinviews.estimators.laprls import LearnedDeformation
from twinviews.estimators.single_view import LearnedView
from twinviews.method.correlation import CanonicalBasis
from twinviews.method.counts import CountMean
from twinviews.method.cumulative_link import CumulativeLink
from twinviews.method.intervals import SingleLabels
from twinviews.method.kernel_values import (
    CallableColumns,
    Columns,
    DistanceColumns,
    ProductColumns,
    SparseDistanceColumns,
    row_squares,
)
from twinviews.method.labeled_problem import LabeledProblem
from twinviews.method.moments import Moments
from twinviews.method.views import FourierColumns, Readout, TwinFeatures, View
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.labels_and_rows import check_places
from twinviews.model_files.records import LARGEST, Kind, Sizes
from twinviews.model_files.schema import defaults_of, fields_of
from twinviews.passes.input_profile import ColumnRanges, InputProfile, LevelsSeen
from twinviews.passes.labeled_rows import LabeledRows
from twinviews.passes.scaling import RankScaling, Scaling
from twinviews.shift.column_differences import ShiftedColumn
from twinviews.shift.covariate_shift import CovariateShift, UnlabeledLevel
from twinviews.shift.importance import RowImportance
from twinviews.shift.two_sample_test import KernelFeatures

KINDS: dict[str, Kind] = {}
_REFUSALS: dict[type, Callable[[Any], str]] = {}


def register_stored_class(
    cls: type,
    name: str,
    *,
    role: Any = None,
    stored_as: type | None = None,
    make: Callable[..., Any] | None = None,
    **rules: Any,
) -> type:
    """Let model files hold objects of a class; the class comes back.

    Its fields are derived from its annotations, and all of them are checked when a file is read.
    To load a model that holds such an object, register the class first, in the same way.

    Parameters
    ----------
    cls : a dataclass or named tuple
    name : what it is called in files, for good
    role : the type in whose place it may stand, such as ``Columns``, ``Predictor`` or ``Code``
    stored_as : a class whose annotations say what is stored, if it is not the fields of ``cls``; its
        method ``of`` takes an object and gives one of ``stored_as``
    make : what makes an object of the fields, if it is not ``cls``
    rules : ``check(object, sizes)``, which raises a ModelFileError for what annotations do not say;
        ``cost(fields, sizes)``, bytes that making an object takes beyond those of its fields;
        ``made_once=True`` where that is spent once, however often the object is named
    """
    known = KINDS.get(name)
    same = (cls.__module__, cls.__qualname__)
    if known is not None and (known.cls.__module__, known.cls.__qualname__) != same:
        raise ValueError(f"{name!r} is the name of {known.cls.__qualname__} in files. Use another.")
    source = stored_as or cls
    KINDS[name] = Kind(
        name=name,
        cls=cls,
        fields=fields_of(source),
        defaults=defaults_of(source),
        make=make or cls,
        stored_as=stored_as,
        roles=frozenset(get_args(role) or [role]),
        **rules,
    )
    return cls


def refuse_to_store(cls: type, why: Callable[[Any], str]) -> None:
    """Give the reason why a model that holds an object of a class cannot be saved, and the way out."""
    _REFUSALS[cls] = why


def kind_of(value: Any) -> Kind:
    """How an object is stored."""
    for kind in KINDS.values():
        if type(value) is kind.cls:
            return kind
    if type(value) in _REFUSALS:
        raise ModelFileError(_REFUSALS[type(value)](value))
    raise ModelFileError(
        f"it holds a {type(value).__name__}, which is not registered, and a model file holds no code. "
        f"Use twinviews.model_files.register_stored_class, or keep this model with pickle"
    )


refuse_to_store(
    CallableColumns,
    lambda columns: (
        f"kernel={columns.kernel!r} is a function of your own, and a model file holds no code. "
        f"Use a kernel by name, or keep this model with pickle"
    ),
)
refuse_to_store(FittedEstimator, lambda member: member.why_not_stored)


# --- what annotations do not say -------------------------------------------------------------------


def _columns_are_of_distances(columns: DistanceColumns, sizes: Sizes) -> None:
    """The exponent is then never positive beyond rounding, and the kernel at most one."""
    U = columns.right[:-2].T
    _nearly_equal(columns.right[-2], np.full(len(U), -0.5))
    _nearly_equal(columns.right[-1], -0.5 * row_squares(U))


def _sparse_columns_are_of_distances(columns: SparseDistanceColumns, sizes: Sizes) -> None:
    _nearly_equal(columns.y_squares, row_squares(columns.U))


def _nearly_equal(stored: np.ndarray, expected: np.ndarray) -> None:
    if not np.allclose(stored, expected, rtol=1e-9, atol=1 / LARGEST):
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


def _anchors_have_neighbours(anchors: Anchors, sizes: Sizes) -> None:
    if sizes["m"] < 2:
        raise ModelFileError(f"{sizes['m']} anchors are less than 2")


def _a_leaf_is_left(trees: Trees, sizes: Sizes) -> None:
    sizes["t"] = sizes["k"]
    if first_leaf(np.bitwise_or.reduce(trees.left_out, axis=2)).max(initial=0) >= sizes["l"]:
        raise ModelFileError(f"nodes of a tree rule out all of its {sizes['l']} leaves")


def _classes_are_known(boosted: BoostedClasses, sizes: Sizes) -> None:
    n, k = boosted.n_classes, sizes["k"]
    sizes["t"] = 1 if n == 2 else n
    if sizes["known"] != (2 if k == 1 else k) or (np.diff(boosted.known) <= 0).any():
        raise ModelFileError(f"{k} columns of trees do not tell {sizes['known']} classes apart")
    check_places(boosted.known, n)


def _members_agree(ensemble: Ensemble, sizes: Sizes) -> None:
    for member in ensemble.members:
        if member.scale not in ensemble.scales:
            raise ModelFileError(f"a member is on the scale {member.scale[:40]!r}, which there is not")


def _bounds_are_in_order(ensemble: RegressionEnsemble, sizes: Sizes) -> None:
    _members_agree(ensemble, sizes)
    if ensemble.bounds[0] > ensemble.bounds[1]:
        raise ModelFileError(f"its bounds are {ensemble.bounds}")


def _offsets_are_of_classes(ensemble: ClassificationEnsemble, sizes: Sizes) -> None:
    _members_agree(ensemble, sizes)
    n_classes = max(2, sizes["t"])
    for blend in (ensemble.blend, *(ensemble.fold_blends or ())):
        if blend.offsets is not None and blend.offsets.shape[1] != n_classes:
            raise ModelFileError(f"offsets of {blend.offsets.shape[1]} classes are not of {n_classes}")


def _parts_go_together(rows: LabeledRows, sizes: Sizes) -> None:
    parts = (rows.keys, rows.X_parts, rows.Y_parts, rows.weight_parts)
    if len({len(part) for part in parts}) > 1:
        raise ModelFileError("labeled rows have different numbers of parts")
    if rows.copies_parts and [*map(len, rows.copies_parts)] != [*map(len, rows.keys)]:
        raise ModelFileError("labeled rows have another number of copies than of rows")
    for keys, X, Y, weight in zip(*parts, strict=True):
        if not len(keys) == X.shape[0] == len(Y) == len(weight):
            raise ModelFileError("labeled rows have parts of different lengths")


def _ends_are_in_order(ranges: ColumnRanges, sizes: Sizes) -> None:
    if (ranges.least > ranges.most).any():
        raise ModelFileError("the least number of a column is above the greatest")
    if (np.isnan(ranges.least) != np.isnan(ranges.most)).any():
        raise ModelFileError("of a column only one end of its range is known")


def _hashes_rise(seen: LevelsSeen, sizes: Sizes) -> None:
    if (seen.hashes[1:] <= seen.hashes[:-1]).any():
        raise ModelFileError("hashes of levels do not rise")
    if not seen.complete and len(seen.hashes):
        raise ModelFileError("levels of a column were seen, and are said not to be known")


def _quantiles_or_share(column: ShiftedColumn, sizes: Sizes) -> None:
    expected = 3 if column.level is None else 1
    if not len(column.labeled) == len(column.all_rows) == expected:
        raise ModelFileError(f"a column that differs is not told by {expected} numbers")


def _cuts_rise(link: CumulativeLink, sizes: Sizes) -> None:
    if (np.diff(link.cuts) <= 0).any():
        raise ModelFileError("cuts between classes do not rise")


# --- a fit in a metric is stored without its kernel columns, which follow from the rest -------------


@dataclass(frozen=True)
class _StoredInMetric:
    kernel: Literal["gaussian", "laplace", "matern32", "matern52"]
    metric: Annotated[Metric, "D"]
    source: Annotated[ScaledRows, "s=m D"]
    chosen: Annotated[np.ndarray, "m", "int64", "< s"] | None
    alpha: Annotated[np.ndarray, "m t"]
    constant: Annotated[np.ndarray, "t"]

    @classmethod
    def of(cls, fit: InMetric) -> _StoredInMetric:
        kernel: Any = fit.kernel
        return cls(kernel, fit.metric, fit.source, fit.chosen, fit.fit.alpha, fit.fit.constant)


def _all_chosen(fit: InMetric, sizes: Sizes) -> None:
    if fit.chosen is None:
        sizes.bind("m", sizes["s"])


def _bytes_in_metric(values: Mapping[str, Any], sizes: Sizes) -> int:
    rows, D = sizes["s"] if values["chosen"] is None else sizes["m"], sizes["D"]
    product = rows * D * D // 8 if values["metric"].L.ndim == 2 else 0
    return 8 * rows * (D + 2) + product


def _bytes_of_rows(values: Mapping[str, Any], sizes: Sizes) -> int:
    return 8 * sizes["D"] * sizes["m"]


# --- the classes -----------------------------------------------------------------------------------


class TableEncoding(Protocol):
    """Raw columns -> numbers."""


_store = register_stored_class
_store(Scaling, "Scaling")
_store(RankScaling, "RankScaling", check=_knots_rise)
_store(DistanceColumns, "DistanceColumns", role=Columns, check=_columns_are_of_distances)
_store(
    SparseDistanceColumns,
    "SparseDistanceColumns",
    role=Columns,
    check=_sparse_columns_are_of_distances,
)
_store(ProductColumns, "ProductColumns", role=Columns)
_store(FourierColumns, "FourierColumns", role=Columns)
_store(View, "View")
_store(TwinFeatures, "TwinFeatures", check=_columns_are_of_both_views)
_store(Readout, "Readout", role=Predictor)
_store(LabeledProblem, "LabeledProblem", check=_weights_are_shares)
_store(ScaledRows, "ScaledRows", cost=_bytes_of_rows, made_once=True)
_store(Metric, "Metric")
_store(
    InMetric,
    "InMetric",
    role=Predictor,
    check=_all_chosen,
    cost=_bytes_in_metric,
    stored_as=_StoredInMetric,
    make=InMetric.again,
)
_store(Plane, "Plane", role=Predictor)
_store(LeadingDirections, "LeadingDirections", made_once=True)
_store(OnDirections, "OnDirections", role=Predictor)
_store(Anchors, "Anchors", check=_anchors_have_neighbours)
_store(OverAnchors, "OverAnchors", role=Predictor)
_store(Trees, "Trees", role=Predictor, check=_a_leaf_is_left)
_store(BoostedClasses, "BoostedClasses", role=Predictor, check=_classes_are_known)
_store(Member, "Member")
_store(UnvariedColumns, "UnvariedColumns")
_store(RegressionEnsemble, "RegressionEnsemble", check=_bounds_are_in_order)
_store(ClassBlend, "ClassBlend")
_store(ClassificationEnsemble, "ClassificationEnsemble", check=_offsets_are_of_classes)
_store(CanonicalBasis, "CanonicalBasis")
_store(Moments, "Moments")
_store(LabeledRows, "LabeledRows", check=_parts_go_together)
_store(ColumnRanges, "ColumnRanges", check=_ends_are_in_order)
_store(LevelsSeen, "LevelsSeen", check=_hashes_rise)
_store(InputProfile, "InputProfile")
_store(Solution, "Solution")
_store(AllRows, "AllRows")
_store(LearnedCorrelation, "LearnedCorrelation")
_store(LearnedView, "LearnedView")
_store(LearnedWidth, "LearnedWidth")
_store(LearnedEigenfunctions, "LearnedEigenfunctions")
_store(LearnedDeformation, "LearnedDeformation")
_store(ShiftedColumn, "ShiftedColumn", check=_quantiles_or_share)
_store(UnlabeledLevel, "UnlabeledLevel")
_store(CovariateShift, "CovariateShift")
_store(KernelFeatures, "KernelFeatures")
_store(CountMean, "CountMean")
_store(CumulativeLink, "CumulativeLink", check=_cuts_rise)
_store(SingleLabels, "SingleLabels")
_store(RowImportance, "RowImportance")

try:
    from twinviews.encoding.codes import Code, DateCode, LeftOutColumn, LevelCode, NumberCode
    from twinviews.encoding.encoder import Encoder
except ImportError:  # without pyarrow there are no such models, and a file with one is refused
    pass
else:

    def _columns_have_names(encoder: Encoder, sizes: Sizes) -> None:
        names = [code.name for code in encoder.codes]
        if len(set(names)) < len(names) or not encoder.names:
            raise ModelFileError("its columns are not told apart by their names")
        words = {code.name for code in encoder.codes if isinstance(code, LevelCode)}
        if encoder.profile is not None and set(encoder.profile.levels) != words:
            raise ModelFileError("its levels are not those of its columns of words")
        sizes.bind("D", len(encoder.outputs))

    def _levels_are_known(code: LevelCode, sizes: Sizes) -> None:
        if sorted(set(code.known)) != list(code.known) or 0.0 in code.shares:
            raise ModelFileError("levels of a column are not in order")
        if len(set(code.levels)) < len(code.levels) or not set(code.levels) <= set(code.known):
            raise ModelFileError("levels of a column are not told apart, or were never counted")
        if code.shares and len(code.shares) != len(code.known):
            raise ModelFileError(f"{len(code.shares)} shares are not of {len(code.known)} levels")

    _store(NumberCode, "NumberCode", role=Code)
    _store(LevelCode, "LevelCode", role=Code, check=_levels_are_known)
    _store(DateCode, "DateCode", role=Code)
    _store(LeftOutColumn, "LeftOut", role=Code)
    _store(Encoder, "Encoder", role=TableEncoding, check=_columns_have_names)
