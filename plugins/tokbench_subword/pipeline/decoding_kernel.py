"""Ids back to text: the UTF-8 of all tokens of many documents by one kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import PADDING, Bytes, Int, Ints, pointer
from tokbench.kernels.text import end_to_end

_BYTE, _ENDS_START, _NONE = 1, 2, 4
"""Kinds of tokens: a byte; a token that ends the beginning of a text, even if it adds nothing; no token."""


@inline
def _character_width(data: Bytes, at: Int, end: Int) -> np.int64:
    """The length in bytes of the valid UTF-8 character at `at`; 0 if there is none before `end`."""
    first = np.int64(data[at])
    if first < 0x80:
        return np.int64(1)
    width = np.int64(2) if first < 0xE0 else np.int64(3) if first < 0xF0 else np.int64(4)
    if first < 0xC2 or first > 0xF4 or at + width > end:
        return np.int64(0)
    for place in range(at + 1, at + width):
        if data[place] & 0xC0 != 0x80:
            return np.int64(0)
    second = np.int64(data[at + 1])
    overlong = (first == 0xE0 and second < 0xA0) or (first == 0xF0 and second < 0x90)
    beyond = (first == 0xED and second >= 0xA0) or (first == 0xF4 and second >= 0x90)
    return np.int64(0) if overlong or beyond else width


@inline
def _repaired(out: Bytes, run: np.int64, end: np.int64, whole_runs: bool) -> np.int64:
    """Make the bytes from `run` to `end` valid UTF-8; returns the new end. Needs room for twice as many
    more.
    """
    at = run
    while at < end:
        width = _character_width(out, at, end)
        if width == 0:
            break
        at += width
    if at == end:
        return end
    size = end - run
    for place in range(size - 1, -1, -1):  # moved away: up to three bytes are written for each one read
        out[run + 2 * size + place] = out[run + place]
    at, stop, write = run + 2 * size, run + 3 * size, run
    while at < stop:
        width = np.int64(0) if whole_runs else _character_width(out, at, stop)
        if width == 0:
            out[write], out[write + 1], out[write + 2] = 0xEF, 0xBF, 0xBD
            at, write = at + 1, write + 3
        for _ in range(width):
            out[write] = out[at]
            at, write = at + 1, write + 1
    return write


@kernel
def join_tokens(
    ids: Ints, offsets: Ints, blob_array: Bytes, starts_array: Ints, kinds: Bytes, whole_runs: bool
) -> tuple[Bytes, Ints] | None:
    """The UTF-8 of documents end to end, uint8, and their offsets, int64; None if an id is not a token.

    Token t adds ``blob[starts[t]:starts[t + 1]]``. If `starts` has twice as many entries, the second half is
    what tokens add at the beginning of a document. `kinds` (uint8) has an entry for each token. If a run of
    byte tokens is not valid UTF-8, U+FFFD replaces all its bytes with `whole_runs`, else only those outside
    characters.
    """
    blob, starts, n_tokens = pointer(blob_array), pointer(starts_array), len(kinds)
    begins_at = np.int64(len(starts_array) - 1 - n_tokens)  # of its forms at the beginning, if there are any
    room = np.int64(0)
    for i in range(len(ids)):
        token = ids[i]
        if token < 0 or token >= n_tokens or kinds[token] & _NONE:
            return None
        usual = starts[token + 1] - starts[token]
        begins = starts[token + begins_at + 1] - starts[token + begins_at]
        room += 3 if kinds[token] & _BYTE else max(usual, begins)
    out_array, ends = np.empty(room, np.uint8), np.zeros(len(offsets), np.int64)
    out, size = pointer(out_array), np.int64(0)
    for document in range(len(offsets) - 1):
        begin, at_start, run = size, True, np.int64(-1)
        for i in range(offsets[document], offsets[document + 1]):
            row = np.int64(ids[i])
            kind = kinds[row]
            if kind & _BYTE:
                run = size if run < 0 else run
                out[size] = blob[starts[row]]
                size += 1
                continue
            if run >= 0:
                size, run = _repaired(out, run, size, whole_runs), np.int64(-1)
            if at_start:
                at_start = size == begin
                if at_start:
                    at_start = kind & _ENDS_START == 0
                    row += begins_at
            for place in range(starts[row], starts[row + 1]):
                out[size] = blob[place]
                size += 1
        if run >= 0:
            size = _repaired(out, run, size, whole_runs)
        ends[document + 1] = size
    return out_array[:size], ends


class TokenJoiner:
    """Decodes ids by joining the bytes that each token adds; raises `IndexError` for an id without a token.

    `usual` are the bytes that each id adds (None: no such token), and `begins` those that it adds at the
    beginning of a text (default: the same). The beginning ends with the first token that adds something, or
    that is in `ends_start`. `bytes_of` are the tokens that stand for single bytes. `finish` is applied to every
    text in the end. Bytes that are not UTF-8 become U+FFFD.

    Example:
        >>> joiner = TokenJoiner([b" a", b"b"], [b"a", b"b"])
        >>> joiner.text(np.array([0, 0, 1])), joiner.text(np.array([1, 0]))
        ('a ab', 'b a')
    """

    def __init__(
        self,
        usual: Sequence[bytes | None],
        begins: Sequence[bytes | None] = (),
        *,
        ends_start: Sequence[int] | NDArray[np.int64] = (),
        bytes_of: Mapping[int, int] = MappingProxyType({}),
        whole_runs: bool = False,
        finish: Callable[[str], str] | None = None,
    ) -> None:
        kinds = np.zeros(len(usual), np.uint8)
        kinds[np.asarray(ends_start, np.int64)] |= _ENDS_START
        kinds[list(bytes_of)] |= _BYTE
        kinds[[index for index, data in enumerate(usual) if data is None]] = _NONE
        rows = [data or b"" for data in (*usual, *begins)]
        for index, byte in bytes_of.items():
            rows[index] = bytes([byte])
        self.rows = end_to_end(rows, PADDING)
        """The bytes of all ids end to end, and where those of each begin; then those at the beginning."""
        self._tables = *self.rows, kinds, whole_runs
        self._finish = finish

    def text(self, ids: NDArray[np.int64]) -> str:
        """The text of some ids."""
        text = self._joined(ids, np.array([0, len(ids)]))[0].tobytes().decode("utf-8", "replace")
        return text if self._finish is None else self._finish(text)

    def texts(self, batch: TokenBatch) -> list[str]:
        """The text of every document."""
        data, ends = self._joined(batch.ids.astype(np.int64, copy=False), batch.offsets)
        whole, limits = data.tobytes(), pairwise(ends.tolist())
        texts = [whole[start:end].decode("utf-8", "replace") for start, end in limits]
        return texts if self._finish is None else list(map(self._finish, texts))

    def _joined(self, ids: NDArray[np.int64], offsets: NDArray[np.int64]) -> tuple[Bytes, Ints]:
        found = join_tokens(ids, offsets, *self._tables)
        if found is None:
            raise IndexError("an id is not in the vocabulary")
        return found
