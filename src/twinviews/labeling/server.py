"""The server of the labeling page, on this machine only: requests become calls of the session."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from twinviews.labeling import requests
from twinviews.labeling.entries import ConflictError, LabelTarget
from twinviews.labeling.label_files import EXPORT_FORMS
from twinviews.labeling.label_rounds import Wish
from twinviews.labeling.session import LabelingSession

_HOST = "127.0.0.1"  # no other machine reaches it
_PAGE = Path(__file__).parent / "page"
_MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_LARGEST_BODY = 64 * 1024
_LARGEST_IMPORT = 64 * 1024 * 1024
_SECONDS_TO_FINISH = 5  # for requests under way when the server is asked to end


def serve(
    session: LabelingSession, *, port: int = 0, token: str | None = None, ready: Callable[[str], None]
) -> None:
    """Serve the page until SIGINT or SIGTERM; call ``ready`` with its address once it answers.

    Port 0 takes a free one, and without a token a new one is made. A page that is still open continues
    by itself if the same port and token are served again. A port that is in use is an OSError.
    """
    token = token or secrets.token_urlsafe(32)
    bound = socket.create_server((_HOST, port))
    # asyncio sends small responses at once if a socket is known to be TCP. Otherwise they wait 40 ms.
    with socket.socket(bound.family, bound.type, socket.IPPROTO_TCP, fileno=bound.detach()) as listener:
        port = listener.getsockname()[1]
        # The token is after the hash, since browsers send that part to no server.
        _Server(app(session, token, port), ready, f"http://{_HOST}:{port}/#{token}").run([listener])


class _Server(uvicorn.Server):
    def __init__(self, served: Starlette, ready: Callable[[str], None], address: str) -> None:
        config = uvicorn.Config(
            served,
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_SECONDS_TO_FINISH,
        )
        super().__init__(config)
        self._ready, self._address = ready, address

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await asyncio.to_thread(self._ready, self._address)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End, at once if told twice; uvicorn itself would then raise the signal again."""
        self.force_exit = self.should_exit
        self.should_exit = True


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
            _route("/api/record", api.record, requests.ENTRY, {"next": requests.yes_or_no}, post=True),
            _route("/api/undo", api.undo, target | {"key": requests.key}, post=True),
            _route("/api/all-rows", api.want_all_rows, requests.ALL_ROWS, post=True),
            _route("/api/targets", api.add_target, *requests.TARGET, post=True),
            _route(requests.IMPORT_PATH, api.take, target | {"name": requests.name}, post=True),
        ],
        middleware=[Middleware(requests.RequestChecks, token=token, port=port)],
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

    def record(self, *, next: bool = True, **fields: Any) -> dict[str, Any]:
        """Store an answer. The next card comes with the result, unless the page wants none."""
        entry = requests.entry_of(fields, self._session.target)
        event = self._session.record(entry)
        card = self._session.next_card(entry.target) if next else None
        return {"event": event, "card": card, **self.state(entry.target)}

    def undo(self, target: str, key: str) -> dict[str, Any]:
        """Undo an entry. Its row comes with the result, drawn at random if it was before."""
        event, card = self._session.undo(target, key), None
        if event is not None:
            card = replace(
                self._session.card(event.entry.target, event.entry.row),
                origin=event.entry.origin,
                reason="its answer was undone",
            )
        return {"event": event, "card": card, **self.state(target)}

    def want_all_rows(self, target: str, *, on: bool, half_width: float | None) -> dict[str, Any]:
        self._session.want_all_rows(target, Wish(on, half_width))
        return self.state(target)

    def add_target(self, **fields: Any) -> dict[str, Any]:
        self._session.add_target(LabelTarget(**fields))
        return self.state(fields["name"])

    def take(self, target: str, name: str, content: bytes) -> dict[str, Any]:
        """Import the labels of a file."""
        imported = self._session.import_labels(target, name, content)
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
    post: bool = False,
) -> Route:
    """An address whose fields come as a query or, by POST, as JSON; a file to import is the body."""

    async def endpoint(request: Request) -> Response:
        try:
            given = requests.query_of(request.query_params)
            if post and path != requests.IMPORT_PATH:
                requests.checked_fields(given, {})
                given = requests.fields_of(await requests.body_of(request, _LARGEST_BODY))
            fields = requests.checked_fields(given, needed or {}, optional)
            if path == requests.IMPORT_PATH:
                fields["content"] = await requests.body_of(request, _LARGEST_IMPORT)
            found = await run_in_threadpool(answer, **fields)
            return found if isinstance(found, Response) else _json(found)
        except Exception as error:
            return _failure(error)

    return Route(path, endpoint, methods=["POST" if post else "GET"])


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
