"""Training that goes on from a vocabulary: words are spelled in its tokens, and further pairs merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.kernels.pointers import PADDING
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.training.chunks import learn_from_sequences
from tokbench_subword.training.counting import Utf8Buffer, blocks
from tokbench_subword.training.session import MergeSession
from tokbench_subword.training.spelling import each_pair_once, spelled
from tokbench_subword.training.superwords import MOST_WORDS

_READ_AT_ONCE = 1 << 20  # characters of text


def learn_more(
    model: BpeModel,
    words: WordCounts,
    *,
    vocab_size: int,
    rule: int,
    minimum: int = 0,
    longest: int | None = None,
    forbidden: Sequence[bytes] = (),
    workers: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> NDArray[np.int32]:
    """Merges that follow those of a byte-level `model`: int32 ``(n, 3)``, learned from `words`.

    They end where there are `vocab_size` tokens. New ones get the ids from ``len(model.vocabulary)`` on. The
    other options are those of `training.session.MergeSession`.
    """
    ids, starts = spelled_in(model, words, workers)
    session = MergeSession(
        ids,
        starts,
        words.counts,
        tokens=model.vocabulary,
        n_wanted=vocab_size,
        rule=rule,
        minimum=minimum * words.unit,
        longest=longest,
        forbidden=forbidden,
        workers=workers,
    )
    return session.run(progress)


def extended(model: BpeModel, learned: NDArray[np.int32]) -> BpeModel:
    """The model with the merges that `learn_more` gave behind its own, and their tokens.

    A merge of a pair that it has already is left out: what it encodes without the new tokens stays as it is.
    """
    merges = np.concatenate((model.merges, each_pair_once(learned)))
    n_own, ranks = len(model.merges), model.ranks
    _, first = np.unique(merges[:, :2], axis=0, return_index=True)
    kept = np.sort(first)
    if ranks is not None:
        ranks = np.append(ranks, ranks.max(initial=-1) + 1 + np.arange(len(merges) - n_own))[kept]
    vocabulary = tuple(spelled(model.vocabulary, learned))
    return replace(model, vocabulary=vocabulary, merges=merges[kept], ranks=ranks)


def learn_superwords(
    model: BpeModel,
    texts: Iterable[str],
    pattern: Pattern,
    *,
    vocab_size: int,
    workers: int = 1,
    counted: Callable[[int], None] = lambda n_bytes: None,
    **options: Any,
) -> NDArray[np.int32]:
    """`learn_more`, from texts, cut by `pattern` alone: merges of what may be superwords.

    `counted` is told how many bytes are read; the other options are those of `learn_from_sequences`.
    """
    encoder, buffer, n_bytes = _whole(model, workers), Utf8Buffer(), 0
    (cutter,) = pattern.cutters
    batches = []
    for documents in blocks(texts, _READ_AT_ONCE):
        block = buffer.block(documents)
        stretches, _ = cutter.cut(block.data, block.spans)
        batches.append(encoder.encode_utf8(block.data, np.append(stretches[:, 0], block.ends[-1])))
        n_bytes += int(block.ends[-1])
        counted(n_bytes)
    return learn_from_sequences(
        batches,
        tokens=model.vocabulary,
        n_wanted=vocab_size,
        most_words=MOST_WORDS,
        workers=workers,
        **options,
    )


def _whole(model: BpeModel, workers: int) -> BpeEncoder:
    """An encoder that cuts nothing and knows no special tokens."""
    return BpeEncoder(replace(model, pattern=Pattern("none"), special_tokens={}, dropout=0.0), threads=workers)


def spelled_in(model: BpeModel, words: WordCounts, workers: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The ids of all words, one after another, each word encoded as a whole; and where each begins."""
    data = np.concatenate((words.data, np.zeros(PADDING, np.uint8)))
    batch = _whole(model, workers).encode_utf8(data, words.starts)
    return batch.ids, batch.offsets
