"""BPE in the formats that models are served from: GGUF (llama.cpp) and Tekken (mistral-common), to and fro."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.json_model import texts_by_id
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.ranks import model_of_ranks, ranks_of
from tokbench_subword.bpe.tokenizer_json import document_around
from tokbench_subword.files.gguf import GgufVocabulary, read_gguf
from tokbench_subword.files.sentencepiece_model import CONTROL, NORMAL, UNUSED, USER_DEFINED
from tokbench_subword.files.tekken import Tekken, read_tekken
from tokbench_subword.files.tokenizer_json import bpe_model, content_of, document_of
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.patterns import Pattern

_GPT_2 = ("gpt-2", "phi-2", "roberta-bpe", "jina-es", "jina-de", "jina-v1-en", "jina-v2-es", "jina-v2-de")
_DIGITS_APART = ("starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b")
PATTERNS = {
    **dict.fromkeys((*_GPT_2, "jina-v2-code", "gigachat", "mpt", "olmo", "jais", "exaone4"), ("gpt2", False)),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral"), ("llama3", True)),
    **dict.fromkeys(("dbrx", "smaug-bpe"), ("llama3", False)),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan"), ("qwen2", False)),
    **dict.fromkeys(("gpt-4o", "llama4"), ("o200k", False)),
    **dict.fromkeys(_DIGITS_APART, ("gpt2", False)),
}
"""Names of `tokenizer.ggml.pre` whose pattern is one of ours; whether whole pre-tokens are looked up first.

With some, every digit is cut off before the pattern is applied.
"""


def document_of_gguf(path: Path) -> TokenizerJson:
    """A GGUF file of byte-level BPE as a `tokenizer.json`; raises `TokenizerError` for any other."""
    found = read_gguf(path, "gpt2", remedy=f"load it as unigram:{path} or wordpiece:{path}")
    if found.pre not in PATTERNS:
        known = ", ".join(PATTERNS)
        raise TokenizerError(f"{path}: the pre-tokenizer {found.pre!r} is not known here; known are {known}")
    name, whole = PATTERNS[found.pre]
    added = [
        AddedToken(text, index, normalized=False, special=kind == CONTROL)
        for index, (text, kind) in enumerate(zip(found.tokens, found.types, strict=True))
        if kind in (CONTROL, USER_DEFINED)
    ]
    document = document_around(Pattern(name), "byte")
    cutting = document.pre_tokenizer
    if found.pre in _DIGITS_APART:
        digits = {"type": "Digits", "individual_digits": True}
        cutting = {"type": "Sequence", "pretokenizers": [digits, cutting]}
    vocab = {text: i for i, text in enumerate(found.tokens) if found.types[i] != UNUSED}
    model = bpe_model(vocab, [merge.split(" ", 1) for merge in found.merges], ignore_merges=whole)
    document = replace(document, model=model, pre_tokenizer=cutting, added_tokens=tuple(added))
    return document_of(content_of(document), where=str(path))


def gguf_of(model: BpeModel, document: TokenizerJson, *, name: str) -> GgufVocabulary:
    """What a GGUF file says of a tokenizer; raises `TokenizerError` where its cutting has no name there."""
    pattern, whole = model.pattern, model.whole_tokens
    pre = next((pre for pre, cuts in PATTERNS.items() if cuts == (pattern.name, whole)), None)
    if model.level != "byte" or model.byte_fallback:
        raise TokenizerError(f"{name}: GGUF's BPE is at byte level; this model is not")
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
    order = model.merge_ranks.argsort(kind="stable")
    return GgufVocabulary(
        model="gpt2",
        pre=pre,
        tokens=[texts.get(index, f"[PAD{index}]") for index in range(size)],
        types=[kinds.get(index, UNUSED) for index in range(size)],
        merges=[f"{texts[left]} {texts[right]}" for left, right, _ in model.merges[order].tolist()],
    )


def model_of_tekken(path: Path) -> BpeModel:
    """The model of a `tekken.json`."""
    found = read_tekken(path)
    pattern = Pattern.of(found.pattern, dialect="rust", keep_gaps=False)
    ranks = {token: rank + found.first for token, rank in found.ranks.items()}
    return model_of_ranks(ranks, pattern=pattern, special_tokens=found.special_tokens)


def tekken_of(model: BpeModel, *, name: str) -> Tekken:
    """What a `tekken.json` says of a model; raises `TokenizerError` where its ids are in another order."""
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
