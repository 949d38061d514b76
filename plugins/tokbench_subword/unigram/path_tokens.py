"""Paths as tokens, in plain Python: ids, bytes, and where they lie; `emitting` is the compiled form.

Sampled and n-best paths go this way, and traces, and BPE models with unused pieces, which the kernels do not
know (see `spm_bpe`). Unknown characters are spelled in bytes, or are one token for several in a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.unigram.charsmap import to_text
from tokbench_subword.unigram.lattice import with_unknown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokbench_subword.unigram.unigram_algorithm import Algorithm, Node
    from tokbench_subword.unigram.vocabulary import SpmVocabulary


def ids_of_paths(
    vocabulary: SpmVocabulary, data: bytes, rows: NDArray[np.integer], ends: list[int]
) -> list[list[int]]:
    """The ids of paths given end to end as rows of (start, end, piece), and where each ends."""
    ids: list[int] = rows[:, 2].tolist()
    if min(ids, default=0) < 0:
        if len(vocabulary.byte_ids):
            listed = rows.tolist()
            return [_with_bytes(vocabulary, data, listed[start:end]) for start, end in pairwise([0, *ends])]
        ids, ends = with_unknown(rows, ends, vocabulary.unk_id)
    return [ids[start:end] for start, end in pairwise([0, *ends])]


def _with_bytes(vocabulary: SpmVocabulary, data: bytes, path: list[list[int]]) -> list[int]:
    """The ids of a path, unknown characters as their bytes."""
    ids: list[int] = []
    for start, end, piece in path:
        if piece >= 0:
            ids.append(piece)
        else:
            ids += [int(vocabulary.byte_ids[byte]) for byte in _spelled(data[start:end], vocabulary.escaped)]
    return ids


def _spelled(data: bytes, escaped: bool) -> bytes:
    """The UTF-8 that a stretch of internal text stands for."""
    return to_text(data, escaped).encode()


def path_tokens(
    byte_ids: Sequence[int] | NDArray[np.int32], escaped: bool, data: bytes, path: Sequence[Node]
) -> tuple[bytes, ...]:
    """The bytes of each token that encoding makes of a path: unknown characters apart in bytes, or together."""
    tokens: list[bytes] = []
    unknown = False
    for node in path:
        text = data[node.start : node.end]
        if node.piece >= 0:
            tokens.append(text)
        elif len(byte_ids):
            tokens += [bytes([byte]) for byte in _spelled(text, escaped)]
        elif unknown:
            tokens[-1] += text
        else:
            tokens.append(text)
        unknown = node.piece < 0
    return tuple(tokens)


def spans_in(origins: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The spans of code points that bytes ``places[:, 0]`` to ``places[:, 1]`` come from: int64, as `places`.

    `origins` has for each byte such a span in its document: the start above the 32 bits of the end.
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
            counts[unknown] = [len(_spelled(part, vocabulary.escaped)) for part in parts]
            spans = np.repeat(spans, counts, axis=0)
        else:
            first = np.flatnonzero(~(unknown & np.append(False, unknown[:-1])))  # several in a row are one
            last = np.append(first[1:], len(rows)) - 1
            spans = np.stack([spans[first, 0], spans[last, 1]], axis=1)
    return spans
