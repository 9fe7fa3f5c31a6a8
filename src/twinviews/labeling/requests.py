"""Fields of requests, read strictly: each known, of its type and of bounded size, or an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, get_args

from starlette.datastructures import QueryParams
from starlette.requests import Request

from twinviews.labeling.entries import Answer, Entry, LabelTarget, Origin, Task

# Returns the value as it is used, or raises a ValueError that continues a sentence about its field.
Check = Callable[[Any], Any]

# JavaScript has larger whole numbers only approximately.
_LARGEST = 2**53 - 1
_LONGEST = 10_000
_LONGEST_KEY = 100  # a UUID has 36 characters
_MOST_ROWS = 1000
_MOST_CARDS = 50
_MOST_CLASSES = 1000


class TooLargeError(Exception):
    """A body above its limit; the rest of it is not read."""


async def body_of(request: Request, most: int) -> bytes:
    """The body of a request, of at most so many bytes."""
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > most:
            raise TooLargeError(f"The body is larger than {most:,} bytes.")
    return bytes(content)


def fields_of(body: bytes) -> dict[str, Any]:
    """The fields of a JSON object."""
    try:
        fields = json.loads(body.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise ValueError("The body must be JSON, with no name twice.") from None
    if not isinstance(fields, dict):
        raise ValueError("The body must be a JSON object.")
    return fields


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError(pairs)
    return fields


def query_of(query: QueryParams) -> dict[str, str]:
    """The fields of an address, each given once."""
    given = query.multi_items()
    if len(dict(given)) < len(given):
        raise ValueError("Each name may be given once.")
    return dict(given)


def checked_fields(
    given: Mapping[str, Any], needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None
) -> dict[str, Any]:
    """Each field as its check returns it; a field that is missing or not known is an error."""
    checks = {**needed, **(optional or {})}
    if unknown := sorted(given.keys() - checks.keys()):
        raise ValueError(f"{unknown[0][:50]!r} is not known here: {', '.join(checks) or 'nothing'} is.")
    if missing := [field for field in needed if field not in given]:
        raise ValueError(f"{missing[0]!r} is missing.")
    found = {}
    for field, value in given.items():
        try:
            found[field] = checks[field](value)
        except ValueError as error:
            raise ValueError(f"{field!r} {error}.") from None
    return found


def text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise ValueError(f"must be text of at most {_LONGEST:,} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must be text, and holds half a character") from None
    return value


def name(value: Any) -> str:
    if not text(value).strip():
        raise ValueError("must not be blank")
    return value


def key(value: Any) -> str:
    if len(name(value)) > _LONGEST_KEY:
        raise ValueError(f"must be text of at most {_LONGEST_KEY} characters")
    return value


def count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST:  # True would be an int, too
        raise ValueError("must be a whole number from 0")
    return value


def written_count(value: str) -> int:
    """A whole number in an address."""
    if not (value.isascii() and value.isdigit() and len(value) <= len(str(_LARGEST))):
        raise ValueError("must be a whole number from 0")
    return count(int(value))


def written_rows(value: str) -> tuple[int, ...]:
    """Row numbers in an address, separated by commas."""
    rows = value.split(",") if value else []
    if len(rows) > _MOST_ROWS:
        raise ValueError(f"must be at most {_MOST_ROWS} rows")
    return tuple(written_count(row) for row in rows)


def batch_size(value: str) -> int:
    if not 1 <= (k := written_count(value)) <= _MOST_CARDS:
        raise ValueError(f"must be from 1 to {_MOST_CARDS}")
    return k


def yes_or_no(value: Any) -> bool:
    if type(value) is not bool:
        raise ValueError("must be true or false")
    return value


def one_of(*choices: str) -> Check:
    def check(value: Any) -> Any:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return value

    return check


def _text_or_null(value: Any) -> str | None:
    return None if value is None else text(value)


def _class_names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _MOST_CLASSES:
        raise ValueError(f"must be a list of at most {_MOST_CLASSES} names")
    return tuple(name(one) for one in value)


_ENTRY: dict[str, Check] = {
    "key": key,
    "target": name,
    "row": count,
    "answer": one_of(*get_args(Answer)),
    "value": _text_or_null,
    "origin": one_of(*get_args(Origin)),
    "expects": count,
}


def entry_of(
    fields: Mapping[str, Any], target_named: Callable[[str], LabelTarget]
) -> tuple[Entry, bool]:
    """The entry of a request, and whether the next card is wanted."""
    found = checked_fields(fields, _ENTRY, {"next": yes_or_no})
    wants_card = found.pop("next", True)
    if (found["answer"] == "label") != (found["value"] is not None):
        raise ValueError("'value' must be text if the answer is a label, and null if it is not.")
    if found["value"] is not None:
        found["value"] = target_named(found["target"]).read(found["value"])
    return Entry(**found), wants_card


def target_of(fields: Mapping[str, Any]) -> LabelTarget:
    """The target of a request that adds one."""
    needed = {"name": name, "task": one_of(*get_args(Task))}
    return LabelTarget(**checked_fields(fields, needed, {"classes": _class_names}))
