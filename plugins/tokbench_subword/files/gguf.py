"""The vocabulary in a GGUF file, as llama.cpp keeps it, read and written with the package `gguf`.

Only what a vocabulary is made of is looked at: a file of a whole model is not read to its end.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError

MAGIC = b"GGUF"
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""The types of tokens, as the format numbers them."""

_PREFIX = "tokenizer.ggml."


@dataclass(frozen=True, slots=True)
class GgufVocabulary:
    """`model` is ``gpt2`` for byte-level BPE, `pre` names the cuts, tokens are spelled as in vocab.json."""

    model: str
    pre: str
    tokens: Sequence[str]
    types: Sequence[int]
    merges: Sequence[str] = ()


def is_gguf(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as GGUF does; looks at four bytes."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(4) == MAGIC
    except OSError:
        return False


def _library() -> Any:
    try:
        return importlib.import_module("gguf")
    except ImportError as error:
        raise TokenizerError(
            "GGUF files need the package gguf, which is not installed: pip install 'tokbench[gguf]'"
        ) from error


def read_gguf(path: str | os.PathLike[str]) -> GgufVocabulary:
    """The vocabulary in a file; raises `TokenizerError` for a damaged file, and for one that has none."""
    library = _library()
    try:
        reader = library.GGUFReader(os.fspath(path))
        values = {
            name: field.contents()
            for name in ("model", "pre", "tokens", "token_type", "merges")
            if (field := reader.get_field(_PREFIX + name)) is not None
        }
    except Exception as error:  # the library raises whatever numpy and its parser do
        raise TokenizerError(f"{path}: is damaged GGUF: {type(error).__name__}: {error}") from error
    if "model" not in values or "tokens" not in values:
        raise TokenizerError(f"{path}: is GGUF without a vocabulary: it has no {_PREFIX}tokens")
    tokens = values["tokens"]
    return GgufVocabulary(
        str(values["model"]),
        str(values.get("pre", "default")),
        tokens,
        [int(kind) for kind in values.get("token_type", [NORMAL] * len(tokens))],
        values.get("merges", ()),
    )


def write_gguf(vocabulary: GgufVocabulary, path: str | os.PathLike[str]) -> None:
    """Write a file with the vocabulary alone, as llama.cpp's own vocabulary files are."""
    library = _library()
    writer = library.GGUFWriter(os.fspath(path), "llama")
    writer.add_tokenizer_model(vocabulary.model)
    writer.add_tokenizer_pre(vocabulary.pre)
    writer.add_token_list(list(vocabulary.tokens))
    writer.add_token_types(list(vocabulary.types))
    if vocabulary.merges:
        writer.add_token_merges(list(vocabulary.merges))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
