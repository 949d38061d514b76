"""The bytes of each token that occurs, as arrays: asked of the tokenizer once per id, then gathered."""

from __future__ import annotations

import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

from tokbench.errors import TokenizerError
from tokbench.tokenizer import TokenByter, Tokenizer, special_ids, token_bytes, unk_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNKNOWN_LENGTH = -1
"""The length of a token whose bytes the tokenizer does not tell."""


class TokenTable:
    """What is known of a tokenizer's tokens; grows as ids are met.

    `length` (int32) is the bytes of each token, `UNKNOWN_LENGTH` where they cannot be told; `offset` (int64)
    where they begin in `blob`; `split` marks tokens that are not whole UTF-8 characters. `derived` keeps what
    others work out from the table, for as long as it lives.
    """

    __slots__ = (
        "_special",
        "blob",
        "derived",
        "known",
        "length",
        "offset",
        "size",
        "split",
        "tokenizer",
        "unk",
    )

    def __init__(self, tokenizer: Tokenizer) -> None:
        import numpy as np

        self.tokenizer = weakref.ref(tokenizer) if _weak(tokenizer) else lambda: tokenizer
        self.size = int(tokenizer.vocab_size)
        self.known: NDArray[np.bool_] = np.zeros(self.size, np.bool_)
        self.length: NDArray[np.int32] = np.zeros(self.size, np.int32)
        self.offset: NDArray[np.int64] = np.zeros(self.size, np.int64)
        self.split: NDArray[np.bool_] = np.zeros(self.size, np.bool_)
        self.blob: NDArray[np.uint8] = np.zeros(0, np.uint8)
        self.derived: dict[str, Any] = {}
        self.unk = unk_id(tokenizer)
        self._special = special_ids(tokenizer)

    def know(self, ids: NDArray[np.int32]) -> None:
        """Ask for whichever of `ids` are new; raises `TokenizerError` for ids outside the vocabulary."""
        import numpy as np

        if not ids.size:
            return
        low, high = int(ids.min()), int(ids.max())
        if low < 0 or high >= self.size:
            raise TokenizerError(
                f"{self._name()}: encode returned the id {low if low < 0 else high}, outside its vocabulary "
                f"of {self.size:,} ids (0 to {self.size - 1:,}); vocab_size must count every id, "
                f"special and added tokens included"
            )
        new = ids[~self.known[ids]]
        if new.size:
            self._ask(np.unique(new))

    def bytes_of(self, token_id: int) -> bytes:
        """The bytes of a known token."""
        start = int(self.offset[token_id])
        return self.blob[start : start + max(0, int(self.length[token_id]))].tobytes()

    def _ask(self, ids: NDArray[np.int32]) -> None:
        import numpy as np

        tokenizer = self.tokenizer()
        assert tokenizer is not None
        own = isinstance(tokenizer, TokenByter)
        ask = tokenizer.token_bytes if isinstance(tokenizer, TokenByter) else partial(token_bytes, tokenizer)
        pieces: list[bytes] = []
        position = len(self.blob)
        for token_id in ids.tolist():
            piece = ask(token_id)
            self.offset[token_id] = position
            self.length[token_id] = len(piece)
            if own:
                self.split[token_id] = token_id not in self._special and not _whole(piece)
            elif b"\xef\xbf\xbd" in piece:
                # decoded alone it is a replacement character: a piece of one, of unknown bytes
                self.split[token_id] = True
                self.length[token_id] = UNKNOWN_LENGTH
                piece = b""
            pieces.append(piece)
            position += len(piece)
        self.blob = np.concatenate([self.blob, np.frombuffer(b"".join(pieces), np.uint8)])
        self.known[ids] = True

    def _name(self) -> str:
        tokenizer = self.tokenizer()
        return tokenizer.name if tokenizer is not None else "tokenizer"


def _whole(piece: bytes) -> bool:
    try:
        piece.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _weak(tokenizer: Tokenizer) -> bool:
    try:
        weakref.ref(tokenizer)
    except TypeError:
        return False
    return True


_tables: list[TokenTable] = []


def table_of(tokenizer: Tokenizer) -> TokenTable:
    """The table of a tokenizer: the one made before in this process, while the tokenizer lives."""
    _tables[:] = [table for table in _tables if table.tokenizer() is not None]
    for table in _tables:
        if table.tokenizer() is tokenizer:
            return table
    table = TokenTable(tokenizer)
    if _weak(tokenizer):
        _tables.append(table)
    return table
