"""Runs the live page with uvicorn, on loopback unless told otherwise."""

from __future__ import annotations

import errno
import importlib.util
import socket
import threading
from collections.abc import Sequence

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


def serve(
    bench: Bench, *, host: str = "127.0.0.1", port: int = 8321, hosts: Sequence[str] = (), root_path: str = ""
) -> None:
    """Serve until interrupted. `hosts` are names beside loopback's that the page answers to.

    Behind a proxy that serves it under a path, `root_path` is that path. Requests in flight are limited, so
    that a crowd is answered 503 rather than piling up.
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
    )
