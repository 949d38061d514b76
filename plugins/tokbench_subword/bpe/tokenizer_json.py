"""A whole `tokenizer.json` of the type BPE: the model of one, and the one of a model that came without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.json_model import json_of_model, model_of_json
from tokbench_subword.bpe.model import BpeModel, Level
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.pipeline.added_tokens import AddedToken, check_numbers, numbered
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.patterns import CL100K_IN_RUBY, NAMED, Pattern
from tokbench_subword.pipeline.patterns.writing import in_ruby


def model_of_document(document: TokenizerJson, *, where: str) -> BpeModel:
    """The model of a `tokenizer.json`; raises `TokenizerError` naming what is wrong or not known."""
    try:
        preparation = BpePreparation.of(document)
        decoder_of(document.decoder)
    except TokenizerError as error:
        raise TokenizerError(f"{where}: {error}") from error
    model = model_of_json(
        document.model,
        level=preparation.level,
        pattern=preparation.pattern or Pattern("none"),
        special_tokens={token.content: token.id for token in document.added_tokens if token.special},
        where=where,
    )
    check_numbers(document.added_tokens, document.model["vocab"], where=where)
    return model


def complete_document(model: BpeModel, document: TokenizerJson) -> TokenizerJson:
    """The document with the model in it: all that a `tokenizer.json` holds."""
    content = json_of_model(model)
    if any(token.id != index for token, index in numbered(document.added_tokens, content["vocab"])):
        content = json_of_model(model, names={token.id: token.content for token in document.added_tokens})
    return document.with_model(content)


def document_of_model(model: BpeModel) -> TokenizerJson:
    """The document around a model that did not come with one; its special tokens are the added ones.

    Raises `TokenizerError` for a pattern that `tokenizers` cannot be told.
    """
    added = tuple(
        AddedToken(text, index, normalized=False, special=True)
        for text, index in sorted(model.special_tokens.items(), key=lambda item: item[1])
    )
    document = document_around(model.pattern, model.level, end_of_word=model.end_of_word)
    return replace(document, added_tokens=added)


def document_around(pattern: Pattern, level: Level, *, end_of_word: str = "") -> TokenizerJson:
    """`document_of_model` without added tokens, for what has no model yet."""
    own = level == "byte" and pattern.name == "gpt2"  # the pattern that `ByteLevel` cuts by itself
    steps = [] if own or pattern.name == "none" else [split_of(pattern)]
    if level == "byte":
        steps.append(_byte_level(use_regex=own))
        decoder = _byte_level(use_regex=True)
    else:
        decoder = {"type": "BPEDecoder", "suffix": end_of_word} if end_of_word else {"type": "Fuse"}
    cutting = {"type": "Sequence", "pretokenizers": steps} if len(steps) > 1 else next(iter(steps), None)
    return TokenizerJson(model={}, pre_tokenizer=cutting, decoder=decoder)


def split_of(pattern: Pattern) -> dict[str, Any]:
    """The pre-tokenizer that cuts by a pattern, as `tokenizers` writes patterns."""
    if pattern.name:
        source = CL100K_IN_RUBY if pattern.name == "cl100k" else NAMED[pattern.name]
    else:
        source = in_ruby(pattern.source) if pattern.dialect == "rust" else pattern.source
    matches = bool(not pattern.name and not pattern.keep_gaps)  # alone are pre-tokens, not what lies between
    behavior = "Removed" if matches else "Isolated"
    return {"type": "Split", "pattern": {"Regex": source}, "behavior": behavior, "invert": matches}


def _byte_level(*, use_regex: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
