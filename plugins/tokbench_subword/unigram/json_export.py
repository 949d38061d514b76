r"""A sentencepiece unigram model as a `tokenizer.json`, for `tokenizers` and `transformers`.

What the file can say is close to what sentencepiece does, not equal: `tokenizers` goes by grapheme clusters
where sentencepiece takes the longest rule, adds in float64, and takes the text of special pieces for pieces.
On ordinary text ids are the same, ties apart.
"""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING, Any

from tokbench.errors import TokenizerError
from tokbench_subword.files.sentencepiece_model import CONTROL, NORMAL, UNKNOWN, UNUSED, USER_DEFINED
from tokbench_subword.files.tokenizer_json import Document, write_document
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.unigram.charsmap import SPACE_SYMBOL

if TYPE_CHECKING:
    from tokbench_subword.unigram.tokenizer import SpmTokenizer

ENDS = r"\A +| +\z"
"""The spaces at both ends of a text, as a pattern of `tokenizers`."""
_RUNS = " {2,}"


def document_of_spm(tokenizer: SpmTokenizer) -> Document:
    """The document; raises `TokenizerError` for a model that `tokenizers` cannot be told about."""
    model, vocabulary = tokenizer.model, tokenizer.vocabulary
    spec = model.normalizer
    if model.trainer.model_type != "unigram":
        raise TokenizerError(f"{tokenizer.name}: only unigram models become a tokenizer.json; save a .model")
    for wrong, what in (
        (not spec.escape_whitespaces, "spaces that are not escaped"),
        (model.trainer.treat_whitespace_as_suffix, "spaces behind words"),
        (bool((vocabulary.types == UNUSED).any()), "pieces of the type unused"),
        (vocabulary.unk_id is None, "no unknown token"),
    ):
        if wrong:
            raise TokenizerError(f"{tokenizer.name}: tokenizer.json cannot express {what}; save a .model")
    crossing = any(SPACE_SYMBOL in piece[1:] for piece in vocabulary.of_type(NORMAL))
    metaspace = {"type": "Metaspace", "replacement": SPACE_SYMBOL, "prepend_scheme": "never", "split": True}
    added = tuple(
        AddedToken(piece.text, index, normalized=False, special=piece.type in (CONTROL, UNKNOWN))
        for index, piece in enumerate(model.pieces)
        if piece.type in (CONTROL, UNKNOWN, USER_DEFINED)
    )
    return Document(
        model={
            "type": "Unigram",
            "unk_id": vocabulary.unk_id,
            "vocab": [[piece.text, piece.score] for piece in model.pieces],
            "byte_fallback": model.trainer.byte_fallback,
        },
        normalizer=_sequence("normalizers", _normalizers(tokenizer)),
        pre_tokenizer=None if crossing else metaspace,
        decoder=_sequence("decoders", _decoders(tokenizer)),
        added_tokens=added,
    )


def write_json(tokenizer: SpmTokenizer, path: str | os.PathLike[str]) -> None:
    """Write the `tokenizer.json` of a unigram model."""
    write_document(document_of_spm(tokenizer), path)


def _sequence(key: str, steps: list[dict[str, Any]]) -> dict[str, Any] | None:
    return {"type": "Sequence", key: steps} if steps else None


def _normalizers(tokenizer: SpmTokenizer) -> list[dict[str, Any]]:
    spec = tokenizer.model.normalizer
    steps: list[dict[str, Any]] = []
    if spec.charsmap:
        steps.append({"type": "Precompiled", "precompiled_charsmap": base64.b64encode(spec.charsmap).decode()})
    if spec.remove_extra_whitespaces:
        steps.append({"type": "Replace", "pattern": {"Regex": ENDS}, "content": ""})
        steps.append({"type": "Replace", "pattern": {"Regex": _RUNS}, "content": " "})
    if spec.add_dummy_prefix:
        steps.append({"type": "Prepend", "prepend": SPACE_SYMBOL})
    return [*steps, {"type": "Replace", "pattern": {"String": " "}, "content": SPACE_SYMBOL}]


def _decoders(tokenizer: SpmTokenizer) -> list[dict[str, Any]]:
    spec = tokenizer.model.normalizer
    steps: list[dict[str, Any]] = [{"type": "Replace", "pattern": {"String": SPACE_SYMBOL}, "content": " "}]
    if tokenizer.model.trainer.byte_fallback:
        steps.append({"type": "ByteFallback"})
    steps.append({"type": "Fuse"})
    if spec.add_dummy_prefix or spec.remove_extra_whitespaces:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return steps
