"""The bootstrap group of each document, and the key by which it falls there and into samples."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tokbench.corpus import Dataset, Document, in_batches
from tokbench.kernels.hashing import hash_spans
from tokbench.kernels.pointers import PADDING, padded
from tokbench.kernels.text import end_to_end
from tokbench.tally.counters import GROUPS, CorpusFacts

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Bytes, Ints, Keys

BLOCK_DOCUMENTS = 32
"""Documents of a block, on average, where they follow one another: a page or so of lines."""


def document_keys(data: Bytes, starts: Ints, ends: Ints, lines: Sequence[int | None] = ()) -> Keys:
    """A 32-bit key of each document: of its text, or of its line where `lines` gives one.

    It is the lower half of the hash of `tokbench.kernels.hashing`, of the bytes of the text, or of the eight of
    the line's number. `data` is followed by padding.
    """
    keys = np.empty(len(starts), np.uint64)
    hash_spans(data, starts, ends, keys)
    own = [index for index, line in enumerate(lines) if line is not None]
    if own:
        numbers = padded(np.array([lines[index] for index in own], "<i8").tobytes())
        first = np.arange(0, len(numbers), 8)
        of_lines = np.empty(len(own), np.uint64)
        hash_spans(numbers, first, first + 8, of_lines)
        keys[own] = of_lines
    return keys.astype(np.uint32)


class Grouping:
    """The bootstrap group of each document: by its line in a parallel dataset, by its cluster, by its block.

    So replicates pair across languages, and up to 1,024 lines have a group each. Where documents follow one
    another in a text, and so are no independent observations, about one in `BLOCK_DOCUMENTS` begins a block, as
    its key decides; those up to the next are in its group, also across batches. All others have a group by
    their own key.
    """

    def __init__(self, facts: CorpusFacts) -> None:
        self._facts = facts
        self._block: int | None = None  # the group of the block that goes on

    def of_documents(self, documents: Sequence[Document]) -> Ints:
        """The groups of documents of which nothing is counted yet: their keys are those of their texts."""
        texts = [document.text.encode("utf-8", "surrogatepass") for document in documents]
        data, limits = end_to_end(texts, PADDING)
        return self.of(document_keys(data, limits[:-1], limits[1:]), documents)

    def of(self, keys: Keys, documents: Sequence[Document]) -> Ints:
        """The groups of the documents with these keys; `documents` are the same, or none."""
        groups = keys.astype(np.int64) % GROUPS
        if self._facts.consecutive and len(groups):
            begins = (keys >> np.uint32(10)) % BLOCK_DOCUMENTS == 0  # other bits than those of the group
            begins[0] |= self._block is None
            last = np.maximum.accumulate(np.where(begins, np.arange(len(groups)), -1))
            groups = np.where(last < 0, self._block or 0, groups[last])
            self._block = int(groups[-1])
        for index, document in enumerate(documents):
            if self._facts.parallel and document.line is not None:
                groups[index] = document.line % GROUPS
            elif document.cluster is not None:
                groups[index] = zlib.crc32(document.cluster.encode("utf-8", "surrogatepass")) % GROUPS
        return groups


def in_groups(dataset: Dataset, language: str) -> Iterator[tuple[list[Document], Ints]]:
    """The documents of a language that have text, a thousand at once, with the bootstrap group of each."""
    grouping = Grouping(CorpusFacts.of(dataset, language))
    read = (document for shard in dataset.shards(language) for document in dataset.read(shard))
    for some in in_batches(document for document in read if document.text):
        yield some, grouping.of_documents(some)
