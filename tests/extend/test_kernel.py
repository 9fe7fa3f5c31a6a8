"""A kernel, added from outside the package: rational quadratic, by its profile."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from twinviews import KRRRegressor, XNVRegressor, load_model, save_model
from twinviews.extend import DistanceKernel, register_kernel
from twinviews.method import kernels


def rational_quadratic(q):
    """1 / (1 + |u - u'|^2 / 2), from q = -|u - u'|^2 / 2."""
    return 1 / (1 - q)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(kernels, "SHIFT_INVARIANT", dict(kernels.SHIFT_INVARIANT))
    register_kernel("rational quadratic", DistanceKernel(rational_quadratic, degrees_of_freedom=2))


@pytest.fixture
def rows():
    X = np.random.default_rng(0).normal(size=(300, 2))
    return X, np.where(np.arange(300) < 40, np.sin(X[:, 0]), np.nan)


def test_a_kernel_by_name_is_the_function_itself(rows):
    X, y = rows

    def by_hand(U, V):
        return 1 / (1 + np.square(U[:, None] - V[None]).sum(axis=2) / 2)

    given = {"sigma": 1.5, "ridge": 1e-3}
    named = KRRRegressor(kernel="rational quadratic", **given).fit(X, y)
    function = KRRRegressor(kernel=by_hand, **given).fit(X, y)
    assert_allclose(named.predict(X), function.predict(X), rtol=1e-8, atol=1e-10)
    assert (
        XNVRegressor(kernel="rational quadratic", random_state=0).fit(X, y).score(X[:40], y[:40]) > 0.9
    )


def test_a_name_is_taken_once_and_errors_list_it():
    with pytest.raises(ValueError, match="There is a kernel 'gaussian' already"):
        register_kernel("gaussian", DistanceKernel(rational_quadratic, 2))
    with pytest.raises(TypeError, match="give it as kernel="):
        register_kernel("other", rational_quadratic)
    with pytest.raises(ValueError, match="rational quadratic"):
        kernels.find_kernel("none of these")


def test_a_model_file_names_the_kernel(rows, tmp_path, monkeypatch):
    X, y = rows
    model = KRRRegressor(kernel="rational quadratic").fit(X, y)
    with monkeypatch.context() as patch:
        # A process that has registered the kernel before the model files were imported.
        from twinviews.model_files import schema

        patch.setitem(
            schema.PROFILES["kernel of distance"].of,
            "rational quadratic",
            kernels.SHIFT_INVARIANT["rational quadratic"],
        )
        save_model(model, tmp_path / "model")
        assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    with pytest.raises(ValueError, match="rational quadratic"):
        load_model(tmp_path / "model")
