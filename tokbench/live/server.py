"""Runs the live page with uvicorn, on loopback unless told otherwise, with limits on slow clients."""

from __future__ import annotations

import errno
import importlib.util
import socket
import threading
from collections.abc import Sequence
from typing import Any

from tokbench.errors import TokbenchError
from tokbench.live.bench import Bench


def require_stack() -> None:
    """Raise an error that says what to install, where starlette or uvicorn is missing."""
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise TokbenchError(f"the live page needs {' and '.join(missing)}: pip install 'tokbench[playground]'")


def require_address(host: str, port: int) -> None:
    """Raise an error that says what is wrong, where nothing can listen at an address; before any other work."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            probe.bind(address)
    except OSError as error:
        remedy = "; name another port with --port" if error.errno == errno.EADDRINUSE else ""
        raise TokbenchError(f"cannot listen on {host}, port {port}: {error.strerror}{remedy}") from error


HEADERS_WITHIN = 10.0
"""Seconds in which a request's headers must have come: those half sent would keep others out."""


BUSY = "the server has as many requests to answer as it takes at a time; try again in a few seconds"


def patient_for(seconds: float = HEADERS_WITHIN) -> Any:
    """The protocol of uvicorn, which itself waits for ever, closing connections whose headers take longer.

    Where uvicorn's `limit_concurrency` is reached, requests are answered 503, as the API answers.
    """
    from starlette.responses import JSONResponse
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    from tokbench.live.headers import SECURITY

    busy = JSONResponse({"error": BUSY}, 503, {**SECURITY, "Retry-After": "2"})

    class Patient(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
        """Waits for headers only so long, and says itself, in JSON, that it has as much to do as it takes."""

        _hurry: Any = None

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self._most: int | None = self.config.limit_concurrency
            self._served: Any = self.config.loaded_app
            self.limit_concurrency, self.app = None, self._answered

        async def _answered(self, scope: Any, receive: Any, send: Any) -> None:
            crowded = self._most is not None and (
                len(self.connections) >= self._most or len(self.tasks) > self._most
            )
            await (busy if crowded else self._served)(scope, receive, send)

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._calm()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.cycle is not None and not self.cycle.response_complete:  # a request, headers and all
                self._calm()
            elif self._hurry is None:
                self._hurry = self.loop.call_later(seconds, self.transport.close)

        def _calm(self) -> None:
            if self._hurry is not None:
                self._hurry.cancel()
                self._hurry = None

    return Patient


def serve(
    bench: Bench, *, host: str = "127.0.0.1", port: int = 8321, hosts: Sequence[str] = (), root_path: str = ""
) -> None:
    """Serve until interrupted. `hosts` are names beside loopback's that the page answers to.

    Behind a proxy that serves it under a path, `root_path` is that path. Requests in flight are limited, so
    that a crowd is answered 503 rather than piling up; headers and bodies that do not come are not waited for.
    """
    require_stack()
    import uvicorn

    from tokbench.live.app import build_app
    from tokbench.live.headers import LOOPBACK

    named = [host] if host not in ("0.0.0.0", "::") else []
    threading.Thread(target=bench.count_ranks, daemon=True).start()
    app = build_app(bench, hosts=[*LOOPBACK, *named, *hosts])
    uvicorn.run(
        app,
        host=host,
        port=port,
        root_path=root_path,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=64,
        timeout_keep_alive=15,
        h11_max_incomplete_event_size=32_768,
        http=patient_for(),
    )
