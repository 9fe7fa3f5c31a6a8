"""The addresses of the labeling page: requests become calls of the session, results become JSON."""

from __future__ import annotations

import json
import traceback
from collections.abc import Awaitable, Callable, Mapping
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
from twinviews.labeling.entries import ConflictError, Event, LabelTarget
from twinviews.labeling.label_export import EXPORT_FORMS
from twinviews.labeling.page_data import Card
from twinviews.labeling.request_checks import IMPORT_PATH, RequestChecks
from twinviews.labeling.requests import Check
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

Endpoint = Callable[[Request], Awaitable[Response]]


def app(session: LabelingSession, token: str, port: int) -> Starlette:
    """The page and its addresses, behind the checks of who sends a request."""
    api = _Api(session)
    target = {"target": requests.name}
    besides = {"besides": requests.written_rows}
    return Starlette(
        routes=[
            *_page(),
            _get("/api/state", api.state, {"target": requests.text}),
            _get("/api/next", _named("card", session.next_card), target, besides),
            _get("/api/card", _named("card", session.card), target | {"row": requests.written_count}),
            _get(
                "/api/batch",
                _named("cards", session.batch),
                target | {"k": requests.batch_size},
                besides,
            ),
            _get("/api/search", api.search, target | {"q": requests.text}),
            _get("/api/version", _named("version", session.version), {}),
            _get("/api/export", api.export, {"form": requests.one_of(*EXPORT_FORMS)}),
            _post("/api/record", api.record),
            _post("/api/undo", api.undo),
            _post("/api/targets", api.add_target),
            _import(api),
        ],
        middleware=[Middleware(RequestChecks, token=token, port=port)],
    )


def _named(name: str, method: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """The method, with its result under a name."""
    return lambda **query: {name: method(**query)}


class _Api:
    """What the page requests that takes more than one call of the session."""

    def __init__(self, session: LabelingSession) -> None:
        self._session = session
        self._targets: dict[str, LabelTarget] = {}  # by name; the task of a target never changes

    def state(self, target: str) -> dict[str, Any]:
        state = self._session.state(target)
        self._targets = {one.name: one for one in state.targets}
        return {"state": state}

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

    def record(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Store an answer. The next card comes with the result, unless the page wants none."""
        entry, wants_card = requests.entry_of(fields, self._target_named)
        event = self._session.record(entry)
        card = self._session.next_card(entry.target) if wants_card else None
        return {"event": event, "card": card, **self.state(entry.target)}

    def undo(self, fields: dict[str, Any]) -> dict[str, Any]:
        found = requests.checked_fields(fields, {"target": requests.name, "key": requests.key})
        target = found["target"]
        event = self._session.undo(**found)
        card = self._reopened(event) if event else None
        return {"event": event, "card": card, **self.state(target)}

    def _reopened(self, event: Event) -> Card:
        """The row whose answer was undone. It counts as drawn at random if it did before."""
        card = self._session.card(event.entry.target, event.entry.row)
        return replace(card, origin=event.entry.origin, reason="its answer was undone")

    def add_target(self, fields: dict[str, Any]) -> dict[str, Any]:
        target = requests.target_of(fields)
        self._session.add_target(target)
        return self.state(target.name)

    def import_labels(self, target: str, name: str, content: bytes) -> dict[str, Any]:
        imported = self._session.import_labels(target, name, content)
        return {"imported": imported, **self.state(target)}

    def _target_named(self, name: str) -> LabelTarget:
        if name not in self._targets:
            self.state(name)
        return self._targets[name]


def _delete(file: Path) -> None:
    """Delete a file that was made to be sent, and the folder around it."""
    file.unlink()
    file.parent.rmdir()


def _page() -> list[Route]:
    """The files of the page, read once: no address serves any other file."""
    return [
        _file("/" if path.name == "index.html" else f"/{path.name}", path) for path in _PAGE.iterdir()
    ]


def _file(address: str, path: Path) -> Route:
    content, media_type = path.read_bytes(), _MEDIA_TYPES[path.suffix]

    async def endpoint(request: Request) -> Response:
        return Response(content, media_type=media_type)

    return Route(address, endpoint, methods=["GET"])


def _get(
    path: str,
    answer: Callable[..., Any],
    needed: Mapping[str, Check],
    optional: Mapping[str, Check] | None = None,
) -> Route:
    async def work(request: Request) -> Response:
        query = requests.checked_fields(requests.query_of(request.query_params), needed, optional)
        return await _answer(answer, **query)

    return Route(path, _with_errors(work), methods=["GET"])


def _post(path: str, answer: Callable[[dict[str, Any]], Any]) -> Route:
    async def work(request: Request) -> Response:
        requests.checked_fields(requests.query_of(request.query_params), {})
        return await _answer(answer, requests.fields_of(await requests.body_of(request, _LARGEST_BODY)))

    return Route(path, _with_errors(work), methods=["POST"])


def _import(api: _Api) -> Route:
    async def work(request: Request) -> Response:
        query = requests.checked_fields(
            requests.query_of(request.query_params), {"target": requests.name, "name": requests.name}
        )
        content = await requests.body_of(request, _LARGEST_IMPORT)
        return await _answer(api.import_labels, **query, content=content)

    return Route(IMPORT_PATH, _with_errors(work), methods=["POST"])


async def _answer(answer: Callable[..., Any], *given: Any, **named: Any) -> Response:
    found = await run_in_threadpool(answer, *given, **named)
    return found if isinstance(found, Response) else _json(found)


def _with_errors(work: Endpoint) -> Endpoint:
    """The endpoint with errors as JSON of one line; unexpected ones are also printed."""

    async def endpoint(request: Request) -> Response:
        try:
            return await work(request)
        except ConflictError as error:
            return _json({"error": str(error), "current": error.current}, HTTPStatus.CONFLICT)
        except ValueError as error:
            return _json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        except requests.TooLargeError as error:
            return _json({"error": str(error)}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except OSError as error:  # a full disk, a file that another program keeps locked
            return _json({"error": f"{error}."}, HTTPStatus.SERVICE_UNAVAILABLE)
        except ClientDisconnect:
            return Response(status_code=HTTPStatus.BAD_REQUEST)  # nobody reads it
        except Exception as error:
            traceback.print_exc()
            message = f"The server failed ({type(error).__name__}). Its terminal shows the details."
            return _json({"error": message}, HTTPStatus.INTERNAL_SERVER_ERROR)

    return endpoint


def _json(value: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    content = json.dumps(
        value, default=vars, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return Response(content, status, media_type="application/json")
