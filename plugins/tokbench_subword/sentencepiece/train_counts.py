"""The words of a corpus with their counts, streamed: what a unigram model is trained on.

Documents are normalized and cut in front of each space; equal words are counted once, by any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tokbench.counts import WordCounts
from tokbench_subword.pipeline.patterns.cutters import cutter_of, joined_cutters
from tokbench_subword.pipeline.patterns.tree import quoted
from tokbench_subword.sentencepiece.charsmap import Normalizer
from tokbench_subword.training.counting import count_blocks, filler
from tokbench_subword.training.word_table import chosen_words


def count_words(
    texts: Iterable[str] | WordCounts,
    normalizer: Normalizer,
    apart: Iterable[str],
    *,
    threads: int = 1,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Count the words of `texts`, unless they are counted; those `apart`, in internal form, separate others and
    are none.

    Words are in internal form, sorted by count, the highest first, then by bytes, so that they do not depend on
    the order of documents. `progress` is told how many bytes have been read.
    """
    longest_first = "|".join(map(quoted, sorted(apart, key=len, reverse=True)))
    cutters = joined_cutters(
        [
            cutter_of(longest_first, "oniguruma", "Removed"),
            cutter_of(" ", "oniguruma", "MergedWithNext"),
        ]
    )
    fill = filler(cutters, normalizer.segments)
    return sorted_words(count_blocks(texts, fill, workers=threads, progress=progress))


def sorted_words(words: WordCounts) -> WordCounts:
    """By count, the highest first, then by bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    buffers = [None, pa.py_buffer(words.starts), pa.py_buffer(words.data)]
    spelled = pa.Array.from_buffers(pa.large_binary(), len(words), buffers)
    table = pa.table({"count": words.counts, "word": spelled})
    order = pc.sort_indices(table, sort_keys=[("count", "descending"), ("word", "ascending")])
    return chosen_words(words, order.to_numpy())
