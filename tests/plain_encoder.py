"""The least that a report needs of an encoder: numbers stay, words become one column for each level."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True)
class PlainColumn:
    name: str
    kind: str
    words: str
    outputs: tuple


class PlainEncoder:
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
