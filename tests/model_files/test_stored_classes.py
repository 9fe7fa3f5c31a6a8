"""Classes from outside in model files: registered they come back, others are refused by name."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from twinviews import KRRRegressor, export_onnx, load_model, save_model
from twinviews.method.kernel_values import Columns
from twinviews.method.kernels import SHIFT_INVARIANT, DistanceKernel
from twinviews.model_files import ModelFileError, refuse_to_store, register_stored_class
from twinviews.model_files.onnx_export import KERNEL_GRAPHS, graph_of
from twinviews.model_files.schema import fields_of
from twinviews.model_files.stored_classes import _REFUSALS, KINDS


@dataclass(frozen=True)
class Cubes:
    """k(x, y) = (x . y)^3 / scale, as somebody outside the package writes it."""

    Y: Annotated[np.ndarray, "m D"]
    scale: Annotated[float, "> 0"]
    tags: tuple[str, ...] = ("own",)

    def __call__(self, X):
        return (X @ self.Y.T) ** 3 / self.scale


@pytest.fixture
def model():
    """A model whose kernel columns are the class from outside."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    fitted = KRRRegressor(sigma=1.0, ridge=0.1).fit(X, X[:, 0])
    columns = Cubes(X, 3.0)
    give_columns(fitted, columns)
    return fitted, X


def give_columns(fitted, columns):
    solution = fitted._solution
    view, readout = (replace(part, columns=columns) for part in (solution.view, solution.readout))
    fitted._solution = replace(solution, view=view, readout=readout)


@pytest.fixture
def registered():
    register_stored_class(Cubes, "tests.Cubes", role=Columns)
    yield
    del KINDS["tests.Cubes"]


def test_a_class_that_is_not_registered_is_refused_by_name(model, tmp_path):
    with pytest.raises(ValueError, match=r"holds a Cubes, .*no code. Use .*register_stored_class, or"):
        save_model(model[0], tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_registered_class_comes_back(model, registered, tmp_path):
    fitted, X = model
    X = 2 * X  # a product of an array with itself is rounded in another way
    save_model(fitted, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert_array_equal(loaded.predict(X), fitted.predict(X))
    assert loaded._solution.view.columns.tags == ("own",)
    del KINDS["tests.Cubes"]
    with pytest.raises(ValueError, match=r"an object of the kind 'tests.Cubes', which .* not know"):
        load_model(tmp_path / "model")
    register_stored_class(Cubes, "tests.Cubes", role=Columns)


def test_fields_from_outside_are_checked_too(model, registered, tmp_path):
    fitted, _ = model
    give_columns(fitted, replace(fitted._solution.view.columns, scale=-1.0))
    with pytest.raises(ValueError, match=r"tests.Cubes.scale: -1.0 is not a number from"):
        save_model(fitted, tmp_path / "model")


def test_a_class_stands_only_in_the_place_of_its_role(model, tmp_path):
    register_stored_class(Cubes, "tests.Cubes")
    try:
        with pytest.raises(ValueError, match=r"a tests.Cubes is in a place where it does not belong"):
            save_model(model[0], tmp_path / "model")
    finally:
        del KINDS["tests.Cubes"]


def test_a_check_from_outside_refuses(model, tmp_path):
    def refuse(columns, sizes):
        raise ModelFileError(f"{sizes['m']} rows of cubes")

    register_stored_class(Cubes, "tests.Cubes", role=Columns, check=refuse)
    try:
        with pytest.raises(ValueError, match="20 rows of cubes"):
            save_model(model[0], tmp_path / "model")
    finally:
        del KINDS["tests.Cubes"]


def test_a_class_can_say_why_it_is_not_stored(model, tmp_path):
    refuse_to_store(Cubes, lambda cubes: f"cubes over {cubes.scale} are code. Use another kernel")
    try:
        with pytest.raises(ValueError, match=r"cubes over 3.0 are code. Use another kernel\."):
            save_model(model[0], tmp_path / "model")
    finally:
        del _REFUSALS[Cubes]


def test_a_name_in_files_belongs_to_one_class():
    with pytest.raises(ValueError, match=r"'View' is the name of View in files. Use another"):
        register_stored_class(Cubes, "View")


@pytest.mark.parametrize("hint", [object, set[int], list, bytes, Annotated[float, 3]])
def test_an_annotation_that_cannot_be_stored_says_so(hint):
    other = type("Other", (), {"__annotations__": {"value": hint}, "__module__": __name__})
    with pytest.raises(TypeError, match=r"Other.value: "):
        fields_of(other)


def test_every_stored_class_has_the_name_that_files_of_today_use():
    assert all(name == kind.name for name, kind in KINDS.items())
    assert {"RegressionEnsemble", "ClassificationEnsemble", "Member", "View", "Encoder"} <= set(KINDS)


# --- ONNX ------------------------------------------------------------------------------------------


def test_a_part_from_outside_says_how_it_becomes_onnx(model, tmp_path):
    import onnxruntime

    fitted, X = model
    path = tmp_path / "model.onnx"
    with pytest.raises(ValueError, match=r"Cubes cannot be .* graph_of.register\(Cubes\)"):
        export_onnx(fitted, path)

    @graph_of.register
    def _(cubes: Cubes, X):
        return (X @ cubes.Y.T) ** 3.0 / np.full(len(cubes.Y), cubes.scale)

    export_onnx(fitted, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"X": X})[0], fitted.predict(X), rtol=1e-9)


def cauchy(q):
    return 1 / (1 - 2 * q)


def test_a_kernel_by_name_from_outside_is_stored_and_exported(monkeypatch, tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    monkeypatch.setitem(SHIFT_INVARIANT, "cauchy", DistanceKernel(cauchy, np.inf))
    model = KRRRegressor(kernel="cauchy").fit(X, X[:, 0])
    save_model(model, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"kernel='cauchy' cannot be .* Add it to KERNEL_GRAPHS"):
        export_onnx(model, tmp_path / "model.onnx")
    monkeypatch.setitem(KERNEL_GRAPHS, "cauchy", lambda q: (q * -2.0 + 1.0) ** -1.0)
    export_onnx(model, tmp_path / "model.onnx")
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"kernel='cauchy'|'cauchy' is not a kernel"):
        load_model(tmp_path / "model")
