"""The committee: its members against brute force, its weights, and what it must never do."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import check_grad, minimize
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from twinviews import KRRRegressor, XNVClassifier, XNVRegressor
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
from twinviews.committee.trees import Trees
from twinviews.kernels import SHIFT_INVARIANT

rng = np.random.default_rng(3)


def few(n=60, D=3, t=1, unlabeled=400, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n + unlabeled, D))
    Y = np.column_stack([np.sin(2 * X[:n, 0]) + 0.1 * random.normal(size=n) for _ in range(t)])
    return Labeled(X[:n], Y, np.full(n, 1 / n)), X[n:]


def table(n=80, N=600, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 4))
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * random.normal(size=N)
    return X, y, np.where(np.arange(N) < n, y, np.nan)


# --- members against brute force --------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 4])
def test_trees_as_arrays_are_those_of_scikit_learn(n_classes):
    """To the last bit, and where a row lies on a threshold or a tree is a single leaf, too."""
    X = rng.normal(size=(300, 3)).round(1)
    code = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], np.linspace(-0.5, 0.5, n_classes - 1))
    for n in (300, 12):
        model = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, min_samples_leaf=4)
        model.fit(X[:n], code[:n])
        thresholds = np.sort(Trees.of(model).threshold.ravel())[:, None] * np.ones(3)
        for at in (X, thresholds):
            expected = model.decision_function(at).reshape(len(at), -1)
            assert_array_equal(Trees.of(model)(at), expected)


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


# --- the estimators ----------------------------------------------------------------------------------


def test_the_default_beats_the_views_alone_and_kernel_ridge_on_diabetes_and_a_made_table():
    X, y, labels = table(n=100, N=1500)
    model = XNVRegressor(random_state=0).fit(X, labels)
    alone = XNVRegressor(random_state=0, committee=False).fit(X, labels)
    error = lambda m: np.mean((m.predict(X[100:]) - y[100:]) ** 2)  # noqa: E731
    assert error(model) < 0.7 * error(alone)
    X, y = load_diabetes(return_X_y=True)
    labels = np.where(np.arange(len(y)) < 100, y, np.nan)
    ours = XNVRegressor(random_state=0).fit(X, labels)
    theirs = KRRRegressor(scale="standard").fit(X, labels)
    assert ours.score(X[100:], y[100:]) > theirs.score(X[100:], y[100:]) - 0.02


def test_roster_tells_who_counts():
    X, _, labels = table()
    model = XNVRegressor(random_state=0).fit(X, labels)
    names, weights = zip(*model.committee_, strict=True)
    assert_allclose(sum(weights), 1, atol=0.02)
    assert list(weights) == sorted(weights, reverse=True)
    assert any("column" in name for name in names)
    assert XNVRegressor(committee=False, random_state=0).fit(X, labels).committee_ == []


@pytest.mark.parametrize("given", [{"sigma": 2.0}, {"ridge": 0.1}, {"kernel": "laplace"}])
def test_numbers_given_mean_the_formula_and_nothing_else(given):
    X, _, labels = table()
    model = XNVRegressor(random_state=0, **given).fit(X, labels)
    alone = XNVRegressor(random_state=0, committee=False, scale=None, **given).fit(X, labels)
    assert model.committee_ == []
    assert_array_equal(model.predict(X), alone.predict(X))


def test_too_few_labels_for_a_committee():
    X, _, labels = table(n=20)
    assert XNVRegressor(random_state=0).fit(X, labels).committee_ == []


def test_sparse_rows_have_no_committee_and_asking_for_one_is_an_error():
    X, _, labels = table()
    rows = sparse.csr_array(X)
    assert XNVRegressor(random_state=0).fit(rows, labels).committee_ == []
    with pytest.raises(ValueError, match=r"toarray"):
        XNVRegressor(random_state=0, committee=True, scale=None).fit(rows, labels)


def test_committee_must_be_a_flag():
    X, _, labels = table()
    with pytest.raises(ValueError, match="committee='yes'"):
        XNVRegressor(committee="yes").fit(X, labels)


def test_units_of_labels_do_not_matter():
    X, _, labels = table()
    model = XNVRegressor(random_state=0).fit(X, labels)
    other = clone(model).fit(X, 20 * labels + 4)
    assert_allclose(other.predict(X), 20 * model.predict(X) + 4, rtol=1e-3, atol=1e-2)


def test_units_of_columns_matter_no_more_than_another_draw_of_landmarks():
    X, y, labels = table()
    moved = X * [1.0, 1e3, 1e-2, 5.0] + [0, -7, 3, 1e2]
    errors = [
        np.mean((XNVRegressor(random_state=0).fit(rows, labels).predict(rows) - y)[80:] ** 2)
        for rows in (X, moved)
    ]
    assert_allclose(errors[1], errors[0], rtol=0.15)


def test_the_same_on_one_thread_and_two():
    X, _, labels = table()
    one = XNVRegressor(random_state=0, n_threads=1).fit(X, labels)
    two = XNVRegressor(random_state=0, n_threads=2).fit(X, labels)
    assert_array_equal(one.predict(X), two.predict(X))


def test_order_of_rows_does_not_matter():
    X, _, labels = table()
    order = np.random.default_rng(1).permutation(len(X))
    model = XNVRegressor(random_state=0).fit(X, labels)
    other = XNVRegressor(random_state=0).fit(X[order], labels[order])
    assert_allclose(other.predict(X), model.predict(X), atol=1e-6)


def test_a_row_unlike_all_others_gets_a_bounded_answer():
    X, _, labels = table()
    X[:, 3] = 1e-9 * X[:, 3]
    model = XNVRegressor(random_state=0).fit(X, labels)
    odd = X[:5] + np.array([0, 0, 0, 1.0])  # a billion deviations away
    low, high = np.nanmin(labels), np.nanmax(labels)
    assert (np.abs(model.predict(odd) - (low + high) / 2) <= 1.5 * (high - low) + 1e-9).all()
    ends = model.predict_interval(odd)
    assert (np.abs(ends - (low + high) / 2) <= 4 * (high - low)).all()


def test_several_targets_have_a_committee_each():
    X, y, labels = table()
    both = np.column_stack([labels, np.where(np.arange(len(y)) < 60, X[:, 2] ** 2, np.nan)])
    model = XNVRegressor(random_state=0).fit(X, both)
    assert len(model.committee_) == 2
    assert model.predict(X).shape == (len(X), 2)
    assert model.predict_interval(X).shape == (len(X), 2, 2)
    one = XNVRegressor(random_state=0).fit(X, both[:, 1])
    assert np.corrcoef(model.predict(X)[:, 1], one.predict(X))[0, 1] > 0.99


def test_more_labels_than_the_committee_learns_from(monkeypatch):
    monkeypatch.setattr("twinviews.estimators._committee.MOST_LABELS", 150)
    X, y, _ = table(N=900)
    model = XNVRegressor(random_state=0).fit(X, np.where(np.arange(900) < 400, y, np.nan))
    assert model.n_labeled_ == 400
    assert len(model._committees[0].held_out) == 150
    assert model.score(X[400:], y[400:]) > 0.95


def test_relabel_weighs_again():
    X, y, labels = table()
    model = XNVRegressor(random_state=0).fit(X, labels)
    before = model.committee_
    model.relabel(X[:200], y[:200])
    assert model.committee_ != before
    assert model.n_labeled_ == 200


def test_a_model_survives_pickle():
    X, _, labels = table()
    model = XNVRegressor(random_state=0).fit(X, labels)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.predict_interval(X), model.predict_interval(X))


def test_classes_of_a_cluster_are_found_by_the_graph():
    X, y = load_digits(return_X_y=True)
    labels = y.astype(object)
    labels[100:] = None
    model = XNVClassifier(random_state=0).fit(X, labels)
    alone = XNVClassifier(random_state=0, committee=False).fit(X, labels)
    assert model.score(X[100:], y[100:]) > max(0.9, alone.score(X[100:], y[100:]) + 0.05)
    assert sum(weight for name, weight in model.committee_ if "graph" in name) > 0.2
    p = model.predict_proba(X[100:])
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[100:]))
    right = model.predict(X[100:]) == y[100:]
    assert abs(p.max(axis=1).mean() - right.mean()) < 0.05


def test_two_classes_that_single_columns_cut_out_are_found_by_trees():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 10))
    y = np.where((X[:, 0] > 0.5) ^ (X[:, 3] > 0.5), "in", "out")
    labels = y.astype(object)
    labels[200:] = None
    model = XNVClassifier(random_state=0).fit(X, labels)
    assert model.score(X[200:], y[200:]) > 0.9
    assert any("boosting" in name for name, _ in model.committee_)


def test_the_same_committee_from_a_file(tmp_path):
    X, _, labels = table()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=labels)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    in_memory = XNVRegressor(random_state=0).fit(frame[list("abcd")], labels)
    from_file = XNVRegressor(random_state=0).fit_table(tmp_path / "rows.parquet", target="y")
    assert [name for name, _ in from_file.committee_] == [name for name, _ in in_memory.committee_]
    written = from_file.predict_table(tmp_path / "rows.parquet", tmp_path / "out.parquet")
    predicted = pd.read_parquet(written)["prediction"].to_numpy()
    assert_allclose(predicted, in_memory.predict(frame[list("abcd")]), atol=1e-8)


def test_more_rows_in_parts_reach_the_committee_too():
    X, y, labels = table()
    model = XNVRegressor(random_state=0).partial_fit(X[:300], labels[:300])
    model.partial_fit(X[300:], np.where(np.arange(300) < 50, y[300:], np.nan))
    assert model.n_labeled_ == 130
    assert model.committee_
    assert model.score(X, y) > 0.9


def test_the_learned_metric_counts_what_the_target_depends_on():
    X, _, y = table()
    far = X * [1, 100, 0.01, 1]  # units do not matter
    model = XNVRegressor(n_components=40, random_state=0)
    assert not hasattr(model, "learned_metric_")
    metric = model.fit(far, y).learned_metric_
    assert metric.shape == (4,)
    assert_allclose(metric.sum(), 1)
    assert (np.argsort(-metric)[:2] == [0, 1]).all()
    assert metric[2:].sum() < 0.2
    assert XNVRegressor(committee=False, random_state=0).fit(far, y).learned_metric_ is None


def test_a_class_with_one_label_does_not_stop_the_committee():
    """The fold that holds it leaves one class to learn from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.full(300, None, dtype=object)
    y[:60] = "common"
    y[0] = "rare"
    model = XNVClassifier(random_state=0).fit(X, y)
    p = model.predict_proba(X)
    assert model.committee_
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert p[:, 0].mean() > 0.5
