"""The words of a corpus under BERT's text rules, with their counts: streamed, as `training.counting` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tokbench.counts import WordCounts
from tokbench.kernels.compiling import announce
from tokbench_subword.pipeline.bert import BertRules
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
from tokbench_subword.pipeline.cuts import cuts_of
from tokbench_subword.training.counting import Block, Fill, count_blocks, count_words, filler
from tokbench_subword.training.word_table import WordTable
from tokbench_subword.wordpiece.model import bert_pipeline

_MOST_GROWTH = 3
"""Bytes of normalized text for each byte of input: a syllable of Hangul comes apart into three letters."""


def count_bert_pretokens(
    texts: Iterable[str],
    rules: BertRules,
    *,
    workers: int = 1,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Normalize, cut and count `texts`; `progress` is told how many bytes are done.

    Example:
        >>> [(word.decode(), count) for word, count in count_bert_pretokens(["Hé, he!"], BertRules())]
        [('he', 2), (',', 1), ('!', 1)]
    """
    announce(count_words)
    return count_blocks(texts, _bert_filler(rules), workers=workers, progress=progress)


def _bert_filler(rules: BertRules) -> Fill:
    pipeline = bert_pipeline(rules)
    normalizer = compiled_normalizer_of(pipeline.normalizer)
    count = filler(cuts_of([pipeline.pre_tokenizer or {}]).cutters)

    def fill(counted: WordTable, block: Block) -> None:
        data, ends = block.data, block.ends
        if normalizer is not None:
            data, offsets = normalizer.apply(data, np.concatenate([np.zeros(1, np.int64), ends]))
            ends = offsets[1:]
        count(counted, Block(data, ends, _MOST_GROWTH * block.start))

    return fill
