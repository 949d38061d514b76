"""The live page's web application (ASGI): the page, its assets, the JSON API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import tokbench
from tokbench.errors import UnknownNameError, described
from tokbench.live import openapi
from tokbench.live.bench import Bench, RequestError, without_folders
from tokbench.live.headers import LOOPBACK, SECURITY, Guard
from tokbench.reports.html.assemble import asset, environment

HTML, TOKENVIEW, LIVE = "tokbench.reports.html", "tokbench.reports.tokenview", "tokbench.live"


BODY_WITHIN = 20.0
"""Seconds in which the rest of a request must have come, once its headers have."""


def build_app(bench: Bench, *, hosts: Sequence[str] = LOOPBACK) -> Starlette:
    """The application over a bench; `hosts` are the names it answers to."""
    css = "\n".join([asset("base.css", HTML), asset("tokens.css", TOKENVIEW), asset("live.css", LIVE)])
    script = asset("tokens.js", TOKENVIEW) + asset("live.js", LIVE)
    page = environment().from_string(asset("live.html", LIVE)).render(version=tokbench.__version__)
    described = openapi.document(bench.limits, version=tokbench.__version__)
    most = bench.limits.body_bytes

    def fixed(content: str, kind: str) -> Callable[[Request], Response]:
        return lambda request: Response(content, media_type=kind)

    routes = [
        Route("/", fixed(page, "text/html")),
        Route("/live.css", fixed(css, "text/css")),
        Route("/live.js", fixed(script, "text/javascript")),
        Route("/openapi.json", lambda request: JSONResponse(described)),
        Route("/api/tokenizers", lambda request: JsonAnswer(bench.about())),
        _post("/api/encode", partial(_encode, bench), most, optional=("mode",), text=str, tokenizers=list),
        _post("/api/load", lambda given: bench.load(given["tokenizer"]), most, tokenizer=str),
        _post("/api/trace", lambda given: bench.trace(**given), most, text=str, tokenizer=str),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={HTTPException: _refused, Exception: _failed},
    )


def _refused(request: Request, error: Exception) -> Response:
    """What is not served at all, as JSON: another path, another method."""
    assert isinstance(error, HTTPException)
    said = f"{error.detail}: {request.method} {request.url.path}"
    return JsonAnswer(
        {"error": f"{said} is nothing that is served here; see /openapi.json"}, error.status_code, error.headers
    )


def _failed(request: Request, error: Exception) -> Response:
    """What a plugin raised, as JSON; it may raise anything, and its answer carries our headers all the same."""
    return JsonAnswer({"error": without_folders(described(error))}, 500, SECURITY)


def _encode(bench: Bench, given: Mapping[str, Any]) -> Any:
    if not all(isinstance(spec, str) for spec in given["tokenizers"]):
        raise RequestError("'tokenizers' must be a list of strings")
    return bench.encode(given["text"], given["tokenizers"], given.get("mode", "text"))


def _post(
    path: str,
    answer: Callable[[Mapping[str, Any]], Any],
    most: int,
    *,
    optional: Sequence[str] = (),
    **wanted: type,
) -> Route:
    """What is answered, in a thread, to a JSON object of at most `most` bytes with the wanted fields.

    Others than these and the `optional` ones are refused: a slip would be answered as if it were not there.
    """

    async def endpoint(request: Request) -> Response:
        try:
            given = await _given(request, most, **wanted)
            if unknown := [*given.keys() - {*wanted, *optional}]:
                raise RequestError(str(UnknownNameError.of("field", unknown[0], (*wanted, *optional))))
            return JsonAnswer(await run_in_threadpool(answer, given))
        except RequestError as error:
            return JsonAnswer({"error": str(error)}, error.status)
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception as error:
            return _failed(request, error)

    return Route(path, endpoint, methods=["POST"])


class JsonAnswer(JSONResponse):
    """JSON of any text: lone surrogates, which a plugin's message may hold, are written as JSON's escapes."""

    def render(self, content: Any) -> bytes:
        """The bytes of an answer."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "backslashreplace")


async def _given(request: Request, most: int, **wanted: type) -> dict[str, Any]:
    """The request's JSON object, read no further than `most` bytes, with every wanted field of its type."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise RequestError("send JSON, with Content-Type: application/json", 415)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_WITHIN):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise RequestError(f"the request is larger than {most:,} bytes", 413)
    except TimeoutError:
        raise RequestError(f"the request did not come within {BODY_WITHIN:g} seconds", 408) from None
    try:
        given = json.loads(bytes(body))
    except (ValueError, RecursionError) as error:
        raise RequestError(f"not JSON: {error}") from error
    for name, kind in wanted.items():
        if not isinstance(given, dict) or not isinstance(given.get(name), kind):
            raise RequestError(f"expected an object with {name!r}: {_KINDS[kind]}")
    return dict(given)


_KINDS: dict[type, str] = {str: "a string", list: "a list of strings"}
