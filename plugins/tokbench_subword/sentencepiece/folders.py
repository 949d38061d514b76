"""Open a folder with a `.model` as the class of `transformers` does that a file beside the model states."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.files.beside import Beside, token_text
from tokbench_subword.files.json_numbers import GivenFloat
from tokbench_subword.files.sentencepiece_model import CONTROL, NORMAL, USER_DEFINED, SpmModel, read_model
from tokbench_subword.files.tokenizer_json import bpe_model, unigram_model
from tokbench_subword.pipeline.document import TokenizerJson, replaced, sequence_of
from tokbench_subword.sentencepiece import json_steps
from tokbench_subword.sentencepiece.charsmap import SPACE_SYMBOL
from tokbench_subword.sentencepiece.classes import CLASSES, OF_MODELS, ModelClass
from tokbench_subword.sentencepiece.json_steps import Steps


def document_of_folder(path: Path, *, bpe: bool) -> TokenizerJson | None:
    """The `tokenizer.json` that the stated class makes from the model at `path`; None if no class is stated.

    Raises `TokenizerError` for an unknown class, and if whether the class makes BPE differs from `bpe`.
    """
    beside = Beside.of(path)
    if not beside.states_class:
        return None
    name = beside.class_name("", OF_MODELS)
    known = CLASSES.get(name)
    if known is None:
        raise TokenizerError(
            f"{beside.class_not_known()}; load the folder with transformers:{path.parent}, or name {path} for "
            "the model's own ids"
        )
    model = read_model(path)
    makes_bpe = model.trainer.model_type != "unigram" if known.bpe is None else known.bpe
    if makes_bpe != bpe:
        made, family = ("BPE", "bpe") if makes_bpe else ("Unigram", "unigram")
        raise TokenizerError(f"{path}: {name} makes {made} of it; load it as '{family}:{path.parent}'")
    return _generic(model, known, beside, bpe) if known.generic else _by_class(model, known, beside)


def _by_class(model: SpmModel, known: ModelClass, beside: Beside) -> TokenizerJson:
    further = known.further(beside.config)
    pieces = known.pieces([(piece.text, piece.score) for piece in model.pieces], beside.config, further)
    ids = {text: index for index, (text, _) in enumerate(pieces)}
    symbols = _symbols(model, CONTROL, USER_DEFINED, special=known.symbols_special)
    added = beside.tokens(
        known.special, ids, listed=[*symbols, *further], size=None if known.bpe else len(pieces)
    )
    unk = str(token_text(beside.config.get("unk_token", known.special["unk_token"])))
    if known.bpe:
        texts = [piece.text for piece in model.pieces]
        content = _bpe(ids, texts, unk if known.unk_by_name else None, byte_fallback=known.byte_fallback)
    else:
        unk_id = model.trainer.unk_id if known.unk_id is None else known.unk_id
        if known.unk_by_name and (unk, 0.0) in pieces:
            unk_id = pieces.index((unk, 0.0))
        exact = [[text, GivenFloat(score)] for text, score in pieces]
        content = unigram_model(exact, unk_id, byte_fallback=False)
    cutting, decoding = known.cut(beside.config)
    return TokenizerJson(
        model=content,
        normalizer=sequence_of("normalizers", known.text(beside.config, json_steps.map_of(model.normalizer))),
        pre_tokenizer=sequence_of("pretokenizers", cutting),
        decoder=sequence_of("decoders", decoding),
        added_tokens=added,
    )


def _generic(model: SpmModel, known: ModelClass, beside: Beside, bpe: bool) -> TokenizerJson:
    """The document of a generic class: a text step separates user-defined symbols, which are not added tokens.

    BPE merges in the order of the scores of ordinary pieces. `transformers` passes Unigram's scores on as JSON,
    which may lose their last bit.
    """
    spec, trainer = model.normalizer, model.trainer
    texts = _with_described(model, beside) if bpe else [piece.text for piece in model.pieces]
    ids = {text: index for index, text in enumerate(texts)}
    symbols = [text for text, piece in zip(texts, model.pieces, strict=True) if piece.type == USER_DEFINED]
    if spec.add_dummy_prefix:
        described = {index: {**one, "normalized": False} for index, one in beside.described.items()}
        beside = replace(beside, described=described)
    special = {**known.special}
    for setting in ("bos", "eos", "unk"):
        if getattr(trainer, f"{setting}_id") >= 0:
            special[f"{setting}_token"] = getattr(trainer, f"{setting}_piece")
    legacy = beside.config.get("legacy", True)
    normalizers = json_steps.map_of(spec)
    if spec.remove_extra_whitespaces:
        normalizers += [json_steps.ENDS_OFF, json_steps.ONE_SPACE]
    if spec.escape_whitespaces:
        normalizers.append(json_steps.SPACES_MARKED)
    if spec.add_dummy_prefix and legacy:
        normalizers.append(replaced({"Regex": rf"\A{SPACE_SYMBOL}"}, SPACE_SYMBOL * 2))
    scheme = "always" if legacy else "first"
    prefix = [json_steps.metaspace(scheme, split=False)] if spec.add_dummy_prefix else []
    joined = json_steps.BYTES_JOINED if trainer.byte_fallback else json_steps.JOINED
    if bpe:
        by_score = sorted(range(len(texts)), key=lambda index: -model.pieces[index].score)
        merging = [texts[index] for index in by_score if model.pieces[index].type == NORMAL]
        content = _bpe(ids, merging, trainer.unk_piece, byte_fallback=trainer.byte_fallback)
        content["ignore_merges"] = bool(symbols)
    else:
        scored = [[piece.text, piece.score] for piece in model.pieces]
        content = unigram_model(scored, trainer.unk_id, byte_fallback=trainer.byte_fallback)
    return TokenizerJson(
        model=content,
        normalizer=sequence_of("normalizers", normalizers),
        pre_tokenizer=sequence_of("pretokenizers", [*prefix, *_apart(symbols)]),
        decoder=sequence_of(
            "decoders", [json_steps.SPACES_BACK, *joined, *([json_steps.FIRST_OFF] if prefix else [])]
        ),
        added_tokens=beside.tokens(special, ids, listed=_symbols(model, CONTROL)),
    )


def _with_described(model: SpmModel, beside: Beside) -> list[str]:
    """The texts of pieces; a described token replaces the piece of its id, unless its text is another piece."""
    texts = [piece.text for piece in model.pieces]
    kept = {text for index, text in enumerate(texts) if index not in beside.described}
    for index, one in beside.described.items():
        if index < len(texts) and one["content"] not in kept:
            texts[index] = one["content"]
    return texts


def _symbols(model: SpmModel, *types: int, special: bool = False) -> list[dict[str, Any]]:
    """The pieces of some types as listed tokens; control symbols are special, with `special` all of them."""
    return [
        {"content": piece.text, "special": special or piece.type == CONTROL, "normalized": False}
        for piece in model.pieces
        if piece.type in types
    ]


def _bpe(
    ids: Mapping[str, int], pieces: Sequence[str], unk_token: str | None, *, byte_fallback: bool
) -> dict[str, Any]:
    """BPE whose merges are all pairs that spell one of `pieces`, in that order; shortest left side first."""
    known = {*pieces}
    merges = [
        [piece[:at], piece[at:]]
        for piece in pieces
        for at in range(1, len(piece))
        if piece[:at] in known and piece[at:] in known
    ]
    return bpe_model(ids, merges, unk_token=unk_token, fuse_unk=True, byte_fallback=byte_fallback)


def _apart(symbols: Sequence[str]) -> Steps:
    """The step that separates symbols from other text, the longest first."""
    pattern = "|".join(re.escape(symbol) for symbol in sorted(symbols, key=len, reverse=True))
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return [split] if symbols else []
