"""A batch of documents, with everything that is counted in it whatever the tokenizer: made once and shared.

The documents of a batch are joined by line feeds into one array of bytes; words, numbers and the rest are
spans of that array. Every count is an array over the batch's documents. Strings are made of it only when a
tokenizer asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Bytes, Ints, Keys

Flags = NDArray[np.bool_]
"""One yes or no for each document, or byte, or token."""
Offsets = NDArray[np.integer[Any]]
"""Places in a batch: int32 where that is enough, else int64."""

BATCH_BYTES = 1 << 20
"""Text in a batch, little enough to take no memory to speak of. Smaller batches make encoding and counting
slower, since they take turns more often and each has its own tables in the processor's caches; with twice as
much, tiktoken and counting take 2 to 3 % less time, but workers with in-house BPE more than 400 MB."""


class Spans(NamedTuple):
    """Spans of a batch's bytes in order: those of document i are ``limits[i]`` to ``limits[i + 1]`` of them.

    `start` and `end` are int32 where that is enough for the batch.
    """

    start: Offsets
    end: Offsets
    limits: Ints

    @property
    def document(self) -> Ints:
        """The document of each span."""
        return np.repeat(np.arange(len(self.limits) - 1), self.counts)

    @property
    def counts(self) -> Ints:
        """How many spans each document has."""
        return np.diff(self.limits)

    def some(self, keep: Flags) -> Spans:
        """The spans to `keep`."""
        return Spans(self.start[keep], self.end[keep], np.append(0, np.cumsum(keep))[self.limits])

    def sums(self, values: NDArray[Any]) -> Ints:
        """The sums over each document's spans of what `values` has for each, whole numbers or flags."""
        return np.diff(np.append(0, np.cumsum(values))[self.limits])


class InnerCuts(NamedTuple):
    """Places inside things where a boundary may fall: the byte, the document, and whether one should."""

    at: Ints
    document: Ints
    gold: Flags


class Texts(NamedTuple):
    """The documents of a batch as kernels take them: document i is ``data[starts[i]:ends[i]]``."""

    data: Bytes
    starts: Ints
    ends: Ints


@dataclass(frozen=True, eq=False)
class TextBatch:
    """Some documents, with everything that does not depend on a tokenizer counted.

    `data` is the UTF-8 of the texts (uint8), a line feed after each; document i is ``data[starts[i]:ends[i]]``.
    `keys` is the hash (uint32) that places each document in a bootstrap group and in the samples. `counts` has
    those of `TEXT_COUNTERS` that apply, int64 ``(documents,)`` each. `marks` (uint8, with padding) says of
    every byte what `tokbench.tally.marks` lists; `surrogates` which documents hold lone surrogates: no decoder
    gives them back. `spans` are those, beside words, that tokens are counted over: numbers, and of code
    identifiers, operators and indents. `cuts` are places inside some of them, by the counters that they are
    for; `syntax` the gaps between a parser's tokens.
    """

    keys: Keys
    groups: Ints
    data: Bytes
    starts: Ints
    ends: Ints
    counts: Mapping[str, Ints]
    words: Spans
    marks: Bytes
    surrogates: Flags
    spans: Mapping[str, Spans]
    cuts: Mapping[str, InnerCuts]
    syntax: Spans | None = None

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def arrays(self) -> Texts:
        """The documents as kernels take them."""
        return Texts(self.data, self.starts, self.ends)

    @cached_property
    def texts(self) -> Sequence[str]:
        """The documents as strings."""
        texts = str(self.data.data, "utf-8", "surrogatepass").split("\n")[:-1]
        if len(texts) == len(self):
            return texts
        whole = self.data.tobytes()  # documents have line feeds of their own
        limits = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [whole[start:end].decode("utf-8", "surrogatepass") for start, end in limits]

    def text(self, document: int) -> str:
        """One document as a string."""
        if "texts" in self.__dict__:
            return self.texts[document]
        own = self.data[self.starts[document] : self.ends[document]]
        return own.tobytes().decode("utf-8", "surrogatepass")
