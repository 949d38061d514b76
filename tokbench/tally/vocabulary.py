"""The bytes of each token that occurs, as arrays: asked of the tokenizer when its id is first met."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokbench.capabilities import BatchTokenByter, TokenByter
from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import padded
from tokbench.tokenizer import (
    Tokenizer,
    check_encoded,
    check_told,
    special_ids,
    token_bytes,
    unk_id,
    whole_text,
)

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Bytes, Ids, Ints
    from tokbench.tally.text import Flags

UNKNOWN_LENGTH = -1
"""The length of a token whose bytes the tokenizer does not tell."""


SPLIT, KNOWN, EMPTY, UNKNOWN, UNTOLD = 1, 2, 4, 8, 16
"""Flags of a token: no whole UTF-8 characters; looked up; no bytes; the unknown token; bytes cannot be told."""


class TokenArrays(NamedTuple):
    """A `TokenTable` as kernels take it."""

    offset: Ints
    length: Ids
    blob: Bytes
    flags: Bytes


class TokenTable:
    """What is known of a tokenizer's tokens; grows as ids are met.

    `length` (int32) is the bytes of each token, `UNKNOWN_LENGTH` where they cannot be told; `offset` (int64)
    where they begin in `blob`, which has padding; `flags` (uint8) are those above, 0 for a token that was not
    met yet. `folded` keeps the folded forms of the tokens, by degree (`tokbench.tally.folding`).
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer: Callable[[], Tokenizer | None]
        try:
            self.tokenizer = weakref.ref(tokenizer)
        except TypeError:  # as of types with slots
            self.tokenizer = lambda: tokenizer
        self._name = tokenizer.name
        self.size = int(tokenizer.vocab_size)
        self.flags: Bytes = np.zeros(self.size, np.uint8)
        self.length: Ids = np.zeros(self.size, np.int32)
        self.offset: Ints = np.zeros(self.size, np.int64)
        self.blob: Bytes = padded(b"")
        self.folded: dict[str, Any] = {}
        self.unk = unk_id(tokenizer)
        self._special: Flags = np.zeros(self.size, np.bool_)
        self._special[[index for index in special_ids(tokenizer) if 0 <= index < self.size]] = True

    @property
    def arrays(self) -> TokenArrays:
        """The table as kernels take it."""
        return TokenArrays(self.offset, self.length, self.blob, self.flags)

    def know(self, ids: Ids) -> None:
        """Ask for whichever of `ids` are new; raises `TokenizerError` for ids outside the vocabulary."""
        check_encoded(self._name, ids, self.size)
        new = np.unique(ids[self.flags[ids] == 0])
        if len(new):
            self._ask(new)

    def bytes_of(self, token_id: int) -> bytes:
        """The bytes of a known token."""
        start = int(self.offset[token_id])
        return self.blob[start : start + max(0, int(self.length[token_id]))].tobytes()

    def _ask(self, ids: Ids) -> None:
        tokenizer = self.tokenizer()
        assert tokenizer is not None
        tells = isinstance(tokenizer, TokenByter)
        if tells and isinstance(tokenizer, BatchTokenByter):
            pieces = list(tokenizer.token_bytes_batch(ids.tolist()))
            check_told(self._name, pieces, "token_bytes_batch")
            if len(pieces) != len(ids):
                raise TokenizerError(
                    f"{self._name}: token_bytes_batch returned {len(pieces)} tokens' bytes for {len(ids)} ids"
                )
        elif isinstance(tokenizer, TokenByter):
            # asked once: isinstance of a protocol takes longer than to tell a token's bytes
            pieces = list(map(tokenizer.token_bytes, ids.tolist()))
            check_told(self._name, pieces)
        else:
            pieces = [token_bytes(tokenizer, token) for token in ids.tolist()]
        if tells:
            untold = np.zeros(len(pieces), np.bool_)
            split = np.array([whole_text(piece, "surrogatepass") is None for piece in pieces])
            split &= ~self._special[ids]
        else:
            # a part of a character decodes to a replacement character, and its bytes are not known
            split = untold = np.array([b"\xef\xbf\xbd" in piece for piece in pieces])
            pieces = [b"" if b"\xef\xbf\xbd" in piece else piece for piece in pieces]
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        begin = len(self.blob) + np.cumsum(lengths) - lengths
        self.blob = padded(b"".join([self.blob.tobytes(), *pieces]))
        self.offset[ids] = begin
        self.length[ids] = np.where(untold, UNKNOWN_LENGTH, lengths)
        flags = KNOWN + SPLIT * split + EMPTY * (self.length[ids] == 0) + UNTOLD * untold
        flags += UNKNOWN * (ids == (-1 if self.unk is None else self.unk))
        self.flags[ids] = flags


_tables: list[TokenTable] = []


def table_of(tokenizer: Tokenizer) -> TokenTable:
    """The table of a tokenizer: the one made before in this process, while the tokenizer lives."""
    _tables[:] = [table for table in _tables if table.tokenizer() is not None]
    for table in _tables:
        if table.tokenizer() is tokenizer:
            return table
    table = TokenTable(tokenizer)
    if isinstance(table.tokenizer, weakref.ref):
        _tables.append(table)
    return table
