"""Codes of raw columns, in models of tables that hold more than numbers."""

from __future__ import annotations

from twinviews.model_files.container import ModelFileError
from twinviews.model_files.fields import NOT_NEGATIVE, Flag, Many, Number, Part, Text
from twinviews.model_files.records import Kind, Sizes

try:
    from twinviews.encoding.codes import DateCode, LeftOut, LevelCode, NumberCode
    from twinviews.encoding.encoder import Encoder
except ImportError:  # without pyarrow there are no such models, and a file with one is refused
    ENCODERS: tuple[type, ...] = ()
    TABLE_KINDS: list[Kind] = []
else:
    ENCODERS = (Encoder,)
    _CODES = (NumberCode, LevelCode, DateCode, LeftOut)

    def _width_is_known(encoder: Encoder, sizes: Sizes) -> None:
        names = [code.name for code in encoder.codes]
        if len(set(names)) < len(names) or not encoder.names:
            raise ModelFileError("its columns are not told apart by their names")
        sizes.bind("D", len(encoder.outputs))

    def _levels_are_known(code: LevelCode, sizes: Sizes) -> None:
        if sorted(set(code.known)) != list(code.known) or 0.0 in code.shares:
            raise ModelFileError("levels of a column are not in order")
        if len(set(code.levels)) < len(code.levels) or not set(code.levels) <= set(code.known):
            raise ModelFileError("levels of a column are not told apart, or were never counted")
        if code.shares and len(code.shares) != len(code.known):
            raise ModelFileError(f"{len(code.shares)} shares are not of {len(code.known)} levels")

    TABLE_KINDS = [
        Kind(
            NumberCode,
            {
                "name": Text(),
                "mean": Number(),
                "flag": Flag(),
                "boolean": Flag(),
            },
            NumberCode,
        ),
        Kind(
            LevelCode,
            {
                "name": Text(),
                "levels": Many(Text()),
                "flag": Flag(),
                "known": Many(Text(), "k"),
                "shares": Many(NOT_NEGATIVE, "s"),
            },
            LevelCode,
            _levels_are_known,
        ),
        Kind(
            DateCode,
            {
                "name": Text(),
                "mean": Number(),
                "flag": Flag(),
                "of_day": Flag(),
                "of_week": Flag(),
                "of_year": Flag(),
            },
            DateCode,
        ),
        Kind(LeftOut, {"name": Text(), "why": Text()}, LeftOut),
        Kind(Encoder, {"codes": Many(Part(*_CODES), "F", least=1)}, Encoder, _width_is_known),
    ]
