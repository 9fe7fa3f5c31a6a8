"""A fitted model's predictions as an ONNX graph, in double precision, for programs without Python."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from twinviews._system.whole_files import replace_file
from twinviews.ensemble import blending as blend
from twinviews.ensemble.anchor_graph import OverAnchors
from twinviews.ensemble.boosted_trees import BoostedClasses, Trees
from twinviews.ensemble.ensembles import ClassificationEnsemble, Ensemble, RegressionEnsemble
from twinviews.ensemble.leading_directions import OnDirections
from twinviews.ensemble.learned_metric import InMetric
from twinviews.ensemble.linear_ridge import Plane
from twinviews.ensemble.member import LEAST_PROBABILITY
from twinviews.method.kernel_values import DistanceColumns, ProductColumns
from twinviews.method.views import FourierColumns, Readout, View
from twinviews.model_files.container import ModelFileError
from twinviews.model_files.estimator_states import ESTIMATORS
from twinviews.model_files.onnx_graph import Graph, Value
from twinviews.model_files.schema import PROFILES
from twinviews.passes.scaling import RankScaling, Scaling


def export_onnx(model: Any, path: str | os.PathLike[str]) -> None:
    """Write the predictions of a fitted model as an ONNX graph (``pip install twinviews[onnx]``).

    Its input ``X`` is (rows, n_features), float64. Outputs are ``prediction`` for numbers, as
    ``predict`` gives them, and ``label`` and ``probability`` for classes. Models of sparse rows and
    kernels of one's own have no graph.

    Parameters
    ----------
    model : a fitted estimator of twinviews
    path : path

    Examples
    --------
    >>> import os, tempfile
    >>> import onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> from twinviews import SSSLClassifier, export_onnx
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SSSLClassifier(n_components=20, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_onnx(model, os.path.join(folder, "iris.onnx"))
    ...     session = onnxruntime.InferenceSession(os.path.join(folder, "iris.onnx"))
    >>> session.run(["label"], {"X": X[[0, 50, 100]]})[0].tolist()
    [0, 1, 2]
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError("export_onnx needs onnx. Use: pip install twinviews[onnx]") from error
    check_is_fitted(model)
    if type(model) not in {kind.cls for kind in ESTIMATORS.values()}:
        raise ValueError(f"{type(model).__name__} is not an estimator of twinviews.")
    if model._encoder is not None:
        raise ValueError(
            f"This {type(model).__name__} was fitted on a table of words, dates or blanks, and a graph "
            f"takes numbers. Fit it on what TableEncoder makes of the table."
        )
    if model._task not in ("regression", "classification"):
        raise ValueError(
            f"{type(model).__name__} has no ONNX graph yet. Use save_model, or an XNVRegressor or "
            f"XNVClassifier."
        )
    graph = Graph(onnx)
    try:
        add_outputs = _add_classes if is_classifier(model) else _add_numbers
        add_outputs(model, graph)
    except ModelFileError as reason:
        raise ValueError(f"This {type(model).__name__} has no ONNX graph: {reason}.") from None
    content = graph.model("X", model.n_features_in_).SerializeToString(deterministic=True)
    replace_file(Path(path), content)


def _decision(model: Any, graph: Graph) -> Value:
    X = Value(graph, "X")
    if model._scaling is not None:
        X = graph_of(model._scaling, X)
    if model._ensembles is None:
        return graph_of(model._solution.readout, X) + model._solution.intercept
    return graph.apply("Concat", *(graph_of(one, X) for one in model._ensembles), axis=1)


def _add_numbers(model: Any, graph: Graph) -> None:
    decision = _decision(model, graph)
    if model._one_column:
        graph.output("prediction", decision.Reshape([-1]), np.float64)
    else:
        graph.output("prediction", decision, np.float64, len(model._solution.intercept))


def _add_classes(model: Any, graph: Graph) -> None:
    decision = _decision(model, graph)
    scaled = decision * float(model._scale)
    if len(model.classes_) == 2:
        probability = _both_sides(scaled).Sigmoid()
        chosen = decision.Greater(0.0).cast(np.int64).Reshape([-1])
    else:
        probability, chosen = scaled.Softmax(axis=1), decision.ArgMax(axis=1, keepdims=0)
    if model._class_cost is not None:
        chosen = (probability * model._class_cost).ArgMax(axis=1, keepdims=0)
    labels = model.classes_
    if labels.dtype.kind in "OU":
        if not all(isinstance(label, str) for label in labels):
            raise ModelFileError("its classes are objects other than text")
        labels = labels.astype(object)
    graph.output("label", chosen.look_up(labels), labels.dtype)
    graph.output("probability", probability, np.float64, len(labels))


def _both_sides(value: Value) -> Value:
    """The negative of a column and the column itself, as those of two classes."""
    return (-value).Concat(value, axis=1)


def _difference(value: Value) -> Value:
    """The second of two columns less the first."""
    return value.columns([1]) - value.columns([0])


@singledispatch
def graph_of(part: Any, X: Value) -> Value:
    """What a part of a model makes of rows, as a value of the graph.

    ``graph_of.register`` takes a function for a class of one's own: a scale, an ensemble member, or
    the columns of a kernel.
    """
    name = type(part).__name__
    raise ModelFileError(f"{name} cannot be written as one. Give it one by graph_of.register({name})")


# --- scales ----------------------------------------------------------------------------------------


@graph_of.register
def _(scaling: Scaling, X: Value) -> Value:
    Z = (X - scaling.centre.astype(float)) / scaling.spread.astype(float)
    if scaling.clip is None:
        return Z
    return Z / ((Z / scaling.clip) ** 2.0 + 1.0).Sqrt()


@graph_of.register
def _(scaling: RankScaling, X: Value) -> Value:
    """Linear between the knots: each piece adds its slope times how far a value goes along it."""
    D, most = len(scaling.knots), max(len(knots) for knots in scaling.knots)
    start, length, slope = np.zeros((3, D, most))
    for column, (knots, values) in enumerate(zip(scaling.knots, scaling.values, strict=True)):
        pieces = len(knots) - 1
        start[column, :pieces], length[column, :pieces] = knots[:-1], np.diff(knots)
        slope[column, :pieces] = np.diff(values) / np.diff(knots)
    first = np.array([values[0] for values in scaling.values])
    along = (X.Reshape([-1, D, 1]) - start).Max(0.0).Min(length)
    return (along * slope).ReduceSum([2], keepdims=0) + first


@graph_of.register
def _(member: OnDirections, X: Value) -> Value:
    leading = member.leading
    return graph_of(member.fit, graph_of(leading.scaling, X @ leading.directions))


# --- views -----------------------------------------------------------------------------------------


@graph_of.register
def _(view: View, X: Value) -> Value:
    return graph_of(view.columns, X) @ view.W


@graph_of.register
def _(readout: Readout, X: Value) -> Value:
    return graph_of(readout.view, X) + readout.constant


def _distance(q: Value, scale: float) -> Value:
    return (q * (-2.0 * scale)).Max(0.0).Sqrt()


def _matern32(q: Value) -> Value:
    r = _distance(q, 3)
    return (r + 1.0) * (-r).Exp()


def _matern52(q: Value) -> Value:
    r = _distance(q, 5)
    return (r + r * r / 3.0 + 1.0) * (-r).Exp()


# Kernels by name, as functions of q = -|u - u'|^2 / 2. One of your own may be added.
KERNEL_GRAPHS: dict[str, Callable[[Value], Value]] = {
    "gaussian": lambda q: q.Min(0.0).Exp(),
    "laplace": lambda q: (-_distance(q, 1)).Exp(),
    "matern32": _matern32,
    "matern52": _matern52,
}


@graph_of.register
def _(columns: DistanceColumns, X: Value) -> Value:
    D = len(columns.centre)
    U = (X - columns.centre) / _in_each(columns.sigma, D)
    q = U @ columns.right[:D] - (U * U).ReduceSum([1]) * 0.5 + columns.right[-1]
    name = PROFILES["kernel of distance"].encode(columns.profile)
    if name not in KERNEL_GRAPHS:
        raise ModelFileError(f"kernel={name!r} cannot be written as one. Add it to KERNEL_GRAPHS")
    return KERNEL_GRAPHS[name](q)


@graph_of.register
def _(columns: ProductColumns, X: Value) -> Value:
    if sparse.issparse(columns.right):
        raise ModelFileError("its rows are sparse")
    if columns.unit_length:
        X = X / (X * X).ReduceSum([1]).Sqrt().Max(np.finfo(float).tiny)
    product = X @ columns.right
    name = PROFILES["kernel of product"].encode(columns.profile)
    if isinstance(name, dict):
        return (product + 1.0) ** float(name["polynomial"])
    if name not in ("linear", "cosine"):
        raise ModelFileError(f"kernel={name!r} cannot be written as one")
    return product


@graph_of.register
def _(columns: FourierColumns, X: Value) -> Value:
    # Older versions of ONNX Runtime have no cosine of double precision, but the sine.
    angles = X @ columns.frequencies + (columns.phases + np.pi / 2)
    return angles.Sin() * _in_each(np.sqrt(2 / columns.n_components), len(columns.phases))


def _in_each(number: float, n_columns: int) -> np.ndarray:
    """A single number beside a matrix product onnxruntime draws into it, in single precision."""
    return np.full(n_columns, number)


# --- ensembles -------------------------------------------------------------------------------------


@graph_of.register
def _(ensemble: RegressionEnsemble, X: Value) -> Value:
    total = sum(member.weight for member in ensemble.members)
    low, high = ensemble.bounds
    parts = [
        predicted.Max(low).Min(high) * (member.weight / total)
        for member, predicted in _predictions(ensemble, X)
    ]
    return X.graph.apply("Sum", *parts)


@graph_of.register
def _(ensemble: ClassificationEnsemble, X: Value) -> Value:
    mixed, parts = ensemble.blend, []
    for place, (_, decision) in enumerate(_predictions(ensemble, X)):
        sides = decision.Max(-blend.SUREST).Min(blend.SUREST)
        if ensemble.held_out.shape[1] == 1:
            sides = _both_sides(sides)
        scores = sides * mixed.sureness[place]
        if mixed.offsets is not None:
            scores = scores + mixed.offsets[place]
        parts.append(scores.Softmax(axis=1) * mixed.weights[place])
    log_p = (X.graph.apply("Sum", *parts) + blend.LEAST_PROBABILITY).Log()
    mixture = (log_p * float(mixed.temper)).LogSoftmax(axis=1)
    return mixture if ensemble.held_out.shape[1] > 1 else _difference(mixture)


def _predictions(ensemble: Ensemble, X: Value) -> list[tuple[Any, Value]]:
    """Each member, and what it predicts."""
    if ensemble.unvaried is not None:
        values = ensemble.unvaried.values
        X = X * np.isnan(values).astype(float) + np.nan_to_num(values)
    scales = {member.scale: ensemble.scales[member.scale] for member in ensemble.members}
    on = {name: X if scale is None else graph_of(scale, X) for name, scale in scales.items()}
    return [(member, graph_of(member.fit, on[member.scale])) for member in ensemble.members]


@graph_of.register
def _(fit: InMetric, X: Value) -> Value:
    L = fit.metric.L
    Z = X * L if L.ndim == 1 else X @ L
    return graph_of(fit.fit.columns, Z) @ fit.fit.alpha + fit.fit.constant


@graph_of.register
def _(plane: Plane, X: Value) -> Value:
    return X @ plane.coef + plane.constant


@graph_of.register
def _(fit: OverAnchors, X: Value) -> Value:
    centres = fit.anchors.centres
    k = min(fit.anchors.neighbours, len(centres) - 1)
    lengths = np.square(centres).sum(axis=1)
    squares = (X * X).ReduceSum([1]) - X @ (2 * centres.T) + lengths
    near, place = squares.TopK([k + 1], largest=0, outputs=2)
    near = near.Max(0.0)
    weight = (near.columns(range(k)) * -2.0 / (near.columns([k]) + 1e-12)).Exp()
    share = weight / weight.ReduceSum([1])
    values = place.columns(range(k)).look_up(fit.values)  # (rows, k, t)
    return (share.Reshape([-1, k, 1]) * values).ReduceSum([1], keepdims=0) + fit.constant


@graph_of.register
def _(fit: Trees, X: Value) -> Value:
    """The first leaf of each tree that no node rules out, found by counting the nodes that do."""
    rounds, k, nodes = fit.feature.shape
    n_trees, leaves = rounds * k, fit.value.shape[2]
    bits = (fit.left_out[..., None] >> np.arange(leaves, dtype=np.uint64)) & np.uint64(1)
    above = X.columns(fit.feature.ravel()).Greater(fit.threshold.ravel()).cast(np.float32)
    by_tree = above.Reshape([-1, n_trees, nodes]).Transpose(perm=[1, 0, 2])
    ruled_out = by_tree @ bits.reshape(n_trees, nodes, leaves).astype(np.float32)
    leaf = ruled_out.Less(np.float32(0.5)).cast(np.int32).ArgMax(axis=2, keepdims=0)
    place = leaf + leaves * np.arange(n_trees, dtype=np.int64)[:, None]
    added = place.look_up(fit.value.ravel()).Reshape([rounds, k, -1])
    return added.ReduceSum([0], keepdims=0).Transpose(perm=[1, 0]) + fit.baseline


@graph_of.register
def _(fit: BoostedClasses, X: Value) -> Value:
    decision = graph_of(fit.trees, X)
    one = len(fit.trees.baseline) == 1
    p = _both_sides(decision).Sigmoid() if one else decision.Softmax(axis=1)
    of_all = p @ np.eye(fit.n_classes)[fit.known]
    log_p = of_all.Max(LEAST_PROBABILITY).Log()
    if fit.n_classes == 2:
        return _difference(log_p) / 8.0
    return (log_p - log_p.ReduceMean(axes=[1])) / 4.0
