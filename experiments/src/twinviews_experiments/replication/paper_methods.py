"""The methods that are compared, as a user of the library would make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from twinviews import KRRRegressor, RFFRegressor, SSSLRegressor, XKSRegressor, XNVRegressor
from twinviews_experiments.replication.published_numbers import COMPONENTS

# The ridge inside CCA that the paper does not have, in units of the kernel. One value for all sets and
# all n: it is not tuned, so that every method has the same two numbers to tune.
CORRELATION_RIDGE = 1e-4


@dataclass(frozen=True)
class Method:
    """A way to predict that has two numbers to choose, sigma and ridge."""

    name: str
    words: str
    estimator: Callable[..., Any]  # makes a regressor from sigma, ridge and a seed


def _method(name: str, words: str, kind: Callable[..., Any], **parameters: Any) -> Method:
    def estimator(sigma: float, ridge: float, seed: int) -> Any:
        # KRR has nothing random. One thread: the repetitions themselves run side by side.
        drawn = {} if kind is KRRRegressor else {"random_state": seed}
        return kind(sigma=sigma, ridge=ridge, n_threads=1, progress=False, **drawn, **parameters)

    return Method(name, words, estimator)


_M, _2M = {"n_components": COMPONENTS}, {"n_components": 2 * COMPONENTS}
METHODS: tuple[Method, ...] = (
    _method("SSSL_M", "ridge on one Nystroem view of M features", SSSLRegressor, **_M),
    _method("SSSL_2M", "ridge on one Nystroem view of 2M features", SSSLRegressor, **_2M),
    _method(
        "XNV",
        f"correlated Nystroem views with a ridge of {CORRELATION_RIDGE:g} inside CCA",
        XNVRegressor,
        correlation_ridge=CORRELATION_RIDGE,
        **_M,
    ),
    _method(
        "XNV literal",
        "Algorithm 1 as printed: no ridge in CCA",
        XNVRegressor,
        correlation_ridge=0,
        **_M,
    ),
    _method("KRR", "kernel ridge regression on the labeled rows alone", KRRRegressor),
    _method("RFF_M", "ridge on M random Fourier features", RFFRegressor, **_M),
    _method("RFF_2M", "ridge on 2M random Fourier features", RFFRegressor, **_2M),
    _method(
        "XKS",
        f"correlated Fourier views with a ridge of {CORRELATION_RIDGE:g} inside CCA",
        XKSRegressor,
        correlation_ridge=CORRELATION_RIDGE,
        **_M,
    ),
    _method(
        "XKS literal",
        "Algorithm 2 as printed: no ridge in CCA",
        XKSRegressor,
        correlation_ridge=0,
        **_M,
    ),
)
METHODS_BY_NAME = {method.name: method for method in METHODS}
