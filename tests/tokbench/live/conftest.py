"""A live page over tokenizers that are always there."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tokbench.live.bench import Bench, VisitorLimits
from tokbench.live.opening import open_bench
from tokbench.registry import build_registry

SPECS = ("bytes", "chars", "nonsense:x")
BERT = "wordpiece vocab.txt"
"""The name of what `folder` offers."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary of BERT's kind that lower-cases, with a chat template, beside what is no tokenizer."""
    made = tmp_path_factory.mktemp("offered")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "new", "york", "user", ":", ",", "a", "##b"]
    (made / "vocab.txt").write_text("\n".join(words) + "\n")
    (made / "chat_template.jinja").write_text("[CLS] user: {{ messages[0].content }} [SEP]")
    (made / "notes.txt").write_text("no tokenizer " * 20)
    return made


@pytest.fixture(scope="session")
def bench(folder: Path) -> Bench:
    limits = VisitorLimits(chars=20_000, trace_chars=40)
    made = open_bench(build_registry(), SPECS, load_from=[str(folder)], limits=limits)
    made.count_ranks()
    return made


@pytest.fixture(scope="session")
def client(bench: Bench) -> Any:
    pytest.importorskip("starlette", reason="needs starlette: pip install 'tokbench[playground]'")
    pytest.importorskip("httpx", reason="needs httpx, for starlette's test client")
    from starlette.testclient import TestClient

    from tokbench.live.app import build_app

    return TestClient(build_app(bench), base_url="http://localhost:8321")


@pytest.fixture(scope="session")
def address(bench: Bench) -> Iterator[str]:
    """The address of a server on loopback."""
    with served(bench) as found:
        yield found


@contextmanager
def served(bench: Bench) -> Iterator[str]:
    uvicorn = pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'tokbench[playground]'")
    from tokbench.live.app import build_app

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(build_app(bench), port=port, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(100):
        if server.started:
            break
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join(5)
