"""An ONNX graph that is written like NumPy: values with operators, constants where they occur."""

from __future__ import annotations

from functools import partial, partialmethod
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
        self.outputs: list[Any] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def apply(self, operator: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """What an operator makes of values and constants."""
        names = [one.name if isinstance(one, Value) else self._constant(one) for one in inputs]
        found = [Value(self, f"value_{len(self.nodes)}_{place}") for place in range(outputs)]
        node = self.onnx.helper.make_node(operator, names, [one.name for one in found], **attributes)
        self.nodes.append(node)
        return found[0] if outputs == 1 else found

    def _constant(self, value: Any) -> str:
        """An array in the graph, once however often it is used; a list is one of sizes or places."""
        array = np.ascontiguousarray(value, np.int64 if isinstance(value, list) else None)
        content = repr(array.tolist()).encode() if array.dtype == object else array.tobytes()
        key = (array.dtype.str, array.shape, content)
        if key not in self._known:
            self._known[key] = f"constant_{len(self.constants)}"
            self.constants.append(self.onnx.numpy_helper.from_array(array, self._known[key]))
        return self._known[key]

    def output(self, name: str, value: Value, dtype: Any, *more_sizes: int) -> None:
        """Make a value known outside by this name."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value.name], [name]))
        self.outputs.append(self._outside(name, dtype, *more_sizes))

    def _outside(self, name: str, dtype: Any, *more_sizes: int) -> Any:
        shape = ["rows", *more_sizes]
        return self.onnx.helper.make_tensor_value_info(name, self.code_of(dtype), shape)

    def code_of(self, dtype: Any) -> int:
        """The number that ONNX has for a dtype; objects are text."""
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def model(self, input_name: str, n_columns: int) -> Any:
        helper, inputs = self.onnx.helper, [self._outside(input_name, np.float64, n_columns)]
        graph = helper.make_graph(self.nodes, "twinviews", inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="twinviews"
        )
        self.onnx.checker.check_model(model)
        return model


class Value:
    """An array that the graph computes; operators of ONNX are its methods, as in ``X.Exp()``."""

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph, self.name = graph, name

    def _apply(self, operator: str, *others: Any, **attributes: Any) -> Any:
        return self.graph.apply(operator, self, *others, **attributes)

    def __getattr__(self, name: str) -> Any:
        if not name[0].isupper():
            raise AttributeError(f"{name} is not an operator of ONNX")
        return partial(self._apply, name)

    __add__ = partialmethod(_apply, "Add")
    __sub__ = partialmethod(_apply, "Sub")
    __mul__ = partialmethod(_apply, "Mul")
    __truediv__ = partialmethod(_apply, "Div")
    __matmul__ = partialmethod(_apply, "MatMul")
    __pow__ = partialmethod(_apply, "Pow")
    __neg__ = partialmethod(_apply, "Neg")

    def columns(self, places: Any) -> Value:
        return self.Gather(np.asarray(places, np.int64), axis=1)

    def cast(self, dtype: type) -> Value:
        return self.Cast(to=self.graph.code_of(dtype))

    def look_up(self, table: Any) -> Value:
        """The entries of a table at these places."""
        return self.graph.apply("Gather", table, self, axis=0)
