"""Shared by conversions of a sentencepiece model: rules that no other format can express, and test texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.files import sentencepiece_model as spm
from tokbench_subword.files.probes import Probe, probes
from tokbench_subword.sentencepiece.algorithms import spm_scores
from tokbench_subword.sentencepiece.charsmap import SPACE_SYMBOL

if TYPE_CHECKING:
    from tokbench_subword.sentencepiece.charsmap import Normalizer
    from tokbench_subword.sentencepiece.vocabulary import SpmVocabulary


def said_by_none(vocabulary: SpmVocabulary) -> dict[str, bool]:
    """The rules that neither a `tokenizer.json` nor GGUF can express, each with whether the model has it."""
    return {
        "spaces that are not escaped": not vocabulary.escaped,
        "spaces behind words": vocabulary.model.trainer.treat_whitespace_as_suffix,
        "pieces of the type unused": bool(vocabulary.of_type(spm.UNUSED)),
        "denormalizing of decoded text": vocabulary.model.denormalizes,
    }


def mark_is_a_space(normalize: Normalizer) -> bool:
    """Whether the character map turns U+2581 in text into a space."""
    return normalize(f"{SPACE_SYMBOL}a") == normalize(" a")


def probes_of(vocabulary: SpmVocabulary) -> list[Probe]:
    """The texts on which a conversion of a model is tested."""
    in_text = vocabulary.of_type(spm.NORMAL, spm.USER_DEFINED)
    return probes(
        [piece.replace(SPACE_SYMBOL, " ") for piece in in_text],
        symbols=vocabulary.of_type(spm.USER_DEFINED),
        tied=_of_one_score(vocabulary),
        never=vocabulary.of_type(spm.CONTROL, spm.UNKNOWN),
    )


def _of_one_score(vocabulary: SpmVocabulary) -> list[str]:
    """The ordinary pieces that share their score with another piece, spelled as in text."""
    normal = np.flatnonzero(vocabulary.types == spm.NORMAL)
    _, which, counts = np.unique(vocabulary.scores[normal], return_inverse=True, return_counts=True)
    shared = normal[counts[which] > 1].tolist()
    return [vocabulary.pieces[index].replace(SPACE_SYMBOL, " ") for index in shared]


def tie_of(vocabulary: SpmVocabulary) -> Callable[[Sequence[int], Sequence[int]], bool]:
    """A test for equally good segmentations, between which float32 and float64 sums may decide differently."""
    scores = spm_scores(vocabulary).astype(np.float64)
    unk, decode = vocabulary.unk_id, vocabulary.decoder.text

    def tied(here: Sequence[int], there: Sequence[int]) -> bool:
        if [index for index in here if index == unk] != [index for index in there if index == unk]:
            return False
        one, other = float(scores[list(here)].sum()), float(scores[list(there)].sum())
        return abs(one - other) <= 1e-6 * abs(one) and decode(here) == decode(there)

    return tied
