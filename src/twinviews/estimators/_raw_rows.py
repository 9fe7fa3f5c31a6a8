"""Data frames with more in them than numbers, on their way into an estimator and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from twinviews.tables.open import missing_engine

if TYPE_CHECKING:
    from twinviews.encoding.encoder import Encoder


def learn_encoder(X: Any, X_unlabeled: Any, sample_weight: Any) -> Encoder | None:
    """How the columns of data frames become numbers; None if they are numbers, all of them."""
    parts = [X] if X_unlabeled is None else [X, X_unlabeled]
    if not all(map(is_frame, parts)) or all(map(_is_plain_pandas, parts)):
        return None
    frames = [as_arrow(part) for part in parts]
    from twinviews.encoding.frames import encoder_of_frames, is_plain_frame

    if all(map(is_plain_frame, frames)):
        return None
    weight = None
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return encoder_of_frames(frames, weight)


def encode(encoder: Encoder, X: Any) -> np.ndarray:
    """(rows, D) numbers of a data frame."""
    if not is_frame(X):
        raise ValueError(
            f"This model was fitted on a table with named columns, not all of them numbers, and needs "
            f"such a table here; this is a {type(X).__name__}. The columns are "
            f"{', '.join(encoder.names)}."
        )
    return encoder(as_arrow(X))


def column_names(X: Any) -> np.ndarray | None:
    """As scikit-learn has them: None unless all are strings."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    return np.array(names, dtype=object) if all(isinstance(name, str) for name in names) else None


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "__arrow_c_stream__") or hasattr(X, "dtypes"))


def _is_plain_pandas(X: Any) -> bool:
    """Whether a pandas frame holds numbers only, seen without a copy in another library."""
    if type(X).__module__.partition(".")[0] != "pandas":
        return False
    kinds = [getattr(dtype, "kind", "O") for dtype in X.dtypes]
    return all(kind in "fiub" for kind in kinds) and not X.isna().to_numpy().any()


def as_arrow(X: Any) -> Any:
    try:
        from twinviews.encoding import frames
    except ImportError as error:
        raise missing_engine("pyarrow") from error
    return frames.as_arrow(X)
