"""A table with the labels of its label file, for a fit: each label, and how its row was chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from twinviews.labeling.entries import LabelTarget
from twinviews.labeling.label_files import how_of_rows, labeled_batches, schema_with_labels
from twinviews.labeling.label_rounds import probability_of_rows
from twinviews.labeling.label_store import LabelStore
from twinviews.labeling.store_format import TableIdentity
from twinviews.labeling.table_copy import TableCopy
from twinviews.reading import Reading
from twinviews.reading.copies import typed_copy

_WORDS = {
    "random": "drawn at random",
    "designed": "drawn for an answer about all rows",
    "suggested": "suggested",
    "chosen": "chosen by a person",
    "imported": "imported",
    "given": "of the table itself",
}


@dataclass(frozen=True)
class TableWithLabels:
    """A table whose target has all labels, and a column with the probability of each."""

    reading: Reading
    target: LabelTarget
    probability: str  # name of the column; of rows without a label, what they would have had
    how: Counter[str]  # how many labels came about in which way

    def words(self) -> str:
        """How labels came about, for a person."""
        found = [f"{self.how[one]:,} {words}" for one, words in _WORDS.items() if self.how[one]]
        return f"{self.target.name}: {self.how.total():,} labels; {', '.join(found) or 'none'}"


def with_labels(reading: Reading, path: Path, target: str) -> TableWithLabels:
    """The table with the labels of a label file, which stay where they are.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not a label file, of another table, or has no such target.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}. Check the path")
    with TableCopy(reading) as table:
        identity = TableIdentity(reading.source, table.n_rows, tuple(table.schema.names))
        with LabelStore(path, identity) as store:
            wanted = store.target(target)
            store.check_unchanged(table)
            how = how_of_rows(store, table, wanted)
            schema = schema_with_labels(table, [wanted])
            probability = _new_name("label_probability", schema.names)
            p = probability_of_rows(np.arange(table.n_rows), how, table.n_rows, store.rounds(target))
            labeled = labeled_batches(store, table, [wanted], schema)
            batches = _with_probabilities(labeled, p, probability)
            dataset = typed_copy(batches, schema.append(pa.field(probability, pa.float64())))
    with_all = replace(reading, dataset=dataset, n_rows=identity.n_rows)
    return TableWithLabels(with_all, wanted, probability, Counter(how.values()))


def _new_name(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _with_probabilities(
    batches: Iterator[pa.RecordBatch], known: np.ndarray, name: str
) -> Iterator[pa.RecordBatch]:
    start = 0
    for batch in batches:
        end = start + batch.num_rows
        yield batch.append_column(name, pa.array(known[start:end]))
        start = end
