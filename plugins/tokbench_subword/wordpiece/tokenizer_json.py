"""Convert between `tokenizer.json` and `WordPieceModel`.

The vocabulary, normalizer, pre-tokenizer, decoder and added tokens are used. Padding and truncation are
ignored. The post-processor (``[CLS] … [SEP]``) is only kept for writing: encoding is content only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tokbench.errors import TokenizerError
from tokbench_subword.files.tokenizer_json import naming_added, of_other_type
from tokbench_subword.pipeline.added_tokens import check_numbers
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.wordpiece.encoder import preparation_of
from tokbench_subword.wordpiece.model import WordPieceModel, bert_steps


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
        raise of_other_type(where, kind, "WordPiece")
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
    unk_token = model.get("unk_token", "[UNK]")
    if not isinstance(unk_token, str):
        raise TokenizerError(f"{where}: its unk_token is {unk_token!r:.80}, not a string")
    prefix, longest = model.get("continuing_subword_prefix", "##"), model.get("max_input_chars_per_word", 100)
    if not isinstance(prefix, str) or type(longest) is not int:
        raise TokenizerError(
            f"{where}: its continuing_subword_prefix is {prefix!r:.80} and its max_input_chars_per_word "
            f"{longest!r:.80}: a WordPiece model has a text and a whole number"
        )
    try:
        decoder_of(document.decoder)
        read = WordPieceModel(
            vocabulary=dict(vocabulary),
            unk_token=unk_token,
            prefix=prefix,
            max_input_chars_per_word=longest,
            document=document.with_model({}),
        )
        if read.rules is not None:
            read = replace(read, document=replace(read.document, **bert_steps(read.rules)))
        preparation_of(read)
    except TokenizerError as error:
        raise TokenizerError(f"{where}: {error}") from error
    check_numbers(document.added_tokens, vocabulary, where=where)
    return read


def document_of_model(model: WordPieceModel) -> TokenizerJson:
    """The `tokenizer.json` that `tokenizers` and `transformers` open with the same ids."""
    return model.document.with_model(
        {
            "type": "WordPiece",
            "unk_token": model.unk_token,
            "continuing_subword_prefix": model.prefix,
            "max_input_chars_per_word": model.max_input_chars_per_word,
            "vocab": naming_added(model.vocabulary, model.document.added_tokens),
        }
    )
