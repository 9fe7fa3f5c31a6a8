"""Predictions against the paper's formulas with sixty digits, and what changes of the input may change.

The kernels go from condition 1 to 1e16 and beyond, steered by their width and by rows that nearly
coincide. Bounds are what theory gives for arithmetic with a rounding of EPS: a constant times EPS times
the condition number, up to where the library takes an eigenvalue as zero.
"""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from mpmath import mpf
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import paper_formulas as paper
from counts import often, tried
from twinviews import (
    ExactSSSLRegressor,
    KRRClassifier,
    KRRRegressor,
    LapRLSRegressor,
    RFFRegressor,
    SSSLRegressor,
    XKSRegressor,
    XNVClassifier,
    XNVRegressor,
)

EPS = float(np.finfo(float).eps)
# The constant of the bounds: sums over a dozen rows, and room for rows that the labels do not surround.
MUCH = 2000
# Shares of the largest below which the library takes as zero: eigenvalues of a kernel matrix where
# moments square them, where it is inverted and where it only has a ridge beside it; variances, and
# correlations.
MOMENTS, INVERTED, PLAIN, VARIANCES, CORRELATIONS = 1e-6, 1e-8, 1e-13, 1e-8, 1e-4
# Rounding of an exponent that the library lets pass.
HARMLESS = 1e-10
# Predictions that are worse than this, relative to their size, must have been warned of.
UNTOLD = 1e-2
N, LABELED, M = 16, 9, 4
DECADES = range(0, 17, 2)  # of the condition number


class Case(NamedTuple):
    X: np.ndarray  # (N, 2), the labeled rows first
    few: np.ndarray  # (N,)
    sigma: float

    @property
    def y(self):
        return paper.exactly(self.few[:LABELED])


def steered_case(decade, way, seed, noise=0.0):
    """A case whose kernel of the labeled rows has about that condition number.

    One way is a wide kernel, the other two rows so near each other that theirs are near copies.
    """
    rng = np.random.default_rng([decade, seed])
    X = rng.uniform(-1, 1, size=(N, 2))
    sigma = 0.1
    if way == "near copies":
        gap = sigma * 10 ** (-decade / 2)
        X[1] = X[0] + gap * np.array([0.6, 0.8])
        X[M + 1] = X[M] + gap * np.array([0.8, -0.6])
    else:
        while condition(X[:LABELED], sigma) < 10**decade:
            sigma *= 1.1
    y = np.sin(3 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=N)
    return Case(X, np.where(np.arange(N) < LABELED, y, np.nan), sigma)


def condition(rows, sigma):
    apart = np.square(rows[:, None] - rows).sum(axis=2)
    return np.linalg.cond(np.exp(-apart / (2 * sigma**2)))


def heard(estimator, X, few):
    """The fitted estimator, and whether it told that its numbers may be no good."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        estimator.fit(X, few)
    assert all("Rounding may move predictions" in str(warning.message) for warning in told)
    return estimator, bool(told)


def as_floats(numbers):
    return np.array([float(number) for number in numbers])


def near_a_cut(values, share):
    """Whether rounding could decide on which side of the cut a value lies."""
    largest = max(values)
    return any(share / 10 < value / largest < share * 10 for value in values)


def largest_difference(ours, theirs):
    return float(np.abs(ours - as_floats(theirs)).max())


def on_features(Z, case, penalty):
    """Ridge on these features: its predictions at all rows, and its leave-one-out error."""
    labeled = Z[:LABELED, :]
    truth = paper.predicted(Z, paper.ridge_regression(labeled, case.y, penalty))
    guesses = paper.left_out(labeled, case.y, penalty)
    squares = as_floats([(guess - y) ** 2 for guess, y in zip(guesses, case.y, strict=True)])
    return truth, squares.mean()


def assert_agrees(model, case, Z1, shared, bound):
    """That a model has these correlations, and is the ridge that they ask for on the first view."""
    penalty = [mpf(model.ridge) + norm for norm in paper.canonical_norm(shared.correlations)]
    truth, loo = on_features(Z1 * shared.B1, case, penalty)
    assert_allclose(model.correlations_, as_floats(shared.correlations), rtol=0, atol=bound)
    scale = np.abs(as_floats(truth)).max() + np.nanmax(np.abs(case.few))
    assert largest_difference(model.predict(case.X), truth) <= bound * scale
    assert_allclose(model.loo_error_, loo, rtol=10 * bound)


# --- the paper's formulas ---------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["width", "near copies"])
@pytest.mark.parametrize("decade", DECADES)
def test_kernel_ridge_is_the_papers(decade, way):
    """Kernel ridge regression agrees with the paper's formula in 60 digits, for kernels of condition 1
    to 1e16 and ridges from 1e-12 to 1e6, to within rounding times the condition; a result that rounding
    spoils comes with a warning."""
    for seed in range(often(1, 20)):
        case = steered_case(decade, way, seed, noise=seed % 2)
        exact = paper.KernelRidge(case.X[:LABELED], case.y, case.X, case.sigma)
        smallest, *_, largest = exact.eigenvalues
        kept = min(float(largest / smallest), 1 / PLAIN)
        for ridge in (1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e6)[:: often(2, 1)]:
            model, told = heard(KRRRegressor(sigma=case.sigma, ridge=ridge), case.X, case.few)
            truth, moved = exact(ridge)
            dropped = PLAIN * moved if smallest < 10 * PLAIN * largest else 0
            scale = np.abs(as_floats(truth)).max() + np.nanmax(np.abs(case.few))
            error = largest_difference(model.predict(case.X), truth)
            assert error <= MUCH * EPS * kept * scale + dropped
            assert told or error <= UNTOLD * scale
            tried("fits")


@pytest.mark.parametrize("way", ["width", "near copies"])
@pytest.mark.parametrize("decade", DECADES)
def test_ridge_on_a_nystroem_view_is_the_papers(decade, way):
    """Ridge on one Nystroem view (SSSL), its predictions and its closed-form leave-one-out error, agree
    with the paper's formulas in 60 digits to within rounding times the condition."""
    for seed in range(often(1, 20)):
        case = steered_case(decade, way, seed)
        # Every row is a landmark, so that it does not matter which are drawn.
        few, X = case.few[:LABELED], case.X[:LABELED]
        view = paper.nystroem_view(X, case.sigma, INVERTED)
        if near_a_cut(view.eigenvalues, INVERTED):
            continue
        Z = view(case.X)
        for ridge in (1e-9, 1e-6, 1e-2, 1e3)[:: often(3, 1)]:
            estimator = SSSLRegressor(n_components=LABELED, sigma=case.sigma, ridge=ridge)
            model, told = heard(estimator, X, few)
            truth, loo = on_features(Z, case, [mpf(ridge)] * Z.cols)
            kept = min(view.condition, 1 / INVERTED, float(view.eigenvalues[-1]) / (LABELED * ridge))
            scale = np.abs(as_floats(truth)).max() + np.abs(few).max()
            error = largest_difference(model.predict(case.X), truth)
            assert error <= MUCH * EPS * (1 + kept) * scale
            assert told or error <= UNTOLD * scale
            # It divides by one minus the leverage, which the ridge alone keeps above this.
            freedom = LABELED * ridge / (float(view.eigenvalues[-1]) + LABELED * ridge)
            assert_allclose(model.loo_error_, loo, rtol=MUCH * EPS * (kept + 1 / freedom))
            tried("fits")


@pytest.mark.parametrize("way", ["width", "near copies"])
@pytest.mark.parametrize("decade", DECADES)
def test_algorithm_1_is_the_papers(decade, way):
    """Algorithm 1 on given landmarks, its canonical correlations, predictions and closed-form
    leave-one-out error, agrees with the paper's formulas in 60 digits to within rounding times the
    condition of the landmarks' kernel, up to the 1e6 at which a direction is dropped."""
    for seed in range(often(1, 12)):
        case = steered_case(decade, way, seed)
        landmarks = case.X[: 2 * M]
        views = [
            paper.nystroem_view(half, case.sigma, MOMENTS) for half in (landmarks[:M], landmarks[M:])
        ]
        if any(near_a_cut(view.eigenvalues, MOMENTS) for view in views):
            continue
        Z1, Z2 = (view(case.X) for view in views)
        for rho, ridge in ((0.0, 1e-12), (0.0, 1e-2), (1e-4, 1e-6), (1e-2, 1e3))[:: often(2, 1)]:
            shared = paper.canonical_correlation(Z1, Z2, rho, VARIANCES, CORRELATIONS)
            if shared.near_a_cut:
                continue
            given = {"sigma": case.sigma, "ridge": ridge, "correlation_ridge": rho}
            model, told = heard(XNVRegressor(landmarks=landmarks, **given), case.X, case.few)
            kept = min(max(view.condition for view in views), 1 / MOMENTS)
            assert not told
            assert_agrees(model, case, Z1, shared, MUCH * EPS * kept)
            tried("fits")


def drawn(columns):
    return lambda X: paper.fourier_features(X, columns.frequencies, columns.phases)


def condition_of(Z, ridge):
    """Of the covariance of features, with a ridge."""
    C = np.cov(np.array([[float(value) for value in row] for row in Z.tolist()]).T, ddof=0)
    values = np.linalg.eigvalsh(np.atleast_2d(C))
    return (values[-1] + ridge) / (max(values[0], EPS * values[-1]) + ridge)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0, 100.0])
def test_ridge_on_fourier_features_is_the_papers(sigma):
    """Ridge on Fourier features (RFF) with the frequencies that were drawn, and its closed-form
    leave-one-out error, agree with the paper's formulas in 60 digits to within rounding times the
    condition."""
    for seed in range(often(1, 40)):
        case = steered_case(0, "near copies", seed)
        for ridge in (1e-9, 1e-6, 1e-2, 1e3)[:: often(3, 1)]:
            estimator = RFFRegressor(n_components=M, sigma=sigma, ridge=ridge, random_state=seed)
            model, _ = heard(estimator, case.X, case.few)
            Z = drawn(model._learned.view.columns)(case.X)
            truth, loo = on_features(Z, case, [mpf(ridge)] * M)
            kept = condition_of(Z[:LABELED, :], ridge)
            scale = np.abs(as_floats(truth)).max() + np.nanmax(np.abs(case.few))
            assert largest_difference(model.predict(case.X), truth) <= MUCH * EPS * kept * scale
            assert_allclose(model.loo_error_, loo, rtol=MUCH * EPS * kept)
            tried("fits")


@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
def test_algorithm_2_is_the_papers(sigma):
    """Algorithm 2 (XKS) with the frequencies that were drawn, its canonical correlations, predictions
    and closed-form leave-one-out error, agrees with the paper's formulas in 60 digits to within
    rounding times the condition of the views' covariances."""
    for seed in range(often(1, 20)):
        case = steered_case(0, "near copies", seed)
        for rho, ridge in ((0.0, 1e-12), (0.0, 1e-2), (1e-4, 1e-6), (1e-2, 1e3))[:: often(2, 1)]:
            given = {"sigma": sigma, "ridge": ridge, "correlation_ridge": rho}
            estimator = XKSRegressor(n_components=M, random_state=seed, **given)
            model, told = heard(estimator, case.X, case.few)
            Z1, Z2 = (drawn(view.columns)(case.X) for view in model.views_)
            shared = paper.canonical_correlation(Z1, Z2, rho, VARIANCES, CORRELATIONS)
            if shared.near_a_cut:
                continue
            kept = min(max(condition_of(Z, rho) for Z in (Z1, Z2)), 1 / VARIANCES)
            assert not told
            assert_agrees(model, case, Z1, shared, MUCH * EPS * kept)
            tried("fits")


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0])
def test_exact_sssl_is_the_papers(sigma):
    """Least squares on the first eigenfunctions of the full kernel (exact SSSL) agrees with the paper's
    formulas in 60 digits to within rounding times the condition, which is that of the labeled rows
    and of telling the last eigenfunction from the next."""
    for seed in range(often(1, 20)):
        case = steered_case(0, "near copies", seed)
        for s in (1, 3, 5)[:: often(2, 1)]:
            found = paper.eigenfunctions(case.X, sigma, s)
            labeled = found.Z[:LABELED, :]
            truth = paper.predicted(found.Z, paper.ridge_regression(labeled, case.y, [0] * s))
            estimator = ExactSSSLRegressor(sigma=sigma, n_eigenfunctions=s)
            model, _ = heard(estimator, case.X, case.few)
            mu = as_floats(found.eigenvalues)
            kept = mu[0] / (mu[s - 1] - mu[s]) * condition_of(labeled, 0.0)
            scale = np.abs(as_floats(truth)).max() + np.nanmax(np.abs(case.few))
            assert_allclose(model.eigenvalues_[:s], mu[:s], rtol=0, atol=MUCH * EPS * mu[0])
            assert largest_difference(model.predict(case.X), truth) <= MUCH * EPS * kept * scale
            tried("fits")


@pytest.mark.parametrize("way", ["width", "near copies"])
@pytest.mark.parametrize("decade", DECADES)
def test_laplacian_ridge_is_the_papers(decade, way):
    """LapRLS agrees with its normal equations in 60 digits to within rounding times the condition of
    the kernel beside its ridges; a result that rounding spoils comes with a warning."""
    pairs = ((1e-6, 0.0), (1e-6, 1e-3), (1e-2, 1.0), (1.0, 1e-6))[:: often(2, 1)]
    for seed in range(often(1, 6)):
        case = steered_case(decade, way, seed)
        apart = np.square(case.X[:, None] - case.X).sum(axis=2)
        largest = np.linalg.eigvalsh(np.exp(-apart / (2 * case.sigma**2)))[-1]
        for ridge, manifold_ridge in pairs:
            given = {"sigma": case.sigma, "ridge": ridge, "manifold_ridge": manifold_ridge}
            model, told = heard(LapRLSRegressor(n_neighbors=3, **given), case.X, case.few)
            truth = paper.laplacian_ridge(case.X, case.y, case.sigma, ridge, manifold_ridge, 3)
            bending = 1 + 2 * largest * manifold_ridge / (ridge * N**2)
            kept = bending * (1 + largest / (LABELED * ridge))
            scale = np.abs(as_floats(truth)).max() + np.nanmax(np.abs(case.few))
            error = largest_difference(model.predict(case.X), truth)
            assert error <= MUCH * EPS * kept * scale
            assert told or error <= UNTOLD * scale
            tried("fits")


@pytest.mark.parametrize("far", [1e2, 1e4, 1e6, 1e8])
def test_rows_far_from_zero_and_from_each_other(far):
    """Columns shifted by up to 1e8, and clusters that far apart, dense and sparse, move predictions by
    no more than 1e-10 and what it takes to write such numbers down."""
    for seed in range(often(1, 30)):
        case = steered_case(2, "width", seed)
        for X in (case.X + far, case.X + far * (np.arange(N) % 2)[:, None]):
            truth, _ = paper.KernelRidge(X[:LABELED], case.y, X, case.sigma)(1e-3)
            for rows in (X, sparse.csr_array(X)):
                model = KRRRegressor(sigma=case.sigma, ridge=1e-3).fit(rows, case.few)
                error = largest_difference(model.predict(rows), truth)
                assert error <= HARMLESS + 100 * EPS * far / case.sigma
                tried("fits")


@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
@pytest.mark.parametrize("kind", [KRRRegressor, SSSLRegressor, XNVRegressor])
def test_a_column_that_a_kernel_of_products_loses_is_told(kind, kernel):
    """Where the mean of a column is so large that a kernel of products cannot see it vary, a warning
    says so: no model gets worse by a shift in silence."""
    for seed in range(often(1, 20)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 2)) + 1
        y = X[:, 0] - X[:, 1]
        few = np.where(np.arange(60) < 30, y, np.nan)
        own = {} if kind is KRRRegressor else {"n_components": 10, "random_state": seed}
        if kind is XNVRegressor:
            own["correlation_ridge"] = 0.0
        for shift in 10.0 ** np.arange(9):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                model = kind(kernel=kernel, sigma=1.0, ridge=1e-6, **own).fit(X + shift, few)
            assert told or model.score(X + shift, y) > 0.9
            tried("fits")


# --- what changes of the input may change -----------------------------------------------------------
#
# Landmarks are drawn by the content of the rows, so other columns draw others. Here they are given, or
# all rows are landmarks; then the laws hold for every estimator on a kernel of distances.

ROWS, KNOWN = 36, 20
SIGMA = 1.5
tables = st.builds(
    lambda seed: np.random.default_rng(seed).integers(-(2**20), 2**20, size=(ROWS, 3)) / 2**19,
    st.integers(0, 2**32 - 1),
)  # sums with whole numbers and products with powers of two are exact
lawful = settings(
    max_examples=often(2, 80), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)

KINDS = {
    "KRR": lambda X, **given: KRRRegressor(ridge=1e-3, **given),
    "SSSL": lambda X, **given: SSSLRegressor(n_components=len(X), ridge=1e-3, random_state=0, **given),
    "XNV": lambda X, **given: XNVRegressor(
        landmarks=X[:16], ridge=1e-3, correlation_ridge=1e-3, random_state=0, **given
    ),
    "exact SSSL": lambda X, **given: ExactSSSLRegressor(n_eigenfunctions=6, **given),
    "LapRLS": lambda X, **given: LapRLSRegressor(
        ridge=1e-3, manifold_ridge=1e-2, n_neighbors=5, **given
    ),
}
DRAWN = {
    "XKS": lambda X, **given: XKSRegressor(
        n_components=10, ridge=1e-3, correlation_ridge=1e-3, random_state=0, **given
    ),
    "RFF": lambda X, **given: RFFRegressor(n_components=20, ridge=1e-3, random_state=0, **given),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
even_drawn = pytest.mark.parametrize("kind", [*KINDS, *DRAWN])


def labels_of(X):
    """A number for each row, known for the first of them."""
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    return np.where(np.arange(len(X)) < KNOWN, y, np.nan)


def answers(kind, X, y, given=None, at=None):
    """Predictions, and both ends of their intervals."""
    model = (KINDS | DRAWN)[kind](X, **(given or {"sigma": SIGMA})).fit(X, y)
    at = X if at is None else at
    return np.column_stack([model.predict(at), model.predict_interval(at, coverage=0.8)])


def assert_same(ours, theirs, size=1.0):
    assert_allclose(ours, theirs, rtol=1e-7, atol=1e-8 * size)


@even_drawn
@lawful
@given(X=tables, seed=st.integers(0, 999))
def test_the_order_of_the_rows_does_not_matter(kind, X, seed):
    """Rows in another order, with their labels, give the same predictions and intervals."""
    turn = np.random.default_rng(seed).permutation(ROWS)
    y = labels_of(X)
    given = {"sigma": SIGMA}
    model = (KINDS | DRAWN)[kind](X, **given)  # whose landmarks, where given, stay
    straight = model.fit(X, y).predict_interval(X)
    assert_same(model.fit(X[turn], y[turn]).predict_interval(X), straight)
    tried("tables")


@every_kind
@lawful
@given(X=tables, seed=st.integers(0, 999), shift=st.integers(-1000, 1000))
def test_the_order_and_the_zero_of_columns_do_not_matter(kind, X, seed, shift):
    """Columns in another order, each shifted, and a constant column more, give the same predictions and
    intervals, for kernels of distances."""
    rng = np.random.default_rng(seed)
    moved = X[:, rng.permutation(3)] + shift * rng.integers(-1, 2, size=3)
    moved = np.column_stack([moved, np.full(ROWS, float(shift))])
    assert_same(answers(kind, moved, labels_of(X)), answers(kind, X, labels_of(X)))
    tried("tables")


@even_drawn
@lawful
@given(X=tables, power=st.integers(-60, 60))
def test_a_unit_of_the_columns_is_a_unit_of_sigma(kind, X, power):
    """Columns and sigma in another unit give the same predictions and intervals."""
    unit = 2.0**power
    changed = answers(kind, unit * X, labels_of(X), {"sigma": unit * SIGMA})
    assert_same(changed, answers(kind, X, labels_of(X)))
    tried("tables")


@pytest.mark.parametrize("scale", ["standard", "robust", "rank"])
@pytest.mark.parametrize("kind", ["KRR", "LapRLS"])
@lawful
@given(X=tables, powers=st.tuples(*[st.integers(-40, 40)] * 3), shift=st.integers(-1000, 1000))
def test_a_scaled_model_does_not_know_the_units_of_its_columns(kind, scale, X, powers, shift):
    """With columns brought to one scale, each column's own unit and zero do not matter."""
    given = {"sigma": SIGMA, "scale": scale}
    moved = (X + shift) * 2.0 ** np.array(powers)
    assert_same(answers(kind, moved, labels_of(X), given), answers(kind, X, labels_of(X), given))
    tried("tables")


@even_drawn
@lawful
@given(X=tables, factor=st.floats(-1e6, 1e6), shift=st.floats(-1e6, 1e6))
def test_labels_carry_through(kind, X, factor, shift):
    """Labels in another unit, from another zero: predictions and intervals follow."""
    assume(abs(factor) > 1e-6)
    y = labels_of(X)
    expected = answers(kind, X, y) * factor + shift
    if factor < 0:
        expected = expected[:, [0, 2, 1]]
    assert_same(answers(kind, X, factor * y + shift), expected, size=abs(factor) + abs(shift))
    tried("tables")


@even_drawn
@lawful
@given(X=tables, power=st.integers(-100, 100))
def test_labels_times_a_power_of_two_are_exact(kind, X, power):
    """Labels times a power of two give predictions and intervals times it, to the last bit."""
    y = labels_of(X)
    assert_array_equal(answers(kind, X, y * 2.0**power), answers(kind, X, y) * 2.0**power)
    tried("tables")


@even_drawn
@lawful
@given(X=tables)
def test_float32_is_the_number_that_it_is(kind, X):
    """Rows in single precision give, to the last bit, the model of the same numbers in double."""
    single = X.astype(np.float32)
    double = single.astype(np.float64)
    y = labels_of(double)
    assert_array_equal(answers(kind, single, y), answers(kind, double, y))
    tried("tables")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", [KRRClassifier, XNVClassifier])
@lawful
@given(X=tables, seed=st.integers(0, 999))
def test_names_of_classes_do_not_matter(kind, classes, X, seed):
    """Classes by other names, in another order: the same probabilities, under the new names."""
    own = {} if kind is KRRClassifier else {"landmarks": X[:16], "correlation_ridge": 1e-3}
    place = np.digitize(labels_of(X), [-0.3, 0.3][: classes - 1])
    place[:classes] = range(classes)  # each occurs
    names = np.random.default_rng(seed).permutation(["ash", "beech", "cedar"][:classes])
    known = np.arange(ROWS) < KNOWN
    model = kind(sigma=SIGMA, ridge=1e-3, missing_label=-1, **own)
    numbered = clone(model).fit(X, np.where(known, place, -1))
    named = model.fit(X, np.where(known, names[place], None))
    order = [list(named.classes_).index(name) for name in names]
    # The calibration's scale is searched for, to 1e-5 of its logarithm.
    assert_allclose(named.predict_proba(X)[:, order], numbered.predict_proba(X), atol=1e-4)
    tried("tables")
