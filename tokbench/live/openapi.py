"""The JSON API, described in OpenAPI 3.1."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from tokbench.live.bench import MODES, VisitorLimits


def document(limits: VisitorLimits, *, version: str) -> dict[str, Any]:
    """The description of the API as the server with these limits offers it."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "tokbench",
            "version": version,
            "summary": "Tokenize text with several tokenizers at once.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": {
            "/api/tokenizers": {
                "get": {
                    "operationId": "listTokenizers",
                    "summary": "The tokenizers there are, examples and limits",
                    "responses": {"200": _json("What a page starts from", _ref("About"))},
                }
            },
            "/api/encode": _post(
                "encode", "Tokenize a text with several tokenizers", _json("Tokens", _ref("Encoded")),
                optional=("mode",), text=_text(limits.chars),
                tokenizers={"type": "array", "items": _STRING, "maxItems": limits.tokenizers},
                mode={"enum": list(MODES), "default": "text", "description": "as content, with special tokens "
                      "matched, or as a user's message in the chat template"},
            ),
            "/api/load": _post(
                "load", "Load one of the tokenizers that are on offer",
                _json("The tokenizer", _ref("Tokenizer")), tokenizer=_STRING,
            ),
            "/api/trace": _post(
                "trace", "The steps by which an algorithm arrives at its tokens", _json("Steps", _ref("Trace")),
                text=_text(limits.trace_chars), tokenizer=_STRING,
            ),
        },
        "components": {"schemas": _SCHEMAS},
    }  # fmt: skip


_STRING = {"type": "string"}
_NUMBER = {"type": "number"}
_INTEGER = {"type": "integer"}


def _object(optional: Container[str] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: dict[str, Any], about: str = "") -> dict[str, Any]:
    return {"type": "array", "items": items, **({"description": about} if about else {})}


def _text(most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": most}


def _json(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _post(
    operation: str, summary: str, answer: dict[str, Any], optional: Container[str] = (), **given: dict[str, Any]
) -> dict[str, Any]:
    """What is asked for by an object of `given` properties, and answered so or by an error."""
    schema = {**_object(optional, **given), "additionalProperties": False}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    responses = {"200": answer, **_ERRORS}
    return {"post": {"operationId": operation, "summary": summary, "requestBody": body, "responses": responses}}


_ERRORS = {
    status: _json(about, _ref("Error"))
    for status, about in {
        "400": "Not what this takes; the message says why",
        "403": "A host or an origin that is not this page's",
        "408": "The request did not come in time",
        "413": "Too much text",
        "415": "Not JSON",
        "500": "A tokenizer or a plugin failed; the message says how",
        "503": "As many requests as are served at a time; to be tried again",
    }.items()
}
_SCHEMAS: dict[str, Any] = {
    "Error": _object(error=_STRING),
    "Tokenizer": _object(spec=_STRING, label=_STRING, vocab_size=_INTEGER, traceable={"type": "boolean"}),
    "About": _object(
        tokenizers=_list(_ref("Tokenizer")),
        missing=_list(_object(spec=_STRING, why=_STRING)),
        more=_list(_STRING, "names that `load` takes"),
        examples=_list(_object(title=_STRING, text=_STRING)),
        limits=_object(chars=_INTEGER, trace_chars=_INTEGER),
    ),
    "Result": _object(
        spec=_STRING,
        error={**_STRING, "description": "there instead of everything below where the tokenizer failed"},
        tokens=_INTEGER,
        bytes_per_token={"type": ["number", "null"]},
        milliseconds=_NUMBER,
        exact={"type": "boolean", "description": "whether the tokens' bytes add up to the text's"},
        places={
            "type": ["array", "null"],
            "description": "where each token stands in the text's bytes, where its own bytes do not tell",
        },
        lossless={"type": "boolean", "description": "whether decoding gives the text back"},
        spans=_list(
            {"type": "array"},
            "distinct runs of whole characters: text shown, ids, bytes in hex, kind, ranks by frequency",
        ),
        sequence=_list(_INTEGER, "the number of the span at each place of the text"),
    ) | {"required": ["spec"]},
    "Encoded": _object(chars=_INTEGER, bytes=_INTEGER, results=_list(_ref("Result"))),
    "Step": _object(
        kind=_STRING, tokens=_list(_STRING), changed={"type": ["integer", "null"]}, note=_STRING,
        detail={"type": "object"},
    ),
    "Trace": _object(spec=_STRING, steps=_list(_ref("Step")), cut={"type": "boolean"}),
}  # fmt: skip
