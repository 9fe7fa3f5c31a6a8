"""Tables as people have them: the same numbers in every form, and numbers of every size."""

import pickle
import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from scipy import sparse

import twinviews

# Ordered classes and counts have labels of their own.
_OWN_LABELS = ("XNVOrdinalClassifier", "XNVCountRegressor")
ESTIMATORS = [
    name
    for name in twinviews.__all__
    if name.endswith(("Regressor", "Classifier")) and name not in _OWN_LABELS
]
GIVEN = {"sigma": 2.0, "ridge": 0.01, "correlation_ridge": 1e-3, "n_eigenfunctions": 4}


def small(name, **parameters):
    """An estimator that takes milliseconds; parameters that it does not have are left out."""
    model = getattr(twinviews, name)()
    wanted = {"n_components": 6, "committee": False, "random_state": 0, "n_neighbors": 3, **parameters}
    own = model.get_params()
    return model.set_params(**{key: value for key, value in wanted.items() if key in own})


def numbers_for(X, seed):
    """A label for about two thirds of the rows, NaN for the others."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=len(X)).round(3)
    y[rng.random(len(X)) < 0.3] = np.nan
    return y


def labels_for(name, y):
    """The same as classes, for a classifier."""
    if name.endswith("Regressor"):
        return y
    return np.where(np.isnan(y), None, np.where(y > np.nanmedian(y), "high", "low").astype(object))


@st.composite
def tables(draw, elements=None, most_columns=4):
    """(rows, columns) of numbers that every type of float holds exactly, no two rows alike.

    Or of the ``elements`` given, alike or not.
    """
    n_rows, n_columns = draw(st.integers(12, 24)), draw(st.integers(1, most_columns))
    if elements is None:
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        X = rng.integers(-40, 41, size=(n_rows, n_columns)) / 8
        X[:, 0] = rng.permutation(np.arange(-40, 41))[:n_rows] / 8
    else:
        values = draw(st.lists(elements, min_size=n_rows * n_columns, max_size=n_rows * n_columns))
        X = np.array(values, dtype=np.float64).reshape(n_rows, n_columns)
    return X


# --- the same numbers in another form -----------------------------------------------------------------


def strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), 1e9)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def memory_mapped(X):
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, X)
        file.flush()
        return np.load(file.name, mmap_mode="r")


def with_explicit_zeros(X):
    columns = np.tile(np.arange(X.shape[1]), len(X))
    return sparse.csr_array((X.ravel(), columns, np.arange(0, X.size + 1, X.shape[1])), X.shape)


def unsorted(X):
    found = with_explicit_zeros(X[:, ::-1])
    found.indices = (X.shape[1] - 1 - found.indices).astype(found.indices.dtype)
    return found


def in_halves(X):
    """Every entry is there twice, and the two add up to it."""
    rows, columns = np.indices(X.shape)
    halves = np.concatenate([X.ravel() / 2, X.ravel() / 2])
    places = (np.tile(rows.ravel(), 2), np.tile(columns.ravel(), 2))
    return sparse.coo_array((halves, places), shape=X.shape)


def long_indices(X):
    found = sparse.csr_array(X)
    found.indices, found.indptr = found.indices.astype(np.int64), found.indptr.astype(np.int64)
    return found


def names_of(X):
    return [f"column {j}" for j in range(X.shape[1])]


def pandas_frame(X):
    return pd.DataFrame(X, columns=names_of(X))


def partly_sparse(X):
    frame = pandas_frame(X)
    frame["column 0"] = pd.arrays.SparseArray(X[:, 0])
    return frame


def arrow_table(X):
    return pa.table(dict(zip(names_of(X), X.T, strict=True)))


DENSE_FORMS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "memory-mapped": memory_mapped,
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "objects": lambda X: X.astype(object),
    "words of numbers": lambda X: X.astype(str),
    "lists": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X.tolist())),
    "masked by nothing": np.ma.masked_array,
    "pandas": pandas_frame,
    "pandas, nullable": lambda X: pandas_frame(X).astype("Float64"),
    "pandas, Arrow": lambda X: pandas_frame(X).astype("float64[pyarrow]"),
    "pandas, objects": lambda X: pandas_frame(X).astype(object),
    "pandas, partly sparse": partly_sparse,
    "pandas, numbered columns": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=names_of(X)),
    "polars, float32": lambda X: pl.DataFrame(X.astype(np.float32), schema=names_of(X)),
    "Arrow": arrow_table,
    "Arrow, in chunks": lambda X: pa.concat_tables([arrow_table(X[:5]), arrow_table(X[5:])]),
}
WHOLE_FORMS = {
    kind: lambda X, kind=kind: X.astype(kind)
    for kind in ("int8", "int16", "int32", "int64", ">i4", "float16", "object")
}
UNSIGNED_FORMS = {
    kind: lambda X, kind=kind: abs(X).astype(kind) for kind in ("uint8", "uint16", "uint32", "uint64")
}
# Rounding takes another way here.
LOOSE_FORMS = {
    "float32": lambda X: X.astype(np.float32),
    **{
        f"{form} {kind.__name__.split('_')[1]}": lambda X, form=form, kind=kind: kind(X).asformat(form)
        for form in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
        for kind in (sparse.csr_array, sparse.csr_matrix)
    },
    "csr with zeros": with_explicit_zeros,
    "csr unsorted": unsorted,
    "coo in halves": in_halves,
    "csr, long indices": long_indices,
    "csr, float32": lambda X: sparse.csr_array(X.astype(np.float32)),
    "pandas, sparse": lambda X: pandas_frame(X).astype(pd.SparseDtype(np.float64, 0.0)),
}


def bits(value):
    """All that a caller can see of an input, to compare before and after."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.tobytes(), value.dtype, value.strides, value.flags.writeable
    if sparse.issparse(value):
        if value.format in ("lil", "dok", "dia"):
            return value.toarray().tobytes()
        parts = value.coords if value.format == "coo" else (value.indices, value.indptr)
        return value.data.tobytes(), *(part.tobytes() for part in parts)
    # Frames by what they hold: their own pickles hold caches, too, and of polars no objects.
    if isinstance(value, (pd.DataFrame, pl.DataFrame, pl.LazyFrame)):
        frame = value.lazy().collect() if isinstance(value, pl.LazyFrame) else value
        value = [
            bits(frame.iloc[:, j] if isinstance(frame, pd.DataFrame) else frame[:, j])
            for j in range(frame.shape[1])
        ]
    elif isinstance(value, (pd.Series, pl.Series)):
        index = value.index.tolist() if isinstance(value, pd.Series) else None
        value = (str(value.dtype), value.name, index, value.to_list())
    return pickle.dumps(value)


# --- numbers of every size ----------------------------------------------------------------------------

ORDINARY = st.integers(-40, 40).map(lambda n: n / 8)
EXPONENTS = (-310, -300, -200, -160, -151, -150, -100, -20, 15, 20, 38, 100, 150, 151, 160, 200, 300)
EXTREME = st.sampled_from(
    sorted({0.0, -0.0, *(sign * 10.0**n for n in EXPONENTS for sign in (-1, 1)), 5e-324, 1.7e308})
)
NOT_FINITE = st.sampled_from([np.nan, np.inf, -np.inf])
