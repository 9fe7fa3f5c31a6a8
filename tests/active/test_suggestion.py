import datetime

import dask.array as dask_array
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array
from scipy.stats import chisquare
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.utils import shuffle

from conftest import CLASSIFIERS, REGRESSORS, make
from twinviews import KRRRegressor, XNVClassifier, XNVRegressor, suggest
from twinviews.active import suggestion
from twinviews.active.model_view import uncertainty
from twinviews.estimators._prediction_intervals import fits_without_labels
from twinviews.tables import arrow, base

GIVEN = {"n_components": 40, "sigma": 1.5, "ridge": 1e-2, "correlation_ridge": 1e-4}
NAMES = ["a", "b", "c", "d"]
RULES = ("best of handfuls", "uncertainty", "random")
N = 600


@pytest.fixture(scope="module")
def frame(table):
    """600 rows; the last 50 are copies of earlier ones, 40 of them without a label."""
    again = np.concatenate([np.arange(550), np.arange(100, 150)])
    rows = pd.DataFrame(table.X[again], columns=NAMES)
    rows["y"] = table.few[again]
    rows["kind"] = [None if np.isnan(v) else ("up" if v > 0 else "down") for v in rows["y"]]
    rows["id"] = [f"row {i}" for i in range(N)]
    return rows


@pytest.fixture(scope="module")
def regressor(frame):
    return XNVRegressor(**GIVEN, committee=False, random_state=0).fit(frame[NAMES], frame["y"])


@pytest.fixture(scope="module")
def classifier(frame):
    return XNVClassifier(**GIVEN, committee=False, random_state=0).fit(frame[NAMES], frame["kind"])


# --- the same rows from any table -------------------------------------------------------------------


def in_one_file(rows, folder):
    pq.write_table(rows, folder / "rows.parquet", row_group_size=170)
    return folder / "rows.parquet"


def in_several_files(rows, folder):
    for part in range(3):
        pq.write_table(rows.slice(200 * part, 200), folder / f"part-{part}.parquet")
    return sorted(folder.iterdir())


def as_dataset(rows, folder):
    return ds.dataset(in_one_file(rows, folder))


def as_table(rows, folder):
    return pa.concat_tables([rows.slice(0, 77), rows.slice(77)])


@pytest.mark.parametrize("form", [in_one_file, in_several_files, as_dataset, as_table])
@pytest.mark.parametrize("rule", RULES)
def test_files_and_memory_suggest_the_same_places(form, rule, regressor, frame, tmp_path):
    options = {"rule": rule, "random_state": 3}
    expected = suggest(regressor, frame[NAMES], 20, y=frame["y"], **options)
    source = form(pa.Table.from_pandas(frame), tmp_path)
    found = suggest(regressor, source, 20, target="y", **options)
    assert_same(found, expected)
    assert found.rows.column_names == NAMES
    assert_array_equal(found.rows.to_pandas(), expected.rows)


def assert_same(found, expected):
    assert_array_equal(found.places, expected.places)
    assert_allclose(found.worth, expected.worth, rtol=1e-9)
    assert_array_equal(found.how, expected.how)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    "form", [pd.DataFrame.to_numpy, pl.DataFrame, lambda rows: rows.to_numpy().tolist()]
)
def test_any_rows_in_memory_suggest_the_same_places(form, regressor, frame):
    expected = suggest(regressor, frame[NAMES], 8, y=frame["y"], random_state=0)
    rows = form(frame[NAMES])
    found = suggest(regressor, rows, 8, y=frame["y"].tolist(), random_state=0)
    assert_same(found, expected)
    assert type(found.rows) is type(rows)
    assert_array_equal(np.array(found.rows), expected.rows)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [1, 37, 599])
def test_block_sizes_change_nothing(rule, size, classifier, frame, monkeypatch):
    rows = pa.Table.from_pandas(frame)
    options = {"rule": rule, "random_state": 1}
    expected = suggest(classifier, rows, 15, target="kind", **options)
    monkeypatch.setattr(arrow, "BLOCK_ROWS", size)
    assert_same(suggest(classifier, rows, 15, target="kind", **options), expected)
    monkeypatch.setattr(base, "rows_per_block", lambda X: size)
    found = suggest(classifier, frame[NAMES], 15, y=frame["kind"], **options)
    assert_same(found, expected)


@pytest.mark.filterwarnings("ignore")
def test_dask(regressor, frame):
    import dask
    import dask.dataframe as dd

    with dask.config.set(scheduler="synchronous"):
        for rule in RULES:
            options = {"rule": rule, "random_state": 3}
            expected = suggest(regressor, frame[NAMES], 20, y=frame["y"], **options)
            rows = dd.from_pandas(frame, npartitions=5, sort=False)
            found = suggest(regressor, rows, 20, target="y", keep=["id"], **options)
            assert_same(found, expected)
            assert found.rows["id"].to_pylist() == frame["id"][found.places].tolist()


def test_columns_to_keep_come_back_with_the_rows(regressor, frame, tmp_path):
    path = in_one_file(pa.Table.from_pandas(frame), tmp_path)
    found = suggest(regressor, path, 5, target="y", keep=["id", "b", "y"], random_state=0)
    assert found.rows.column_names == ["id", "b", "y"]
    assert found.rows["id"].to_pylist() == [f"row {place}" for place in found.places]
    assert_array_equal(found.rows["b"], frame["b"][found.places])
    assert np.isnan(found.rows["y"].to_pandas()).all()
    alone = suggest(regressor, path, 5, target="y", keep="id", random_state=0)
    assert alone.rows == found.rows.select(["id"])


# --- which rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_all_distinct_rows_without_a_label_are_suggested_once(rule, regressor, frame):
    found = suggest(regressor, frame[NAMES], N, y=frame["y"], rule=rule, random_state=0)
    free = frame[frame["y"].isna()].drop_duplicates(NAMES)
    assert len(free) < frame["y"].isna().sum()
    assert sorted(found.places) == free.index.tolist()


def test_a_label_of_any_mark_or_target_counts(table):
    X, y = table.X[:200], table.few[:200]
    marked = np.where(np.isnan(y), -1, y)
    model = make("XNVRegressor", **GIVEN, missing_label=-1).fit(X, marked)
    assert sorted(suggest(model, X, 200, y=marked).places) == np.flatnonzero(np.isnan(y)).tolist()
    other = np.where(np.arange(200) % 7 == 0, table.X[:200, 0], np.nan)
    both = np.column_stack([y, other])
    model = make("XNVRegressor", **GIVEN).fit(pd.DataFrame(X, columns=NAMES), both)
    free = np.flatnonzero(np.isnan(both).all(axis=1))
    assert sorted(suggest(model, pd.DataFrame(X, columns=NAMES), 200, y=both).places) == free.tolist()
    columns = dict(zip(NAMES, X.T, strict=True)) | {"y": y, "other": other}
    found = suggest(model, pa.table(columns), 200, target=["y", "other"])
    assert sorted(found.places) == free.tolist()


def test_the_rule_uncertainty_takes_the_most_uncertain_rows(regressor, classifier, frame):
    X = frame[NAMES].iloc[:550]
    p = classifier.predict_proba(X)
    expected = 1 - np.square(p).sum(axis=1)
    found = suggest(classifier, X, 30, rule="uncertainty", random_share=0)
    assert_array_equal(found.places, np.argsort(-expected)[:30])
    assert_allclose(found.worth, np.sort(expected)[::-1][:30])
    found = suggest(regressor, X, 30, rule="uncertainty", random_share=0)
    assert_array_equal(found.places, np.argsort(-uncertainty(regressor, X))[:30])


def test_the_uncertainty_of_a_number_is_the_variance_of_its_prediction(regressor, frame):
    X, labeled = frame[NAMES], frame["y"].notna()
    Z = np.column_stack([np.ones(N), regressor.transform(X)])
    known = pd.DataFrame(Z[labeled]).drop_duplicates()  # a row is one label, however often it is there
    weight = pd.DataFrame(Z[labeled]).groupby(list(known.columns), sort=False).size().to_numpy()
    weight = weight * len(known) / weight.sum()
    correlations = regressor.correlations_
    penalty = regressor.canonical_weight_ * (1 - correlations) / correlations + regressor.ridge_
    A = known.T @ (weight[:, None] * known) + len(known) * np.diag(np.append(0, penalty))
    expected = (Z * np.linalg.solve(A, Z.T).T).sum(axis=1)
    assert_allclose(uncertainty(regressor, X), expected, rtol=1e-6)


def test_random_rows_are_spread_evenly(regressor, frame):
    X = frame[NAMES].iloc[:40]
    drawn = [suggest(regressor, X, 4, rule="random", random_state=i).places for i in range(400)]
    assert chisquare(np.bincount(np.ravel(drawn), minlength=40)).pvalue > 0.01
    firsts = np.bincount([places[0] for places in drawn], minlength=40)
    assert chisquare(firsts).pvalue > 0.01


@pytest.mark.parametrize("rule", RULES)
def test_a_seed_gives_the_same_rows_in_any_order(rule, regressor, frame):
    X = frame[NAMES].iloc[:550]
    turn = np.random.default_rng(0).permutation(550)
    one = suggest(regressor, X, 10, rule=rule, random_state=0)
    other = suggest(regressor, X.iloc[turn], 10, rule=rule, random_state=0)
    assert_array_equal(turn[other.places], one.places)
    if rule != "uncertainty":
        another = suggest(regressor, X, 10, rule=rule, random_state=1)
        assert one.places.tolist() != another.places.tolist()


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")  # there is no label in a region
@pytest.mark.parametrize("name", ["XNVRegressor", "SSSLRegressor", "LapRLSRegressor"])
def test_suggestions_lie_where_there_is_no_label_yet(name):
    X = np.random.default_rng(0).uniform(-3, 3, size=(400, 1))
    y = np.where((np.arange(400) < 60) & (X[:, 0] < 1), np.sin(X[:, 0]), np.nan)
    model = make(name).fit(X, y)
    for seed in range(5):
        found = suggest(model, X, 3, y=y, handful=20, random_share=0, random_state=seed).rows.ravel()
        assert (found > 1).all()
        assert np.abs(np.subtract.outer(found, found))[np.triu_indices(3, 1)].min() > 0.1


def test_earlier_picks_resolve_uncertainty(classifier, frame):
    """The most uncertain rows lie side by side; the others do not, though each is worth less."""
    X = frame[NAMES].iloc[:550]
    alike = suggest(classifier, X, 10, rule="uncertainty", random_share=0)
    apart = suggest(classifier, X, 10, handful=550, random_share=0)
    assert apart.places[0] == alike.places[0]
    assert apart.worth.sum() < alike.worth.sum()
    assert apart.worth[1:].max() < apart.worth[0]


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")  # suggested rows are no random sample
def test_sixty_rows_worth_a_label_are_worth_more_than_sixty_at_random():
    errors = np.array([digit_errors(seed) for seed in range(4)])
    first, chosen, drawn = errors.mean(axis=0)
    assert chosen < 0.85 * drawn < first


def digit_errors(seed):
    """On 500 other rows: of 60 labels at random, of 60 more by suggestion and of 60 more at random."""
    X, y = shuffle(*load_digits(return_X_y=True), random_state=seed)
    X, y, rest, truth = X[500:] / 16, y[500:], X[:500] / 16, y[:500]
    labels = y.astype(object)
    labels[60:] = None
    model = make("XNVClassifier", n_components=60).fit(X, labels)
    errors = [1 - model.score(rest, truth)]
    for rule in ("best of handfuls", "random"):
        places = suggest(model, X, 60, y=labels, rule=rule, random_state=seed).places
        more = labels.copy()
        more[places] = y[places]
        errors.append(1 - make("XNVClassifier", n_components=60).fit(X, more).score(rest, truth))
    return errors


# --- rows drawn at random ---------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0, 0.1, 0.25, 1 / 3, 0.8, 1])
def test_a_share_of_the_rows_is_drawn_at_random(share, regressor, frame):
    X = frame[NAMES].iloc[:550]
    found = suggest(regressor, X, 60, random_share=share, random_state=0)
    assert set(found.how) <= {"random", "suggested"}
    drawn = np.cumsum(found.how == "random")
    assert abs(drawn[-1] - 60 * share) < 1
    # Whoever labels only the first rows has about that share, too.
    assert (np.abs(drawn - share * np.arange(1, 61)) <= 1.5).all()


def test_single_rows_are_drawn_at_random_one_time_in_four(regressor, frame):
    left = frame[NAMES].iloc[:550]
    how = []
    for _ in range(40):
        found = suggest(regressor, left, random_state=0)
        how += found.how.tolist()
        left = left.drop(left.index[found.places])
    assert [how[i : i + 4].count("random") for i in range(0, 40, 4)] == [1] * 10


def test_random_rows_are_the_first_of_any_order_that_rule_and_model_do_not_know(
    regressor, classifier, frame
):
    """Less those that are suggested."""
    X = frame[NAMES]
    order = suggest(regressor, X, N, rule="random", random_state=0)
    assert set(order.how) == {"random"}
    for model, rule in ((regressor, RULES[0]), (regressor, RULES[1]), (classifier, RULES[0])):
        found = suggest(model, X, 20, rule=rule, random_state=0)
        drawn = found.how == "random"
        left = order.places[~np.isin(order.places, found.places[~drawn])]
        assert found.places[drawn].tolist() == left[:5].tolist()


def test_each_row_without_a_label_is_drawn_alike_after_any_suggestions(regressor, frame):
    """Also if a loop gives the same seed again, and the hard rows of the first call are gone."""
    X = frame[NAMES].iloc[:60]
    counts = np.zeros(60)
    for seed in range(400):
        first = suggest(regressor, X, 20, rule="uncertainty", random_share=0, random_state=seed)
        left = np.setdiff1d(np.arange(60), first.places)
        second = suggest(regressor, X.iloc[left], 8, random_share=0.5, random_state=seed)
        counts[left[second.places[second.how == "random"]]] += 1
    drawn = counts[counts > 0]  # the rule takes the same rows every time
    assert len(drawn) == 40
    assert chisquare(drawn).pvalue > 0.01


def test_copies_of_a_row_count_when_rows_are_drawn_at_random(regressor, frame):
    rows = np.repeat([3, 4, 5, 6], [1, 2, 3, 4])
    X = frame[NAMES].iloc[rows]
    drawn = [suggest(regressor, X, rule="random", random_state=i).places[0] for i in range(1000)]
    counts = np.bincount(rows[drawn], minlength=7)[3:]
    assert chisquare(counts, [100, 200, 300, 400]).pvalue > 0.01


@pytest.mark.parametrize("share", [-0.1, 1.01, np.nan, "half", True])
def test_a_share_that_is_none_is_refused(share, regressor, frame):
    with pytest.raises(ValueError, match=r"random_share=.* must be a number from 0 to 1"):
        suggest(regressor, frame[NAMES], 3, random_share=share)


# --- every model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS + CLASSIFIERS)
def test_every_estimator_suggests_and_is_not_changed(name, table):
    X, y = table.X[:150].copy(), table.few[:150].copy()
    if name in CLASSIFIERS:
        y = np.where(np.isnan(y), None, np.where(y > 0, "up", "down"))
    model = make(name, sigma=2.0).fit(X, y)
    before = joblib.hash([vars(model), X, y])
    for rule in RULES:
        found = suggest(model, X, 5, y=y, rule=rule, random_state=0)
        assert len(set(found.places)) == 5
        assert pd.isna(y[found.places]).all()
        assert_array_equal(found.rows, X[found.places])
        assert np.isfinite(found.worth).all()
        assert (found.worth > 0).all()
    assert joblib.hash([vars(model), X, y]) == before


@pytest.mark.parametrize("name", REGRESSORS)
def test_several_targets(name, table):
    X = table.X[:150]
    y = np.column_stack([table.few[:150], np.where(np.arange(150) % 9 == 0, X[:, 0], np.nan)])
    found = suggest(make(name, sigma=2.0).fit(X, y), X, 4, y=y, random_state=0)
    assert np.isnan(y[found.places]).all()


def test_an_ensemble_has_an_uncertainty_of_its_own(table):
    X, y = table.X[:300], table.few[:300]
    model = XNVRegressor(n_components=30, random_state=0).fit(X, y)
    assert model.committee_
    # How far ensembles without some labels disagree, in units of the noise.
    without = fits_without_labels(model, 0).at(model._prepared(X)).prediction
    spread = without.var(axis=1) / model.loo_error_
    assert_allclose(uncertainty(model, X), spread, rtol=1e-6)
    found = suggest(model, X, 3, y=y, rule="uncertainty", random_share=0)
    free = np.flatnonzero(np.isnan(y))
    assert_array_equal(found.places, free[np.argsort(-spread[free])[:3]])
    assert len(suggest(model, X, 3, y=y).places) == 3


@pytest.mark.parametrize("form", [csr_array, coo_array])
def test_sparse_rows(form, table):
    X = np.where(np.abs(table.X[:200]) > 0.5, table.X[:200], 0)
    y = table.few[:200]
    dense = make("XNVRegressor", **GIVEN).fit(X, y)
    model = make("XNVRegressor", **GIVEN).fit(form(X), y)
    expected = suggest(dense, X, 6, y=y, random_state=0)
    found = suggest(model, form(X), 6, y=y, random_state=0)
    assert_array_equal(found.places, expected.places)
    assert_array_equal(found.rows.toarray(), expected.rows)


@pytest.mark.parametrize("scale", ["standard", "robust", "rank"])
def test_scaled_models(scale, frame, tmp_path):
    model = make("XNVRegressor", **GIVEN, scale=scale).fit(frame[NAMES], frame["y"])
    expected = suggest(model, frame[NAMES], 9, y=frame["y"], random_state=0)
    path = in_one_file(pa.Table.from_pandas(frame), tmp_path)
    assert_same(suggest(model, path, 9, target="y", random_state=0), expected)


def test_words_dates_and_blanks(frame, tmp_path):
    rng = np.random.default_rng(0)
    mixed = frame[["a", "b"]].where(rng.random((N, 2)) > 0.1)
    mixed["city"] = rng.choice(["Rom", "Köln", None], N)
    mixed["day"] = [datetime.datetime(2024, 1, 1) + datetime.timedelta(int(i)) for i in range(N)]
    model = make("XNVRegressor", scale="standard", n_components=40).fit(mixed, frame["y"])
    expected = suggest(model, mixed, 9, y=frame["y"], random_state=0)
    assert frame["y"][expected.places].isna().all()
    pd.testing.assert_frame_equal(expected.rows, mixed.iloc[expected.places])
    pq.write_table(
        pa.Table.from_pandas(mixed.assign(y=frame["y"], id=frame["id"])),
        tmp_path / "rows.parquet",
        row_group_size=90,
    )
    found = suggest(model, tmp_path / "rows.parquet", 9, target="y", keep=["id"], random_state=0)
    assert_same(found, expected)
    assert found.rows["id"].to_pylist() == frame["id"][expected.places].tolist()


# --- what goes wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k=0 must be a whole number of at least 1"),
        ({"k": 2.5}, r"k=2\.5 must be a whole number"),
        ({"handful": 0}, "handful=0 must be a whole number of at least 1"),
        ({"rule": "best"}, "rule='best' must be one of best of handfuls, uncertainty, random"),
        ({"y": np.ones(N)}, "All 600 rows have a label already. Give rows that have none"),
        ({"y": np.ones(3)}, "y has 3 labels and there are 600 rows"),
        ({"target": "y"}, "target names columns of a table, and these rows are in memory. .* as y="),
        ({"keep": ["id"]}, "keep names columns of a table, .* come back with all they have"),
    ],
)
def test_wrong_options_are_named(options, message, regressor, frame):
    with pytest.raises(ValueError, match=message):
        suggest(regressor, frame[NAMES], **options)


def test_wrong_rows_and_models_are_named(regressor, frame, table):
    with pytest.raises(NotFittedError, match="XNVRegressor instance is not fitted yet"):
        suggest(XNVRegressor(), frame[NAMES])
    nameless = make("XNVRegressor", **GIVEN).fit(table.X, table.few)
    with pytest.raises(ValueError, match="X has 3 features, but XNVRegressor is expecting 4"):
        suggest(nameless, table.X[:, :3])
    with pytest.raises(ValueError, match="fitted on rows without column names"):
        suggest(nameless, pa.Table.from_pandas(frame))
    rows = pa.Table.from_pandas(frame)
    with pytest.raises(ValueError, match=r"There is no column 'colour'\. The table has a, b"):
        suggest(regressor, rows, target="colour")
    with pytest.raises(ValueError, match=r"There is no column 'b'\. The table has a, c"):
        suggest(regressor, rows.drop(["b"]))
    with pytest.raises(ValueError, match=r"y goes with rows in memory.* name the column: target="):
        suggest(regressor, rows, y=frame["y"])
    with pytest.raises(ValueError, match="The table has no rows"):
        suggest(regressor, rows.slice(0, 0))
    full = rows.set_column(4, "y", pa.array(np.ones(N)))
    with pytest.raises(ValueError, match="All 600 rows have a label already"):
        suggest(regressor, full, target="y")


def test_candidates_are_enough_for_a_handful_each(regressor, frame, monkeypatch):
    """With as few candidates as may be, k rows are still found, each the best of its handful."""
    monkeypatch.setattr(suggestion, "_LEAST_CANDIDATES", 1)
    found = suggest(regressor, frame[NAMES], 20, handful=5, random_state=0)
    assert len(set(found.places)) == 20


@pytest.mark.filterwarnings("ignore::twinviews.ShiftWarning")  # there is no label in a region
def test_kernel_ridge_is_uncertain_far_from_its_labels():
    """Its features vanish there, and with them the predictive variance."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, size=(400, 1))
    y = np.where((np.arange(400) < 60) & (X[:, 0] < 0), np.sin(X[:, 0]), np.nan)
    model = KRRRegressor(sigma=0.2, ridge=1e-3).fit(X, y)
    found = suggest(model, X, 5, y=y, handful=400, random_share=0, random_state=0)
    assert (found.rows > 0.3).all()


def test_a_dask_array_is_refused_with_the_way_out():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = KRRRegressor().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="Give a Dask data frame"):
        suggest(model, dask_array.from_array(X), 2)


def test_the_older_name_of_a_rule_means_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    model = KRRRegressor(sigma=1.0, ridge=0.1).fit(X[:20], X[:20, 0])
    by_rule = suggest(model, X, 4, rule="uncertainty", random_state=0)
    older = suggest(model, X, 4, strategy="uncertainty", random_state=0)
    assert_array_equal(older.places, by_rule.places)
    with pytest.raises(ValueError, match="rule='best' must be one of"):
        suggest(model, X, 4, strategy="best")
