"""Tekken's `tekken.json`, as mistral-common reads it: ranks, a pattern, and special tokens with the first ids.

The id of an ordinary token is its rank plus the number of special tokens. Ranks past the stated vocabulary size
are in the file but not used.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.tokenizer import whole_text
from tokbench.vocabulary_files import read_text
from tokbench_subword.files.tokenizer_json import parse

_FIRST = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
"""The special tokens of files that name none (the earliest versions); further ones are ``<SPECIAL_n>``."""
_MOST_SPECIAL = 1 << 16
"""The most special tokens that a file may have; Mistral's have a thousand."""


@dataclass(frozen=True, slots=True)
class Tekken:
    """The content of a file: ranks from 0 on by the bytes of tokens, special tokens by id, and the pattern."""

    ranks: Mapping[bytes, int]
    special_tokens: Mapping[str, int]
    pattern: str
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The id of rank 0."""
        return len(self.special_tokens)


def read_tekken(path: str | os.PathLike[str]) -> Tekken:
    """The content of a `tekken.json`; raises `TokenizerError` naming what is wrong."""
    where = os.fspath(path)
    content = parse(read_text(path), where)
    try:
        config = content["config"]
        pattern = config["pattern"]
        if not isinstance(pattern, str):
            raise TypeError(f"its pattern is {pattern!r:.80}, no text")
        count = index(config["default_num_special_tokens"])
        size = index(config["default_vocab_size"]) - count
        ranks: dict[bytes, int] = {}
        for entry in content["vocab"]:
            rank = index(entry["rank"])
            if rank < size:
                ranks[base64.b64decode(entry["token_bytes"], validate=True)] = rank
        listed = content.get("special_tokens") or ()
        named = {index(entry["rank"]): str(entry["token_str"]) for entry in listed}
    except KeyError as error:
        raise TokenizerError(f"{where}: is not a whole tekken.json: {error} is not there") from error
    except (TypeError, ValueError, AttributeError, OverflowError, binascii.Error) as error:
        raise TokenizerError(f"{where}: is no tekken.json, or damaged: {error}") from error
    if not 0 <= count <= _MOST_SPECIAL:
        raise TokenizerError(f"{where}: is damaged: default_num_special_tokens is {count}")
    for place, text in named.items():
        if not 0 <= place < count:
            raise TokenizerError(
                f"{where}: the special token {text!r} has the rank {place}, outside those of the {count} there "
                "are (default_num_special_tokens)"
            )
    if not named:
        named = dict(enumerate(_FIRST[:count]))
    special = {named.get(place, f"<SPECIAL_{place}>"): place for place in range(count)}
    if sorted(ranks.values()) != list(range(len(ranks))) or len(special) != count or len(named) < len(listed):
        raise TokenizerError(f"{where}: a rank, a token or a special token is missing or given twice")
    return Tekken(ranks, special, pattern, config)


def write_tekken(tekken: Tekken, path: str | os.PathLike[str]) -> None:
    """Write a `tekken.json`."""
    ordered = sorted(tekken.ranks.items(), key=lambda item: item[1])
    content = {
        "config": {
            "pattern": tekken.pattern,
            "num_vocab_tokens": len(ordered),
            "default_vocab_size": len(ordered) + tekken.first,
            "default_num_special_tokens": tekken.first,
            "version": "v3",
            **{name: value for name, value in tekken.config.items() if name == "version"},
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": whole_text(token)}
            for token, rank in ordered
        ],
        "special_tokens": [
            {"rank": place, "token_str": text, "is_control": True}
            for text, place in sorted(tekken.special_tokens.items(), key=lambda item: item[1])
        ],
    }
    Path(path).write_text(
        json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n"
    )
