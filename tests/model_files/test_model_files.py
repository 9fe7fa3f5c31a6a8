"""Model files: what comes back is what went in, to the last bit; what is not whole is refused."""

import hashlib
import itertools
import json
import os
import pickle
import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from conftest import CLASSIFIERS, REGRESSORS, make
from twinviews import (
    KRRRegressor,
    XNVClassifier,
    XNVRegressor,
    inspect_model,
    load_model,
    save_model,
)
from twinviews.ensemble import builtin_members
from twinviews.ensemble.linear_ridge import LinearRidge
from twinviews.ensemble.member import MemberSpec
from twinviews.method.views import TwinFeatures

# Attributes that a small file leaves out.
OF_ALL_ROWS = {"views_", "basis_"}
SMALL = {"committee": False, "n_components": 4}


def rows(N=60, D=3, seed=0):
    return np.random.default_rng(seed).normal(size=(N, D))


def numbers(X, n=20):
    y = np.sin(X[:, 0]) + 0.1 * X[:, -1] ** 2
    return np.where(np.arange(len(X)) < n, y, np.nan)


def classes(X, n=20, names=("ape", "bee", "cat")):
    code = np.digitize(X[:, 0], [-0.4, 0.4][: len(names) - 1])
    labels = np.array(names, dtype=object)[code]
    labels[n:] = None
    return labels


def small(name, **parameters):
    estimator = make(name)
    own = {key: value for key, value in SMALL.items() if key in estimator.get_params()}
    return estimator.set_params(**own, **parameters)


def fitted(name, X, y, **parameters):
    return small(name, **parameters).fit(X, y)


def trip(model, folder, **options):
    path = folder / "model.twinviews"
    save_model(model, path, **options)
    return load_model(path)


def same(a, b):
    """Equal to the last bit, through tuples, lists and sparse matrices."""
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if sparse.issparse(a):
        return type(a) is type(b) and same(a.toarray(), b.toarray())
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return type(a) is type(b) and (a == b or (a != a and b != b))


def answers(model, X):
    """All that a model says of rows."""
    if hasattr(model, "classes_"):
        found = [model.predict(X), model.predict_proba(X), model.decision_function(X)]
    else:
        found = [*model.predict(X, return_std=True), model.predict_interval(X, 0.8), model.predict(X)]
    return [*found, model.transform(X)] if hasattr(model, "transform") else found


def assert_same_model(loaded, model, X, *, whole=False):
    assert type(loaded) is type(model)
    assert same(answers(loaded, X), answers(model, X))
    ours, theirs = model.get_params(), loaded.get_params()
    assert list(ours) == list(theirs)
    assert all(same(ours[name], theirs[name]) for name in ours)
    for name, value in vars(model).items():
        left_out = name in OF_ALL_ROWS and not whole
        if name.endswith("_") and not name.startswith("_") and not left_out:
            found = getattr(loaded, name)
            assert name in OF_ALL_ROWS or same(found, value), name


# --- what comes back -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REGRESSORS)
def test_a_regressor_comes_back_to_the_last_bit(name, tmp_path):
    X = rows()
    model = fitted(name, X, numbers(X))
    loaded = trip(model, tmp_path)
    assert_same_model(loaded, model, rows(seed=1))
    assert loaded.score(X, numbers(X)) == model.score(X, numbers(X))


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("names", [("ape", "bee", "cat"), (7, 3), (True, False), (0.0, 2.0, 3.0)])
def test_a_classifier_comes_back_with_its_classes(name, names, tmp_path):
    X = rows()
    model = fitted(name, X, classes(X, names=names))
    loaded = trip(model, tmp_path)
    assert_same_model(loaded, model, rows(seed=1))
    assert loaded.score(X, classes(X, names=names)) == model.score(X, classes(X, names=names))


@pytest.fixture(scope="module")
def regressor():
    """Two targets, known on different rows, and a committee for each."""
    X = rows(90, 2)
    Y = np.column_stack([numbers(X, 30), 2 * X[:, 1]])
    Y[40:] = np.nan
    model = XNVRegressor(n_components=4, random_state=0).fit(X, Y)
    assert len(model.committee_) == 2
    return model


@pytest.fixture(scope="module")
def classifier():
    """Three classes and a committee."""
    X = rows(90, 2)
    model = XNVClassifier(n_components=4, random_state=0).fit(X, classes(X, 40))
    assert model.committee_
    return model


def test_a_committee_comes_back_to_the_last_bit(regressor, classifier, tmp_path):
    for model in (regressor, classifier):
        assert_same_model(trip(model, tmp_path), model, rows(50, 2, seed=1))


def test_every_kind_of_member_comes_back(tmp_path, monkeypatch):
    """With members of the smallest weight kept too, all there are sit on the committee."""
    monkeypatch.setattr("twinviews.ensemble.blending._LEAST_SHARE", 0.0)
    X = np.random.default_rng(0).uniform(-1, 1, size=(120, 2)) * [1, 3]
    names = np.where(X[:, 0] > 0.1, "yes", "no").astype(object)
    names[60:] = None
    model = XNVClassifier(n_components=4, random_state=0).fit(X, names)
    kinds = {type(member.fit).__name__ for member in model._ensembles[0].members}
    assert kinds == {"BoostedClasses", "InMetric", "OverAnchors", "Plane", "Readout"}
    assert_same_model(trip(model, tmp_path), model, X[:30])


def test_relabel_goes_on_from_a_file(regressor, classifier, tmp_path):
    more = rows(45, 2, seed=2)
    for model, y in [(regressor, more), (classifier, classes(more, 45))]:
        loaded = trip(model, tmp_path).relabel(more, y)
        expected = pickle.loads(pickle.dumps(model)).relabel(more, y)
        assert_same_model(loaded, expected, rows(50, 2, seed=1))


@pytest.mark.parametrize("sigma", [0.1, 20.0])  # the sums are of kernel columns, and of features
@pytest.mark.parametrize("name", ["XNVRegressor", "XKSClassifier"])
def test_a_whole_file_goes_on_with_more_rows(name, sigma, tmp_path):
    X, more = rows(), rows(30, seed=3)
    label = numbers if name.endswith("Regressor") else classes
    model = fitted(name, X, label(X), sigma=sigma)
    assert isinstance(model._learned.all_rows.columns, TwinFeatures) == (
        name == "XNVRegressor" and sigma == 20
    )
    loaded = trip(model, tmp_path, whole=True)
    assert_same_model(loaded, model, X, whole=True)
    assert same(loaded.transform_pair(X), model.transform_pair(X))
    other = pickle.loads(pickle.dumps(model))
    for one in (loaded, model):
        one.merge(other).partial_fit(more, label(more))
    assert same(answers(loaded, X), answers(model, X))
    assert_same_model(trip(loaded, tmp_path, whole=True), model, X, whole=True)  # rows in several parts


@pytest.mark.parametrize("method", ["partial_fit", "merge", "transform_pair"])
def test_a_small_file_says_what_it_left_out(method, tmp_path):
    X = rows()
    model = fitted("XNVRegressor", X, numbers(X))
    loaded = trip(model, tmp_path)
    with pytest.raises(ValueError, match=rf"{method} needs .* save_model\(model, path, whole=True\)"):
        getattr(loaded, method)(model if method == "merge" else X)
    with pytest.raises(ValueError, match="merge needs"):
        model.merge(loaded)
    with pytest.raises(AttributeError, match=r"views_ needs .* whole=True"):
        _ = loaded.views_
    with pytest.raises(ValueError, match="whole=True, but the file it comes from left out"):
        save_model(loaded, tmp_path / "whole", whole=True)
    assert not hasattr(loaded, "no_such_thing")
    loaded.fit(X, numbers(X))  # a new fit has it all
    assert same(loaded.transform_pair(X), model.transform_pair(X))


@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_shapes_kernels_and_scales_come_back(data, tmp_path):
    name = data.draw(st.sampled_from([*REGRESSORS, *CLASSIFIERS]))
    D, N, n = (
        data.draw(st.integers(1, 5)),
        data.draw(st.integers(12, 40)),
        data.draw(st.integers(5, 12)),
    )
    X = rows(N, D, seed=data.draw(st.integers(0, 3))).astype(data.draw(st.sampled_from(["f4", "f8"])))
    is_sparse = data.draw(st.booleans())
    kernels = ["gaussian", "laplace", "matern32"]
    if name[:3] not in ("XKS", "RFF"):
        kernels += ["linear", "polynomial", "cosine"]
    model = small(
        name,
        kernel=data.draw(st.sampled_from(kernels)),
        scale=None if is_sparse else data.draw(st.sampled_from([None, "standard", "robust", "rank"])),
        fit_intercept=data.draw(st.booleans()),
    )
    y = numbers(X, n) if name in REGRESSORS else classes(X, n)
    y[:2] = [0.0, 1.0] if name in REGRESSORS else ["ape", "bee"]
    if name in REGRESSORS and data.draw(st.booleans()):
        y = np.column_stack([y, np.where(np.arange(N) < n - 2, X[:, 0], np.nan)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # views of so few rows may agree on nothing
        model.fit(sparse.csr_array(X) if is_sparse else X, y)
    assert_same_model(trip(model, tmp_path), model, sparse.csr_array(X) if is_sparse else X)


def test_column_names_and_given_landmarks_come_back(tmp_path):
    X = pd.DataFrame(rows(), columns=["a", "b", "ünits"])
    model = XNVRegressor(landmarks=rows(6, seed=4), missing_label=np.nan, random_state=np.int64(3))
    model.fit(X, numbers(X.to_numpy()))
    loaded = trip(model, tmp_path)
    assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert_array_equal(loaded.landmarks, model.landmarks)
    assert np.isnan(loaded.missing_label)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"a": "z"}))


@pytest.fixture(scope="module")
def of_a_raw_table():
    """A model of words, dates, booleans and blanks, and its table."""
    rng = np.random.default_rng(0)
    N = 120
    table = pd.DataFrame(
        {
            "id": np.arange(N),
            "town": np.where(rng.random(N) < 0.1, None, rng.choice(["Rome", "Oslo", "Bern"], N)),
            "maker": [f"m{k}" for k in rng.geometric(0.05, N)],
            "size": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9000, N), "h"),
            "old": rng.random(N) < 0.5,
        }
    )
    y = np.where(np.arange(N) < 20, rng.normal(size=N), np.nan)
    return small("XNVRegressor").fit(table, y), table


def test_a_model_of_a_raw_table_comes_back(of_a_raw_table, tmp_path):
    model, table = of_a_raw_table
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_array_equal(again.predict(table), model.predict(table))
    assert_array_equal(again.predict_interval(table), model.predict_interval(table))
    assert again.feature_names_in_.tolist() == table.columns.tolist()
    save_model(again, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_about_comes_back(tmp_path):
    X = rows()
    model = fitted("SSSLRegressor", X, numbers(X))
    about = {"target": "price", "columns": {"a": ["x", 1, 0.5, None, True]}}
    loaded = trip(model, tmp_path, about=about)
    assert loaded.about_ == about
    assert trip(loaded, tmp_path).about_ == about
    assert trip(loaded, tmp_path, about={}).about_ == {}
    assert not hasattr(loaded.fit(X, numbers(X)), "about_")


def test_a_file_tells_what_it_is(tmp_path):
    X = rows()
    path = tmp_path / "model"
    save_model(fitted("XNVClassifier", X, classes(X), landmarks=X[:8]), path, {"target": "animal"})
    found = inspect_model(path)
    assert (found.model, found.about) == ("XNVClassifier", {"target": "animal"})
    assert (found.n_features, found.n_labeled, found.n_unlabeled) == (3, 20, 40)
    assert (found.whole, found.n_bytes) == (False, path.stat().st_size)
    assert found.parameters["landmarks"] == "array"
    assert found.parameters["n_components"] == 4


@pytest.mark.parametrize("whole", [False, True])
def test_the_same_model_gives_the_same_bytes(whole, regressor, classifier, tmp_path):
    X = rows()
    others = [fitted("XKSRegressor", X, numbers(X)), fitted("SSSLClassifier", X, classes(X))]
    for model in [regressor, classifier, *others]:
        paths = [tmp_path / name for name in ("first", "second", "loaded")]
        save_model(model, paths[0], whole=whole)
        save_model(pickle.loads(pickle.dumps(model)), paths[1], whole=whole)
        save_model(load_model(paths[0]), paths[2], whole=whole)
        assert len({path.read_bytes() for path in paths}) == 1


def test_a_file_is_small(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = np.where(np.arange(1000) < 500, X[:, 0] + X[:, 1] * X[:, 2], np.nan)
    model = XNVRegressor(n_components=200, committee=False, random_state=0).fit(X, y)
    save_model(model, tmp_path / "small")
    save_model(model, tmp_path / "whole", whole=True)
    assert (tmp_path / "small").stat().st_size < 600_000
    assert (tmp_path / "small").stat().st_size < (tmp_path / "whole").stat().st_size / 4


def test_labeled_rows_are_stored_once(regressor, tmp_path):
    """A committee's fits share the labeled rows; each adds no more than its own numbers."""
    save_model(regressor, tmp_path / "model")
    header, _ = read(tmp_path / "model")
    shapes = [tuple(table["shape"]) for table in header["arrays"]]
    n_fits = sum(node["kind"] == "InMetric" for node in header["objects"])
    assert n_fits > 10
    assert shapes.count((40, 2)) + shapes.count((30, 2)) <= 3  # of two targets, and of both


# --- pickle and skops ------------------------------------------------------------------------------


def test_pickle_and_skops_keep_working(regressor, classifier):
    X = rows(90, 2)
    for model in [regressor, classifier, fitted("KRRRegressor", X, numbers(X), kernel="polynomial")]:
        assert same(answers(pickle.loads(pickle.dumps(model)), X), answers(model, X))
        stored = skops.io.dumps(model)
        types = skops.io.get_untrusted_types(data=stored)
        assert all(name.startswith("twinviews.") or name == "functools.partial" for name in types)
        assert same(answers(skops.io.loads(stored, trusted=types), X), answers(model, X))


# --- what cannot be saved --------------------------------------------------------------------------


def own_kernel(U, V):
    return U @ V.T + 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": own_kernel}, "kernel=.* is a function of your own, .* Use a kernel by name"),
        ({"random_state": np.random.RandomState(0)}, r"set_params\(random_state=...\)"),
    ],
)
def test_a_model_that_needs_code_is_not_saved(parameters, message, tmp_path):
    X = rows()
    model = fitted("SSSLRegressor", X, numbers(X), **parameters)
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_only_fitted_models_of_ours_are_saved(tmp_path):
    X = rows()
    with pytest.raises(NotFittedError):
        save_model(XNVRegressor(), tmp_path / "model")
    with pytest.raises(ValueError, match="not an estimator of twinviews"):
        save_model(Ridge().fit(X, X[:, 0]), tmp_path / "model")


@pytest.mark.parametrize(
    "about",
    [{"a": np.int64(1)}, {"a": (1,)}, {1: "a"}, {"a": float("nan")}, ["a"], {"a": "x" * 2**22}],
)
def test_about_is_plain_and_short(about, tmp_path):
    X = rows()
    with pytest.raises(ValueError, match="about"):
        save_model(fitted("SSSLRegressor", X, numbers(X)), tmp_path / "model", about=about)


# --- a file is whole or it is not there ------------------------------------------------------------


@pytest.mark.parametrize("broken", ["os.replace", "os.fsync"])
def test_a_kill_while_saving_leaves_the_old_file(broken, tmp_path, monkeypatch):
    X = rows()
    path = tmp_path / "model"
    old, new = (fitted("SSSLRegressor", X, factor * numbers(X)) for factor in (1, 2))
    save_model(old, path)

    def fail(*arguments):
        raise OSError("the disk is full")

    monkeypatch.setattr(broken, fail)
    with pytest.raises(OSError, match="the disk is full"):
        save_model(new, path)
    monkeypatch.undo()
    assert_array_equal(load_model(path).predict(X), old.predict(X))
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The path and the bytes of a file of 2 kB."""
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    path = tmp_path_factory.mktemp("tiny") / "model"
    save_model(KRRRegressor(sigma=1.0, ridge=0.1).fit(X, [0.0, 1.0, 1.0, 0.0]), path)
    return path, path.read_bytes()


def test_another_version_says_which_and_what_to_do(tiny, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(tiny[1].replace(b"model 1\n", b"model 2\n", 1))
    with pytest.raises(ValueError, match=r"has version 2 .* reads version 1. Use the twinviews that"):
        load_model(path)


def test_what_is_not_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path(os.devnull)):
        with pytest.raises(ValueError, match="it is not a file"):
            load_model(path)
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none")


# --- files with a right checksum and wrong contents ------------------------------------------------


def read(path):
    """Header and arrays of a file, by the layout that the container's docstring gives."""
    content = Path(path).read_bytes()
    start = content.index(b"\n") + 1
    length = int.from_bytes(content[start : start + 8], "little")
    return json.loads(content[start + 8 : start + 8 + length]), content[start + 8 + length : -32]


def sealed(header, arrays):
    """The bytes of a file with any header, given as JSON text or as what it says."""
    if not isinstance(header, bytes):
        header = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    content = b"twinviews model 1\n" + len(header).to_bytes(8, "little") + header + arrays
    return content + hashlib.sha256(content).digest()


def refuse(path, content, match):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=match):
        load_model(path)


def test_the_layout_is_as_told(tiny):
    assert sealed(*read(tiny[0])) == tiny[1]


def test_only_the_canonical_header_is_read(tiny, tmp_path):
    header, arrays = read(tiny[0])
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    path = tmp_path / "model"
    for other in [
        text.replace('"whole":false', '"whole":false,"whole":false'),
        text.replace('"whole":false', '"whole":NaN'),
        text.replace(":", ": ", 1),
        json.dumps(header, separators=(",", ":"))[::-1],
        text.replace('"twinviews"', '"\\u0074winviews"'),
        text.replace('"sigma":1.0', '"sigma":1.00'),
        text.replace('"sigma":1.0', '"sigma":1e999'),
        text.replace('"about":{}', '"about":' + "[" * 100_000 + "]" * 100_000),
        "[]",
        "",
        "\xff",
    ]:
        assert other != text
        refuse(path, sealed(other.encode("latin1"), arrays), "header")


def test_sizes_are_checked_before_memory_is_taken(tiny, tmp_path):
    header, arrays = read(tiny[0])
    path = tmp_path / "model"
    huge = [[2**40], [2**31, 2**31, 2**31], [-1], [0, 2**31, 2**31], [1.0], [True], [1] * 40]
    tracemalloc.start()
    for shape in huge:
        header["arrays"][0]["shape"] = shape
        refuse(path, sealed(header, arrays), "array")
    content = bytearray(tiny[1][:-32])
    content[18:26] = (2**63).to_bytes(8, "little")
    refuse(path, bytes(content) + hashlib.sha256(content).digest(), "header claims")
    refuse(path, b"twinviews model 1" + b" " * 100, "does not begin")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000
    with path.open("wb") as file:
        file.truncate(2**31 + 1)  # a hole: no disk is used
    with pytest.raises(ValueError, match="is the most"):
        load_model(path)


def test_naming_one_thing_many_times_does_not_make_it_many(regressor, tmp_path):
    """A few bytes for each name could otherwise ask for any amount of memory or time."""
    path = tmp_path / "model"
    save_model(regressor, path)
    header, arrays = read(path)
    fit = next(node for node in header["objects"] if node["kind"] == "InMetric")
    many = {**header, "objects": header["objects"] + [fit] * 50_000}
    refuse(path, sealed(many, arrays), "to read it would take more than")
    committee = next(node for node in header["objects"] if node["kind"] == "RegressionEnsemble")
    committee["members"] *= 50_000
    refuse(path, sealed(header, arrays), "to read it would take more than")


def test_a_sparse_matrix_may_not_claim_any_width(tmp_path):
    X = rows(20, 2)
    path = tmp_path / "model"
    save_model(fitted("KRRRegressor", sparse.csr_array(X), numbers(X)), path)
    header, arrays = read(path)
    text = json.dumps(header).replace('"shape": [20, 2]', f'"shape": [20, {10**9}]')
    forged = json.loads(text.replace('"n_features_in_": 2', f'"n_features_in_": {10**9}'))
    assert forged != header
    refuse(path, sealed(forged, arrays), "to read it would take more than")


def change(name, /, **fields):
    """A forger's change of the first object of a kind."""

    def apply(header):
        next(node for node in header["objects"] if node["kind"] == name).update(fields)

    return apply


def change_model(part, **fields):
    return lambda header: header["model"][part].update(fields)


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (change("Scaling", clip=-3.0), "Scaling.clip: -3.0 is not a number"),
        (change("DistanceColumns", sigma=0.0), "DistanceColumns.sigma: 0.0 is not a number"),
        (change("DistanceColumns", profile="own"), "'own' is not a kernel"),
        (change("RegressionEnsemble", bounds=[1.0, 0.0]), "bounds"),
        (change("RegressionEnsemble", members=[]), "not a list of at least 1"),
        (change("Member", scale="../../etc"), "scale '../../etc', which there is not"),
        (change("Member", extra=1), "Member has the field 'extra', which .* does not know"),
        (change("Member", fit=10_000), "no object 10000"),
        (change("Member", weight=1), "Member.weight: 1 is not a number"),
        (change("InMetric", metric=0), "does not belong"),
        (
            change("InMetric", kind="os.system"),
            "an object of the kind 'os.system', which .* does not know",
        ),
        (change_model("state", n_features_in_=3), "size F is 3 in one place and 2 in another"),
        (change_model("state", _one_column=True), "one column of labels does not go with 2 targets"),
        (change_model("state", feature_names_in_=["a"]), "size F is 2 in one place and 1 in another"),
        (change_model("parameters", sigma="own"), "sigma='own' must be a finite number"),
        (change_model("parameters", n_threads=10**6), "n_threads=1000000"),
        (change_model("parameters", random_state="now"), "random_state='now' is not a seed"),
        (change_model("parameters", kernel={"code": "os"}), "not a plain value"),
        (
            lambda header: header["model"].update({"class": "Popen"}),
            "class 'Popen', which .* does not know",
        ),
        (lambda header: header["model"]["state"].pop("_seed"), "lacks the field '_seed'"),
        (lambda header: header["objects"].append(header["objects"][0]), "belongs to nothing"),
        (lambda header: header["arrays"][0].update(dtype="|O"), "dtype '|O'"),
        (lambda header: header.update(about=[]), "about"),
    ],
)
def test_each_field_is_checked(forge, message, regressor, tmp_path):
    path = tmp_path / "model"
    save_model(regressor, path)
    header, arrays = read(path)
    forge(header)
    refuse(path, sealed(header, arrays), message)


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda features: replace(features, W1=2 * features.W1), "of other features"),
        (lambda features: replace(features, W2=features.W2[:, 1:]), "size c is"),
        (lambda features: replace(features, W2=features.W2[1:]), "are not those of both views"),
    ],
)
def test_sums_are_of_the_views_that_are_there(forge, message, tmp_path):
    model = fitted("XNVRegressor", X := rows(), numbers(X), sigma=20.0)
    all_rows = model._learned.all_rows
    forged = replace(all_rows, columns=forge(all_rows.columns))
    model._learned = replace(model._learned, all_rows=forged)
    with pytest.raises(ValueError, match=message):
        save_model(model, tmp_path / "model", whole=True)


def test_offsets_are_of_the_classes_there_are_or_none_as_in_older_files(tmp_path, monkeypatch):
    linear = lambda context: [MemberSpec("standard", LinearRidge())]  # noqa: E731
    monkeypatch.setitem(builtin_members._FACTORIES, "built-in", linear)
    X = rows(90)
    model = XNVClassifier(random_state=0).fit(X, classes(X))
    (ensemble,) = model._ensembles
    offsets = ensemble.blend.offsets
    assert offsets.shape == (len(ensemble.members), len(model.classes_))
    for some in (offsets[:, 1:], None):
        forged = replace(ensemble, blend=ensemble.blend._replace(offsets=some))
        model._ensembles = [forged]
        if some is not None:
            with pytest.raises(ValueError, match=r"offsets of \d classes are not of \d"):
                save_model(model, tmp_path / "model")
    save_model(model, tmp_path / "model")
    assert_array_equal(load_model(tmp_path / "model").predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", ["KRRRegressor", "LapRLSClassifier"])
def test_labeled_rows_are_those_of_the_kernel(name, tmp_path):
    X = rows()
    model = fitted(name, X, numbers(X) if name.endswith("Regressor") else classes(X))
    save_model(model, tmp_path / "model")
    problem = model._solution.problems[0]
    problem = problem._replace(distinct=np.tile(problem.distinct, (9, 1)))
    model._solution = replace(model._solution, problems=(problem,))
    with pytest.raises(ValueError, match="180 labeled rows, and a kernel of fewer"):
        save_model(model, tmp_path / "model")


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (change("NumberCode", name="town"), "not told apart by their names"),
        (change("LevelCode", levels=[]), "size D|do not become"),
        (change("LevelCode", levels=["Bern", "Bern"]), "not told apart"),
        (change("LevelCode", levels=["Bern", "Paris"]), "never counted"),
        (change("NumberCode", name="\ud800"), "is not Unicode"),
        (change("DateCode", of_day="yes"), "neither true nor false"),
        (change("NumberCode", mean=None), "is not a number"),
        (change("LeftOut", why=3), "not text"),
        (change_model("state", _encoder=None), "belongs to nothing"),
        (change_model("state", n_features_in_=9), "size F is"),
    ],
)
def test_codes_of_columns_are_checked(forge, message, of_a_raw_table, tmp_path):
    path = tmp_path / "model"
    save_model(of_a_raw_table[0], path)
    header, arrays = read(path)
    forge(header)
    refuse(path, sealed(header, arrays), message)


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e300])
def test_every_number_is_finite(number, tiny, tmp_path):
    header, arrays = read(tiny[0])
    starts = np.cumsum([0] + [8 * int(np.prod(table["shape"])) for table in header["arrays"]])
    for start, table in zip(starts, header["arrays"], strict=False):
        if table["dtype"] == "<f8":
            forged = arrays[:start] + np.float64(number).tobytes() + arrays[start + 8 :]
            refuse(tmp_path / "model", sealed(header, forged), "not a number up to|only one end")


@pytest.mark.parametrize(
    "classes_",
    [
        {"dtype": "<i8", "shape": [3], "values": ["ape", "bee", "cat"]},
        {"dtype": "|i1", "shape": [3], "values": [1, 2, 1000]},
        {"dtype": "|O", "shape": [3], "values": ["ape", None, "cat"]},
        {"dtype": "|O", "shape": [3], "values": ["ape", ["bee"], "cat"]},
        {"dtype": "<U2", "shape": [3], "values": ["ape", "bee", "cat"]},
        {"dtype": "<f8", "shape": [3], "values": [1.0, 2.0, 1e300]},
        {"dtype": "<U999999", "shape": [3], "values": ["ape", "bee", "cat"]},
        {"dtype": "|O", "shape": [2], "values": ["ape", "bee", "cat"]},
        {"dtype": "|O", "shape": [4], "values": ["ape", "bee", "cat", "dog"]},
    ],
)
def test_classes_are_checked(classes_, tmp_path):
    X = rows()
    path = tmp_path / "model"
    save_model(fitted("SSSLClassifier", X, classes(X)), path)
    header, arrays = read(path)
    header["model"]["state"]["classes_"] = classes_
    refuse(path, sealed(header, arrays), "label|classes")


def test_arrays_in_each_others_place_are_refused_or_harmless(tmp_path):
    """Where shapes do not tell, it is the file of another model, which predicts numbers."""
    X = rows(20, 2)
    path = tmp_path / "model"
    save_model(fitted("XNVRegressor", X, numbers(X, 8)), path)
    header, arrays = read(path)
    tables = header["arrays"]
    outcomes = []
    for one, two in itertools.combinations(range(len(tables)), 2):
        swapped = list(tables)
        swapped[one], swapped[two] = tables[two], tables[one]
        if swapped != tables:
            path.write_bytes(sealed({**header, "arrays": swapped}, arrays))
            outcomes.append(outcome(path, X))
    assert outcomes.count("refused") > 0.9 * len(outcomes)


def outcome(path, X):
    """What becomes of a file: refused by a ValueError, or loaded, and then it predicts numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers near the limits overflow, as they may
        try:
            model = load_model(path)
        except ValueError:
            return "refused"
        predict = model.predict_proba if hasattr(model, "classes_") else model.predict
        assert np.isfinite(predict(X)).all()
        return "loaded"
