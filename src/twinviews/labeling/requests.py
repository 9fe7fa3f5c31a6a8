"""Requests: who may send them, and what they may hold.

Every site that the same browser shows can send requests to a server on this machine. So a request must
name this server as its host (another name that resolves to it is refused: DNS rebinding), must not come
from another origin, and must carry a token that only the person who started the server has. Its fields
are read strictly: each known, of its type and of bounded size, or an error.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, get_args

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from twinviews.labeling.entries import Answer, Entry, LabelTarget, Origin, Task

IMPORT_PATH = "/api/import"

# The page may load scripts and styles from this server and send requests to it, nothing else.
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}

# Returns the value as it is used, or raises a ValueError that continues a sentence about its field.
Check = Callable[[Any], Any]

# JavaScript has larger whole numbers only approximately.
_LARGEST = 2**53 - 1
_LONGEST = 10_000
_LONGEST_KEY = 100  # a UUID has 36 characters
_MOST_ROWS = 1000
_MOST_CARDS = 50
_MOST_CLASSES = 1000


class RequestChecks:
    """ASGI middleware: refuses requests that are not from the page, adds headers to every response."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self._authorization = f"Bearer {token}".encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        refusal = self._refusal(scope["method"], scope["path"], Headers(scope=scope))
        if refusal is None:
            await self.app(scope, receive, send_with_headers)
        else:
            status, message = refusal
            await JSONResponse({"error": message}, status)(scope, receive, send_with_headers)

    def _refusal(self, method: str, path: str, headers: Headers) -> tuple[HTTPStatus, str] | None:
        """Why a request is refused; None if it is accepted."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return HTTPStatus.FORBIDDEN, "This server answers to its own address on this machine only."
        if not set(origins) <= self._origins:
            return HTTPStatus.FORBIDDEN, "Other sites get no answer."
        if not set(headers.getlist("sec-fetch-site")) <= {"same-origin", "none"}:
            return HTTPStatus.FORBIDDEN, "Other sites get no answer."
        if method not in ("GET", "POST"):
            return HTTPStatus.METHOD_NOT_ALLOWED, f"{method} is not answered here: GET and POST are."
        if not path.startswith("/api/"):
            return None
        given = headers.getlist("authorization")
        if len(given) != 1 or not secrets.compare_digest(given[0].encode(), self._authorization):
            return HTTPStatus.UNAUTHORIZED, "The token is missing or not this server's."
        # A form of another site can send text, and neither of these types.
        expected = "application/octet-stream" if path == IMPORT_PATH else "application/json"
        if method == "POST" and headers.getlist("content-type") != [expected]:
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"The body of {path} must be {expected}."
        return None


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


def positive_or_null(value: Any) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value <= _LARGEST:
        raise ValueError("must be a number above 0, or null")
    return float(value)


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


ENTRY: dict[str, Check] = {
    "key": key,
    "target": name,
    "row": count,
    "answer": one_of(*get_args(Answer)),
    "value": _text_or_null,
    "origin": one_of(*get_args(Origin)),
    "expects": count,
}
# Whether an answer about all rows is wanted, and plus or minus how much.
ALL_ROWS: dict[str, Check] = {"target": name, "on": yes_or_no, "half_width": positive_or_null}
# Fields that a target needs, and one that it may have.
TARGET: tuple[dict[str, Check], dict[str, Check]] = (
    {"name": name, "task": one_of(*get_args(Task))},
    {"classes": _class_names},
)


def entry_of(fields: Mapping[str, Any], target_named: Callable[[str], LabelTarget]) -> Entry:
    """The entry of checked fields, its label read as the target takes it."""
    value = fields["value"]
    if (fields["answer"] == "label") != (value is not None):
        raise ValueError("'value' must be text if the answer is a label, and null if it is not.")
    if value is not None:
        value = target_named(fields["target"]).read(value)
    return Entry(**{**fields, "value": value})
