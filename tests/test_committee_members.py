"""The committee's members and weights against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad, minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from twinviews.committee.anchor_graph import AnchorGraph, Anchors, centres_of
from twinviews.committee.blend import (
    ClassBlend,
    blend_classes,
    blend_numbers,
    class_log_mixture,
    weights_by_doubt,
    weights_by_loss,
)
from twinviews.committee.column_widths import ColumnWidths, negative_log_likelihood
from twinviews.committee.cross_fit import folds_of
from twinviews.committee.kernel_ridge import RIDGES, fit_kernel_ridge, mean_gradient_product
from twinviews.committee.labeled import Labeled
from twinviews.committee.learned_metric import MetricRidges
from twinviews.committee.linear import LinearRidge
from twinviews.kernels import SHIFT_INVARIANT

rng = np.random.default_rng(3)


def few(n=60, D=3, t=1, unlabeled=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n + unlabeled, D))
    Y = np.column_stack([np.sin(2 * X[:n, 0]) + 0.1 * random.normal(size=n) for _ in range(t)])
    return Labeled(X[:n], Y, np.full(n, 1 / n)), X[n:]


# --- members against brute force --------------------------------------------------------------------


def test_kernel_ridge_is_the_minimiser_of_its_loss():
    labeled, _ = few(n=30)
    weight = rng.uniform(0.5, 2, 30)
    weight /= weight.sum()
    K = SHIFT_INVARIANT["gaussian"].against(labeled.X, 1.0)(labeled.X)
    ridge = 1e-2
    alpha, constant, *_ = fit_kernel_ridge(K, labeled.Y, weight, np.array([ridge]))

    def loss(parameters):
        a, b = parameters[:-1], parameters[-1]
        return weight @ (labeled.Y[:, 0] - K @ a - b) ** 2 + ridge * a @ K @ a

    ours = np.append(alpha[:, 0], constant)
    found = minimize(loss, np.zeros(31), method="BFGS", options={"gtol": 1e-9})
    assert loss(ours) <= found.fun + 1e-9
    assert_allclose(K @ alpha[:, 0] + constant, K @ found.x[:-1] + found.x[-1], atol=1e-4)


def test_kernel_ridge_chooses_its_ridge_by_true_leave_one_out():
    labeled, _ = few(n=25)
    K = SHIFT_INVARIANT["laplace"].against(labeled.X, 2.0)(labeled.X)
    weight = np.full(25, 1 / 25)
    errors = []
    for ridge in RIDGES:
        total = 0.0
        for i in range(25):
            rest = np.delete(np.arange(25), i)
            # A mean over 24 rows with the ridge of a mean over 25: see twinviews.regression.
            alpha, constant, *_ = fit_kernel_ridge(
                K[np.ix_(rest, rest)], labeled.Y[rest], np.full(24, 1 / 24), np.array([ridge * 25 / 24])
            )
            total += float((labeled.Y[i] - K[i, rest] @ alpha - constant)[0] ** 2)
        errors.append(total)
    assert fit_kernel_ridge(K, labeled.Y, weight).ridge == RIDGES[np.argmin(errors)]


def test_kernel_ridge_with_a_weight_of_two_is_the_row_given_twice():
    labeled, _ = few(n=20)
    twice = np.append(np.arange(20), 7)
    weight = np.bincount(twice) / 21
    columns = SHIFT_INVARIANT["gaussian"].against(labeled.X, 1.0)
    K = columns(labeled.X)
    one = fit_kernel_ridge(K, labeled.Y, weight, np.array([0.01]))
    two = fit_kernel_ridge(
        K[np.ix_(twice, twice)], labeled.Y[twice], np.full(21, 1 / 21), np.array([0.01])
    )
    at = columns(rng.normal(size=(5, 3)))
    assert_allclose(at @ one.alpha + one.constant, at[:, twice] @ two.alpha + two.constant, atol=1e-10)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_gradients_are_those_of_the_fit(kernel):
    """Mean outer product of gradients, against differences of the predictions."""
    labeled, unlabeled = few(n=40, t=2)
    (plain,) = MetricRidges(kernel, 2.0, 3, matrix=False).fit(labeled, unlabeled)[:1]
    at = plain.metric(unlabeled[:50])
    K = plain.fit.columns(at)
    slopes = K if kernel == "gaussian" else K / -np.log(K)
    step = 1e-6
    gradients = np.stack(
        [(plain.fit(at + step * e) - plain.fit(at - step * e)) / (2 * step) for e in np.eye(3)],
        axis=1,
    )  # (rows, D, t)
    expected = np.einsum("rdt,ret->de", gradients, gradients) / 50
    X = plain.metric(labeled.X)
    product = mean_gradient_product(slopes, plain.fit.alpha, X, at, diagonal=False)
    assert_allclose(product, expected, rtol=1e-5)
    diagonal = mean_gradient_product(slopes, plain.fit.alpha, X, at, diagonal=True)
    assert_allclose(diagonal, np.diag(expected), rtol=1e-5)


def test_the_learned_metric_finds_the_column_that_matters():
    labeled, unlabeled = few(n=150, D=10)
    _, factors, matrix = MetricRidges("gaussian", 2.0, 10).fit(labeled, unlabeled)
    scale = np.abs(factors.metric.L)
    assert scale[0] > 2 * scale[1:].max()
    direction = np.linalg.eigh(matrix.metric.L @ matrix.metric.L.T)[1][:, -1]
    assert abs(direction[0]) > 0.9
    fresh, _ = few(n=500, D=10, seed=9)
    plain = MetricRidges("gaussian", 2.0, 10).fit(labeled, unlabeled)[0]
    errors = [np.mean((member(fresh.X) - fresh.Y) ** 2) for member in (plain, factors, matrix)]
    assert max(errors[1:]) < 0.5 * errors[0]


def test_the_likelihood_and_its_gradient():
    labeled, _ = few(n=30, D=4, t=2)
    share = 1 / (30 * np.append(np.full(29, 0.9 / 29), 0.1))
    logs = np.array([0.3, -1.0, 0.1, -0.5, -1.5, 0.4])
    loss = lambda point: negative_log_likelihood(point, labeled.X, labeled.Y, share)  # noqa: E731
    assert check_grad(lambda p: loss(p)[0], lambda p: loss(p)[1], logs) < 1e-4
    ones = np.ones(30)
    kernel = ConstantKernel(np.exp(0.3)) * RBF(np.exp(-logs[2:])) + WhiteKernel(np.exp(-1.0))
    theirs = GaussianProcessRegressor(kernel, optimizer=None).fit(labeled.X, labeled.Y)
    ours, _ = negative_log_likelihood(logs, labeled.X, labeled.Y, ones)
    constant = 30 * np.log(2 * np.pi)  # of two targets, half each
    assert_allclose(ours + constant, -theirs.log_marginal_likelihood_value_, rtol=1e-9)


def test_widths_are_those_of_a_gaussian_process():
    """The member is the process at its own numbers, and it tells the columns apart."""
    labeled, unlabeled = few(n=80, D=5)
    (member,) = ColumnWidths().fit(labeled, unlabeled)
    inverse_widths = member.metric.L
    assert inverse_widths[0] > 10 * inverse_widths[1:].max()
    fresh, _ = few(n=300, D=5, seed=4)
    assert np.mean((member(fresh.X) - fresh.Y) ** 2) < 0.05


def test_linear_ridge_is_exact_on_a_plane():
    labeled, unlabeled = few(n=40)
    plane = labeled._replace(Y=labeled.X @ np.array([[1.0], [-2.0], [0.5]]) + 3)
    (member,) = LinearRidge().fit(plane, unlabeled)
    assert_allclose(member(unlabeled), unlabeled @ [[1.0], [-2.0], [0.5]] + 3, atol=1e-3)


def test_weights_of_anchors_sum_to_one_and_are_few():
    anchors = Anchors(rng.normal(size=(30, 3)), neighbours=4)
    Z = anchors(rng.normal(size=(50, 3)))
    assert_allclose(Z.sum(axis=1), 1)
    assert ((Z > 0).sum(axis=1) == 4).all()


def test_the_graph_is_a_laplacian_and_carries_labels_along_clusters():
    random = np.random.default_rng(1)
    angle = random.uniform(0, 2 * np.pi, 1500)
    ring = np.where(np.arange(1500) % 2, 1.0, 2.0)
    X = np.column_stack([ring * np.cos(angle), ring * np.sin(angle)])
    X += 0.03 * random.normal(size=X.shape)
    graph = AnchorGraph.of(Anchors(centres_of(X, seed=0), 3), X)
    assert_allclose(graph.laplacian.sum(axis=0), 0, atol=1e-9)  # a constant is smooth
    assert np.linalg.eigvalsh(graph.laplacian).min() > -1e-9
    y = np.where(ring > 1.5, 1.0, -1.0)[:, None]
    labeled = Labeled(X[:8], y[:8], np.full(8, 1 / 8))
    (member,) = graph.fit(labeled, X)
    assert np.mean((member(X) > 0) == (y > 0)) > 0.97


# --- weights -----------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10_000), J=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_weights_are_shares(seed, J):
    random = np.random.default_rng(seed)
    y = random.normal(size=40)
    held_out = y + random.uniform(0.1, 2, size=(J, 1)) * random.normal(size=(J, 40))
    weight = np.full(40, 1 / 40)
    for found in (blend_numbers(held_out, y, weight), weights_by_loss(random.uniform(0, 1, J))):
        assert (found >= 0).all()
        assert_allclose(found.sum(), 1)


def test_two_members_that_err_apart_share_and_a_useless_one_is_dismissed():
    random = np.random.default_rng(0)
    y = random.normal(size=400)
    held_out = y + np.array([[0.5], [0.5], [3.0]]) * random.normal(size=(3, 400))
    weights = blend_numbers(held_out, y, np.full(400, 1 / 400))
    assert weights[:2].min() > 0.3
    assert weights[2] < 0.05


def test_a_member_without_error_takes_all():
    assert_array_equal(weights_by_loss(np.array([0.0, 0.1])), [1, 0])
    y = rng.normal(size=30)
    weights = blend_numbers(np.array([y, rng.normal(size=30)]), y, np.full(30, 1 / 30))
    assert weights[0] > 0.9


@given(seed=st.integers(0, 10_000), J=st.integers(2, 6))
@settings(max_examples=25, deadline=None)
def test_doubt_is_a_normal_distribution_of_the_difference(seed, J):
    errors = np.random.default_rng(seed).chisquare(1, size=(J, 80)) * np.arange(1, J + 1)[:, None]
    found = weights_by_doubt(errors, np.full(80, 1 / 80))
    best = errors.mean(axis=1).argmin()
    for j in range(J):
        apart = errors[j] - errors[best]
        z = 0 if j == best else apart.mean() / (apart.std() / np.sqrt(80))
        assert_allclose(found[j] / found[best], np.exp(-(z**2) / 2), rtol=1e-9)


def test_one_row_cannot_dismiss_a_member():
    errors = np.tile(np.random.default_rng(0).chisquare(1, 100), (2, 1))
    errors[1, 17] += 1e6
    weights = weights_by_doubt(errors, np.full(100, 0.01))
    assert weights[1] > 0.6 * weights[0]
    assert weights_by_loss(errors.mean(axis=1))[1] == 0


def test_a_mixture_is_a_probability_and_calibrated_where_it_was_weighed():
    random = np.random.default_rng(0)
    code = random.integers(0, 3, 600)
    share = np.eye(3)[code]
    good = 0.8 * share + 0.5 * random.normal(size=(600, 3))
    held_out = np.array([good, random.normal(size=(600, 3))])
    weight = np.full(600, 1 / 600)
    blend = blend_classes(held_out, share, weight)
    assert blend.weights[0] > 0.9
    p = np.exp(class_log_mixture(held_out, blend))
    assert_allclose(p.sum(axis=1), 1)
    assert_allclose(p.max(axis=1).mean(), np.mean(p.argmax(axis=1) == code), atol=0.03)


def test_a_mixture_of_one_member_is_that_member():
    decision = rng.normal(size=(10, 4))
    blend = ClassBlend(np.ones(1), np.array([2.0]), 1.0)
    expected = np.exp(2 * decision) / np.exp(2 * decision).sum(axis=1, keepdims=True)
    assert_allclose(np.exp(class_log_mixture(decision[None], blend)), expected, atol=1e-7)


@given(n=st.integers(25, 400), K=st.integers(2, 6), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_folds_are_equal_in_size_and_in_each_class(n, K, seed):
    code = np.random.default_rng(seed).integers(0, K, n)
    Y = np.where(code[:, None] == np.arange(K), 1.0, -1.0)
    Y = Y[:, 1:] if K == 2 else Y
    fold = folds_of(Y, classes=True)
    n_folds = 5
    assert np.ptp(np.bincount(fold, minlength=n_folds)) <= 1
    for k in range(K):
        assert np.ptp(np.bincount(fold[code == k], minlength=n_folds)) <= 1
