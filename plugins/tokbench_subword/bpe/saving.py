"""A `BpeTokenizer` as files, as a dictionary, and as facts for reports."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench_subword.bpe.json_model import json_of_model
from tokbench_subword.files import formats
from tokbench_subword.files.tokenizer_json import Document, steps_of, write_document
from tokbench_subword.pipeline.added_tokens import numbered

if TYPE_CHECKING:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer


def complete_document(tokenizer: BpeTokenizer) -> Document:
    """The document with the model in it: all that a `tokenizer.json` holds."""
    model, document = tokenizer.model, tokenizer.document
    names = {token.id: token.content for token in document.added_tokens if token.special}
    inside = {i: name for i, name in names.items() if i < len(model.vocabulary)}
    content = json_of_model(model, names=inside)
    if any(token.id != index for token, index in numbered(document.added_tokens, content["vocab"])):
        content = json_of_model(model, names={token.id: token.content for token in document.added_tokens})
    return document.with_model(content)


def save(tokenizer: BpeTokenizer, path: str | os.PathLike[str]) -> None:
    """Write a tokenizer in the format that the path names; see `BpeTokenizer.save`."""
    target = Path(path)
    if target.suffix == ".tiktoken":
        from tokbench_subword.bpe.ranks import ranks_of
        from tokbench_subword.files.ranks import write_ranks

        write_ranks(ranks_of(tokenizer.model), target)
    elif not target.suffix or target.is_dir():
        from tokbench_subword.bpe.vocab_merges import save_pair

        save_pair(tokenizer, target)
    else:
        formats.check_ending(tokenizer.name, target, formats.BPE)
        write_document(complete_document(tokenizer), target)


def facts(tokenizer: BpeTokenizer) -> dict[str, Any]:
    """What a tokenizer is, ready for JSON."""
    model, document = tokenizer.model, tokenizer.document
    pattern = tokenizer._preparation.pattern
    normalizer = [step["type"] for step in steps_of(document.normalizer, "normalizers")]
    cutting = [step["type"] for step in steps_of(document.pre_tokenizer, "pretokenizers")]
    return {
        "algorithm": "BPE",
        "level": model.level,
        "normalizer": " + ".join(normalizer) or None,
        "pre_tokenizer": str(pattern) if pattern else " + ".join(cutting),
        "unicode_version": model.unicode_version,
        "byte_fallback": model.byte_fallback,
        "merges": len(model.merges),
        "dropout": model.dropout,
        "special_tokens": {t.content: t.id for t in document.added_tokens if t.special},
        "added_tokens": {t.content: t.id for t in document.added_tokens if not t.special},
        "library": "tokbench (in-house)",
        "files": [tokenizer.source] if tokenizer.source else [],
    }
