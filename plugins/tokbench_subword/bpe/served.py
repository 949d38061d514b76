"""Reads and writes BPE models in formats for inference: GGUF (llama.cpp) and Tekken (mistral-common)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError, nearest
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.ranks import model_of_ranks, ranks_of
from tokbench_subword.bpe.tokenizer_json import document_around, merged_texts, split_of, texts_by_id
from tokbench_subword.files.gguf import GgufVocabulary, gguf_model, read_gguf
from tokbench_subword.files.gguf_cuts import CUTS, GgufCuts
from tokbench_subword.files.sentencepiece_model import CONTROL, NORMAL, UNUSED, USER_DEFINED
from tokbench_subword.files.tekken import Tekken, read_tekken
from tokbench_subword.files.tokenizer_json import bpe_model, content_of, document_of
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.document import TokenizerJson, sequence_of
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.sentencepiece.json_steps import BYTES_JOINED, SPACES_BACK, SPACES_MARKED


def document_of_gguf(path: Path) -> TokenizerJson:
    """A GGUF file of BPE with merges as a `tokenizer.json`; raises `TokenizerError` for any other."""
    model = "gemma4" if gguf_model(path) == "gemma4" else "gpt2"
    found = read_gguf(path, model, remedy=f"load it as unigram:{path} or wordpiece:{path}")
    document = _of_characters(found) if model == "gemma4" else _of_bytes(found, where=str(path))
    added = tuple(
        AddedToken(text, index, normalized=False, special=kind == CONTROL)
        for index, (text, kind) in enumerate(zip(found.tokens, found.types, strict=True))
        if kind in (CONTROL, USER_DEFINED)
    )
    return document_of(content_of(replace(document, added_tokens=added)), where=str(path))


def _of_bytes(found: GgufVocabulary, *, where: str) -> TokenizerJson:
    """The document of byte-level BPE, for which GGUF names the pre-tokenizer."""
    if found.pre not in CUTS:
        near = " or ".join(map(repr, nearest(found.pre, CUTS)))
        raise TokenizerError(
            f"{where}: the pre-tokenizer {found.pre!r} is not among the {len(CUTS)} names that are known here"
            f"{f', as {near} is' * bool(near)}; open the tokenizer.json that the file was made from"
        )
    cuts = CUTS[found.pre]
    *earlier, last = (Pattern.of(one) for one in cuts.patterns)
    steps = [split_of(pattern) for pattern in earlier]
    document = document_around(last, "byte")
    if steps:
        cutting = {"type": "Sequence", "pretokenizers": [*steps, document.pre_tokenizer]}
        document = replace(document, pre_tokenizer=cutting)
    return replace(document, model=_merges_of(found, ignore_merges=cuts.whole))


def _of_characters(found: GgufVocabulary) -> TokenizerJson:
    """The document of Gemma's character-level BPE: spaces become U+2581, no cutting, byte fallback."""
    unknown = None if found.unknown is None else found.tokens[found.unknown]
    return TokenizerJson(
        model=_merges_of(found, byte_fallback=True, fuse_unk=True, unk_token=unknown),
        normalizer=SPACES_MARKED,
        decoder=sequence_of("decoders", [SPACES_BACK, *BYTES_JOINED]),
    )


def _merges_of(found: GgufVocabulary, **stated: Any) -> dict[str, Any]:
    vocab = {text: index for index, text in enumerate(found.tokens) if found.types[index] != UNUSED}
    return bpe_model(vocab, [merge.split(" ", 1) for merge in found.merges], **stated)


def gguf_of(model: BpeModel, document: TokenizerJson, *, name: str) -> GgufVocabulary:
    """The content of a GGUF file; raises `TokenizerError` if llama.cpp has no name for the pre-tokenizer."""
    pattern, whole = model.pattern, model.whole_tokens
    said = GgufCuts((pattern.name,), whole=whole)
    pre = next((pre for pre, cuts in CUTS.items() if cuts == said), None)
    if model.level != "byte" or model.byte_fallback:
        raise TokenizerError(f"{name}: GGUF's BPE is at byte level; this model is not")
    if pre is None and pattern.name == "none":
        raise TokenizerError(f"{name}: no single known pattern cuts its text; such GGUF is read, not written")
    if pre is None:
        raise TokenizerError(
            f"{name}: llama.cpp has no pre-tokenizer that cuts by {str(pattern)!r}"
            f"{' and looks up whole pre-tokens first' if whole else ''}"
        )
    texts = texts_by_id(model)
    kinds = dict.fromkeys(texts, NORMAL)
    for token in document.added_tokens:
        texts[token.id] = token.content
        kinds[token.id] = CONTROL if token.special else USER_DEFINED
    size = max(len(model), 1 + max(texts, default=-1))
    return GgufVocabulary(
        model="gpt2",
        pre=pre,
        tokens=[texts.get(index, f"[PAD{index}]") for index in range(size)],
        types=[kinds.get(index, UNUSED) for index in range(size)],
        merges=list(map(" ".join, merged_texts(model, texts))),
    )


def model_of_tekken(path: Path) -> BpeModel:
    """The model of a `tekken.json`."""
    found = read_tekken(path)
    pattern = Pattern.of(found.pattern, dialect="rust", keep_gaps=False)
    ranks = {token: rank + found.first for token, rank in found.ranks.items()}
    return model_of_ranks(ranks, pattern=pattern, special_tokens=found.special_tokens)


def tekken_of(model: BpeModel, *, name: str) -> Tekken:
    """The content of a `tekken.json`; raises `TokenizerError` if the model's ids are in another order."""
    special = dict(sorted(model.special_tokens.items(), key=lambda item: item[1]))
    first = len(special)
    ranks = {token: index - first for token, index in ranks_of(model).items()}
    if list(special.values()) != list(range(first)) or sorted(ranks.values()) != list(range(len(ranks))):
        raise TokenizerError(
            f"{name}: Tekken's special tokens have the first ids, and the others follow without a gap"
        )
    if any(ranks.get(bytes([byte])) != byte for byte in range(256)):
        raise TokenizerError(f"{name}: Tekken's first ranks are the bytes in their order; here they are not")
    source = model.pattern.as_rust()
    if not source:
        raise TokenizerError(f"{name}: its pattern {str(model.pattern)!r} is not one of Rust's")
    return Tekken(ranks, special, source)
