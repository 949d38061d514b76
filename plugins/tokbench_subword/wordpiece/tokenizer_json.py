"""A WordPiece model of a `tokenizer.json`, and back.

Read are the vocabulary, normalizer and pre-tokenizer, the decoder and added tokens. Padding and truncation are
set aside, and the post-processor (``[CLS] … [SEP]``) is only kept to be written: encoding is content only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.pipeline.added_tokens import check_numbers, numbered
from tokbench_subword.pipeline.bert import NO_RULES, BertRules
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.wordpiece.encoder import WordPiecePreparation
from tokbench_subword.wordpiece.model import Pipeline, WordPieceModel, bert_pipeline


def model_of_document(document: TokenizerJson, *, where: str) -> WordPieceModel:
    """The model of a `tokenizer.json`; `where` names it in errors.

    Raises `TokenizerError` for another kind of model, for components that are not supported (by name) and for
    damaged vocabularies.
    """
    model = document.model
    if "vocab" not in model:
        raise TokenizerError(f"{where}: its model has no vocabulary")
    kind = model.get("type", "WordPiece" if "max_input_chars_per_word" in model else None)
    if kind != "WordPiece":
        raise TokenizerError(
            f"{where}: its model is {kind or 'of no stated type'}, not WordPiece; "
            "open it with bpe:, unigram: or transformers:"
        )
    vocabulary = model["vocab"]
    if not isinstance(vocabulary, Mapping) or not all(type(index) is int for index in vocabulary.values()):
        raise TokenizerError(
            f"{where}: the vocabulary of a WordPiece model must give each token a whole number"
        )
    by_id: dict[int, str] = {}
    for token, index in vocabulary.items():
        other = by_id.setdefault(index, token)
        if other != token:
            raise TokenizerError(f"{where}: the id {index} belongs to {other!r} and to {token!r}")
    decoder = document.decoder or {}
    prefix, longest = model.get("continuing_subword_prefix", "##"), model.get("max_input_chars_per_word", 100)
    if not isinstance(prefix, str) or type(longest) is not int:
        raise TokenizerError(
            f"{where}: its continuing_subword_prefix is {prefix!r:.80} and its max_input_chars_per_word "
            f"{longest!r:.80}: a WordPiece model has a text and a whole number"
        )
    own = _kind(decoder) == "WordPiece" and decoder.get("prefix", "##") == prefix
    rules, pipeline = _rules(document)
    try:
        decoder_of(document.decoder)
        read = WordPieceModel(
            vocabulary=dict(vocabulary),
            unk_token=model.get("unk_token", "[UNK]"),
            prefix=prefix,
            max_input_chars_per_word=longest,
            rules=rules,
            pipeline=pipeline,
            added_tokens=document.added_tokens,
            cleanup=bool(decoder.get("cleanup", True)),
            decoder=None if own else decoder,
            post_processor=document.post_processor,
        )
        WordPiecePreparation.of(read)
    except TokenizerError as error:
        raise TokenizerError(f"{where}: {error}") from error
    check_numbers(document.added_tokens, vocabulary, where=where)
    return read


def _kind(component: Any) -> str:
    return str(component.get("type", "")) if isinstance(component, Mapping) else ""


def _rules(document: TokenizerJson) -> tuple[BertRules, Pipeline | None]:
    """BERT's rules, where normalizer and pre-tokenizer come down to them; else the two as they are."""
    normalizer: Any = document.normalizer
    pre_tokenizer: Any = document.pre_tokenizer
    while _kind(normalizer) == "Sequence" and len(normalizer.get("normalizers", ())) == 1:
        normalizer = normalizer["normalizers"][0]
    if _kind(pre_tokenizer) == "BertPreTokenizer" and (
        normalizer is None or _kind(normalizer) == "BertNormalizer"
    ):
        return (NO_RULES if normalizer is None else BertRules.from_json(normalizer)), None
    return NO_RULES, Pipeline(normalizer, pre_tokenizer)


def document_of_model(model: WordPieceModel) -> TokenizerJson:
    """The `tokenizer.json` that `tokenizers` and `transformers` open with the same ids."""
    pipeline = model.pipeline or bert_pipeline(model.rules)
    vocabulary = dict(model.vocabulary)
    if any(token.id != index for token, index in numbered(model.added_tokens, vocabulary)):
        vocabulary |= {token.content: token.id for token in model.added_tokens}
    own = {"type": "WordPiece", "prefix": model.prefix, "cleanup": model.cleanup}
    return TokenizerJson(
        added_tokens=model.added_tokens,
        normalizer=pipeline.normalizer,
        pre_tokenizer=pipeline.pre_tokenizer,
        post_processor=model.post_processor,
        decoder=own if model.decoder is None else model.decoder or None,
        model={
            "type": "WordPiece",
            "unk_token": model.unk_token,
            "continuing_subword_prefix": model.prefix,
            "max_input_chars_per_word": model.max_input_chars_per_word,
            "vocab": dict(sorted(vocabulary.items(), key=lambda item: item[1])),
        },
    )
