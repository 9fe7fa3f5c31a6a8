"""The label page over HTTP, on this machine only. All that it says of rows and labels is the desk's."""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from types import FrameType
from typing import Any, Protocol
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from twinviews.labeling import asked
from twinviews.labeling.asked import Check
from twinviews.labeling.entries import ConflictError, Entry, Event, Target
from twinviews.labeling.gate import IMPORT_PATH, Gate
from twinviews.labeling.shown import Card, Found, Imported, State

_PAGE = Path(__file__).parent / "page"
_MEDIA_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_FORMS = ("csv", "parquet", "labels.csv")
_LARGEST_BODY = 64 * 1024
_LARGEST_IMPORT = 64 * 1024 * 1024
_LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
_SECONDS_TO_FINISH = 5  # for requests under way when the server is asked to end

Endpoint = Callable[[Request], Awaitable[Response]]


class Desk(Protocol):
    """What the server needs of a desk. Its methods may block, and are called from many threads."""

    def state(self, target: str) -> State: ...

    def next_card(self, target: str, *, besides: Sequence[int] = ()) -> Card | None: ...

    def card(self, target: str, row: int) -> Card: ...

    def batch(self, target: str, k: int, *, besides: Sequence[int] = ()) -> list[Card]: ...

    def record(self, entry: Entry) -> Event: ...

    def undo(self, target: str, key: str) -> Event | None: ...

    def search(self, target: str, query: str, most: int = 50) -> list[Found]: ...

    def add_target(self, target: Target) -> None: ...

    def export(self, form: str) -> tuple[str, Path]: ...

    def import_labels(self, target: str, name: str, content: bytes) -> Imported: ...

    def version(self) -> int: ...


def serve(
    desk: Desk,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    ready: Callable[[str], None],
) -> None:
    """Serves the page until SIGINT or SIGTERM; ``ready`` is told its address once it answers.

    Port 0 takes a free one, and without a token there is a new one. A page that is still open goes on
    by itself if the same port and token are served again. A port that is taken is an OSError.
    """
    if host not in _LOOPBACK:
        raise ValueError(f"host={host!r} is not this machine alone. Use one of {', '.join(_LOOPBACK)}.")
    token = token or secrets.token_urlsafe(32)
    with _listener(host, port) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        # After the hash, since a browser sends what follows it to nobody.
        _Server(app(desk, token, port), ready, f"http://{shown}:{port}/#{token}").run([listener])


def _listener(host: str, port: int) -> socket.socket:
    bound = socket.create_server((host, port), family=_LOOPBACK[host])
    # asyncio sends small answers at once if a socket is known to be TCP. Otherwise they wait 40 ms.
    return socket.socket(bound.family, bound.type, socket.IPPROTO_TCP, fileno=bound.detach())


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
        """Ends, at once if told twice; uvicorn would then raise the signal again, in the caller."""
        self.force_exit = self.should_exit
        self.should_exit = True


def app(desk: Desk, token: str, port: int) -> Starlette:
    """The page and its addresses, behind the gate."""
    front = _Front(desk)
    target = {"target": asked.name}
    besides = {"besides": asked.written_rows}
    return Starlette(
        routes=[
            *_page(),
            _get("/api/state", front.state, {"target": asked.text}),
            _get("/api/next", front.next, target, besides),
            _get("/api/card", front.card, target | {"row": asked.written_count}),
            _get("/api/batch", front.batch, target | {"k": asked.batch_size}, besides),
            _get("/api/search", front.search, target | {"q": asked.text}),
            _get("/api/version", front.version, {}),
            _get("/api/export", front.export, {"form": asked.one_of(*_FORMS)}),
            _post("/api/record", front.record),
            _post("/api/undo", front.undo),
            _post("/api/targets", front.add_target),
            _import(front),
        ],
        middleware=[Middleware(Gate, token=token, port=port)],
    )


class _Front:
    """The desk as the page asks for it: a method for each address, whose answer becomes JSON."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._targets: dict[str, Target] = {}  # met so far; what a target is never changes

    def state(self, target: str) -> dict[str, Any]:
        state = self._desk.state(target)
        self._targets = {one.name: one for one in state.targets}
        return {"state": state}

    def next(self, target: str, besides: Sequence[int] = ()) -> dict[str, Any]:
        return {"card": self._desk.next_card(target, besides=besides)}

    def card(self, target: str, row: int) -> dict[str, Any]:
        return {"card": self._desk.card(target, row)}

    def batch(self, target: str, k: int, besides: Sequence[int] = ()) -> dict[str, Any]:
        return {"cards": self._desk.batch(target, k, besides=besides)}

    def search(self, target: str, q: str) -> dict[str, Any]:
        return {"found": self._desk.search(target, q)}

    def version(self) -> dict[str, Any]:
        return {"version": self._desk.version()}

    def export(self, form: str) -> Response:
        name, file = self._desk.export(form)
        return FileResponse(
            file,
            headers={"Content-Disposition": f"attachment; filename*=utf-8''{quote(name, safe='')}"},
            media_type="application/octet-stream",
            background=BackgroundTask(_delete, file),
        )

    def record(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Stores an answer. The next card comes with it, unless the page wants none."""
        entry, wants_card = asked.entry_of(fields, self._target_named)
        event = self._desk.record(entry)
        card = self._desk.next_card(entry.target) if wants_card else None
        return {"event": event, "card": card, **self.state(entry.target)}

    def undo(self, fields: dict[str, Any]) -> dict[str, Any]:
        found = asked.checked(fields, {"target": asked.name, "key": asked.key})
        target = found["target"]
        event = self._desk.undo(**found)
        card = self._reopened(event) if event else None
        return {"event": event, "card": card, **self.state(target)}

    def _reopened(self, event: Event) -> Card:
        """The row of an answer that was taken back. It counts as drawn at random if it did before."""
        card = self._desk.card(event.entry.target, event.entry.row)
        return replace(card, origin=event.entry.origin, reason="its answer was taken back")

    def add_target(self, fields: dict[str, Any]) -> dict[str, Any]:
        target = asked.target_of(fields)
        self._desk.add_target(target)
        return self.state(target.name)

    def import_labels(self, target: str, name: str, content: bytes) -> dict[str, Any]:
        imported = self._desk.import_labels(target, name, content)
        return {"imported": imported, **self.state(target)}

    def _target_named(self, name: str) -> Target:
        if name not in self._targets:
            self.state(name)
        return self._targets[name]


def _delete(file: Path) -> None:
    """A file that was made to be sent, with the folder of its own."""
    file.unlink()
    file.parent.rmdir()


def _page() -> list[Route]:
    """The files of the page, read once: no address leads to any other file."""
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
        query = asked.checked(asked.query_of(request.query_params), needed, optional)
        return await _answer(answer, **query)

    return Route(path, _with_errors(work), methods=["GET"])


def _post(path: str, answer: Callable[[dict[str, Any]], Any]) -> Route:
    async def work(request: Request) -> Response:
        asked.checked(asked.query_of(request.query_params), {})
        return await _answer(answer, asked.fields_of(await asked.body_of(request, _LARGEST_BODY)))

    return Route(path, _with_errors(work), methods=["POST"])


def _import(front: _Front) -> Route:
    async def work(request: Request) -> Response:
        query = asked.checked(
            asked.query_of(request.query_params), {"target": asked.name, "name": asked.name}
        )
        content = await asked.body_of(request, _LARGEST_IMPORT)
        return await _answer(front.import_labels, **query, content=content)

    return Route(IMPORT_PATH, _with_errors(work), methods=["POST"])


async def _answer(answer: Callable[..., Any], *given: Any, **named: Any) -> Response:
    found = await run_in_threadpool(answer, *given, **named)
    return found if isinstance(found, Response) else _json(found)


def _with_errors(work: Endpoint) -> Endpoint:
    """What goes wrong, as an answer of one line. What nobody foresaw is told in the terminal."""

    async def endpoint(request: Request) -> Response:
        try:
            return await work(request)
        except ConflictError as error:
            return _json({"error": str(error), "current": error.current}, HTTPStatus.CONFLICT)
        except ValueError as error:
            return _json({"error": str(error)}, HTTPStatus.BAD_REQUEST)
        except asked.TooLargeError as error:
            return _json({"error": str(error)}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        except OSError as error:  # a full disk, a file that another program keeps locked
            return _json({"error": f"{error}."}, HTTPStatus.SERVICE_UNAVAILABLE)
        except ClientDisconnect:
            return Response(status_code=HTTPStatus.BAD_REQUEST)  # nobody reads it
        except Exception as error:
            traceback.print_exc()
            words = (
                f"The server failed ({type(error).__name__}). The terminal that it runs in tells more."
            )
            return _json({"error": words}, HTTPStatus.INTERNAL_SERVER_ERROR)

    return endpoint


def _json(value: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    content = json.dumps(
        value, default=vars, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return Response(content, status, media_type="application/json")
