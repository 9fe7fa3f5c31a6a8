"""An ONNX graph that is written like NumPy: values with operators, constants where they occur."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Known to every onnxruntime of the last years.
OPSET, IR_VERSION = 17, 8


class Graph:
    """Nodes and constants, in the order in which they are asked for."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], Value] = {}

    def constant(self, array: Any) -> Value:
        """An array in the graph, once however often it is used."""
        array = np.ascontiguousarray(array)
        content = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self._known:
            name = f"constant_{len(self.constants)}"
            self.constants.append(self.onnx.numpy_helper.from_array(array, name))
            self._known[key] = Value(self, name)
        return self._known[key]

    def apply(self, operator: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        names = [self._value(one).name for one in inputs]
        found = [Value(self, f"value_{len(self.nodes)}_{place}") for place in range(outputs)]
        node = self.onnx.helper.make_node(operator, names, [one.name for one in found], **attributes)
        self.nodes.append(node)
        return found[0] if outputs == 1 else found

    def _value(self, one: Any) -> Value:
        return one if isinstance(one, Value) else self.constant(one)

    def name(self, value: Value, name: str) -> None:
        """Make a value known outside by this name."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value.name], [name]))

    def model(self, inputs: list[Any], outputs: list[Any]) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "twinviews", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="twinviews"
        )
        self.onnx.checker.check_model(model)
        return model


def _operator(name: str, **attributes: Any) -> Callable[..., Value]:
    """A method that applies an operator of ONNX to a value, and to another if it takes two."""

    def apply(self: Value, *others: Any) -> Value:
        return self.graph.apply(name, self, *others, **attributes)

    return apply


class Value:
    """An array that the graph computes."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    __add__ = _operator("Add")
    __sub__ = _operator("Sub")
    __mul__ = _operator("Mul")
    __truediv__ = _operator("Div")
    __matmul__ = _operator("MatMul")
    __neg__ = _operator("Neg")
    exp = _operator("Exp")
    log = _operator("Log")
    sqrt = _operator("Sqrt")
    sin = _operator("Sin")
    sigmoid = _operator("Sigmoid")
    softmax = _operator("Softmax", axis=1)
    log_softmax = _operator("LogSoftmax", axis=1)
    above = _operator("Greater")
    beside = _operator("Concat", axis=1)

    def power(self, degree: float) -> Value:
        return self.graph.apply("Pow", self, np.float64(degree))

    def clip(self, low: float, high: float) -> Value:
        return self.at_least(low).at_most(high)

    def at_least(self, low: float) -> Value:
        return self.graph.apply("Max", self, np.float64(low))

    def at_most(self, high: float) -> Value:
        return self.graph.apply("Min", self, np.float64(high))

    def sum(self, axis: int, *, keep: bool = True) -> Value:
        return self.graph.apply("ReduceSum", self, np.array([axis]), keepdims=int(keep))

    def argmax(self, axis: int) -> Value:
        return self.graph.apply("ArgMax", self, axis=axis, keepdims=0)

    def columns(self, places: np.ndarray) -> Value:
        return self.graph.apply("Gather", self, np.asarray(places, np.int64), axis=1)

    def reshape(self, *shape: int) -> Value:
        return self.graph.apply("Reshape", self, np.array(shape, np.int64))

    def transpose(self, *axes: int) -> Value:
        return self.graph.apply("Transpose", self, perm=list(axes))

    def cast(self, dtype: type) -> Value:
        kind = self.graph.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.graph.apply("Cast", self, to=kind)

    def look_up(self, table: Any) -> Value:
        """The entries of a table at these places."""
        return self.graph.apply("Gather", table, self, axis=0)
