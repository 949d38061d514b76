"""Writes a BPE tokenizer in the format that a path names; a converted file is proved to give the same ids."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.vocabulary_files import read_ranks, write_ranks
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.bpe.ranks import model_of_ranks, ranks_of
from tokbench_subword.bpe.served import document_of_gguf, gguf_of, model_of_tekken, tekken_of
from tokbench_subword.bpe.tokenizer_json import (
    complete_document,
    document_of_model,
    model_of_document,
    own_texts,
)
from tokbench_subword.bpe.vocab_merges import check_pair, model_of_pair, save_pair
from tokbench_subword.files import formats
from tokbench_subword.files.gguf import write_gguf
from tokbench_subword.files.probes import probes_of
from tokbench_subword.files.proof import (
    Encode,
    Proof,
    by_mistral,
    by_tiktoken,
    is_converted,
    json_content,
    write_json,
    write_proved,
)
from tokbench_subword.files.tekken import write_tekken
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.words.prepared import PreparedEncoder

if TYPE_CHECKING:
    from tokbench_subword.bpe.tokenizer import BpeTokenizer

Conversion = dict[str, Any]
"""The arguments `write`, `read` and `unsaid` of `write_proved`: how to write the format, how to encode with the
written file, and what the format cannot express.
"""


def save(tokenizer: BpeTokenizer, path: str | os.PathLike[str]) -> None:
    """Write a tokenizer in the format that the path names; see `BpeTokenizer.save`."""
    target = Path(path)
    conversion = _conversion(target, tokenizer)
    if conversion is not None:
        write_proved(target, **conversion, **_proof(tokenizer)())
        return
    formats.check_ending(tokenizer.name, target, formats.BPE)
    document = complete_document(tokenizer.model, tokenizer.document)
    changed = is_converted(tokenizer.source) or _names_added(document, tokenizer.model)
    write_json(document, target, proof=_proof(tokenizer) if changed else None)


def proved_content(tokenizer: BpeTokenizer) -> dict[str, Any]:
    """A tokenizer as the content of a `tokenizer.json`; see `BpeTokenizer.to_dict`."""
    document = complete_document(tokenizer.model, tokenizer.document)
    return json_content(document, proof=_proof(tokenizer) if _names_added(document, tokenizer.model) else None)


def _names_added(document: TokenizerJson, model: BpeModel) -> bool:
    """Whether a complete document lists added tokens in the vocabulary, so that the model may produce them."""
    return len(document.model["vocab"]) > len(own_texts(model))


def _proof(tokenizer: BpeTokenizer) -> Proof:
    tokens = tokenizer.token_bytes_batch
    return lambda: {
        "source": tokenizer._encode_of_files,
        "probes": probes_of(tokens(range(tokenizer.vocab_size)), tokenizer.document.added_tokens),
        "name": tokenizer.name,
    }


MOST_STATED = 8
"""A spec lists at most this many special tokens; more would be unreadable."""


def unsaid_in(path: Path, model: BpeModel) -> dict[str, str]:
    """The options needed to open the written file `path` as `model`; see `BpeTokenizer.unsaid_in`."""
    special = model.special_tokens
    if path.suffix != ".tiktoken" or not model.pattern.as_rust():
        return {}
    if len(special) > MOST_STATED or any(len(text.split()) != 1 for text in special):
        return {}
    stated = " ".join(f"{text}={index}" for text, index in special.items())
    return {"pattern": str(model.pattern)} | ({"special_tokens": stated} if stated else {})


def _conversion(path: Path, tokenizer: BpeTokenizer) -> Conversion | None:
    """The conversion to the format that a path names; None for a `tokenizer.json`."""
    model, document, name = tokenizer.model, tokenizer.document, tokenizer.name
    unsaid = _unsaid(model, tokenizer._preparation, added_tokens=path.suffix == ".gguf")
    write: Callable[[Path], None]
    read: Callable[[Path], Encode]
    if path.suffix == ".tiktoken":
        write, read = partial(write_ranks, ranks_of(model)), partial(_ranks_encoder, model.pattern)
    elif path.suffix == ".gguf":
        write, read = partial(write_gguf, gguf_of(model, document, name=name)), _gguf_encoder
    elif formats.is_tekken(path):
        write, read = partial(write_tekken, tekken_of(model, name=name)), _tekken_encoder
    elif not path.suffix or path.is_dir():
        check_pair(model, document)
        write, read = partial(save_pair, model, document), _pair_encoder
    else:
        return None
    return {"write": write, "read": read, "unsaid": unsaid}


def _unsaid(model: BpeModel, preparation: BpePreparation, *, added_tokens: bool) -> list[str]:
    """Parts of the text preparation that a file of tokens (with `added_tokens` or without) cannot store."""
    document = preparation.document
    unsaid = []
    if normalizers := [str(step["type"]) for step in steps_of(document.normalizer, "normalizers")]:
        unsaid.append(f"its normalizer ({', '.join(normalizers)})")
    if preparation.pattern is None and model.pattern.name == "none":
        unsaid.append("how it cuts text (not by a single pattern)")
    if preparation.prefix_space:
        unsaid.append("the space it puts before a text")
    tokens = [token for token in document.added_tokens if not token.special]
    if added_tokens:  # the tokens are stored, but not how they match the text around them
        tokens = [token for token in tokens if token.lstrip or token.rstrip or token.single_word]
    if tokens:
        unsaid.append(f"its added tokens ({', '.join(repr(token.content) for token in tokens[:3])})")
    return unsaid


def _ranks_encoder(pattern: Pattern, path: Path) -> Encode:
    ranks = read_ranks(path)
    theirs = by_tiktoken(ranks, pattern.as_rust()) if pattern.as_rust() else None
    return theirs or _encoder(model_of_ranks(ranks, pattern=pattern))


def _tekken_encoder(path: Path) -> Encode:
    return by_mistral(path) or _encoder(model_of_tekken(path))


def _pair_encoder(folder: Path) -> Encode:
    return _encoder(model_of_pair(folder / "vocab.json", folder / "merges.txt", pattern=Pattern("gpt2")))


def _gguf_encoder(path: Path) -> Encode:
    document = document_of_gguf(path)
    return _encoder(model_of_document(document, where=str(path)), document)


def _encoder(model: BpeModel, document: TokenizerJson | None = None) -> Encode:
    """Our encoding with a model, and with the given document or the default one."""
    preparation = BpePreparation.around(model, document or document_of_model(model))
    return PreparedEncoder(preparation.compiled, preparation.encoder(model)).encode
