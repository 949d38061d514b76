"""The bytes of each token that occurs, as arrays: asked of the tokenizer once per id, then gathered."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import padded
from tokbench.tokenizer import BatchTokenByter, TokenByter, Tokenizer, special_ids, token_bytes, unk_id

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN_LENGTH = -1
"""The length of a token whose bytes the tokenizer does not tell."""
ASKED_AT_ONCE = 1 << 14
"""Tokens asked for by one call, so that a large vocabulary takes no more than some megabytes meanwhile."""


SPLIT, KNOWN, EMPTY, UNKNOWN, UNTOLD = 1, 2, 4, 8, 16
"""Flags of a token: no whole UTF-8 characters; looked up; no bytes; the unknown one; of bytes nobody tells."""
ESCAPES = 0xDC80, 0xDCFF
"""The code points by which ``surrogateescape`` writes bytes that are no UTF-8."""


class TokenArrays(NamedTuple):
    """A `TokenTable` as kernels take it."""

    offset: NDArray[np.int64]
    length: NDArray[np.int32]
    blob: NDArray[np.uint8]
    flags: NDArray[np.uint8]


class TokenTable:
    """What is known of a tokenizer's tokens; grows as ids are met, or is all there once one is.

    The latter where one call tells of many (`BatchTokenByter`).

    `length` (int32) is the bytes of each token, `UNKNOWN_LENGTH` where they cannot be told; `offset` (int64)
    where they begin in `blob`, which has padding; `flags` (uint8) are those above, 0 for a token that was not
    met yet. `whole` says that all is there that will be without being met. `derived` keeps what others work out
    from the table, for as long as it lives.
    """

    __slots__ = (
        "_special",
        "blob",
        "derived",
        "flags",
        "length",
        "offset",
        "size",
        "tokenizer",
        "unk",
        "whole",
    )

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = weakref.ref(tokenizer) if _weak(tokenizer) else lambda: tokenizer
        self.size = int(tokenizer.vocab_size)
        self.flags: NDArray[np.uint8] = np.zeros(self.size, np.uint8)
        self.length: NDArray[np.int32] = np.zeros(self.size, np.int32)
        self.offset: NDArray[np.int64] = np.zeros(self.size, np.int64)
        self.blob: NDArray[np.uint8] = padded(b"")
        self.derived: dict[str, Any] = {}
        self.unk = unk_id(tokenizer)
        self.whole = False
        self._special: NDArray[np.bool_] = np.zeros(self.size, np.bool_)
        self._special[[index for index in special_ids(tokenizer) if 0 <= index < self.size]] = True

    @property
    def arrays(self) -> TokenArrays:
        """The table as kernels take it."""
        return TokenArrays(self.offset, self.length, self.blob, self.flags)

    def know(self, ids: NDArray[np.int32]) -> None:
        """Ask for whichever of `ids` are new; raises `TokenizerError` for ids outside the vocabulary."""
        if not len(ids):
            return
        low, high = int(ids.min()), int(ids.max())
        if low < 0 or high >= self.size:
            raise TokenizerError(
                f"{self._name()}: encode returned the id {low if low < 0 else high}, outside its vocabulary "
                f"of {self.size:,} ids (0 to {self.size - 1:,}); vocab_size must count every id, "
                f"special and added tokens included"
            )
        if self.whole and (self.unk is None or self.flags[self.unk]):
            return
        new = np.unique(ids[self.flags[ids] == 0])
        if not len(new):
            return
        tokenizer = self.tokenizer()
        if self.whole or not (isinstance(tokenizer, BatchTokenByter) and isinstance(tokenizer, TokenByter)):
            self._ask(new)
            return
        # all at once is less work than to come back for the rare ones again and again; the unknown token waits,
        # since others ask whether it was ever met
        self.whole = True
        others = np.setdiff1d(np.arange(self.size, dtype=np.int32), [] if self.unk is None else [self.unk])
        for first in range(0, len(others), ASKED_AT_ONCE):
            self._ask(others[first : first + ASKED_AT_ONCE])
        if self.unk is not None and self.unk in new:
            self._ask(np.array([self.unk], np.int32))

    def bytes_of(self, token_id: int) -> bytes:
        """The bytes of a known token."""
        start = int(self.offset[token_id])
        return self.blob[start : start + max(0, int(self.length[token_id]))].tobytes()

    def _ask(self, ids: NDArray[np.int32]) -> None:
        tokenizer = self.tokenizer()
        assert tokenizer is not None
        own = isinstance(tokenizer, TokenByter)
        if own and isinstance(tokenizer, BatchTokenByter):
            pieces = list(tokenizer.token_bytes_batch(ids.tolist()))
            if len(pieces) != len(ids):
                raise TokenizerError(
                    f"{self._name()}: token_bytes_batch returned {len(pieces)} tokens' bytes for {len(ids)} ids"
                )
        elif isinstance(tokenizer, TokenByter):
            # asked once: isinstance of a protocol takes longer than to tell a token's bytes
            pieces = list(map(tokenizer.token_bytes, ids.tolist()))
        else:
            pieces = [token_bytes(tokenizer, token) for token in ids.tolist()]
        if own:
            unknown = np.zeros(len(pieces), np.bool_)
            split = _broken(pieces) & ~self._special[ids]
        else:
            # decoded alone it is a replacement character: a piece of one, of unknown bytes
            unknown = np.array([b"\xef\xbf\xbd" in piece for piece in pieces])
            split = unknown
            pieces = [b"" if b"\xef\xbf\xbd" in piece else piece for piece in pieces]
        lengths = np.fromiter(map(len, pieces), np.int64, len(pieces))
        begin = len(self.blob) + np.cumsum(lengths) - lengths
        self.blob = padded(b"".join([self.blob.tobytes(), *pieces]))
        self.offset[ids] = begin
        self.length[ids] = np.where(unknown, UNKNOWN_LENGTH, lengths)
        flags = KNOWN + SPLIT * split + EMPTY * (self.length[ids] == 0) + UNTOLD * unknown
        flags += UNKNOWN * (ids == (-1 if self.unk is None else self.unk))
        self.flags[ids] = flags

    def _name(self) -> str:
        tokenizer = self.tokenizer()
        return tokenizer.name if tokenizer is not None else "tokenizer"


def _broken(pieces: list[bytes]) -> NDArray[np.bool_]:
    """Which of the pieces are no whole characters; lone surrogates are such."""
    points, ends = code_points(pieces)
    broken = np.diff(np.append(0, np.cumsum(escaped(points))[ends])) > 0
    for index in np.flatnonzero(broken).tolist():
        try:
            pieces[index].decode("utf-8", "surrogatepass")
            broken[index] = False
        except UnicodeDecodeError:
            pass
    return broken


def code_points(pieces: Sequence[bytes]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    r"""The code points (uint32) of all pieces, a line feed after each, and the places of those line feeds.

    Bytes that are no UTF-8 are `ESCAPES`, among them, as Python has it, those of surrogates.

    Example:
        >>> points, ends = code_points([b"ab", b"", "é".encode()[:1]])
        >>> [hex(point) for point in points.tolist()], ends.tolist()
        (['0x61', '0x62', '0xa', '0xa', '0xdcc3', '0xa'], [2, 3, 5])
    """
    text = b"\n".join([*pieces, b""]).decode("utf-8", "surrogateescape")
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    widths = 1 + (points >= 0x80).astype(np.int64) + (points >= 0x800) + (points >= 0x10000)
    widths[escaped(points)] = 1
    line_feeds = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)) + 1)
    return points, np.searchsorted(np.cumsum(widths), line_feeds)


def escaped(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which of the points are bytes that are no UTF-8."""
    found: NDArray[np.bool_] = (points >= ESCAPES[0]) & (points <= ESCAPES[1])
    return found


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
