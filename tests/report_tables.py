"""Small tables to report on, estimators that are quick, and the least of an encoder."""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from twinviews import XNVClassifier, XNVRegressor

HOSTILE = [
    "<script>window.hit = 1</script>",
    '"><img src=x onerror="window.hit = 1">',
    "'; window.hit = 1; //",
    "{{ 7 * 7 }}{% raw %}",
    "two\nlines\u202egnp.exe",
    "</style><svg onload=window.hit=1>",
]


def regressor():
    return XNVRegressor(n_components=20, committee=False, scale="standard", random_state=0)


def classifier():
    return XNVClassifier(n_components=20, committee=False, scale="standard", random_state=0)


def numbers_table(n=80, N=300, seed=0):
    """The target depends on ``strong`` and ``group``, and not on ``noise`` or ``day``."""
    rng = np.random.default_rng(seed)
    strong, noise = rng.normal(size=(2, N))
    group = rng.choice(["a", "b"], N)
    y = np.where(np.arange(N) < n, 100 + 20 * strong + 20 * (group == "b"), np.nan)
    y += rng.normal(size=N)
    day = [date(2024, 1, 1) + timedelta(days=int(ahead)) for ahead in rng.integers(0, 5, N)]
    columns = {"noise": noise, "strong": strong, "group": group, "day": day}
    return pa.table({**columns, "y": pa.array(y, from_pandas=True)})


def classes_table(n=80, N=300, seed=0):
    table = numbers_table(N, N, seed)
    y = table["y"].to_numpy()
    names = np.digitize(y, np.quantile(y, [0.4, 0.8]))
    labels = np.array(["low", "middle", "high"], dtype=object)[names]
    labels[n:] = None
    return table.set_column(table.num_columns - 1, "y", pa.array(labels))


def hostile_table():
    """Every name and every word of the table is an attack; the numbers are harmless."""
    table = classes_table()
    words_of = {
        "a": HOSTILE[0],
        "b": HOSTILE[1],
        "low": HOSTILE[4],
        "middle": HOSTILE[5],
        "high": "<b>x",
    }
    columns = {
        HOSTILE[2]: table["noise"],
        HOSTILE[3]: table["strong"],
        HOSTILE[4]: pa.array([words_of[level] for level in table["group"].to_pylist()]),
        HOSTILE[0]: pa.array([words_of.get(label) for label in table["y"].to_pylist()]),
    }
    return pa.table(columns)


@dataclass(frozen=True)
class PlainColumn:
    name: str
    kind: str
    words: str
    outputs: tuple


class PlainEncoder:
    """Numbers stay as they are, all else becomes a column of 0 and 1 for each level."""

    def fit(self, table):
        self.columns_, self._levels = [], {}
        for name in table.column_names:
            column = table.column(name)
            if _is_number(column.type):
                self.columns_.append(PlainColumn(name, "number", "taken as it is", (name,)))
            else:
                levels = self._levels[name] = sorted(set(column.to_pylist()), key=str)
                outputs = tuple(f"{name}={level}" for level in levels)
                words = f"a column of 0 and 1 for each of {len(levels)} levels"
                self.columns_.append(PlainColumn(name, "category", words, outputs))
        return self

    def get_feature_names_out(self):
        return np.array([output for column in self.columns_ for output in column.outputs], dtype=object)

    def transform(self, table):
        parts = []
        for column in self.columns_:
            values = table.column(column.name)
            if column.kind == "number":
                parts.append(np.asarray(values.cast(pa.float64()).to_numpy())[:, None])
            else:
                levels = self._levels[column.name]
                parts.append(
                    np.array([[value == level for level in levels] for value in values.to_pylist()])
                )
        return np.hstack(parts).astype(float)


def _is_number(kind):
    return pa.types.is_integer(kind) or pa.types.is_floating(kind)
