"""The API: what it answers, what it refuses, and that nothing a visitor sends does harm."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runs import tokenizer_plugin
from tokbench.capabilities import Step
from tokbench.errors import TokbenchError
from tokbench.lint.subject import Subject
from tokbench.live import openapi
from tokbench.live.bench import Bench, Seat, VisitorLimits
from tokbench.live.headers import SECURITY
from tokbench.live.opening import on_offer, open_bench
from tokbench.live.server import require_address
from tokbench.registry import build_registry

BERT = "wordpiece vocab.txt"


def test_a_text_comes_back_in_tokens(client: Any) -> None:
    answer = client.post("/api/encode", json={"text": "néé", "tokenizers": ["bytes", "chars"]}).json()
    assert (answer["chars"], answer["bytes"]) == (3, 5)
    first, second = answer["results"]
    assert first["tokens"] == 5
    assert first["bytes_per_token"] == 1.0
    assert [span[:4] for span in first["spans"]] == [
        ["n", [110], ["6e"], ""],
        ["é", [195, 169], ["c3", "a9"], ""],
    ]
    assert first["sequence"] == [0, 1, 1]
    assert second["tokens"] == 3


def test_a_tokenizer_answers_to_what_the_server_was_told_and_no_path_does(folder: Path) -> None:
    path = str(folder / "vocab.txt")
    bench = open_bench(build_registry(), ["words:vocab_size=1k", path], train_on="bundled:tricky")
    name, short = bench.seats
    assert name == "words:vocab_size=1000"
    for typed in ("words:vocab_size=1k", name):
        found = bench.encode("ab", [typed, short])["results"]
        assert [each["spec"] for each in found] == [name, short]
    with pytest.raises(TokbenchError, match="unknown tokenizer"):
        bench.encode("ab", [path])


def test_each_token_has_its_rank_by_frequency(client: Any, bench: Bench) -> None:
    answer = client.post("/api/encode", json={"text": " \x00", "tokenizers": ["chars"]}).json()
    common, never = (span[4] for span in answer["results"][0]["spans"])
    assert common == [1]  # the space
    assert never == [len(bench.seats["chars"].ranks) + 1]  # after all that occur
    ranks = bench.seats["bytes"].ranks
    assert sorted(ranks.values()) == list(range(1, len(ranks) + 1))


def test_it_says_what_there_is_and_what_could_not_be_had(client: Any) -> None:
    about = client.get("/api/tokenizers").json()
    assert [each["spec"] for each in about["tokenizers"]] == ["bytes", "chars"]
    assert about["missing"][0]["spec"] == "nonsense:x"
    assert "unknown tokenizer family" in about["missing"][0]["why"]


@pytest.mark.parametrize(
    "text", ["", "<script>alert(1)</script>", "{{7*7}}", "\u202ertl\u202c", "\x00\x01", "👩‍👩‍👧", "a" * 20_000]
)
def test_any_text_is_taken(client: Any, text: str) -> None:
    answer = client.post("/api/encode", json={"text": text, "tokenizers": ["bytes", "chars"]})
    assert answer.status_code == 200
    assert answer.json()["results"][0]["tokens"] == len(text.encode())


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b'{"text": "a", "tokenizers": ["text:/etc/passwd"]}', 400, "unknown tokenizer"),
        (b'{"text": "a", "tokenizers": [1]}', 400, "list of strings"),
        (b'{"text": "a"}', 400, "tokenizers"),
        (b'["text"]', 400, "text"),
        (b"{", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b'{"text": "\\ud800", "tokenizers": []}', 400, "surrogate"),
        (json.dumps({"text": "a" * 20_001, "tokenizers": []}).encode(), 400, "20,001 characters"),
        (json.dumps({"text": "a" * 1_000_000, "tokenizers": []}).encode(), 413, "larger than"),
        (json.dumps({"text": "a", "tokenizers": ["bytes"] * 17}).encode(), 400, "at most 16"),
        (b'{"text": "a", "tokenizers": [], "mod": "chat"}', 400, "unknown field 'mod'; did you mean 'mode'?"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(
    client: Any, body: bytes, status: int, says: str
) -> None:
    answer = client.post("/api/encode", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert says in answer.json()["error"]


def test_only_json_is_read(client: Any) -> None:
    """A form on another site can send text/plain without asking; it gets nothing."""
    answer = client.post("/api/encode", content=b"{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 415


def test_other_hosts_and_other_sites_get_nothing(client: Any) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 403
    body = {"text": "a", "tokenizers": ["bytes"]}
    assert client.post("/api/encode", json=body, headers={"origin": "https://evil.example"}).status_code == 403
    assert client.post("/api/encode", json=body, headers={"origin": "http://localhost:8321"}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/live.js", "/live.css", "/openapi.json", "/api/tokenizers", "/nowhere"])
def test_every_answer_carries_the_headers(client: Any, path: str) -> None:
    answer = client.get(path)
    assert {name: answer.headers[name] for name in SECURITY} == SECURITY
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_no_path_leads_to_a_file(client: Any) -> None:
    for path in ("/../pyproject.toml", "/live.js/../../app.py", "/%2e%2e/%2e%2e/etc/passwd", "/app.py"):
        assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/nothing", 404), ("GET", "/api/encode", 405), ("POST", "/", 405)],
)
def test_what_is_not_served_is_said_in_json(client: Any, method: str, path: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"].endswith(
        f": {method} {path} is nothing that is served here; see /openapi.json"
    )


def test_a_list_that_cannot_be_made_is_an_error_in_json(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    testclient = pytest.importorskip("starlette.testclient", reason="needs starlette and httpx, for its client")
    from tokbench.live.app import build_app

    def fails(self: object) -> None:
        raise ZeroDivisionError("by a plugin")

    monkeypatch.setattr("tokbench.live.bench.Bench.about", fails)
    asked = testclient.TestClient(build_app(bench), base_url="http://localhost", raise_server_exceptions=False)
    answer = asked.get("/api/tokenizers")
    assert (answer.status_code, answer.json()) == (500, {"error": "ZeroDivisionError: by a plugin"})
    assert {name: answer.headers[name] for name in SECURITY} == SECURITY


class Stubborn:
    """A tokenizer that can be traced, and fails on a word."""

    name, vocab_size = "stubborn", 300

    def encode(self, text: str) -> list[int]:
        if "boom" in text:
            raise RuntimeError("no booms")
        return list(text.encode())

    def decode(self, ids: Any) -> str:
        return bytes(ids).decode("utf-8", "replace")

    def trace(self, text: str) -> Iterator[Step]:
        for stop in range(1, 1000):
            yield Step(
                "merge", (text.encode()[:stop], b"\xff"), 0, "n", {"score": float("nan"), "raw": b"\xfe"}
            )


@pytest.fixture(scope="module")
def stubborn() -> Bench:
    tokenizer = Stubborn()
    return Bench(
        {"s": Seat("s", "s", tokenizer, Subject("s", tokenizer))}, limits=VisitorLimits(trace_steps=20)
    )


def test_a_tokenizer_that_raises_spoils_nothing(stubborn: Bench) -> None:
    assert stubborn.encode("boom", ["s"])["results"] == [{"spec": "s", "error": "RuntimeError: no booms"}]


def test_a_tokenizer_that_raises_goes_without_ranks(stubborn: Bench) -> None:
    from dataclasses import replace

    fine, late = replace(stubborn, texts=["a b", "c"]), replace(stubborn, texts=["a b", "boom"])
    late.count_ranks()
    assert late.seats["s"].ranks == {}
    fine.count_ranks()
    assert set(fine.seats["s"].ranks) == set(b"a bc")


def test_each_is_called_once_before_visitors_come() -> None:
    class Counted(Stubborn):
        calls = 0

        def encode(self, text: str) -> list[int]:
            self.calls += 1
            raise RuntimeError("never")

    one, other = Counted(), Counted()
    Bench(
        {name: Seat(name, name, each, Subject(name, each)) for name, each in (("a", one), ("b", other))}
    ).call_once()
    assert one.calls >= 1
    assert other.calls >= 1


def test_steps_are_ready_for_json_and_limited(stubborn: Bench) -> None:
    answer = stubborn.trace("né", "s")
    assert answer["cut"]
    assert len(answer["steps"]) == 20
    assert answer["steps"][0]["tokens"] == ["n", "⟨FF⟩"]
    assert answer["steps"][1]["tokens"] == ["⟨6E C3⟩", "⟨FF⟩"], "as `tokbench trace` writes them"
    json.dumps(answer, allow_nan=False)


def test_the_description_has_every_route_and_every_reference_resolves(client: Any) -> None:
    described = client.get("/openapi.json").json()
    assert described == openapi.document(
        VisitorLimits(chars=20_000, trace_chars=40), version=described["info"]["version"]
    )
    routes = {route.path for route in client.app.routes if route.path.startswith("/api/")}
    assert set(described["paths"]) == routes
    names = set(described["components"]["schemas"])
    text = json.dumps(described)
    used = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert used <= names
    assert names - used <= {"About"}
    for ways in described["paths"].values():
        if "post" in ways:  # as other tests have them answered
            assert set(ways["post"]["responses"]) == {"200", "400", "403", "408", "413", "415", "500", "503"}


def test_answers_fit_their_description(client: Any) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    answer = client.post("/api/encode", json={"text": "a b", "tokenizers": ["bytes"]}).json()
    assert set(answer) == set(schemas["Encoded"]["required"])
    assert set(answer["results"][0]) <= set(schemas["Result"]["properties"])
    assert set(client.get("/api/tokenizers").json()) == set(schemas["About"]["required"])


def test_what_is_lost_is_said(tmp_path: Path) -> None:
    plugin = tokenizer_plugin(
        tmp_path / "lower.py",
        "vocab_size, lossless = 0x110000, False\n"
        "encode = staticmethod(lambda text: [ord(each) for each in text.lower()])\n"
        "decode = staticmethod(lambda ids: ''.join(map(chr, ids)))",
    )
    bench = open_bench(build_registry(plugin_files=[plugin]), ["bytes", "lower"])
    for text, kept in (("ab", [True, True]), ("aB", [True, False])):
        assert [each["lossless"] for each in bench.encode(text, ["bytes", "lower"])["results"]] == kept


def test_a_tokenizer_on_offer_is_loaded_by_name_alone(client: Any) -> None:
    before = client.get("/api/tokenizers").json()
    assert before["more"] == [BERT]
    for name in ("notes.txt", "../vocab.txt", f"wordpiece:{Path(__file__)}", "gpt2"):
        refused = client.post("/api/load", json={"tokenizer": name})
        assert refused.status_code == 400
        assert "unknown tokenizer to load" in refused.json()["error"]
    loaded = client.post("/api/load", json={"tokenizer": BERT}).json()
    assert (loaded["spec"], loaded["vocab_size"]) == (BERT, 12)
    assert client.post("/api/load", json={"tokenizer": BERT}).json() == loaded  # once more is no other
    assert client.get("/api/tokenizers").json() == before  # it is there for who asks, and put before nobody
    body = {"text": "New York", "tokenizers": [BERT]}
    (found,) = client.post("/api/encode", json=body).json()["results"]
    assert found["places"] == [[0, 3], [4, 8]]


def test_special_tokens_and_the_chat_template_are_modes(bench: Bench, client: Any) -> None:
    bench.load(BERT)
    ids = {}
    for mode in ("text", "special", "chat"):
        body = {"text": "a [SEP]", "tokenizers": [BERT, "bytes"], "mode": mode}
        found, plain = client.post("/api/encode", json=body).json()["results"]
        ids[mode] = [index for place in found["sequence"] for index in found["spans"][place][1]]
        assert ("error" in plain) == (mode != "text")
    assert 3 not in ids["text"]
    assert ids["special"] == [10, 3]
    assert ids["chat"] == [2, 7, 8, 10, 3, 3]
    body = {"text": "a", "tokenizers": ["bytes"], "mode": "code"}
    assert client.post("/api/encode", json=body).status_code == 400


def test_only_what_is_read_as_data_is_offered(tmp_path: Path, folder: Path) -> None:
    registry = build_registry()
    (tmp_path / "model.bin").write_bytes(b"\x80\x04N.")  # a pickle
    (tmp_path / "link.txt").symlink_to(folder / "vocab.txt")
    assert list(on_offer(registry, [str(tmp_path)])) == []
    assert [name for name, _ in on_offer(registry, [str(folder)])] == [BERT]
    assert ("gpt-4o", "tiktoken:o200k_base") in list(on_offer(registry, ["names"]))
    with pytest.raises(TokbenchError, match="no folder"):
        list(on_offer(registry, [str(tmp_path / "nothing")]))


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


def test_no_path_of_the_server_is_shown(tmp_path: Path) -> None:
    """Not of a file that is missing, nor of one that cannot be read, nor of two that have one name."""
    for folder, text in (("one", "[UNK]\na\nb\n"), ("two", "[UNK]\na\n"), ("bad", "")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "vocab.txt").write_text(text)
    specs = [f"wordpiece:{tmp_path}/{folder}/vocab.txt" for folder in ("one", "two", "bad", "missing")]
    opened = open_bench(build_registry(), [*specs, str(tmp_path / "missing" / "tokenizer.json")])
    said = json.dumps(opened.about(), ensure_ascii=False)
    assert len({*opened.seats}) == 2
    assert len(opened.missing) >= 2
    assert str(tmp_path) not in said


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


def test_what_a_plugin_raises_in_a_trace_carries_the_headers(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: object, text: str, spec: str) -> None:
        raise ZeroDivisionError("half a pair: \ud800")

    monkeypatch.setattr("tokbench.live.bench.Bench.trace", fails)
    answer = client.post("/api/trace", json={"text": "a", "tokenizer": "bytes"})
    assert answer.status_code == 500
    assert answer.json()["error"].startswith("ZeroDivisionError: half a pair")
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.parametrize("origin", ["http://localhost:9999", "http://[", "null", "http://testserver.evil"])
def test_pages_elsewhere_get_no_answer(client: Any, origin: str) -> None:
    given = {"text": "a", "tokenizers": ["bytes"]}
    answer = client.post("/api/encode", json=given, headers={"Origin": origin, "Host": "localhost:8321"})
    assert answer.status_code == 403
    assert "Content-Security-Policy" in answer.headers
