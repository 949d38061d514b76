"""The fewest tokens that spell pre-tokens: shortest paths over a byte-level vocabulary, whatever its merges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import kernel
from tokbench.kernels.copies import cached_property
from tokbench.kernels.pointers import Bytes, Ints, Words, pointer
from tokbench.kernels.utf8 import encodable
from tokbench_subword.bpe.token_table import TokenLookup
from tokbench_subword.pipeline.compiled import CompiledPipeline
from tokbench_subword.pipeline.segments import TEXT, Segments
from tokbench_subword.unigram.trie import build_trie, descend, root_of


@kernel
def count_fewest(data_: Bytes, spans: Ints, units_: Words, best: Ints, fewest: Ints) -> None:
    """The fewest tokens of each span; a byte is always a token. `best` is longer than the longest span."""
    data, units = pointer(data_), pointer(units_)
    for span in range(len(spans)):
        start, size = spans[span, 0], spans[span, 1] - spans[span, 0]
        for place in range(size + 1):
            best[place] = place  # byte by byte
        for place in range(size):
            cost = best[place] + 1
            if cost < best[place + 1]:
                best[place + 1] = cost
            node = root_of(units)
            for end in range(place, size):
                node, token = descend(units, node, np.int64(data[start + end]))
                if token >= 0 and cost < best[end + 1]:
                    best[end + 1] = cost
                if node <= 0:
                    break
        fewest[span] = best[size]


class Shortest:
    """Counts the fewest of some tokens for what a pipeline cuts; longer tokens with a NUL byte do not count.

    Raises `TokenizerError` for tokens that are not of bytes.
    """

    def __init__(self, tokens: TokenLookup, pipeline: CompiledPipeline) -> None:
        self._pipeline = pipeline
        ids, special = tokens.model.ids, tokens.special_ids
        complete = all(bytes([byte]) in ids for byte in range(256))
        if tokens.model.level != "byte" or not complete:
            raise TokenizerError(
                f"{tokens.name}: the fewest tokens are told of byte-level BPE that has all bytes"
            )
        self._tokens = {
            token: index for token, index in ids.items() if b"\0" not in token and index not in special
        }

    @cached_property
    def _units(self) -> NDArray[np.uint64]:
        return build_trie(self._tokens)

    def of(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The fewest tokens of each text, int64 ``(n,)``; added tokens that are found in it are one each."""
        segments = self._pipeline.segments(Segments.of([encodable(text) for text in texts]))
        offsets = segments.offsets
        spans = np.stack([offsets[:-1], offsets[1:]], axis=1)
        before = np.arange(len(offsets))
        for cutter in self._pipeline.cuts.cutters:
            spans, counts = cutter.cut(segments.data, spans)
            before = counts[before]
        fewest = np.zeros(len(spans), np.int64)
        longest = int((spans[:, 1] - spans[:, 0]).max(initial=0))
        count_fewest(segments.data, spans, self._units, np.empty(longest + 1, np.int64), fewest)
        sums = np.concatenate((np.zeros(1, np.int64), np.cumsum(fewest)))
        of_segments = np.diff(sums[before])
        if segments.marks is not None:
            of_segments += segments.marks != TEXT
        if segments.documents is None:
            return of_segments
        ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(of_segments)))
        return np.diff(ends[segments.documents])
