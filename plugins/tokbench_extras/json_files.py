"""Shared by adapters of libraries that open a `tokenizer.json`: reading the file, handling special tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokbench import Spec, SpecError, TokenizerError
from tokbench_extras.libraries import failure, first_line, matches_special


@dataclass(frozen=True, slots=True)
class Told:
    """The content of a file as passed to a library: without special tokens unless they are to be matched."""

    content: Mapping[str, Any]
    special_tokens: Mapping[str, int]
    vocab_size: int


def path_of(spec: Spec) -> Path:
    """The `tokenizer.json` that a spec names, by itself or by its folder."""
    if not spec.variant:
        raise SpecError(f"{spec.family}: name a tokenizer.json or its folder: {spec.family}:PATH")
    path = Path(spec.variant).expanduser()
    return path / "tokenizer.json" if path.is_dir() else path


def opened(
    spec: Spec, library: str, load: Callable[[str], Any], *, keep_unknown: bool = False
) -> tuple[Any, Told]:
    """The result of `load` for the file's text, and the content passed; raises `TokenizerError` on failure.

    The libraries always match the special tokens they know. Without ``special=match`` these are removed from
    the file's content, except the unknown token with `keep_unknown`.
    """
    path = path_of(spec)
    if not path.is_file():
        raise TokenizerError(f"{spec}: there is no file {path}")
    match, what = matches_special(spec), f"{spec}: {library} cannot load {path}"
    try:
        content = json.loads(path.read_bytes())
        wrong = _fault(content)
    except (ValueError, RecursionError) as error:
        wrong = f"it is not JSON ({first_line(error)}); is it complete?"
    if wrong:
        raise TokenizerError(f"{what}: {wrong}")
    model = content["model"]
    unknown = {model.get("unk_token"), model.get("unk_id")} if keep_unknown else set()
    added = [
        token
        for token in content.get("added_tokens") or []
        if match or not token.get("special") or {token["content"], token["id"]} & unknown
    ]
    told = {**content, "added_tokens": added}
    try:
        tokenizer = load(json.dumps(told))
    except BaseException as error:  # what Rust gives, a panic among it
        raise failure(what, error) from error
    vocab = model["vocab"]
    ids = [*(vocab.values() if isinstance(vocab, dict) else range(len(vocab)))]
    size = max([*ids, *(token["id"] for token in added)], default=-1) + 1
    special = {token["content"]: token["id"] for token in added if token.get("special")}
    return tokenizer, Told(told, special, size)


def _fault(content: Any) -> str:
    """Why JSON is not a `tokenizer.json`; empty if it is one."""
    if not isinstance(content, dict):
        return "it is JSON, but not an object"
    model, added = content.get("model"), content.get("added_tokens") or []
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict | list):
        return 'it lacks "model", an object, with "vocab" in it'
    if not isinstance(added, list) or not all(
        isinstance(one, dict) and isinstance(one.get("content"), str) and isinstance(one.get("id"), int)
        for one in added
    ):
        return "its added_tokens are not a list of tokens, each with content and id"
    return ""
