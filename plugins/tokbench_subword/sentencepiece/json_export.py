r"""A sentencepiece model, Unigram or BPE, as a `tokenizer.json`, for `tokenizers` and `transformers`.

A file describes sentencepiece's rules nearly, not exactly, so it is tested on texts before it is written. Three
differences remain. `tokenizers` applies a character map by grapheme clusters, while sentencepiece takes the
longest rule; this differs in clusters of several marks or jamo. It adds scores in float64, which can change
ties. It matches the text of Unigram's special and byte pieces as pieces.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tokbench.errors import TokenizerError
from tokbench_subword.files import sentencepiece_model as spm
from tokbench_subword.files.proof import Encode, by_tokenizers, write_proved
from tokbench_subword.files.tokenizer_json import bpe_model, unigram_model, write_document
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.decoders import BYTE
from tokbench_subword.pipeline.document import TokenizerJson, replaced, sequence_of, steps_of
from tokbench_subword.sentencepiece import json_steps
from tokbench_subword.sentencepiece.algorithms import spm_scores
from tokbench_subword.sentencepiece.charsmap import SPACE_SYMBOL
from tokbench_subword.sentencepiece.converting import mark_is_a_space, probes_of, said_by_none, tie_of
from tokbench_subword.sentencepiece.json_steps import Steps
from tokbench_subword.sentencepiece.spm_bpe import SpmBpe
from tokbench_subword.unigram.json_vocabulary import JsonVocabulary

if TYPE_CHECKING:
    from tokbench_subword.sentencepiece.algorithms import Algorithm
    from tokbench_subword.sentencepiece.charsmap import Normalizer
    from tokbench_subword.sentencepiece.vocabulary import SpmVocabulary

_IN_NO_PIECE = "\0"
"""A character that no piece holds (`SpmVocabulary` refuses it)."""


def document_of_spm(vocabulary: SpmVocabulary, algorithm: Algorithm) -> TokenizerJson:
    """The document; raises `TokenizerError` for a model that `tokenizer.json` cannot express."""
    model = vocabulary.model
    unigram = model.trainer.model_type == "unigram"
    strips = model.normalizer.add_dummy_prefix or model.normalizer.remove_extra_whitespaces
    surface = model.trainer.unk_surface
    unknown = "" if vocabulary.unk_id is None else vocabulary.pieces[vocabulary.unk_id]
    refused = {
        **said_by_none(vocabulary),
        "no unknown token": vocabulary.unk_id is None and (unigram or not model.trainer.byte_fallback),
        "an empty unk_surface, behind which a text begins anew": strips and not surface,
        f"the unknown token {unknown!r}, which other text is decoded to as well": (
            SPACE_SYMBOL in unknown or f"{SPACE_SYMBOL}{unknown}" in vocabulary.pieces  # one loses its space
        ),
        f"the unk_surface {surface!r}, which it would decode to that byte": (
            model.trainer.byte_fallback and BYTE.match(surface) is not None
        ),
    }
    for what in (what for what, holds in refused.items() if holds):
        raise TokenizerError(f"{vocabulary.where}: tokenizer.json cannot express {what}; save a .model")
    in_text = vocabulary.of_type(spm.NORMAL, spm.USER_DEFINED)
    crossing = any(SPACE_SYMBOL in piece[1:] for piece in in_text)
    crossing = crossing or SPACE_SYMBOL not in in_text  # a run of unknown characters goes on across spaces
    apart = (spm.CONTROL, spm.UNKNOWN) if unigram else (spm.CONTROL, spm.UNKNOWN, spm.USER_DEFINED)
    added = tuple(
        AddedToken(
            piece.text,
            index,
            normalized=piece.type == spm.USER_DEFINED and SPACE_SYMBOL in piece.text,
            special=piece.type != spm.USER_DEFINED,
        )
        for index, piece in enumerate(model.pieces)
        if piece.type in apart
    )
    return TokenizerJson(
        model=_bpe_model(algorithm) if isinstance(algorithm, SpmBpe) else _unigram_model(vocabulary),
        normalizer=sequence_of("normalizers", _normalizers(model.normalizer, algorithm.normalizer)),
        pre_tokenizer=None if crossing else json_steps.metaspace("never"),
        decoder=sequence_of("decoders", _decoders(vocabulary)),
        added_tokens=added,
    )


def _unigram_model(vocabulary: SpmVocabulary) -> dict[str, Any]:
    """Pieces with the encoder's scores; user-defined symbols are pieces that always win."""
    scores = spm_scores(vocabulary)
    scored = [
        [piece.text, float(scores[index]) if piece.type == spm.USER_DEFINED else piece.score]
        for index, piece in enumerate(vocabulary.model.pieces)
    ]
    return unigram_model(scored, vocabulary.unk_id, byte_fallback=vocabulary.model.trainer.byte_fallback)


def _bpe_model(algorithm: SpmBpe) -> dict[str, Any]:
    """Every pair that spells a piece as a merge, in the order of the pieces' scores.

    Among pieces of equal score sentencepiece merges the leftmost first, which merges cannot express. Here the
    lower id goes first, and the proof shows whether ids stay the same. Raises `TokenizerError` if a character
    that is no piece takes part in merging.
    """
    vocabulary, ranks = algorithm.vocabulary, algorithm.ranks
    pieces = vocabulary.pieces
    outside = next((pair for pair in algorithm.pairs if max(pair) >= len(pieces)), None)
    if outside is not None:
        raise TokenizerError(
            f"{vocabulary.where}: tokenizer.json cannot express the piece "
            f"{pieces[algorithm.pairs[outside]]!r}, because one of its characters is not a piece; save a .model"
        )
    merges = sorted(algorithm.pairs.items(), key=lambda item: (int(ranks[item[1]]), item[1], item[0]))
    return bpe_model(
        {piece: index for index, piece in enumerate(pieces)},
        [[pieces[left], pieces[right]] for (left, right), _ in merges],
        unk_token=None if vocabulary.unk_id is None else pieces[vocabulary.unk_id],
        fuse_unk=True,
        byte_fallback=vocabulary.model.trainer.byte_fallback,
    )


def save_json(
    vocabulary: SpmVocabulary, algorithm: Algorithm, path: str | os.PathLike[str], encode: Encode
) -> None:
    """Write the `tokenizer.json` of a model, proved; raises `TokenizerError` if ids would change."""
    unigram = vocabulary.model.trainer.model_type == "unigram"
    document = document_of_spm(vocabulary, algorithm)
    if unigram:  # do not write what reading would refuse
        JsonVocabulary.of(document.model, where=vocabulary.where).algorithm(where=vocabulary.where)
    charsmap = vocabulary.model.normalizer.charsmap
    mended = _mended(document, algorithm.normalizer) if charsmap else document

    def write(document: TokenizerJson) -> None:
        write_proved(
            path,
            write=lambda aside: write_document(document, aside),
            read=by_tokenizers,
            source=encode,
            probes=probes_of(vocabulary),
            name=vocabulary.where,
            tied=tie_of(vocabulary) if unigram else None,
        )

    try:
        try:
            write(document)
        except TokenizerError:
            if mended == document:
                raise
            write(mended)
    except TokenizerError as error:
        raise TokenizerError(f"{error}; save a .model") from error


def _mended(document: TokenizerJson, normalize: Normalizer) -> TokenizerJson:
    """The document with steps for clusters that `tokenizers` maps as a whole: line ends, and marks.

    A carriage return becomes a space before the map if the map would do so, and characters that the map leaves
    decomposed are composed.
    """
    steps: list[Any] = list(steps_of(document.normalizer, "normalizers"))
    steps.insert(1, {"type": "NFC"})
    if normalize("x\ry") == normalize("x y"):
        steps.insert(0, replaced({"String": "\r"}, " "))
    return replace(document, normalizer=sequence_of("normalizers", steps))


def _normalizers(spec: spm.NormalizerSpec, normalize: Normalizer) -> Steps:
    steps = json_steps.map_of(spec)
    if spec.remove_extra_whitespaces:
        ends = json_steps.ENDS_OFF if mark_is_a_space(normalize) else json_steps.MARKED_ENDS_OFF
        steps += [ends, json_steps.ONE_SPACE]
    if spec.add_dummy_prefix:
        steps.append({"type": "Prepend", "prepend": SPACE_SYMBOL})
    return [*steps, json_steps.SPACES_MARKED]


def _decoders(vocabulary: SpmVocabulary) -> Steps:
    """The decoding steps. The first token's leading space is removed before the unknown token is replaced by
    its surface, so that the surface keeps its spaces.
    """
    spec, trainer = vocabulary.model.normalizer, vocabulary.model.trainer
    steps: Steps = []
    if spec.add_dummy_prefix or spec.remove_extra_whitespaces:
        first = json_steps.metaspace("always", mark=_IN_NO_PIECE, split=False)
        steps += [replaced({"Regex": rf"\A{SPACE_SYMBOL}"}, _IN_NO_PIECE), first]
    steps.append(json_steps.SPACES_BACK)
    if vocabulary.unk_id is not None:
        unknown = vocabulary.pieces[vocabulary.unk_id]
        steps.append(replaced({"Regex": rf"\A{re.escape(unknown)}\z"}, trainer.unk_surface))
    return [*steps, *(json_steps.BYTES_JOINED if trainer.byte_fallback else json_steps.JOINED)]
