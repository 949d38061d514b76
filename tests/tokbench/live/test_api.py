"""The API: what it answers, what it refuses, and that nothing a visitor sends does harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokbench.live import openapi
from tokbench.live.bench import Bench, VisitorLimits
from tokbench.live.headers import SECURITY

from .conftest import BERT


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


def test_what_a_plugin_raises_in_a_trace_carries_the_headers(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: object, text: str, tokenizer: str) -> None:
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
