"""sentencepiece's models in GGUF, as llama.cpp reads them: ``llama`` is BPE by scores, ``t5`` is Unigram.

llama.cpp has fewer rules for text than sentencepiece, and some of its own. For BPE it only adds a space in
front: it applies no character map and removes no spaces. It prepares each stretch of text between two
user-defined symbols separately, sentencepiece the text as a whole. Its Unigram has no byte fallback.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.errors import TokenizerError
from tokbench_subword.files import sentencepiece_model as spm
from tokbench_subword.files.gguf import GgufVocabulary, read_gguf, write_gguf
from tokbench_subword.files.proof import Encode, write_proved
from tokbench_subword.sentencepiece.algorithms import algorithm_of
from tokbench_subword.sentencepiece.converting import mark_is_a_space, probes_of, said_by_none
from tokbench_subword.sentencepiece.vocabulary import SpmVocabulary
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.prepared import PreparedEncoder

if TYPE_CHECKING:
    from tokbench_subword.sentencepiece.algorithms import Algorithm

MODELS = {"llama": "bpe", "t5": "unigram"}
"""The names of GGUF and of sentencepiece for one kind of model."""


def model_of_gguf(found: GgufVocabulary, name: str) -> spm.SpmModel:
    """The sentencepiece model equivalent to a vocabulary in llama.cpp, except for user-defined symbols."""
    if not found.scores:
        raise TokenizerError(
            f"{name}: a model of type {found.model!r} needs scores, and the file has none: it is damaged"
        )
    bpe = found.model == "llama"
    unknown = found.unknown
    if unknown is None:
        unknown = next((index for index, kind in enumerate(found.types) if kind == spm.UNKNOWN), None)
    kinds = {spm.UNKNOWN: spm.CONTROL, spm.USER_DEFINED: spm.CONTROL} | (
        {spm.UNUSED: spm.NORMAL} if bpe else {spm.BYTE: spm.CONTROL}
    )
    pieces = tuple(
        spm.Piece(text, score, spm.UNKNOWN if index == unknown else kinds.get(kind, kind))
        for index, (text, score, kind) in enumerate(zip(found.tokens, found.scores, found.types, strict=True))
    )
    prefix = bpe if found.add_space_prefix is None else found.add_space_prefix
    return spm.SpmModel(
        pieces,
        spm.TrainerSpec(model_type=MODELS[found.model], vocab_size=len(pieces), byte_fallback=bpe),
        spm.NormalizerSpec(
            name="gguf" if found.charsmap else "identity",
            charsmap=b"" if bpe else found.charsmap,
            add_dummy_prefix=prefix,
            remove_extra_whitespaces=not bpe and bool(found.remove_extra_whitespaces),
        ),
    )


def save_gguf(vocabulary: SpmVocabulary, algorithm: Algorithm, path: Path, encode: Encode) -> None:
    """Write the GGUF of a model, proved; raises `TokenizerError` if llama.cpp would give other ids."""
    model = vocabulary.model
    spec, trainer, bpe = model.normalizer, model.trainer, model.trainer.model_type == "bpe"
    marks_stay = spec.remove_extra_whitespaces and not mark_is_a_space(algorithm.normalizer)
    refused = {
        **said_by_none(vocabulary),
        "character map for BPE": bpe and bool(spec.charsmap),
        "removal of spaces for BPE": bpe and spec.remove_extra_whitespaces,
        "BPE without byte fallback": bpe and not trainer.byte_fallback,
        "Unigram with byte fallback": not bpe and trainer.byte_fallback,
        "Unigram that removes U+2581 at the end of a text": not bpe and marks_stay,
        "user-defined symbols that leave the text around them": bool(vocabulary.of_type(spm.USER_DEFINED)),
        "unk_surface (what an unknown token is decoded to)": (
            trainer.unk_surface != spm.TrainerSpec().unk_surface
        ),
    }
    unsaid = [what for what, holds in refused.items() if holds]
    if unsaid:
        raise TokenizerError(
            f"{vocabulary.where} is not written as {path.name}: llama.cpp has no {'; no '.join(unsaid)}"
        )
    found = GgufVocabulary(
        model="llama" if bpe else "t5",
        tokens=vocabulary.pieces,
        types=vocabulary.types.tolist(),
        scores=vocabulary.scores.tolist(),
        charsmap=spec.charsmap,
        add_space_prefix=spec.add_dummy_prefix,
        remove_extra_whitespaces=spec.remove_extra_whitespaces,
        unknown=vocabulary.unk_id,
    )

    def read(path: Path) -> Encode:
        again = SpmVocabulary(model_of_gguf(read_gguf(path, found.model), str(path)), where=str(path))
        by = algorithm_of(again)
        return PreparedEncoder(by.normalizer, by.encoder(threads=1, cache=CACHE_BYTES)).encode

    write_proved(
        path,
        write=lambda aside: write_gguf(found, aside),
        read=read,
        source=encode,
        probes=probes_of(vocabulary),
        name=vocabulary.where,
    )
