"""`Encoder`: a `WordPieceModel` compiled for the kernels, and the calls that run them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench import TokenBatch
from tokbench_subword.kernels.compiling import announce
from tokbench_subword.kernels.pointers import PADDING, block
from tokbench_subword.kernels.utf8 import encodable
from tokbench_subword.wordpiece.kernels import encode_documents, match_words
from tokbench_subword.wordpiece.model import WordPieceModel
from tokbench_subword.wordpiece.normalizer import words
from tokbench_subword.wordpiece.table import character_table
from tokbench_subword.wordpiece.trie import Trie

_GROWTH = 3
"""Bytes of normalized text for each byte of input, at most: a Hangul syllable becomes three jamo."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """The tables of one model. Safe for use by many threads: every call has its own output and scratch."""

    model: WordPieceModel
    arrays: tuple[NDArray[Any], ...]
    block: NDArray[np.uint64]

    @classmethod
    def of(cls, model: WordPieceModel) -> Encoder:
        """Compile `model`. Special tokens are left out: content never becomes one."""
        special = model.special_tokens
        trie = Trie.of(
            {
                token.encode("utf-8", "surrogatepass"): index
                for token, index in model.vocabulary.items()
                if token not in special
            }
        )
        continuation = trie.walk(model.prefix.encode())
        settings = np.array([continuation, model.unk_id, model.max_input_chars_per_word], np.int64)
        table = character_table(model.rules)
        arrays = (
            table.kinds,
            table.ascii,
            table.slots,
            table.mapped,
            trie.nodes.reshape(-1),
            trie.values,
            settings,
        )
        return cls(model, arrays, block(arrays))

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids of one text: int32 of shape ``(tokens,)``."""
        data = encodable(text)
        ids = np.empty(len(data) + 1, np.int32)
        offsets = np.zeros(2, np.int64)
        starts = np.array([0, len(data)], np.int64)
        self._run([text], data, starts, ids, offsets)
        return ids[: offsets[1]]

    def encode_batch(self, texts: Sequence[str], *, threads: int = 1) -> TokenBatch:
        """The ids of many texts; with `threads`, in as many contiguous parts at once."""
        if threads > 1 and len(texts) >= 2 * threads:
            cuts = [len(texts) * part // threads for part in range(threads + 1)]
            with ThreadPoolExecutor(threads) as pool:
                parts = list(pool.map(lambda a, b: self.encode_batch(texts[a:b]), cuts, cuts[1:]))
            lengths = np.concatenate([part.lengths() for part in parts])
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
            return TokenBatch(np.concatenate([part.ids for part in parts]), offsets)
        encoded = [encodable(text) for text in texts]
        starts = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=starts[1:])
        ids = np.empty(int(starts[-1]) + 1, np.int32)
        offsets = np.zeros(len(encoded) + 1, np.int64)
        self._run(texts, b"".join(encoded), starts, ids, offsets)
        return TokenBatch(ids[: offsets[-1]].copy(), offsets)

    def _run(
        self,
        texts: Sequence[str],
        data: bytes,
        starts: NDArray[np.int64],
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
    ) -> None:
        announce(encode_documents)
        buffer = np.frombuffer(data + bytes(PADDING), np.uint8)
        longest = int(np.diff(starts).max(initial=0))
        scratch = np.empty(_GROWTH * longest + PADDING, np.uint8)
        document = 0
        while document < len(texts):
            document = int(encode_documents(self.block, buffer, starts, document, scratch, ids, offsets))
            if document < len(texts):  # combining characters meet: canonical reordering decides
                found = self.match([word.text for word in words(texts[document], self.model.rules)])
                start = offsets[document]
                offsets[document + 1] = start + len(found.ids)
                ids[start : offsets[document + 1]] = found.ids
                document += 1

    def match(self, pieces: Sequence[str]) -> TokenBatch:
        """The ids of each word of a list, as they stand: normalized and cut elsewhere."""
        announce(match_words)
        encoded = [encodable(piece) for piece in pieces]
        starts = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=starts[1:])
        data = np.frombuffer(b"".join(encoded) + bytes(PADDING), np.uint8)
        ids = np.empty(len(data), np.int32)
        offsets = np.zeros(len(encoded) + 1, np.int64)
        match_words(self.block, data, starts, ids, offsets)
        return TokenBatch(ids[: offsets[-1]].copy(), offsets)
