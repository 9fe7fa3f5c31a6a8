"""The addresses of the labeling page: requests become calls of the session, results become JSON."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from twinviews.labeling import requests
from twinviews.labeling.entries import ConflictError
from twinviews.labeling.label_export import EXPORT_FORMS
from twinviews.labeling.request_checks import IMPORT_PATH, RequestChecks
from twinviews.labeling.session import LabelingSession

_PAGE = Path(__file__).parent / "page"
_MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_LARGEST_BODY = 64 * 1024
_LARGEST_IMPORT = 64 * 1024 * 1024


def app(session: LabelingSession, token: str, port: int) -> Starlette:
    """The page and its addresses, behind the checks of who sends a request."""
    api = _Api(session)
    target: dict[str, requests.Check] = {"target": requests.name}
    row, size = {"row": requests.written_count}, {"k": requests.batch_size}
    besides = {"besides": requests.written_rows}
    return Starlette(
        routes=[
            *map(_page, _PAGE.iterdir()),
            _route("/api/state", api.state, {"target": requests.text}),
            _route("/api/next", _named("card", session.next_card), target, besides),
            _route("/api/card", _named("card", session.card), target | row),
            _route("/api/batch", _named("cards", session.batch), target | size, besides),
            _route("/api/search", api.search, target | {"q": requests.text}),
            _route("/api/version", _named("version", session.version)),
            _route("/api/export", api.export, {"form": requests.one_of(*EXPORT_FORMS)}),
            _route("/api/record", api.record, body=_LARGEST_BODY),
            _route("/api/undo", api.undo, body=_LARGEST_BODY),
            _route("/api/targets", api.add_target, body=_LARGEST_BODY),
            _route(IMPORT_PATH, api.take, target | {"name": requests.name}, body=_LARGEST_IMPORT),
        ],
        middleware=[Middleware(RequestChecks, token=token, port=port)],
    )


def _page(path: Path) -> Route:
    """A file of the page, read once: no address serves any other file."""
    address = "/" if path.name == "index.html" else f"/{path.name}"
    served = Response(path.read_bytes(), media_type=_MEDIA_TYPES[path.suffix])
    return Route(address, served, methods=["GET"])


def _named(name: str, method: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """The method, with its result under a name."""
    return lambda **query: {name: method(**query)}


class _Api:
    """What the page requests that takes more than one call of the session."""

    def __init__(self, session: LabelingSession) -> None:
        self._session = session

    def state(self, target: str) -> dict[str, Any]:
        return {"state": self._session.state(target)}

    def search(self, target: str, q: str) -> dict[str, Any]:
        return {"found": self._session.search(target, q)}

    def export(self, form: str) -> Response:
        name, file = self._session.export(form)
        return FileResponse(
            file,
            headers={"Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}"},
            media_type="application/octet-stream",
            background=BackgroundTask(_delete, file),
        )

    def record(self, body: bytes) -> dict[str, Any]:
        """Store an answer. The next card comes with the result, unless the page wants none."""
        entry, wants_card = requests.entry_of(requests.fields_of(body), self._session.target)
        event = self._session.record(entry)
        card = self._session.next_card(entry.target) if wants_card else None
        return {"event": event, "card": card, **self.state(entry.target)}

    def undo(self, body: bytes) -> dict[str, Any]:
        """Undo an entry. Its row comes with the result, drawn at random if it was before."""
        known = {"target": requests.name, "key": requests.key}
        fields = requests.checked_fields(requests.fields_of(body), known)
        event, card = self._session.undo(**fields), None
        if event is not None:
            card = replace(
                self._session.card(event.entry.target, event.entry.row),
                origin=event.entry.origin,
                reason="its answer was undone",
            )
        return {"event": event, "card": card, **self.state(fields["target"])}

    def add_target(self, body: bytes) -> dict[str, Any]:
        target = requests.target_of(requests.fields_of(body))
        self._session.add_target(target)
        return self.state(target.name)

    def take(self, target: str, name: str, body: bytes) -> dict[str, Any]:
        """Import the labels of a file."""
        imported = self._session.import_labels(target, name, body)
        return {"imported": imported, **self.state(target)}


def _delete(file: Path) -> None:
    """Delete a file that was made to be sent, and the folder around it."""
    file.unlink()
    file.parent.rmdir()


def _route(
    path: str,
    answer: Callable[..., Any],
    needed: Mapping[str, requests.Check] | None = None,
    optional: Mapping[str, requests.Check] | None = None,
    *,
    body: int = 0,
) -> Route:
    """An address with fields; one that takes a body, of at most so many bytes, is for POST."""

    async def endpoint(request: Request) -> Response:
        try:
            query = requests.query_of(request.query_params)
            fields = requests.checked_fields(query, needed or {}, optional)
            if body:
                fields["body"] = await requests.body_of(request, body)
            found = await run_in_threadpool(answer, **fields)
            return found if isinstance(found, Response) else _json(found)
        except Exception as error:
            return _failure(error)

    return Route(path, endpoint, methods=["POST" if body else "GET"])


def _failure(error: Exception) -> Response:
    """An error as JSON of one line; an unexpected one is also printed."""
    if isinstance(error, ConflictError):
        return _json({"error": str(error), "current": error.current}, HTTPStatus.CONFLICT)
    if isinstance(error, ValueError):
        return _json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
    if isinstance(error, requests.TooLargeError):
        return _json({"error": str(error)}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    if isinstance(error, OSError):  # a full disk, a file that another program keeps locked
        return _json({"error": f"{error}."}, HTTPStatus.SERVICE_UNAVAILABLE)
    if isinstance(error, ClientDisconnect):
        return Response(status_code=HTTPStatus.BAD_REQUEST)  # nobody reads it
    traceback.print_exception(error)
    message = f"The server failed ({type(error).__name__}). Its terminal shows the details."
    return _json({"error": message}, HTTPStatus.INTERNAL_SERVER_ERROR)


def _json(value: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    content = json.dumps(
        value, default=vars, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return Response(content, status, media_type="application/json")
