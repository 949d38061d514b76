"""`Encoder`: a `WordPieceModel` compiled for the kernels, and the calls that run them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench import TokenBatch
from tokbench.kernels.compiling import announce
from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import block
from tokbench.kernels.stretch_cache import CACHED_TOKENS, cache_lines
from tokbench.kernels.utf8 import encodable, repaired
from tokbench_subword.wordpiece.alphabet import SymbolTable
from tokbench_subword.wordpiece.kernels import CACHE_SLOTS, encode_documents, match_words
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.wordpiece.normalizer import words
from tokbench_subword.wordpiece.table import character_table
from tokbench_subword.wordpiece.trie import Trie


class WorkSpace:
    """What a call works with, kept for the next: the words met so far, and memory for texts of `_KEPT` bytes.

    `starts` and `offsets` are of one document; `word` and `ids` have a place for each byte of text.
    """

    __slots__ = ("cache", "ids", "offsets", "starts", "word")

    def __init__(self) -> None:
        self.cache = cache_lines(CACHE_SLOTS)
        self.starts, self.offsets = np.zeros(2, np.int64), np.zeros(2, np.int64)
        self.word, self.ids = np.empty(_KEPT, np.int32), np.empty(_KEPT + CACHED_TOKENS, np.int32)


_KEPT = 1 << 14
_PAD = bytes(8)


@dataclass(frozen=True, slots=True, eq=False)
class Encoder(Stays):
    """The tables of one model. Safe for use by many threads: they take turns with work spaces."""

    model: WordPieceModel
    arrays: tuple[NDArray[Any], ...]
    block: NDArray[np.uint64]
    spaces: deque[WorkSpace] = field(default_factory=deque)

    @classmethod
    def of(cls, model: WordPieceModel) -> Encoder:
        """Compile `model`. A word that is spelled as a special token is that token, as in `tokenizers`."""
        announce(encode_documents)
        trie = Trie.of(model.vocabulary)
        settings = [trie.base(trie.walk(model.prefix)), model.unk_id, model.max_input_chars_per_word]
        table = SymbolTable.of(character_table(model.rules), trie.symbols)
        arrays = (
            table.kinds,
            table.entries,
            table.replacements,
            trie.symbols,
            trie.units,
            np.array(settings, np.int64),
        )
        return cls(model, arrays, block(arrays))

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids of one text: int32 of shape ``(tokens,)``."""
        data = encodable(text)
        if len(data) > _KEPT:
            return self.encode_batch([text]).ids
        space = self._space()
        starts, offsets = space.starts, space.offsets
        starts[1] = len(data)
        done = encode_documents(self.block, data + _PAD, starts, 0, space.cache, space.word, space.ids, offsets)
        ids: NDArray[np.int32] = space.ids[: offsets[1]].copy() if done else self._reordered(text)
        self.spaces.append(space)
        return ids

    def _space(self) -> WorkSpace:
        try:
            return self.spaces.pop()
        except IndexError:
            return WorkSpace()

    def encode_batch(self, texts: Sequence[str], *, threads: int = 1) -> TokenBatch:
        """The ids of many texts; with `threads`, in as many contiguous parts at once."""
        if threads > 1 and len(texts) >= 2 * threads:
            cuts = [len(texts) * part // threads for part in range(threads + 1)]
            with ThreadPoolExecutor(threads) as pool:
                parts = list(pool.map(lambda a, b: self.encode_batch(texts[a:b]), cuts, cuts[1:]))
            lengths = np.concatenate([part.lengths() for part in parts])
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
            return TokenBatch(np.concatenate([part.ids for part in parts]), offsets)
        data, starts, word = laid_out(texts)
        ids, offsets = np.empty(len(data) + CACHED_TOKENS, np.int32), np.zeros(len(texts) + 1, np.int64)
        space = self._space()
        document = 0
        while True:
            document = int(
                encode_documents(self.block, data, starts, document, space.cache, word, ids, offsets)
            )
            if document == len(texts):
                break
            found = self._reordered(texts[document])
            start = offsets[document]
            offsets[document + 1] = start + len(found)
            ids[start : offsets[document + 1]] = found
            document += 1
        self.spaces.append(space)
        return TokenBatch(ids[: offsets[-1]].copy(), offsets)

    def _reordered(self, text: str) -> NDArray[np.int32]:
        """The ids of a text in which combining characters meet: ordering them is left to plain Python."""
        return self.match([word.text for word in words(repaired(text), self.model.rules)]).ids

    def match(self, pieces: Sequence[str]) -> TokenBatch:
        """The ids of each word of a list, as they stand: normalized and cut elsewhere."""
        announce(match_words)
        data, starts, word = laid_out(pieces)
        ids, offsets = np.empty(len(data), np.int32), np.empty(len(pieces) + 1, np.int64)
        match_words(self.block, data, starts, word, ids, offsets)
        return TokenBatch(ids[: offsets[-1]].copy(), offsets)


def laid_out(texts: Sequence[str]) -> tuple[bytes, NDArray[np.int64], NDArray[np.int32]]:
    """Texts as one piece of UTF-8, where each begins and ends, and room for the symbols of the longest."""
    encoded = [encodable(text) for text in texts]
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=starts[1:])
    return b"".join([*encoded, _PAD]), starts, np.empty(max(map(len, encoded), default=0), np.int32)
