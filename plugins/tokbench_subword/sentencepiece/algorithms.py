"""The algorithm of a sentencepiece model: Unigram, with its scores and its normalizer, or BPE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench_subword.files.sentencepiece_model import NORMAL, USER_DEFINED
from tokbench_subword.pipeline.origins import located
from tokbench_subword.sentencepiece.spm_bpe import SpmBpe
from tokbench_subword.unigram.path_tokens import tokens_of_path
from tokbench_subword.unigram.unigram_algorithm import UNKNOWN_PENALTY, Unigram

if TYPE_CHECKING:
    from tokbench_subword.sentencepiece.vocabulary import SpmVocabulary

RESET_THRESHOLD = 100_000.0
"""The running sum at which sentencepiece starts again from zero."""


def spm_scores(vocabulary: SpmVocabulary) -> NDArray[np.float32]:
    """The scores that sentencepiece's encoder uses, by id.

    A user-defined symbol scores 0.1 for each byte after the first, so that it always wins.
    """
    scores = np.where(vocabulary.types == NORMAL, vocabulary.scores, np.float32(0))
    for index in np.flatnonzero(vocabulary.types == USER_DEFINED).tolist():
        scores[index] = 0.1 * (len(vocabulary.pieces[index].encode()) - 1)
    return scores


class SpmUnigram(Unigram):
    """The unigram model of a sentencepiece vocabulary, with the `normalizer` that produces its internal text.

    For sampling and n-best, user-defined symbols are scored by characters, as in sentencepiece.
    """

    def __init__(self, vocabulary: SpmVocabulary) -> None:
        scores, normal = spm_scores(vocabulary), vocabulary.types == NORMAL
        nominal = scores.astype(np.float64)
        for index in np.flatnonzero(vocabulary.types == USER_DEFINED).tolist():
            nominal[index] = 0.1 * (len(vocabulary.pieces[index]) - 1)
        lowest = scores[normal].min() if normal.any() else np.finfo(np.float32).max
        super().__init__(
            vocabulary.in_text(),
            scores,
            unknown=float(np.float32(lowest - np.float32(UNKNOWN_PENALTY))),
            threshold=RESET_THRESHOLD,
            byte_ids=vocabulary.byte_ids,
            unk_id=vocabulary.unk_id,
            escaped=vocabulary.escaped,
            nominal=nominal,
        )
        self.normalizer = vocabulary.normalizer()


Algorithm = SpmUnigram | SpmBpe
"""The algorithms that turn internal text into tokens."""


def algorithm_of(vocabulary: SpmVocabulary) -> Algorithm:
    """The algorithm of a vocabulary; raises `TokenizerError` if it is neither Unigram nor BPE."""
    kind = vocabulary.model.trainer.model_type
    if kind not in ("unigram", "bpe"):
        raise TokenizerError(
            f"{vocabulary.where}: a sentencepiece model of the type {kind!r}; in-house there are unigram and "
            "bpe. Load it with the family 'sentencepiece'"
        )
    return SpmUnigram(vocabulary) if kind == "unigram" else SpmBpe(vocabulary)


def spans_of_path(vocabulary: SpmVocabulary, algorithm: Algorithm, text: str) -> NDArray[np.int64]:
    """(start, end) of each token of `text` in its code points: int64 ``(tokens, 2)``."""
    found = located(algorithm.normalizer, [text], up_to_next=True)
    data = found.data[: found.offsets[-1]].tobytes()
    places = [token[1:3] for token in tokens_of_path(vocabulary, data, algorithm.path(data))]
    return found.spans(np.array(places, np.int64).reshape(-1, 2), np.array([0, len(places)]))[0]
