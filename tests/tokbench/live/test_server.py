"""The server: an address that is taken, visitors that keep others out."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from tokbench.errors import TokbenchError
from tokbench.live.bench import Bench
from tokbench.live.headers import SECURITY
from tokbench.live.server import require_address


def test_an_address_that_is_taken_is_said_before_anything_is_loaded() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(TokbenchError, match=f"port {port}: Address already in use; name another port"):
            require_address("127.0.0.1", port)
    require_address("127.0.0.1", port)
    with pytest.raises(TokbenchError, match=r"cannot listen on 300\.1\.1\.1"):
        require_address("300.1.1.1", port)


def test_half_sent_requests_keep_nobody_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    uvicorn = pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'tokbench[playground]'")
    httpx = pytest.importorskip("httpx", reason="needs httpx, to ask")
    from tokbench.live import app, server

    monkeypatch.setattr(app, "BODY_WITHIN", 1.5)
    config = uvicorn.Config(
        app.build_app(bench), port=0, log_level="error", lifespan="off", limit_concurrency=7,
        http=server.patient_for(1.5),
    )  # fmt: skip
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.02)
    port = running.servers[0].sockets[0].getsockname()[1]
    half = [socket.create_connection(("127.0.0.1", port)) for _ in range(6)]
    body = b"POST /api/encode HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for index, one in enumerate(half):
        one.sendall([b"", b"GET / HT", body + b"Content-Length: 50\r\n\r\n{"][index % 3])
    url = f"http://127.0.0.1:{port}/"
    time.sleep(0.2)
    busy = httpx.get(url)
    assert busy.status_code == 503, "while they last"
    assert "try again in a few seconds" in busy.json()["error"]
    assert {name: busy.headers[name] for name in SECURITY} == SECURITY
    for _ in range(50):
        if (answer := httpx.get(url)).status_code == 200:
            break
        time.sleep(0.1)
    assert answer.status_code == 200
    for one in half:
        one.close()
    running.should_exit = True
    thread.join(5)
