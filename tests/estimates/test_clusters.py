"""Rows that depend on each other: folds that keep them together, and variances of whole clusters."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from twinviews import XNVRegressor, estimate
from twinviews.ensemble.cross_fitting import folds_of
from twinviews.estimates.coefficients import estimated_products
from twinviews.estimates.difference_estimator import (
    LabeledSample,
    UnlabeledRows,
    difference_estimate,
)
from twinviews.method.labeled_problem import clusters_of_copies

M, SIZE = 120, 4


@pytest.fixture(scope="module")
def frame():
    """120 patients of 4 rows each, 30 of them labeled."""
    rng = np.random.default_rng(5)
    patient = np.repeat(np.arange(M), SIZE)
    X = rng.normal(size=(M * SIZE, 2))
    y = X[:, 0] + rng.normal(size=M)[patient] + 0.3 * rng.normal(size=M * SIZE)
    known = patient < 30
    frame = pd.DataFrame(X, columns=["a", "b"])
    site = np.where(patient % 3, "north", "south")
    names = [f"p{one}" for one in patient]
    return frame.assign(y=np.where(known, y, np.nan), every=y, patient=names, site=site)


def fitted(frame, **how):
    quick = XNVRegressor(random_state=0, members=[("ridge", Ridge())])
    return quick.fit_table(frame, target="y", columns=["a", "b"], **how)


@pytest.fixture(scope="module")
def model(frame):
    return fitted(frame, cluster="patient")


def ends(found):
    return np.array([[row.estimate, row.low, row.high, row.labels_alone_high] for row in found])


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("n_clusters", [6, 40, 300])
def test_folds_keep_clusters_together_and_are_even(n_clusters, classes):
    rng = np.random.default_rng(n_clusters)
    cluster = np.append(np.arange(n_clusters), rng.integers(n_clusters, size=2 * n_clusters))
    Y = rng.choice([-1.0, 1.0], size=(len(cluster), 1))
    fold = folds_of(Y, classes=classes, cluster=cluster)
    for one in range(n_clusters):
        assert len(np.unique(fold[cluster == one])) == 1
    if n_clusters >= 25:
        sizes = np.bincount(fold)
        assert len(sizes) == (10 if n_clusters == 40 and not classes else 5)
        assert sizes.max() - sizes.min() <= np.bincount(cluster).max()
    if classes and n_clusters == 300:
        ones = np.bincount(fold, Y[:, 0] > 0)
        assert ones.max() - ones.min() <= np.bincount(cluster).max()


def test_clusters_that_share_a_row_are_one():
    found = clusters_of_copies(np.array([0, 1, 1, 2, 3]), np.array([7, 7, 8, 9, 8]))
    assert found.tolist() == [0, 0, 1, 0]  # 7 and 8 share the row 1


def sample_of(y, chosen, cluster):
    own = np.isin(cluster, chosen)
    n, N = own.sum(), len(y)
    zeros = np.zeros(n)
    sample = LabeledSample(y[own], zeros, np.ones(n), np.ones(n), zeros.astype(int))
    return sample, UnlabeledRows(N - n, N - n, 0.0), cluster[own]


def test_the_variance_is_unbiased_over_all_samples_of_clusters():
    """Brute force, for clusters of equal size."""
    rng, cluster = np.random.default_rng(1), np.repeat(np.arange(7), 3)
    y = rng.normal(size=7)[cluster] + 0.2 * rng.normal(size=21)
    found = []
    for chosen in combinations(range(7), 4):
        sample, others, own = sample_of(y, chosen, cluster)
        found.append(difference_estimate(sample._replace(cluster=own), others, 0.0)[:2])
    values, variances = np.array(found).T
    assert_allclose(values.mean(), y.mean())
    assert_allclose(variances.mean(), values.var())


def test_clusters_of_one_row_are_rows():
    rng = np.random.default_rng(2)
    y, stratum = rng.normal(size=30), np.arange(10) % 2
    sample, others, own = sample_of(y, np.arange(10), np.arange(30))
    sample = sample._replace(stands_for=rng.uniform(1, 9, 10), stratum=stratum)
    for is_share in (False, True):
        one, two = (
            difference_estimate(some, others, 0.0, is_share=is_share)
            for some in (sample, sample._replace(cluster=own[::-1]))
        )
        assert_allclose(one, two)


def test_scores_of_coefficients_are_those_of_regressions_without_the_cluster():
    rng, n = np.random.default_rng(3), 40
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    y, v, moments, cluster = rng.normal(size=n), rng.uniform(1, 3, n), 90 * np.eye(3), np.arange(n) // 4

    def products(cluster):
        how = (np.zeros(n), v, np.ones(n), moments, np.zeros(3), 0.0, moments)
        return estimated_products(Z, y, *how, cluster=cluster)

    def gamma(own):
        return np.linalg.solve((Z[own] * v[own][:, None]).T @ Z[own], Z[own].T @ (v * y)[own])

    whole = gamma(np.full(n, True))
    apart = [moments @ (whole - gamma(cluster != one)) for one in range(10)]
    assert_allclose(products(cluster).scores, apart)
    assert_allclose(products(np.arange(n)).scores, products(None).scores)


def test_intervals_of_clusters_are_those_of_fewer_labels(model, frame):
    rows, patients = (
        estimate(model, frame, target="y", **how)[0] for how in ({}, {"cluster": "patient"})
    )
    assert patients.estimate == pytest.approx(rows.estimate, rel=0.3)
    assert patients.high - patients.low > 1.4 * (rows.high - rows.low)
    assert patients.low < frame.every.mean() < patients.high


@pytest.mark.parametrize(
    "question",
    [{}, {"by": "site"}, {"by": "site", "versus": "north"}, {"above": 0.5}, {"what": "quantile"},
     {"what": "coefficients", "columns": ["a"]}],
    ids=str,
)  # fmt: skip
def test_engines_and_orders_tell_the_same(model, frame, question, tmp_path):
    import dask
    import dask.dataframe as dd

    ask = {"target": "y", "cluster": "patient", **question}
    expected = ends(estimate(model, frame, **ask))
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    assert_allclose(ends(estimate(model, tmp_path / "rows.parquet", **ask)), expected, rtol=1e-8)
    with dask.config.set(scheduler="synchronous"):
        parts = dd.from_pandas(frame, npartitions=4)
        assert_allclose(ends(estimate(model, parts, **ask)), expected, rtol=1e-8)


def test_arrays_and_frames_are_the_same(model, frame):
    X, cluster = frame[["a", "b"]].to_numpy(), frame.patient.to_numpy()
    of_array = XNVRegressor(random_state=0, members=[("ridge", Ridge())])
    of_array.fit(X, frame.y.to_numpy(), cluster=cluster)
    found = estimate(of_array, X, y=frame.y.to_numpy(), cluster=cluster)
    assert_allclose(ends(found), ends(estimate(model, frame, target="y", cluster="patient")))
    known = frame.y.notna().to_numpy()
    again = of_array.relabel(X[known], frame.y[known].to_numpy(), cluster=cluster[known])
    assert_allclose(ends(estimate(again, X, y=frame.y.to_numpy(), cluster=cluster)), ends(found))


def test_fits_that_cut_clusters_apart_are_refused(frame):
    with pytest.raises(ValueError, match=r"30 of 30 clusters are in several folds.*fit_table\("):
        estimate(fitted(frame), frame, target="y", cluster="patient")


def test_questions_about_clusters_that_have_no_answer_are_refused(model, frame):
    with pytest.raises(ValueError, match="rows drawn one by one"):
        estimate(model, frame, target="y", cluster="patient", population=True)
    halves = frame.assign(half=np.where(np.arange(len(frame)) % 2, "one", "two"))
    with pytest.raises(ValueError, match="30 clusters have labels in several of them"):
        estimate(model, halves, target="y", cluster="patient", by="half", versus="one")
    some = frame.assign(patient=frame.patient.where(frame.index > 2))
    with pytest.raises(ValueError, match="3 rows with a label have no value of cluster"):
        fitted(some, cluster="patient")


def test_labels_of_few_clusters_make_no_ensemble(frame):
    few = frame.assign(y=frame.y.where(frame.index < 4 * SIZE))
    with pytest.warns(UserWarning, match="too few to weigh members"):
        assert fitted(few, cluster="patient")._ensembles is None
