"""The committee's members and weights against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad, minimize
from scipy.spatial.distance import pdist
from scipy.special import log_softmax
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from twinviews.ensemble import gaussian_process as column_widths
from twinviews.ensemble.anchor_graph import AnchorGraph, Anchors, centres_of
from twinviews.ensemble.blending import (
    ClassBlend,
    blend_classes,
    blend_numbers,
    class_log_mixture,
    shared_in_groups,
    two_sided,
    weights_by_loss,
    weights_by_significance,
)
from twinviews.ensemble.cross_fitting import cross_fit, folds_of
from twinviews.ensemble.gaussian_process import ColumnWidths, negative_log_likelihood
from twinviews.ensemble.kernel_ridge import RIDGES, fit_kernel_ridge, mean_gradient_product
from twinviews.ensemble.learned_metric import InMetric, Metric, MetricRidges, TunedWidth
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.member import Labeled, MemberSpec
from twinviews.method.kernels import SHIFT_INVARIANT

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
            # A mean over 24 rows with the ridge of a mean over 25: see twinviews.method.regression.
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
    (plain,) = MetricRidges(kernel, 2.0, 3, ("plain",)).fit(labeled, unlabeled)
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


@pytest.mark.parametrize("targets", [1, 3, 12])
def test_the_gradient_product_of_many_targets_is_the_sum_of_theirs(targets):
    random = np.random.default_rng(targets)
    slopes, alpha = random.normal(size=(30, 20)), random.normal(size=(20, targets))
    X, at = random.normal(size=(20, 4)), random.normal(size=(30, 4))
    together = mean_gradient_product(slopes, alpha, X, at, diagonal=True)
    one_by_one = [mean_gradient_product(slopes, a[:, None], X, at, diagonal=True) for a in alpha.T]
    assert_allclose(together, np.sum(one_by_one, axis=0), rtol=1e-12)


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


@pytest.mark.parametrize(
    ("name", "kernel_of"), [("gaussian", RBF), ("matern32", lambda widths: Matern(widths, nu=1.5))]
)
def test_the_likelihood_and_its_gradient(name, kernel_of):
    labeled, _ = few(n=30, D=4, t=2)
    share = 1 / (30 * np.append(np.full(29, 0.9 / 29), 0.1))
    logs = np.array([0.3, -1.0, 0.1, -0.5, -1.5, 0.4])
    loss = lambda point: negative_log_likelihood(point, labeled.X, labeled.Y, share, name)  # noqa: E731
    assert check_grad(lambda p: loss(p)[0], lambda p: loss(p)[1], logs) < 1e-4
    ones = np.ones(30)
    kernel = ConstantKernel(np.exp(0.3)) * kernel_of(np.exp(-logs[2:])) + WhiteKernel(np.exp(-1.0))
    theirs = GaussianProcessRegressor(kernel, optimizer=None).fit(labeled.X, labeled.Y)
    ours, _ = negative_log_likelihood(logs, labeled.X, labeled.Y, ones, name)
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


@pytest.mark.parametrize(
    ("name", "kernel_of"), [("gaussian", RBF), ("matern32", lambda widths: Matern(widths, nu=1.5))]
)
def test_a_process_at_given_numbers_is_that_of_scikit_learn(name, kernel_of, monkeypatch):
    """Noise goes by the weight of a row, and labels are brought to mean 0 and variance 1."""
    labeled, unlabeled = few(n=30, t=2)
    weight = np.random.default_rng(0).uniform(0.5, 2, 30)
    labeled = labeled._replace(Y=7 * labeled.Y + [3.0, -40.0], weight=weight / weight.sum())
    inverse_widths = np.array([1.5, 0.5, 0.2])
    monkeypatch.setattr(column_widths, "_most_likely", lambda *_: (2.0, 0.3, inverse_widths))
    (member,) = ColumnWidths(name).fit(labeled, unlabeled)
    mean = labeled.weight @ labeled.Y
    theirs = GaussianProcessRegressor(
        ConstantKernel(2.0) * kernel_of(1 / inverse_widths),
        alpha=0.3 / (30 * labeled.weight),
        optimizer=None,
    ).fit(labeled.X, labeled.Y - mean)
    assert_allclose(member(unlabeled), theirs.predict(unlabeled) + mean, rtol=1e-8, atol=1e-8)


def test_units_of_labels_do_not_matter_to_widths_and_constant_labels_are_the_constant():
    labeled, unlabeled = few(n=30)
    (member,) = ColumnWidths().fit(labeled, unlabeled)
    (other,) = ColumnWidths().fit(labeled._replace(Y=100 * labeled.Y - 5), unlabeled)
    assert_allclose(other(unlabeled), 100 * member(unlabeled) - 5, rtol=1e-4, atol=1e-3)
    (constant,) = ColumnWidths().fit(labeled._replace(Y=np.full((30, 1), 4.0)), unlabeled)
    assert_allclose(constant(unlabeled), 4)


def test_no_common_width_is_as_likely_as_the_widths_found():
    """A normal prior below the best common width counts a little against widths that differ."""
    labeled, unlabeled = few(n=60, D=3)
    (member,) = ColumnWidths().fit(labeled, unlabeled)
    Y = (labeled.Y - labeled.Y.mean()) / labeled.Y.std()

    def loss(log_widths):
        def at(logs):
            value, gradient = negative_log_likelihood(
                np.concatenate([logs, log_widths]), labeled.X, Y, np.ones(60)
            )
            return value, gradient[:2]

        return minimize(at, [0.0, -2.0], jac=True, method="L-BFGS-B", bounds=[(-5, 7), (-11, 2)]).fun

    grid = np.arange(-3, 2, 0.05)
    common = [loss(np.full(3, log_width)) for log_width in grid]
    centre = grid[np.argmin(common)]
    found = np.log(member.metric.L)
    prior = lambda logs: 0.1 * np.square(logs - (centre - 0.5)).sum()  # noqa: E731
    assert loss(found) + prior(found) < min(common) - 5
    for d in range(3):  # and a step of one width either way is no better
        for step in (-0.3, 0.3):
            moved = found + step * np.eye(3)[d]
            assert loss(found) + prior(found) < loss(moved) + prior(moved) + 1e-2


def test_widths_are_searched_along_the_gradient_and_held_to_a_common_one():
    labeled, _ = few(n=20, D=3)
    problem = column_widths._Problem(labeled.X, labeled.Y, np.ones(20))
    common, each = np.array([0.3, -1.0, -0.4]), np.array([0.3, -1.0, -0.4, 0.2, -0.9])
    for loss, at, besides in (
        (column_widths._common_width_loss, common, (problem, "gaussian")),
        (column_widths._loss, each, (problem, "gaussian", -0.4)),
    ):
        error = check_grad(
            lambda p, f=loss, g=besides: f(p, *g)[0], lambda p, f=loss, g=besides: f(p, *g)[1], at
        )
        assert error < 1e-4
    together = np.append(common[:2], np.full(3, -0.4))
    likelihood = negative_log_likelihood(together, *problem)[0]
    assert column_widths._common_width_loss(common, problem, "gaussian")[0] == likelihood
    assert column_widths._loss(together, problem, "gaussian", -0.4)[0] == likelihood
    loss = column_widths._loss(each, problem, "gaussian", -0.4)[0]
    assert_allclose(loss - negative_log_likelihood(each, *problem)[0], 0.1 * (0.6**2 + 0.5**2))


def test_a_kernel_that_is_singular_to_rounding_is_as_unlikely_as_can_be():
    X, Y = np.ones((4, 2)), np.arange(4.0)[:, None]
    loss, gradient = negative_log_likelihood(np.array([7.0, -200.0, 0.0, 0.0]), X, Y, np.ones(4))
    assert loss == 1e10
    assert_array_equal(gradient, np.zeros(4))


# --- metrics -----------------------------------------------------------------------------------------


def test_a_metric_of_factors_is_the_diagonal_matrix():
    factors, matrix = Metric(np.array([2.0, 0.5, 1.0])), Metric(np.diag([2.0, 0.5, 1.0]))
    X = rng.normal(size=(5, 3))
    assert_allclose(factors(X), matrix(X))
    assert_allclose(factors.column_weights(), matrix.column_weights())
    assert_allclose(factors.column_weights(), np.array([4, 0.25, 1]) / 5.25)
    # A column that was divided by 2 before counts a fourth in its own unit.
    assert_allclose(factors.column_weights(np.array([2.0, 1, 1])), np.array([1, 0.25, 1]) / 2.25)
    turned = Metric(np.array([[0.0, 3.0], [1.0, 0.0]]))
    assert_allclose(turned.column_weights(), [0.9, 0.1])


def test_only_a_metric_that_tells_columns_apart_is_learned():
    assert not Metric(np.full(3, 0.7)).is_learned
    assert Metric(np.array([1.0, 1.0, 1.1])).is_learned
    assert Metric(np.eye(3)).is_learned


def test_a_metric_is_stretched_by_the_fourth_root_of_the_gradients():
    product = np.array([16.0, 1.0, 1e-4])
    fourth_root = np.array([2.0, 1.0, 0.1]) / 2
    factors = Metric(np.array([1.0, 3.0, 1.0])).stretched(product)
    assert_allclose(factors.L, [1, 3 * fourth_root[1], fourth_root[2]], rtol=1e-3)
    assert_allclose(np.abs(Metric(np.eye(3)).stretched(np.diag(product)).L), np.diag(fourth_root))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turned = Metric(np.eye(3)).stretched(turn @ np.diag(product) @ turn.T).L
    root = turn @ np.diag(fourth_root) @ turn.T
    assert_allclose(turned, root / np.abs(root).max(), atol=1e-12)


def test_a_fit_without_any_gradient_leaves_the_metric_finite():
    assert_allclose(Metric(np.array([2.0, 1.0])).stretched(np.zeros(2)).L, [2e-3, 1e-3])
    assert_allclose(Metric(np.eye(2)).stretched(np.zeros((2, 2))).L, np.eye(2))
    # A column without any keeps a thousandth of the others, so that it can come back.
    assert_allclose(Metric(np.ones(2)).stretched(np.array([4.0, 0.0])).L, [1, 1e-3], rtol=1e-5)


@pytest.mark.parametrize(("D", "kinds"), [(64, 3), (65, 2)])
def test_a_matrix_is_learned_of_few_columns_only(D, kinds):
    recipe = MetricRidges("laplace", 1.0, D)
    assert recipe.names == ("laplace plain", "laplace factors", "laplace matrix")[:kinds]
    labeled, unlabeled = few(n=12, D=D, unlabeled=20)
    assert len(recipe.fit(labeled, unlabeled)) == kinds


def test_some_kinds_of_metrics_alone_are_as_with_the_others():
    labeled, unlabeled = few(n=30)
    recipe = MetricRidges("gaussian", 2.0, 3)
    _, factors, _ = recipe.fit(labeled, unlabeled)
    alone = recipe.only(["gaussian factors", "laplace plain"])
    assert alone.names == ("gaussian factors",)
    (found,) = alone.fit(labeled, unlabeled)
    assert_array_equal(found(unlabeled), factors(unlabeled))


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_each_round_stretches_by_the_gradients_of_the_fit_before(kernel):
    """Two rounds by hand: gradients by differences, ridge kept in between and chosen at last."""
    labeled, unlabeled = few(n=40, t=2, unlabeled=350)
    plain, factors, matrix = MetricRidges(kernel, 2.0, 3).fit(labeled, unlabeled)

    def fit_in(L, ridges):
        scaled = unlabeled[:300] @ L
        sigma = 2.0 * np.median(pdist(scaled))
        X = labeled.X @ L / sigma
        columns = SHIFT_INVARIANT[kernel].against(X, 1.0)
        found = fit_kernel_ridge(columns(X), labeled.Y, labeled.weight, ridges)
        predict = lambda at: columns(at) @ found.alpha + found.constant  # noqa: E731
        gradients = np.stack(
            [
                (predict(scaled / sigma + e) - predict(scaled / sigma - e)) / 2e-6
                for e in 1e-6 * np.eye(3)
            ],
            axis=1,
        )
        product = np.einsum("rdt,ret->de", gradients, gradients)
        return predict(unlabeled @ L / sigma), product, found.ridge

    start, product, ridge = fit_in(np.eye(3), RIDGES)
    assert_allclose(plain(unlabeled), start, atol=1e-6)  # a ridge of 1e-6 makes 1e-6 of 1e-12
    for member, part in ((factors, np.diag), (matrix, np.asarray)):
        L, now, kept = np.eye(3), product, ridge
        for ridges in (None, RIDGES):
            share = np.diag(part(now)) if part is np.diag else now
            values, V = np.linalg.eigh(share)
            L = L @ (V * values**0.25) @ V.T
            predicted, now, _ = fit_in(L, np.array([kept]) if ridges is None else ridges)
        assert_allclose(member(unlabeled), predicted, rtol=2e-2, atol=2e-3)


def test_the_tuned_width_has_the_least_left_out_error():
    labeled, unlabeled = few(n=50)
    (tuned,) = TunedWidth(3).fit(labeled, unlabeled)
    errors = {}
    for width in (0.5, 1.0, 2.0, 4.0, 8.0):
        sigma = width * np.median(pdist(unlabeled[:300]))
        K = SHIFT_INVARIANT["gaussian"].against(labeled.X, sigma)(labeled.X)
        errors[fit_kernel_ridge(K, labeled.Y, labeled.weight).error] = sigma
    assert_allclose(tuned.metric.L, np.full(3, 1 / errors[min(errors)]))
    assert tuned.kernel == "gaussian"


def test_a_predictor_from_what_a_file_holds_of_it_is_the_same():
    labeled, unlabeled = few(n=20)
    some = labeled.take(np.arange(3, 15))
    for member in MetricRidges("laplace", 1.0, 3).fit(some, unlabeled):
        again = InMetric.again(
            member.kernel,
            member.metric,
            member.source,
            member.chosen,
            member.fit.alpha,
            member.fit.constant,
        )
        assert_array_equal(again(unlabeled), member(unlabeled))
        assert_array_equal(again.source.X, labeled.X)
        assert_array_equal(again.chosen, np.arange(3, 15))


def test_left_out_error_of_kernel_ridge_is_told_unless_one_ridge_was_given():
    labeled, _ = few(n=15, t=2)
    K = SHIFT_INVARIANT["laplace"].against(labeled.X, 1.0)(labeled.X)
    found = fit_kernel_ridge(K, labeled.Y, labeled.weight, np.array([1e-2, 1e-1]))
    total = 0.0
    for i in range(15):
        rest = np.delete(np.arange(15), i)
        fit = fit_kernel_ridge(
            K[np.ix_(rest, rest)],
            labeled.Y[rest],
            np.full(14, 1 / 14),
            np.array([found.ridge * 15 / 14]),
        )
        assert np.isnan(fit.error)
        total += np.square(labeled.Y[i] - K[i, rest] @ fit.alpha - fit.constant).sum() / 15
    assert_allclose(found.error, total, rtol=1e-9)
    one = fit_kernel_ridge(K, labeled.Y, labeled.weight, np.array([found.ridge]))
    assert_allclose(found.alpha, one.alpha, rtol=1e-8, atol=1e-10)
    assert_allclose(found.constant, one.constant, rtol=1e-8)


def test_linear_ridge_is_exact_on_a_plane():
    labeled, unlabeled = few(n=40)
    plane = labeled._replace(Y=labeled.X @ np.array([[1.0], [-2.0], [0.5]]) + 3)
    (member,) = LinearRidge().fit(plane, unlabeled)
    assert_allclose(member(unlabeled), unlabeled @ [[1.0], [-2.0], [0.5]] + 3, atol=1e-3)


@pytest.mark.parametrize("t", [1, 2])
def test_linear_ridge_chooses_its_ridge_by_leave_one_out_over_all_targets(t):
    random = np.random.default_rng(1)
    X = random.normal(size=(20, 3))
    Y = X[:, :1] + np.arange(1, t + 1) * random.normal(size=(20, t))
    ridges = 10.0 ** np.arange(-5, 1.01, 0.5)

    def fit(X, Y, ridge):
        A, b = X - X.mean(axis=0), Y - Y.mean(axis=0)
        coef = np.linalg.solve(A.T @ A / len(X) + ridge * np.eye(3), A.T @ b / len(X))
        return lambda at: (at - X.mean(axis=0)) @ coef + Y.mean(axis=0)

    def left_out_error(ridge):
        rests = [np.delete(np.arange(20), i) for i in range(20)]
        return sum(np.square(Y[i] - fit(X[r], Y[r], ridge)(X[i])).sum() for i, r in enumerate(rests))

    best = min(ridges, key=left_out_error)
    assert ridges[0] < best < ridges[-1]
    (member,) = LinearRidge().fit(Labeled(X, Y, np.full(20, 1 / 20)), X)
    at = random.normal(size=(9, 3))
    assert_allclose(member(at), fit(X, Y, best)(at), rtol=1e-8, atol=1e-10)


def test_weights_of_anchors_fall_with_distance_in_units_of_the_first_that_does_not_count():
    centres = np.array([[0.0], [1.0], [3.0], [6.0]])
    Z = Anchors(centres, neighbours=2)(np.array([[0.5], [2.5], [6.0]]))
    near = np.exp(-2 * np.array([[0.25, 0.25], [0.25, 2.25], [0, 9]]) / [[6.25], [6.25], [25]])
    near /= near.sum(axis=1, keepdims=True)
    expected = np.zeros((3, 4))
    expected[[0, 0], [0, 1]] = near[0]
    expected[[1, 1], [2, 1]] = near[1]
    expected[[2, 2], [3, 2]] = near[2]
    assert_allclose(Z, expected, atol=1e-12)
    # With fewer anchors than neighbours all but the farthest count.
    few_anchors = Anchors(centres[:2], neighbours=5)(np.array([[0.0], [1.0]]))
    assert_array_equal(few_anchors, np.eye(2))


def test_anchors_are_means_of_the_rows_near_them():
    random = np.random.default_rng(0)
    middle = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    X = np.repeat(middle, 3, axis=0) + random.normal(size=(9, 2))
    centres = centres_of(X, seed=1)
    assert centres.shape == (3, 2)  # one for every three rows
    assert_array_equal(centres, centres_of(X, seed=1))
    assert len(centres_of(random.normal(size=(1000, 1)), seed=0)) == 300
    nearest = np.square(X[:, None] - centres).sum(axis=2).argmin(axis=1)
    for k in range(3):
        assert_allclose(centres[k], X[nearest == k].mean(axis=0))


def test_the_laplacian_is_that_of_the_graph_of_shared_anchors():
    """f^T L f is half the sum of w_ij (f_i - f_j)^2 over rows, seen by functions of the anchors."""
    random = np.random.default_rng(2)
    anchors = Anchors(random.normal(size=(6, 2)), 3)
    X = random.normal(size=(40, 2))
    graph = AnchorGraph.of(anchors, X)
    Z = anchors(X)
    edges = Z @ np.diag(1 / Z.sum(axis=0)) @ Z.T
    rows = np.diag(edges.sum(axis=1)) - edges
    unit = np.trace(Z.T @ Z) / 6
    assert_allclose(graph.laplacian, Z.T @ rows @ Z / unit, atol=1e-10)
    assert graph.names == ("graph of 3 anchors",)


def test_an_anchor_that_no_row_is_near_leaves_the_graph_finite():
    anchors = Anchors(np.array([[0.0], [1.0], [2.0], [1e6]]), 2)
    graph = AnchorGraph.of(anchors, np.linspace(0, 2, 30)[:, None])
    assert np.isfinite(graph.laplacian).all()
    assert_array_equal(graph.laplacian[3], np.zeros(4))


@pytest.mark.parametrize("t", [1, 2])
def test_the_graph_fit_is_the_least_left_out_error_of_its_strengths(t):
    random = np.random.default_rng(3)
    X = random.normal(size=(90, 2))
    Y = np.sign(np.column_stack([X[:20, 0], X[:20, 1]])[:, :t] + 0.7 * random.normal(size=(20, t)))
    weight = random.uniform(0.5, 1.5, 20)
    labeled = Labeled(X[:20], Y, weight / weight.sum())
    graph = AnchorGraph.of(Anchors(centres_of(X, seed=0), 4), X)
    Z, W = graph.anchors(labeled.X), np.diag(labeled.weight)
    mean = labeled.weight @ Y
    fits = {}
    for strength in 10.0 ** np.arange(-4, 2):
        A = Z.T @ W @ Z + strength * graph.laplacian + 1e-6 * np.eye(len(graph.laplacian))
        values = np.linalg.solve(A, Z.T @ W @ (Y - mean))
        leverage = labeled.weight * (np.diag(Z @ np.linalg.solve(A, Z.T)) + 1)
        left_out = (Y - mean - Z @ values) / (1 - leverage)[:, None]
        fits[(labeled.weight @ left_out**2).sum()] = values
    (member,) = graph.fit(labeled, X)
    best = min(fits)
    errors = list(fits)
    assert best not in (errors[0], errors[-1])
    assert_allclose(member(X), graph.anchors(X) @ fits[best] + mean, atol=1e-7)


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


def test_numbers_are_weighed_by_least_squares_held_to_the_start():
    random = np.random.default_rng(4)
    y = random.normal(size=25)
    held_out = y + np.array([[0.8], [1.0], [1.2]]) * random.normal(size=(3, 25))
    weight = random.uniform(0.5, 2, 25)
    weight /= weight.sum()
    start = weights_by_significance(np.square(held_out - y), weight)
    spread = weight @ np.square(y - weight @ y)

    def loss(shares):
        return (
            weight @ np.square(y - shares @ held_out)
            + 15 / 25 * spread * np.square(shares - start).sum()
        )

    whole = {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    best = minimize(loss, start, bounds=[(0, 1)] * 3, constraints=whole, options={"ftol": 1e-12}).x
    assert best.min() > 0.05
    assert_allclose(blend_numbers(held_out, y, weight), best, atol=1e-4)


def test_many_members_that_are_alike_do_not_outvote_one_of_another_group():
    found = shared_in_groups(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 0, 0, 1]))
    assert_allclose(found, np.array([0.05, 0.1, 0.15, 0.4]) / 0.7)
    random = np.random.default_rng(5)
    y = random.normal(size=60)
    one, other = y + 0.7 * random.normal(size=(2, 60))
    alike, weight = np.array([*[one] * 30, other]), np.full(60, 1 / 60)
    group = np.array([0] * 30 + [1])
    pair = blend_numbers(np.array([one, other]), y, weight)
    assert abs(blend_numbers(alike, y, weight, group)[-1] - pair[1]) < 0.05
    share = np.eye(2)[(y > 0).astype(int)]
    decisions = np.stack([-alike, alike], axis=2)
    of_pair = blend_classes(decisions[[0, -1]], share, weight).weights[1]
    assert abs(blend_classes(decisions, share, weight, group).weights[-1] - of_pair) < 0.05


def test_labels_that_do_not_vary_but_for_rounding_leave_the_start():
    y, held_out = np.full(10, 3.0), 3 + rng.normal(size=(2, 10))
    weight = np.full(10, 0.1)
    assert_array_equal(
        blend_numbers(held_out, y, weight), weights_by_significance(np.square(held_out - y), weight)
    )


def test_rows_without_weight_do_not_decide():
    errors = rng.chisquare(1, size=(3, 12))
    weight = np.append(np.full(10, 0.1), [0, 0])
    assert_allclose(
        weights_by_significance(errors, weight), weights_by_significance(errors[:, :10], weight[:10])
    )


def test_a_member_that_is_worse_on_every_row_alike_has_no_doubt_in_its_favour():
    errors = np.tile(rng.chisquare(1, size=20), (3, 1))
    errors[1] += 1e-3
    assert_array_equal(weights_by_significance(errors, np.full(20, 0.05)), [0.5, 0, 0.5])


def test_weights_by_loss_fall_by_e_for_each_third():
    found = weights_by_loss(np.array([3.0, 4.0, 6.0]))
    assert_allclose(found / found[0], np.exp([0, -1, -3]))


def softmax(scores):
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("K", [2, 3])
def test_classes_are_weighed_by_likelihood(K):
    """Every number of the blend against a fine grid of it."""
    random = np.random.default_rng(10 + K)
    m = 40
    code = random.integers(0, K, m)
    share = np.eye(K)[code]
    share[0] = 1 / K  # copies of a row that differ
    held_out = np.array([share - 0.3, 0.9 * share]) + 0.6 * random.normal(size=(2, m, K))
    weight = random.uniform(0.5, 2, m)
    weight /= weight.sum()
    blend = blend_classes(held_out, share, weight)
    factors = np.exp(np.arange(-2, 5, 0.01))
    unsure = (K - 1) / (m + K)
    doubtful = share * (1 - unsure) + (1 - share) * unsure / (K - 1)
    losses, p = [], []
    for decision, sureness, offsets in zip(held_out, blend.sureness, blend.offsets, strict=True):

        def unlikely(parameters, decision=decision):
            """Minus the logarithm of the posterior density: offsets have a variance of 1 / 6."""
            log_p = log_softmax(parameters[0] * decision + parameters[1:], axis=1)
            likelihood = weight @ (doubtful * log_p).sum(axis=1) / (weight @ weight)
            return -likelihood + 3 * np.sum(parameters[1:] ** 2)

        found = np.append(sureness, offsets)
        steps = random.normal(size=(3000, K + 1)) * 10.0 ** random.uniform(-2, 0.5, (3000, 1))
        steps = steps[sureness + steps[:, 0] > np.exp(-2)]
        assert unlikely(found) < min(unlikely(found + step) for step in steps) + 1e-5
        p.append(softmax(sureness * decision + offsets))
        losses.append(-weight @ (doubtful * np.log(p[-1])).sum(axis=1))
    p = np.array(p)
    start = np.exp(-3 * (np.array(losses) / min(losses) - 1))
    start /= start.sum()
    of_label = (p * share).sum(axis=2)
    first = np.arange(0.001, 1, 0.001)
    doubt = 1 / (m + 2)
    likelihood = []
    for x in first:
        right = x * of_label[0] + (1 - x) * of_label[1]
        of_labels = (1 - doubt) * np.log(right) + doubt * np.log(1 - right)
        likelihood.append(m * weight @ of_labels + 3 * (start @ np.log([x, 1 - x])))
    best = first[np.argmax(likelihood)]
    assert_allclose(blend.weights, [best, 1 - best], atol=3e-3)
    assert blend.weights.min() > 0.02
    mixed = np.einsum("j,jmk->mk", blend.weights, p)
    doubtful = share * (1 - doubt) + (1 - share) * doubt / (K - 1)
    tempered = (f * np.log(mixed) for f in factors)
    curve = [-weight @ (doubtful * log_softmax(power, axis=1)).sum(axis=1) for power in tempered]
    assert_allclose(blend.temper, factors[np.argmin(curve)], rtol=0.03)


def test_a_member_that_favours_a_class_is_put_right_by_many_labels():
    random = np.random.default_rng(14)
    code = random.integers(0, 3, 20_000)
    share = np.eye(3)[code]
    fair = np.array([share - 0.3 + 0.6 * random.normal(size=share.shape)])
    weight = np.full(len(code), 1 / len(code))
    mixtures = [
        class_log_mixture(held_out, blend_classes(held_out, share, weight))
        for held_out in (fair, fair + np.array([0, 0.5, 0]))
    ]
    assert_allclose(*np.exp(mixtures), atol=0.01)


@pytest.mark.parametrize("K", [2, 3, 10])
@pytest.mark.parametrize("m", [30, 300])
def test_labels_that_are_all_right_do_not_make_a_mixture_certain(K, m):
    """A further label is wrong as often as after m right ones of m."""
    share = np.eye(K)[np.arange(m) % K]
    held_out = np.array([share - 0.3, 0.8 * share - 0.2])
    blend = blend_classes(held_out, share, np.full(m, 1 / m))
    p = np.exp(class_log_mixture(held_out, blend))
    assert_allclose(1 - (p * share).sum(axis=1), 1 / (m + 2), rtol=0.1)


def test_a_tempered_mixture_is_a_power_of_the_weighted_probabilities():
    decisions = rng.normal(size=(2, 5, 3))
    blend = ClassBlend(np.array([0.3, 0.7]), np.array([2.0, 0.5]), 1.7)
    mixed = (0.3 * softmax(2 * decisions[0]) + 0.7 * softmax(0.5 * decisions[1])) ** 1.7
    expected = mixed / mixed.sum(axis=1, keepdims=True)
    assert_allclose(np.exp(class_log_mixture(decisions, blend)), expected, rtol=1e-6)
    # An offset of 10 for all classes of a member is none.
    moved = blend._replace(offsets=np.array([[10.0, 10, 10], [0, 0, 0]]))
    assert_allclose(np.exp(class_log_mixture(decisions, moved)), expected, rtol=1e-6)


def test_decisions_are_within_limits_and_two_classes_have_two():
    assert_array_equal(two_sided(np.array([[0.5], [-9.0]])), [[-0.5, 0.5], [1.5, -1.5]])
    assert_array_equal(two_sided(np.array([[0.5, -2.0, 3.0]])), [[0.5, -1.5, 1.5]])
    assert two_sided(np.zeros((4, 7, 1))).shape == (4, 7, 2)


def test_a_member_of_less_than_a_hundredth_is_dismissed():
    random = np.random.default_rng(0)
    share = np.eye(2)[random.integers(0, 2, 1000)]
    good = 1.2 * (share - 0.5) + 0.3 * random.normal(size=(1000, 2))
    held_out = np.array([good, -good])
    assert_array_equal(blend_classes(held_out, share, np.full(1000, 1e-3)).weights, [1, 0])


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
    found = weights_by_significance(errors, np.full(80, 1 / 80))
    best = errors.mean(axis=1).argmin()
    for j in range(J):
        apart = errors[j] - errors[best]
        z = 0 if j == best else apart.mean() / (apart.std() / np.sqrt(80))
        assert_allclose(found[j] / found[best], np.exp(-(z**2) / 2), rtol=1e-9)


def test_one_row_cannot_dismiss_a_member():
    errors = np.tile(np.random.default_rng(0).chisquare(1, 100), (2, 1))
    errors[1, 17] += 1e6
    weights = weights_by_significance(errors, np.full(100, 0.01))
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


@pytest.mark.parametrize(("m", "n_folds"), [(30, 10), (249, 10), (250, 5), (600, 5)])
def test_numbers_are_dealt_out_in_turn_into_more_folds_where_they_are_few(m, n_folds):
    assert_array_equal(folds_of(np.zeros((m, 1)), classes=False), np.arange(m) % n_folds)


class Shift:
    """A recipe that tells what it has seen: members that predict means of labels and of rows."""

    def __init__(self, *names):
        self.names = names

    def fit(self, labeled, unlabeled):
        mean, scale = labeled.weight @ labeled.Y, unlabeled.mean()
        return [lambda X, k=k: X[:, :1] * scale + mean + k for k in range(len(self.names))]


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("in_threads", [True, False])
def test_members_are_fitted_without_each_fold_and_predict_it(n_threads, in_threads):
    labeled, unlabeled = few(n=12, t=2)
    seats = [
        MemberSpec("a", Shift("one", "two"), in_threads),
        MemberSpec("b", Shift("three")),
        MemberSpec("a", Shift("four"), in_threads),
    ]
    scaled = {"a": labeled, "b": labeled._replace(X=10 * labeled.X)}
    rows = {"a": unlabeled, "b": 10 * unlabeled}
    fold_of = np.arange(12) % 3
    learned = np.arange(12) != 4  # this one is predicted only
    found = cross_fit(seats, scaled, rows, fold_of, learned, (-9.0, 9.0), n_threads)
    assert found.names == ("one", "two", "three", "four")
    assert found.scales == ("a", "a", "b", "a")
    assert found.held_out.shape == (4, 12, 2)
    assert len(found.folds) == 3
    for member, (scale, extra) in enumerate([("a", 0), ("a", 1), ("b", 0), ("a", 0)]):
        X = scaled[scale].X
        base = X[:, :1] * rows[scale].mean() + extra
        assert_allclose(found.full[member](X), base + labeled.Y[learned].mean(axis=0))
        for fold in range(3):
            inside = fold_of == fold
            mean = labeled.Y[learned & ~inside].mean(axis=0)
            assert_allclose(found.folds[fold][member](X), base + mean)
            assert_allclose(found.held_out[member, inside], base[inside] + mean)


@pytest.mark.parametrize("t", [1, 3])
def test_linear_ridge_from_products_of_rows_is_the_one_from_columns(t):
    """With more columns than labels the m x m form is used; columns of zeros change nothing."""
    random = np.random.default_rng(3)
    X, weight = random.normal(size=(30, 29)), random.dirichlet(np.ones(30))
    Y = X @ random.normal(size=(29, t)) + random.normal(size=(30, t))
    (few,) = LinearRidge().fit(Labeled(X, Y, weight), X)
    wide = np.hstack([X, np.zeros((30, 20))])
    (many,) = LinearRidge().fit(Labeled(wide, Y, weight), wide)
    at = random.normal(size=(9, 29))
    assert_allclose(many(np.hstack([at, random.normal(size=(9, 20))])), few(at), rtol=1e-6)
