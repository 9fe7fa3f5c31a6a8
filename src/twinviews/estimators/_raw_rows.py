"""Data frames with more in them than numbers, on their way into an estimator and out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twinviews.tables.open import missing_engine

if TYPE_CHECKING:
    from twinviews.encoding.encoder import Encoder


def learn_encoder(X: Any) -> Encoder | None:
    """How the columns of a data frame become numbers; None if they are numbers, all of them."""
    if not is_frame(X) or _is_plain_pandas(X):
        return None
    frame = as_arrow(X)
    from twinviews.encoding.frames import encoder_of_frame, is_plain_frame

    return None if is_plain_frame(frame) else encoder_of_frame(frame, {})


def encode(encoder: Encoder, X: Any) -> np.ndarray:
    """(rows, D) numbers of a data frame."""
    if not is_frame(X):
        raise ValueError(
            f"This model was fitted on a table with named columns, not all of them numbers, and needs "
            f"such a table here; this is a {type(X).__name__}. The columns are "
            f"{', '.join(encoder.names)}."
        )
    return encoder(as_arrow(X))


def column_names(X: Any) -> np.ndarray:
    return np.array(as_arrow(X).schema.names, dtype=object)


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
