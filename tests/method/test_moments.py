import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from twinviews.method.landmarks import row_priorities
from twinviews.method.moments import Moments, sketch_rows, view_covariances
from twinviews.passes.second_pass import moments_of
from twinviews.tables import Block


@given(seed=st.integers(0, 10_000), cuts=st.lists(st.integers(1, 99), max_size=5))
@settings(max_examples=30, deadline=None)
def test_parts_merge_into_the_moments_of_the_whole(seed, cuts):
    rng = np.random.default_rng(seed)
    A, weight = rng.normal(size=(100, 6)) + 3, rng.uniform(0.1, 4, 100)
    shift = rng.normal(size=6) + 3
    parts = [
        Moments.of(block.copy(), shift, w)
        for block, w in zip(
            np.split(A, sorted(set(cuts))), np.split(weight, sorted(set(cuts))), strict=True
        )
    ]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert_allclose(merged.mean, np.average(A, axis=0, weights=weight))
    assert_allclose(merged.covariance(centred=True), np.cov(A.T, aweights=weight, ddof=0), atol=1e-12)
    assert_allclose(
        merged.covariance(centred=False), A.T @ (weight[:, None] * A) / weight.sum(), rtol=1e-12
    )


def test_weight_two_is_a_row_given_twice():
    rng = np.random.default_rng(0)
    A, weight = rng.normal(size=(30, 4)), rng.integers(1, 4, 30)
    weighted = Moments.of(A.copy(), np.zeros(4), weight.astype(float))
    repeated = Moments.of(np.repeat(A, weight, axis=0), np.zeros(4))
    assert weighted.count == repeated.count
    assert_allclose(weighted.scatter, repeated.scatter)
    assert_allclose(weighted.total, repeated.total)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_shift_near_the_mean_keeps_the_digits(offset):
    A = np.random.default_rng(0).normal(size=(500, 3)) + offset
    moments = Moments.of(A.copy(), np.full(3, offset))
    assert_allclose(moments.covariance(centred=True), np.cov(A.T, ddof=0), rtol=1e-9)


def test_view_covariances_are_those_of_the_views():
    rng = np.random.default_rng(0)
    A, W1, W2 = rng.normal(size=(200, 5)), rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    C11, C12, C22 = view_covariances(np.cov(A.T, ddof=0), W1, W2)
    joint = np.cov(np.hstack([A[:, :3] @ W1, A[:, 3:] @ W2]).T, ddof=0)
    assert_allclose(np.block([[C11, C12], [C12.T, C22]]), joint)


def test_moments_about_another_shift_are_those_of_the_rows_about_it():
    rng = np.random.default_rng(1)
    A, weight, here, there = rng.normal(size=(20, 3)), rng.uniform(1, 2, 20), *rng.normal(size=(2, 3))
    moved = Moments.of(A.copy(), here, weight).about(there)
    direct = Moments.of(A.copy(), there, weight)
    for part in ("shift", "count", "total", "scatter"):
        assert_allclose(getattr(moved, part), getattr(direct, part), rtol=1e-10)


def test_moments_of_other_shifts_merge():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(20, 3)) + 5
    one, other = Moments.of(A[:8].copy(), np.zeros(3)), Moments.of(A[8:].copy(), np.full(3, 4.0))
    for merged in (one.merge(other), other.merge(one)):
        assert_allclose(merged.covariance(centred=True), np.cov(A.T, ddof=0), rtol=1e-9)
        assert_allclose(merged.mean, A.mean(axis=0))
    assert_array_equal(one.merge(other).shift, one.shift)


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 41)])
def test_moments_of_a_block_are_those_of_its_columns_or_of_their_sketch(weight):
    X = np.random.default_rng(4).normal(size=(40, 3))
    block, shift = Block(X, None, weight), np.full(3, 0.1)
    root = np.ones(40) if weight is None else np.sqrt(weight)
    columns = root[:, None] * (np.sin(X) - shift)
    whole = moments_of(block, columns=np.sin, shift=shift)
    assert_allclose(whole.scatter, columns.T @ columns)
    thin = moments_of(block, columns=np.sin, shift=shift, sketch_ratio=0.25, seed=3)
    sketched = sketch_rows(columns, row_priorities(X, 3), 0.25)
    assert_allclose(thin.scatter, sketched.T @ sketched)
    for moments in (whole, thin):  # count and mean are exact in both
        assert moments.count == (40 if weight is None else weight.sum())
        assert_allclose(moments.total, root @ columns)
    unseeded = moments_of(block, columns=np.sin, shift=shift, sketch_ratio=0.25)
    sketched = sketch_rows(columns, row_priorities(X, 0), 0.25)
    assert_allclose(unseeded.scatter, sketched.T @ sketched)
