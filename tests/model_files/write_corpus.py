"""Small model files of every kind, and what the version that writes them predicts.

    python tests/model_files/write_corpus.py

writes the folder ``tests/model_files/corpus/VERSION`` for the installed version of twinviews. Run it
once for each release: ``test_old_files.py`` then loads these files in every later version. Only public
names are used, so that the same program runs under old and new versions.

``answers.json`` holds the tables to predict, once each, and for every file the name of its table,
labels of its rows for ``relabel``, and what was predicted.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

import twinviews

CORPUS = Path(__file__).parent / "corpus"
N_TRAIN, N_LABELED, N_TEST = 40, 15, 24
# Ordered classes and counts, whose labels are of a kind of their own.
ORDERED, COUNTED = "XNVOrdinalClassifier", "XNVCountRegressor"
ESTIMATORS = [
    name
    for name in twinviews.__all__
    if name.endswith(("Regressor", "Classifier")) and name not in (ORDERED, COUNTED)
]
KERNELS = ["gaussian", "laplace", "matern32", "matern52", "linear", "polynomial", "cosine"]
SCALES = {"none": None, "standard": "standard", "robust": "robust", "rank": "rank", "auto": "auto"}
COVERAGE = 0.8


class Case(NamedTuple):
    name: str
    model: Any  # fitted
    table: str  # name of the table to predict
    labels: np.ndarray  # of its rows
    whole: bool = False


def numbers(X: np.ndarray) -> np.ndarray:
    return np.sin(X[:, 0]) + 0.3 * X[:, 1]


def classes(X: np.ndarray, names: tuple[Any, ...]) -> np.ndarray:
    return np.array(names, object)[np.digitize(X[:, 0], [-0.4, 0.4][: len(names) - 1])]


def few(labels: np.ndarray, n: int = N_LABELED) -> np.ndarray:
    """The labels, missing after the first n rows."""
    missing = np.nan if labels.dtype.kind == "f" else None
    labels = labels.copy()
    labels[n:] = missing
    return labels


def messy(X: np.ndarray, seed: int) -> pd.DataFrame:
    """A table of words, dates, booleans and blanks."""
    rng = np.random.default_rng(seed)
    N = len(X)
    hours = pd.to_timedelta(rng.integers(0, 9000, N), "h")
    return pd.DataFrame(
        {
            "id": np.arange(N),
            "town": np.where(rng.random(N) < 0.1, None, rng.choice(["Rome", "Oslo", "Bern"], N)),
            "maker": [f"m{k}" for k in rng.geometric(0.05, N)],
            "size": np.where(rng.random(N) < 0.1, np.nan, X[:, 0]),
            "when": pd.Timestamp("2024-01-01") + hours,
            "old": X[:, 1] > 0,
        }
    )


def tables() -> dict[str, tuple[Any, Any]]:
    """Rows to fit and rows to predict, by name."""
    rng = np.random.default_rng(0)
    X, test = rng.normal(size=(N_TRAIN, 3)), rng.normal(size=(N_TEST, 3))
    X[0, 0], X[1, 0], X[2, 0] = -1.0, 0.0, 1.0  # every class is among the labels
    return {
        "dense": (X, test),
        "float32": (X.astype("f4"), test.astype("f4")),
        "sparse": (sparse.csr_array(X * (np.abs(X) > 0.3)), sparse.csr_array(test)),
        "sparse columns": (sparse.csc_matrix(X * (np.abs(X) > 0.3)), sparse.csc_matrix(test)),
        "messy": (messy(X, 1), messy(test, 2)),
    }


def small(name: str, **parameters: Any) -> Any:
    estimator = getattr(twinviews, name)()
    own = {"n_components": 4, "committee": False, "random_state": 0, "progress": False}
    known = {key: value for key, value in own.items() if key in estimator.get_params()}
    return estimator.set_params(**{**known, **parameters})


def cases() -> Iterator[Case]:
    rows = tables()
    X, test = rows["dense"]
    y, y_test = few(numbers(X)), numbers(test)
    words = ("ape", "bee", "cat")
    c, c_test = few(classes(X, words)), classes(test, words)
    for name in ESTIMATORS:
        label, expected = (y, y_test) if name.endswith("Regressor") else (c, c_test)
        for table in ("dense", "messy", "sparse"):
            if table == "messy" and name.startswith(("Exact", "Lap")):
                continue  # their files are large, and encoders do not differ between estimators
            scale = {"scale": None} if table == "sparse" else {}
            model = small(name, **scale).fit(rows[table][0], label)
            yield Case(f"{name}-{table}", model, table, expected)
        if name[:3] in ("XNV", "XKS"):
            model = small(name).fit(X, label)
            yield Case(f"{name}-whole", model, "dense", expected, whole=True)
    ranks, counts = np.digitize(numbers(X), [-0.5, 0.5]), np.round(np.exp(2 * numbers(X)))
    yield Case(f"{ORDERED}-dense", small(ORDERED, classes=[0, 1, 2, 3]).fit(X, ranks), "dense", c_test)
    yield Case(f"{COUNTED}-dense", small(COUNTED).fit(X, few(counts)), "dense", np.abs(y_test))
    both, both_test = np.column_stack([y, few(X[:, 1] ** 2, 20)]), np.column_stack([y_test, test[:, 1]])
    for name in [name for name in ESTIMATORS if name.endswith("Regressor")]:
        yield Case(f"{name}-two-targets", small(name).fit(X, both), "dense", both_test)
        model = small(name).fit(rows["float32"][0], y)
        yield Case(f"{name}-float32", model, "float32", y_test)
    for names in [(7, 3, 5), (True, False), ("no", "yes"), (0.0, 2.0)]:
        label, expected = few(classes(X, names)), classes(test, names)
        kind = type(names[0]).__name__
        for name in ("XNVClassifier", "KRRClassifier"):
            yield Case(f"{name}-{kind}", small(name).fit(X, label), "dense", expected)
    model = small("SSSLClassifier").fit(X, classes(X, (7, 3, 5)).astype(np.int32))
    yield Case("SSSLClassifier-int32", model, "dense", classes(test, (7, 3, 5)).astype(np.int32))
    for kernel in KERNELS:
        for name in ("XNVRegressor", "KRRClassifier"):
            label, expected = (y, y_test) if name.endswith("Regressor") else (c, c_test)
            model = small(name, kernel=kernel, degree=2).fit(X, label)
            yield Case(f"{name}-{kernel}", model, "dense", expected)
    for kernel in ("laplace", "matern32", "matern52"):
        model = small("XKSRegressor", kernel=kernel).fit(X, y)
        yield Case(f"XKSRegressor-{kernel}", model, "dense", y_test)
    for scale, value in SCALES.items():
        model = small("XNVRegressor", scale=value).fit(X, y)
        yield Case(f"XNVRegressor-scale-{scale}", model, "dense", y_test)
    for kernel in ("gaussian", "cosine"):
        model = small("SSSLRegressor", kernel=kernel).fit(rows["sparse columns"][0], y)
        yield Case(f"SSSLRegressor-sparse-columns-{kernel}", model, "sparse columns", y_test)
    yield from special_cases(X, y, test, y_test)
    yield from ensemble_cases()


def special_cases(X: np.ndarray, y: np.ndarray, test: np.ndarray, y_test: np.ndarray) -> Iterator[Case]:
    """Landmarks and parameters of one's own, names of columns, sums of features, rows in parts."""
    model = small("XNVRegressor", landmarks=X[:8]).fit(X, y)
    yield Case("XNVRegressor-landmarks", model, "dense", y_test)
    model = small("XNVRegressor", landmarks=X[:8]).fit(X, y)
    yield Case("XNVRegressor-landmarks-whole", model, "dense", y_test, whole=True)
    model = small(
        "XNVRegressor",
        cca="randomized",
        ridge=0.01,
        sigma=2.0,
        correlation_ridge=0.1,
        fit_intercept=False,
        missing_label=np.nan,
        n_threads=1,
    )
    yield Case("XNVRegressor-parameters", model.fit(X, y), "dense", y_test)
    model = small("XNVRegressor", sigma=20.0).fit(X, y)
    yield Case("XNVRegressor-features-whole", model, "dense", y_test, whole=True)
    half = N_TRAIN // 2
    model = small("XKSRegressor", sigma=1.0).fit(X[:half], y[:half]).partial_fit(X[half:], y[half:])
    yield Case("XKSRegressor-parts-whole", model, "dense", y_test, whole=True)
    labels = np.where(X[:, 0] > 0, "up", "down").astype(object)
    model = small("XKSClassifier", sigma=1.0).fit(X[:half], labels[:half])
    model.partial_fit(X[half:], labels[half:])
    labels = np.where(test[:, 0] > 0, "up", "down").astype(object)
    yield Case("XKSClassifier-parts-whole", model, "dense", labels, whole=True)


def ensemble_cases() -> Iterator[Case]:
    """Models with a committee, which takes 30 labels."""
    rng = np.random.default_rng(1)
    rows = tables()
    X = np.vstack([rows["dense"][0], rng.normal(size=(20, 3))])
    test = rows["dense"][1]
    y, y_test = few(numbers(X), 30), numbers(test)
    model = small("XNVRegressor", committee="auto").fit(X, y)
    yield Case("XNVRegressor-committee", model, "dense", y_test)
    yield Case("XNVRegressor-committee-whole", model, "dense", y_test, whole=True)
    for names in [("ape", "bee", "cat"), (True, False)]:
        model = small("XNVClassifier", committee="auto").fit(X, few(classes(X, names), 30))
        yield Case(f"XNVClassifier-committee-{len(names)}", model, "dense", classes(test, names))
    model = small("XNVRegressor", committee="auto").fit(messy(X, 1), y)
    yield Case("XNVRegressor-committee-messy", model, "messy", y_test)


def plain_table(rows: Any) -> dict[str, Any]:
    """A table as JSON."""
    if isinstance(rows, pd.DataFrame):
        dates = [name for name in rows if rows[name].dtype.kind == "M"]
        columns = {
            name: [None if pd.isna(value) else value for value in column.tolist()]
            for name, column in rows.assign(**{name: rows[name].astype(str) for name in dates}).items()
        }
        return {"form": "frame", "columns": columns, "dates": dates}
    form = "dense" if isinstance(rows, np.ndarray) else rows.format
    values = rows if form == "dense" else rows.toarray()
    return {"form": form, "dtype": rows.dtype.str, "values": values.tolist()}


def answers(model: Any, rows: Any) -> dict[str, Any]:
    if hasattr(model, "classes_"):
        return {
            "predict": model.predict(rows).tolist(),
            "predict_proba": model.predict_proba(rows).tolist(),
        }
    return {
        "predict": model.predict(rows).tolist(),
        "predict_interval": model.predict_interval(rows, COVERAGE).tolist(),
    }


def main() -> None:
    folder = CORPUS / version("twinviews")
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # so few rows
    found: dict[str, Any] = {"coverage": COVERAGE, "tables": {}, "files": {}}
    rows = {name: test for name, (_, test) in tables().items()}
    found["tables"] = {name: plain_table(test) for name, test in rows.items()}
    for case in cases():
        path = folder / f"{case.name}.twinviews"
        twinviews.save_model(case.model, path, about={"case": case.name}, whole=case.whole)
        found["files"][case.name] = {
            "table": case.table,
            "labels": case.labels.tolist(),
            "dtype": case.labels.dtype.str,
            **answers(case.model, rows[case.table]),
        }
    (folder / "answers.json").write_text(json.dumps(found, indent=None, separators=(",", ":")) + "\n")
    n_bytes = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{len(found['files'])} files, {n_bytes:,} bytes: {folder}")  # noqa: T201


if __name__ == "__main__":
    main()
