"""Where the tokens of a text lie, from the path through it: the plain form of what kernels do as they encode.

It also serves BPE models with unused pieces, which the kernels do not know (see `spm_bpe`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.unigram.charsmap import to_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokbench_subword.unigram.tokenizer import Algorithm
    from tokbench_subword.unigram.vocabulary import SpmVocabulary


def spans_in(origins: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """What bytes from ``places[:, 0]`` to ``places[:, 1]`` come from, int64 of the same shape.

    `origins` is of each byte the start of a span of code points of its document, above 32 bits of its end.
    """
    return np.stack([origins[places[:, 0]] >> 32, origins[places[:, 1] - 1] & 0xFFFFFFFF], axis=1)


def spans_of_path(vocabulary: SpmVocabulary, algorithm: Algorithm, source: bytes) -> NDArray[np.int64]:
    """(start, end) of each token of UTF-8 `source` in its code points: int64 ``(tokens, 2)``."""
    text = np.frombuffer(source, np.uint8)
    normal, _, origins = algorithm.normalizer.located(text, np.array([0, len(source)]))
    assert origins is not None
    data = normal.tobytes()
    rows = algorithm.path_rows(data)
    spans, unknown = spans_in(origins, rows[:, :2]), rows[:, 2] < 0
    if unknown.any():
        if len(vocabulary.byte_ids):
            counts = np.ones(len(rows), np.int64)
            parts = [data[start:end] for start, end, _ in rows[unknown].tolist()]
            counts[unknown] = [len(to_text(part, vocabulary.escaped).encode()) for part in parts]
            spans = np.repeat(spans, counts, axis=0)
        else:
            first = np.flatnonzero(~(unknown & np.append(False, unknown[:-1])))  # several in a row are one
            last = np.append(first[1:], len(rows)) - 1
            spans = np.stack([spans[first, 0], spans[last, 1]], axis=1)
    return spans
