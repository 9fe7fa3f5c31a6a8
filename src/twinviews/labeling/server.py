"""The server of the labeling page, on this machine only."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from twinviews.labeling.api import app
from twinviews.labeling.session import LabelingSession

_LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
_SECONDS_TO_FINISH = 5  # for requests under way when the server is asked to end


def serve(
    session: LabelingSession,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    ready: Callable[[str], None],
) -> None:
    """Serve the page until SIGINT or SIGTERM; call ``ready`` with its address once it answers.

    Port 0 takes a free one, and without a token a new one is made. A page that is still open continues
    by itself if the same port and token are served again. A port that is in use is an OSError.
    """
    if host not in _LOOPBACK:
        raise ValueError(f"host={host!r} is not this machine alone. Use one of {', '.join(_LOOPBACK)}.")
    token = token or secrets.token_urlsafe(32)
    with _listener(host, port) as listener:
        port = listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        # After the hash, since browsers send that part to no server.
        _Server(app(session, token, port), ready, f"http://{shown}:{port}/#{token}").run([listener])


def _listener(host: str, port: int) -> socket.socket:
    bound = socket.create_server((host, port), family=_LOOPBACK[host])
    # asyncio sends small responses at once if a socket is known to be TCP. Otherwise they wait 40 ms.
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
        """End, at once if told twice; uvicorn itself would then raise the signal again."""
        self.force_exit = self.should_exit
        self.should_exit = True
