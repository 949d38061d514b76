"""Small tokenizers whose ids can be worked out by hand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np

from tokbench.batch import TokenBatch


class Pieces:
    """Cuts text with a pattern; each distinct piece of the vocabulary is an id, and bytes are the fallback."""

    def __init__(self, *pieces: str, name: str = "pieces") -> None:
        self.name = name
        self.pieces = [*pieces]
        self.vocab_size = 256 + len(pieces)
        self._pattern = re.compile(
            "|".join(map(re.escape, sorted(pieces, key=len, reverse=True))) + "|." if pieces else ".", re.DOTALL
        )

    def encode(self, text: str) -> Sequence[int]:
        ids: list[int] = []
        for match in self._pattern.finditer(text):
            if match[0] in self.pieces:
                ids.append(256 + self.pieces.index(match[0]))
            else:
                ids += match[0].encode("utf-8", "surrogatepass")
        return ids

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id]) if token_id < 256 else self.pieces[token_id - 256].encode()

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")


class Lowering(Pieces):
    """Lower-cases, strips accents and joins white space before it cuts: lossy."""

    def encode(self, text: str) -> Sequence[int]:
        plain = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
        return super().encode(" ".join(plain.lower().split()))


class Prefixing(Pieces):
    """Puts a space before the text."""

    def encode(self, text: str) -> Sequence[int]:
        return super().encode(" " + text)


class Words:
    """Whole words of a list, anything else is unknown; spaces vanish, as in WordPiece."""

    def __init__(self, *words: str) -> None:
        self.name = "words"
        self.words = ["[UNK]", *words]
        self.vocab_size = len(self.words)
        self.unk_id = 0

    def encode(self, text: str) -> Sequence[int]:
        return [self.words.index(word) if word in self.words else 0 for word in text.split()]

    def token_bytes(self, token_id: int) -> bytes:
        return self.words[token_id].encode()

    def decode(self, ids: Sequence[int]) -> str:
        return " ".join(self.words[i] for i in ids)


class Told(Words):
    """The same, with the place of each word."""

    def offsets(self, text: str) -> np.ndarray:
        return np.array([match.span() for match in re.finditer(r"\S+", text)]).reshape(-1, 2)


class Broken(Pieces):
    """Returns a batch of a chosen shape."""

    def __init__(self, ids: list[int], offsets: list[int]) -> None:
        super().__init__()
        self.batch = TokenBatch(np.array(ids, np.int32), np.array(offsets, np.int64))

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        return self.batch
