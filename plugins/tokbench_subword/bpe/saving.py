"""A `BpeTokenizer` as files, as a dictionary, and as facts for reports."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench_subword.bpe.json_model import json_of_model
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.ranks import model_of_ranks, ranks_of
from tokbench_subword.bpe.served import of_gguf, of_tekken, to_gguf, to_tekken
from tokbench_subword.bpe.vocab_merges import check_pair, model_of_pair, save_pair
from tokbench_subword.files import formats
from tokbench_subword.files.gguf import write_gguf
from tokbench_subword.files.probes import probes, texts_of
from tokbench_subword.files.proof import Encode, by_mistral, by_tiktoken, by_tokenizers, write_proved
from tokbench_subword.files.ranks import read_ranks, write_ranks
from tokbench_subword.files.recognising import format_of
from tokbench_subword.files.tekken import write_tekken
from tokbench_subword.files.tokenizer_json import TokenizerJson, steps_of, write_document
from tokbench_subword.pipeline.added_tokens import numbered
from tokbench_subword.pipeline.patterns import Pattern

if TYPE_CHECKING:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer


def complete_document(tokenizer: BpeTokenizer) -> TokenizerJson:
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
        ranks = ranks_of(tokenizer.model)
        _save_proved(
            tokenizer,
            target,
            write=lambda aside: write_ranks(ranks, aside),
            read=lambda aside: _with_ranks(read_ranks(aside), tokenizer.model.pattern),
            unsaid=_unsaid_beside_tokens(tokenizer),
        )
    elif target.suffix == ".gguf":
        vocabulary = to_gguf(tokenizer)
        _save_proved(
            tokenizer,
            target,
            write=lambda aside: write_gguf(vocabulary, aside),
            read=lambda aside: of_gguf(aside).encode,
            unsaid=_unsaid_beside_tokens(tokenizer, added_tokens=True),
        )
    elif target.suffix == ".json" and "tekken" in target.name:
        tekken = to_tekken(tokenizer)
        _save_proved(
            tokenizer,
            target,
            write=lambda aside: write_tekken(tekken, aside),
            read=lambda aside: by_mistral(aside) or of_tekken(aside).encode,
            unsaid=_unsaid_beside_tokens(tokenizer),
        )
    elif not target.suffix or target.is_dir():
        check_pair(tokenizer)
        _save_proved(
            tokenizer,
            target,
            write=lambda aside: save_pair(tokenizer, aside),
            read=_with_pair,
            unsaid=_unsaid_beside_tokens(tokenizer),
        )
    else:
        formats.check_ending(tokenizer.name, target, formats.BPE)
        document = complete_document(tokenizer)
        source = Path(tokenizer.source)
        if tokenizer.source and source.is_file() and format_of(source) != "tokenizer.json":
            _save_proved(
                tokenizer, target, write=lambda aside: write_document(document, aside), read=_with_json
            )
        else:  # nothing is converted
            write_document(document, target)


def _save_proved(tokenizer: BpeTokenizer, path: Path, **how: Any) -> None:
    """Write a file and keep it where it gives the tokenizer's ids; see `files.proof`."""
    added = tokenizer.document.added_tokens
    texts = probes(
        texts_of(tokenizer.token_bytes_batch(range(tokenizer.vocab_size))),
        symbols=[token.content for token in added if not token.special],
        never=[token.content for token in added if token.special],
    )
    source = tokenizer.with_dropout(0.0) if tokenizer.model.dropout else tokenizer
    write_proved(path, source=source.encode, probes=texts, name=tokenizer.name, **how)


def _unsaid_beside_tokens(tokenizer: BpeTokenizer, *, added_tokens: bool = False) -> list[str]:
    """What a tokenizer does to text that a file of tokens alone, or with `added_tokens`, has no place for."""
    document, preparation = tokenizer.document, tokenizer._preparation
    unsaid = []
    if normalizers := [str(step["type"]) for step in steps_of(document.normalizer, "normalizers")]:
        unsaid.append(f"its normalizer ({', '.join(normalizers)})")
    if preparation.pattern is None and tokenizer.model.pattern.name == "none":
        unsaid.append("how it cuts text, which is no pattern alone")
    if preparation.prefix_space:
        unsaid.append("the space it puts before a text")
    tokens = [token for token in document.added_tokens if not token.special]
    if added_tokens:  # those have a place, what is around them has not
        tokens = [token for token in tokens if token.lstrip or token.rstrip or token.single_word]
    if tokens:
        unsaid.append(f"its added tokens ({', '.join(repr(token.content) for token in tokens[:3])})")
    return unsaid


def _with_ranks(ranks: dict[bytes, int], pattern: Pattern) -> Encode:
    theirs = by_tiktoken(ranks, pattern.as_rust()) if pattern.as_rust() else None
    return theirs or _ours(model_of_ranks(ranks, pattern=pattern))


def _with_pair(folder: Path) -> Encode:
    return _ours(model_of_pair(folder / "vocab.json", folder / "merges.txt", pattern=Pattern("gpt2")))


def _ours(model: BpeModel) -> Encode:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer

    return BpeTokenizer.of_model(model).encode


def _with_json(path: Path) -> Encode:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer

    return by_tokenizers(path) or BpeTokenizer.from_file(path).encode


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
        **tokenizer._preparation.compiled.ways,
        "unicode_version": model.unicode_version,
        "byte_fallback": model.byte_fallback,
        "merges": len(model.merges),
        "dropout": model.dropout,
        "special_tokens": {t.content: t.id for t in document.added_tokens if t.special},
        "added_tokens": {t.content: t.id for t in document.added_tokens if not t.special},
        "word_cache_bytes": tokenizer.cache,
        "library": "tokbench (in-house)",
        "files": [tokenizer.source] if tokenizer.source else [],
    }
