"""Checks of who sends a request: the page of this server with its token, and nobody else.

Every site that the same browser shows can send requests to a server on this machine. So a request must
name this server as its host (another name that resolves to it is refused: DNS rebinding), must not come
from another origin, and must carry a token that only the person who started the server has.
"""

from __future__ import annotations

import secrets
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


class RequestChecks:
    """ASGI middleware: refuses requests that are not from the page, adds headers to every response."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self._authorization = f"Bearer {token}".encode()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
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
