"""Greedy longest match over a BPE vocabulary: the merges left aside, only the tokens used.

At each place of a pre-token the longest token that fits is taken. What no token fits is the unknown token, one
for each character, or where there is none an error. Bostrom & Durrett 2020 and Uzan et al. 2024 compare the two
ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tokbench.batch import TokenBatch
from tokbench.capabilities import Step
from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench_subword.bpe.tokenizer import BpeTokenizer


class GreedyTokenizer:
    """A `BpeTokenizer` that encodes by longest match; everything else is the BPE tokenizer's.

    Raises `TokenizerError` for a character-level vocabulary with prefixes or suffixes, where a token's text
    depends on its place.
    """

    def __init__(self, bpe: BpeTokenizer) -> None:
        if bpe.model.continuing_prefix or bpe.model.end_of_word:
            raise TokenizerError(f"{bpe.name}: encoding=greedy is for vocabularies without prefix or suffix")
        self.bpe = bpe
        self.name, self.decode, self.token_bytes, self.save = bpe.name, bpe.decode, bpe.token_bytes, bpe.save
        self.vocab_size, self.special_ids, self.unk_id = bpe.vocab_size, bpe.special_ids, bpe.unk_id
        self.lossless = bpe.lossless

    @cached_property
    def _trie(self) -> dict[int, Any]:
        """Nested dictionaries by byte; the id of a token under -1."""
        root: dict[int, Any] = {}
        for token, index in self.bpe.model.ids.items():
            if index in self.bpe.special_ids or index == self.bpe.unk_id:
                continue
            node = root
            for byte in token:
                node = node.setdefault(byte, {})
            node[-1] = index
        return root

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids of `text`: int32."""
        import numpy as np

        ids: list[int] = []
        for word in self.bpe._preparation.words(text):
            ids += [word.token.id] if word.token else self._longest(word.stretch.text.encode())
        return np.array(ids, np.int32)

    def _longest(self, data: bytes) -> Iterator[int]:
        at = 0
        while at < len(data):
            node: Any = self._trie
            found, end = None, at
            for i in range(at, len(data)):
                node = node.get(data[i])
                if node is None:
                    break
                if -1 in node and (i + 1 == len(data) or not 0x80 <= data[i + 1] < 0xC0 or self._bytes):
                    found, end = node[-1], i + 1
            if found is None:
                if self.bpe.unk_id is None:
                    raise TokenizerError(f"{self.name}: no token begins with {data[at : at + 4]!r}")
                found, end = self.bpe.unk_id, at + 1
                while end < len(data) and 0x80 <= data[end] < 0xC0 and not self._bytes:
                    end += 1
            yield found
            at = end

    @property
    def _bytes(self) -> bool:
        return self.bpe.model.level == "byte"

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        return TokenBatch.of(self.encode(text) for text in texts)

    def trace(self, text: str) -> Iterator[Step]:
        """One step per token: what matched, and how long it is."""
        tokens: list[bytes] = []
        for index in self.encode(text).tolist():
            tokens.append(self.bpe.token_bytes(index))
            name = self.bpe.convert_id_to_token(index)
            yield Step("match", tuple(tokens), len(tokens) - 1, f"longest token: {name}", {"id": index})

    def facts(self) -> dict[str, Any]:
        """What this tokenizer is."""
        return {**self.bpe.facts(), "algorithm": "greedy longest match over a BPE vocabulary"}
