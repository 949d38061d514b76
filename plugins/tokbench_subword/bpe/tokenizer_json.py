"""Converts a BPE `tokenizer.json` to a `BpeModel`, and a model with its document to a `tokenizer.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.model import BpeModel, Level, can_happen, check_size, each_pair_once
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.files.tokenizer_json import bpe_model, naming_added, of_other_type
from tokbench_subword.pipeline.added_tokens import AddedToken, check_numbers
from tokbench_subword.pipeline.byte_alphabet import spelled, unspelled
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.patterns import CL100K_IN_RUBY, NAMED, Pattern
from tokbench_subword.pipeline.patterns.writing import in_ruby


def model_of_document(document: TokenizerJson, *, where: str) -> BpeModel:
    """The model of a `tokenizer.json`; raises `TokenizerError` for invalid or unsupported content."""
    try:
        preparation = BpePreparation.of(document)
        decoder_of(document.decoder)
    except TokenizerError as error:
        raise TokenizerError(f"{where}: {error}") from error
    model = _model_of_json(
        document.model,
        level=preparation.level,
        pattern=preparation.pattern or Pattern("none"),
        special_tokens={token.content: token.id for token in document.added_tokens if token.special},
        where=where,
    )
    check_numbers(document.added_tokens, document.model["vocab"], where=where)
    return model


def _model_of_json(
    content: Mapping[str, Any], *, level: Level, pattern: Pattern, special_tokens: Mapping[str, int], where: str
) -> BpeModel:
    """The `BpeModel` of the ``model`` entry; `level` and `pattern` come from the document's pre-tokenizer.

    Raises `TokenizerError` for another type of model, and for parts that contradict each other.
    """
    kind = content.get("type", "BPE" if "merges" in content else None)
    if kind != "BPE":
        raise of_other_type(where, kind, "BPE")
    ids = content.get("vocab")
    if not isinstance(ids, Mapping) or not all(type(index) is int and index >= 0 for index in ids.values()):
        raise TokenizerError(f"{where}: the vocabulary must give each token an id, a whole number from 0 on")
    for name in ("unk_token", "continuing_subword_prefix", "end_of_word_suffix"):
        if not isinstance(content.get(name), str | None):
            raise TokenizerError(f"{where}: {name} is {content[name]!r}, not a string")
    for name in ("fuse_unk", "byte_fallback", "ignore_merges"):
        if not isinstance(content.get(name), bool | None):
            raise TokenizerError(f"{where}: {name} is {content[name]!r:.80}, not true or false")
    dropout = content.get("dropout")
    if isinstance(dropout, bool) or not isinstance(dropout, int | float | None):
        raise TokenizerError(f"{where}: dropout is {dropout!r:.80}, not a number")
    prefix = content.get("continuing_subword_prefix") or ""
    unk = content.get("unk_token")
    if unk is not None and unk not in ids:
        if level != "byte" or not all(spelled(bytes([byte])) in ids for byte in range(256)):
            raise TokenizerError(
                f"{where}: the unknown token {unk!r} is not in the vocabulary, so `tokenizers` fails at the "
                "first unknown character; name a token of the vocabulary, or add this one"
            )
        unk = None  # every byte is there: nothing is unknown
    if not isinstance(content.get("merges"), list | tuple | None):
        raise TokenizerError(f"{where}: merges is {content['merges']!r:.80}, not a list")
    vocabulary = vocabulary_of(ids, level=level, where=where)
    merges = merges_of(content.get("merges") or [], ids, prefix=prefix, where=where)
    try:
        return BpeModel(
            vocabulary=vocabulary,
            merges=merges[can_happen(merges, vocabulary)],
            unreachable={index: token for token, index in ids.items() if not vocabulary[index]},
            pattern=pattern,
            special_tokens=special_tokens,
            unk=None if unk is None else ids[unk],
            level=level,
            byte_fallback=bool(content.get("byte_fallback")),
            fuse_unk=bool(content.get("fuse_unk")),
            continuing_prefix=prefix,
            end_of_word=content.get("end_of_word_suffix") or "",
            whole_tokens=bool(content.get("ignore_merges")),
            dropout=float(dropout or 0.0),
        )
    except TokenizerError as error:
        raise TokenizerError(f"{where}: {error}") from error


def vocabulary_of(ids: Mapping[str, int], *, level: Level, where: str) -> tuple[bytes, ...]:
    """The bytes of each token by id, for a vocabulary as files spell it.

    At level ``byte``, the entry of a token outside the byte alphabet is empty: no text can produce that token.
    """
    size = max(ids.values(), default=-1) + 1
    check_size(size, where=where)
    texts = {index: token for token, index in ids.items()}
    if len(texts) < len(ids):
        token, index = next((token, index) for token, index in ids.items() if texts[index] != token)
        raise TokenizerError(f"{where}: the tokens {token!r} and {texts[index]!r} share the id {index}")
    vocabulary = [b""] * size
    for index, token in texts.items():
        vocabulary[index] = (
            unspelled(token) or b"" if level == "byte" else token.encode("utf-8", "surrogatepass")
        )
    return tuple(vocabulary)


def merges_of(merges: Sequence[Any], ids: Mapping[str, int], *, prefix: str, where: str) -> NDArray[np.int32]:
    """Merges as ids, int32 ``(n, 3)``; files write each as ``"a b"`` or ``["a", "b"]``.

    As in `tokenizers`, the last entry of a repeated merge counts, and the length of the prefix is removed from
    the right token even if it does not begin with the prefix.
    """
    found: list[int] = []
    skip = len(prefix.encode("utf-8", "surrogatepass"))
    for rank, merge in enumerate(merges):
        if isinstance(merge, str) and merge.startswith("#version"):
            continue  # the first line of a merges.txt, which `tokenizers` skips anywhere
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise TokenizerError(f"{where}: merge {rank} is {merge!r}, not two tokens")
        left, right = pair
        try:
            rest = right.encode("utf-8")[skip:].decode("utf-8") if skip else right
            found += ids[left], ids[right], ids[left + rest]
        except (KeyError, TypeError, AttributeError, UnicodeError) as error:
            raise TokenizerError(
                f"{where}: merge {rank} of {left!r} and {right!r}: one of them, or the result, is not a token"
            ) from error
    return each_pair_once(np.array(found, np.int32).reshape(-1, 3))


def token_text(model: BpeModel, token: bytes) -> str:
    """A token as files spell it."""
    return spelled(token) if model.level == "byte" else token.decode("utf-8", "surrogatepass")


def texts_by_id(model: BpeModel) -> dict[int, str]:
    """The tokens of the model, without added ones, as files spell them, by id."""
    texts = {i: token_text(model, token) for i, token in enumerate(model.vocabulary) if token}
    return {**texts, **model.unreachable}


def merged_texts(model: BpeModel, texts: Mapping[int, str]) -> list[tuple[str, str]]:
    """The two tokens of each merge as files spell them, ordered by rank; files store no other ranks."""
    rows = model.merges[np.argsort(model.merge_ranks, kind="stable")]
    return [(texts[left], texts[right]) for left, right, _ in rows.tolist()]


def own_texts(model: BpeModel) -> dict[int, str]:
    """The tokens in the file of a model without added tokens, by id: its own, and the unknown token."""
    unknown = {index: text for text, index in model.special_tokens.items() if index == model.unk}
    return unknown | texts_by_id(model)


def complete_document(model: BpeModel, document: TokenizerJson) -> TokenizerJson:
    """The document with the model in it, a complete `tokenizer.json`; see `naming_added`."""
    texts = own_texts(model)
    return document.with_model(
        bpe_model(
            naming_added({text: index for index, text in texts.items()}, document.added_tokens),
            list(map(list, merged_texts(model, texts))),
            dropout=model.dropout or None,
            unk_token=None if model.unk is None else texts[model.unk],
            continuing_subword_prefix=model.continuing_prefix or None,
            end_of_word_suffix=model.end_of_word or None,
            fuse_unk=model.fuse_unk,
            byte_fallback=model.byte_fallback,
            ignore_merges=model.whole_tokens,
        )
    )


def document_of_model(model: BpeModel) -> TokenizerJson:
    """The default document for a model without one; the model's special tokens become added tokens.

    Raises `TokenizerError` for a pattern that `tokenizers` cannot express.
    """
    added = tuple(
        AddedToken(text, index, normalized=False, special=True)
        for text, index in sorted(model.special_tokens.items(), key=lambda item: item[1])
    )
    document = document_around(model.pattern, model.level, end_of_word=model.end_of_word)
    return replace(document, added_tokens=added)


def document_around(pattern: Pattern, level: Level, *, end_of_word: str = "") -> TokenizerJson:
    """The document of `document_of_model`, without added tokens and without needing a model."""
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
    """The `Split` pre-tokenizer of `tokenizers` that cuts by a pattern."""
    if pattern.name:
        source = CL100K_IN_RUBY if pattern.name == "cl100k" else NAMED[pattern.name]
    else:
        source = in_ruby(pattern.source) if pattern.dialect == "rust" else pattern.source
    matches = bool(not pattern.name and not pattern.keep_gaps)  # only matches are pre-tokens, not the gaps
    behavior = "Removed" if matches else "Isolated"
    return {"type": "Split", "pattern": {"Regex": source}, "behavior": behavior, "invert": matches}


def _byte_level(*, use_regex: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
