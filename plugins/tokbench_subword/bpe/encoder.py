"""`Encoder`: a `BpeModel` compiled into tables, and the threads' own caches, behind three calls.

`encode` takes a text, `encode_batch` many, `encode_spans` pre-tokens found elsewhere. All give int32 ids.
An `Encoder` may be used from several threads at once: each call borrows a `_Workspace` of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.tokenizer import TokenBatch
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.encoding import encode_documents, encode_spans
from tokbench_subword.bpe.merging import SHORT
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.tables import MOST_RANKS, NONE, JoinTable, PairTable, TokenTable
from tokbench_subword.kernels.compiling import announce
from tokbench_subword.kernels.pointers import PADDING, block
from tokbench_subword.kernels.unicode_classes import class_table
from tokbench_subword.kernels.utf8 import encodable

_PAD = bytes(PADDING)
_BUCKETS = 1 << 17
"""Buckets of the word cache: two words each, 64 bytes, 8 MB in all, of which a text touches what it needs."""
_ARENA = 1 << 20
_LONG_SLOTS = 1 << 16
_LONG_BYTES = 1 << 22
_LONG_ARENA = 1 << 20
_THREADED_FROM = 1 << 18
"""A batch of fewer bytes is not worth a second thread."""


class _Workspace:
    """What one thread needs for itself: the caches, scratch space, and the block of addresses."""

    __slots__ = ("arrays", "block", "end", "out", "span")

    def __init__(self, shared: Sequence[NDArray[Any]]) -> None:
        own = [
            _aligned_zeros(_BUCKETS * 8),
            np.zeros(_ARENA, np.uint32),
            np.full(1 << at.MEMO_BITS, 0xFFFFFFFFFFFFFFFF, np.uint64),
            _aligned_zeros(_LONG_SLOTS * 4),
            np.zeros(_LONG_BYTES + PADDING, np.uint8),
            np.zeros(_LONG_ARENA, np.uint32),
            np.zeros(at.N_COUNTERS, np.int64),
            np.zeros(SHORT + 1, np.uint32),
            np.zeros(SHORT + 1, np.uint32),
            np.zeros(at.CUTS + 1, np.int64),
        ]
        self.arrays = [*shared, *own]
        self.block = block(self.arrays)
        self.out = np.empty(1 << 12, np.int32)
        self.span = np.zeros(2, np.int64)  # offsets of a single text
        self.end = np.zeros(2, np.int64)

    def room(self, bytes_: int) -> NDArray[np.int32]:
        """An output array for a text of so many bytes, used again from call to call up to a megabyte."""
        if bytes_ + 4 <= len(self.out):
            return self.out
        room = np.empty(bytes_ + 4, np.int32)
        if bytes_ <= 1 << 18:
            self.out = room
        return room


def _encoded(texts: Sequence[str]) -> list[bytes] | list[str]:
    """The texts in UTF-8; as they are where all is ASCII, since their lengths are the same then."""
    if all(map(str.isascii, texts)):
        return list(texts)
    try:
        return list(map(str.encode, texts))
    except UnicodeEncodeError:
        return [encodable(text) for text in texts]


def _joined(parts: list[bytes] | list[str]) -> bytes:
    """All parts end to end, with `PADDING` bytes after them."""
    if parts and isinstance(parts[0], str):
        return ("".join([*parts, _PAD.decode()])).encode()
    return b"".join([*parts, _PAD])


def _aligned_zeros(words: int) -> NDArray[np.uint64]:
    """Zeros that begin at a multiple of 64 bytes, so that a bucket is one cache line."""
    raw = np.zeros(words + 8, np.uint64)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + words]


class Encoder:
    """Encodes text with a `BpeModel`.

    `threads` is how many threads a batch may use. With a pattern that has no state machine, `encode` and
    `encode_batch` find the pre-tokens with `regex` first.

    Example:
        >>> model = BpeModel(
        ...     vocabulary=(*(bytes([b]) for b in range(256)), b"ab"), merges=np.array([[97, 98, 256]]))
        >>> Encoder(model).encode("abc").tolist()
        [256, 99]
    """

    def __init__(self, model: BpeModel, *, threads: int = 1) -> None:
        self.model = model
        self.threads = max(1, threads)
        announce(encode_documents, encode_spans)
        self._shared = _shared_arrays(model)
        self._idle: deque[_Workspace] = deque()

    def encode(self, text: str) -> NDArray[np.int32]:
        """The ids of one text."""
        if self.model.pattern.machine is None:
            return self.encode_batch([text]).ids
        data = encodable(text)
        work = self._borrow()
        out = work.room(len(data))
        work.span[1] = len(data)
        try:
            text_bytes = np.frombuffer(data + _PAD, np.uint8)
            count = encode_documents(work.block, text_bytes, work.span, 0, 1, out, work.end)
            return out[:count].copy()
        finally:
            self._idle.append(work)

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of many texts."""
        parts = _encoded(texts)
        offsets = np.zeros(len(parts) + 1, np.int64)
        np.cumsum(list(map(len, parts)), out=offsets[1:])
        data = np.frombuffer(_joined(parts), np.uint8)
        pattern = self.model.pattern
        if pattern.machine is not None:
            return self._spread(encode_documents, data, offsets, offsets)
        parts = [part.encode() if isinstance(part, str) else part for part in parts]
        spans = [
            pattern.byte_spans(part.decode(), part) + start
            for part, start in zip(parts, offsets[:-1].tolist(), strict=True)
        ]
        return self.encode_spans(data, spans)

    def encode_spans(self, data: NDArray[np.uint8], spans: Sequence[NDArray[np.int64]]) -> TokenBatch:
        """The ids of given pre-tokens: for each document an int64 array ``(n, 2)`` of bytes in `data`.

        `data` must have `PADDING` bytes after the last span. A span is one pre-token whatever the pattern.
        """
        every = np.concatenate(spans) if spans else np.zeros((0, 2), np.int64)
        offsets = np.zeros(len(spans) + 1, np.int64)
        np.cumsum([len(one) for one in spans], out=offsets[1:])
        sizes = np.zeros(len(every) + 1, np.int64)
        np.cumsum(every[:, 1] - every[:, 0], out=sizes[1:])
        batch = self._spread(encode_spans, data, np.ascontiguousarray(every), sizes)
        return TokenBatch(batch.ids, batch.offsets[offsets])

    def _spread(
        self, encode: Any, data: NDArray[np.uint8], units: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> TokenBatch:
        """Run a kernel over all units (documents or pre-tokens), in as many threads as is worth while.

        ``sizes`` are cumulative bytes. Threads take contiguous runs of units of about equal size.
        """
        total = int(sizes[-1])
        n_units = len(sizes) - 1
        threads = min(self.threads, 1 + total // _THREADED_FROM)
        marks = [total * k // threads for k in range(threads + 1)]
        cuts = np.searchsorted(sizes, marks).tolist()
        cuts[0], cuts[-1] = 0, n_units

        def run(k: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
            first, last = cuts[k], cuts[k + 1]
            work = self._borrow()
            n_bytes = int(sizes[last] - sizes[first])
            out = work.room(n_bytes)
            ends = np.zeros(n_units + 1, np.int64) if threads == 1 else np.zeros(last + 1, np.int64)
            try:
                count = encode(work.block, data, units, first, last, out, ends)
                return out[:count].copy(), ends[first + 1 : last + 1]
            finally:
                self._idle.append(work)

        if threads == 1:
            ids, ends = run(0)
            return TokenBatch(ids, np.concatenate([np.zeros(1, np.int64), ends]))
        with ThreadPoolExecutor(threads) as pool:
            results = list(pool.map(run, range(threads)))
        shifts = np.cumsum([0, *(len(ids) for ids, _ in results)])
        shifted = [end + shift for (_, end), shift in zip(results, shifts, strict=False)]
        return TokenBatch(
            np.concatenate([ids for ids, _ in results]), np.concatenate([np.zeros(1, np.int64), *shifted])
        )

    def _borrow(self) -> _Workspace:
        try:
            return self._idle.pop()
        except IndexError:
            return _Workspace(self._shared)

    def forget(self) -> None:
        """Empty the caches, as after loading: for measuring what a first encounter with a text costs."""
        self._idle.clear()


def _shared_arrays(model: BpeModel) -> list[NDArray[Any]]:
    """The arrays of `layout` up to `SETTINGS`, in its order."""
    ranks = model.merge_ranks
    if len(ranks) and (ranks.min() < 0 or ranks.max() >= MOST_RANKS):
        raise TokenizerError(f"ranks of merges must lie in 0..{MOST_RANKS - 1}")
    pairs = PairTable.of(model.merges, ranks)
    results = np.full(int(ranks.max(initial=0)) + 1, NONE, np.uint32)
    results[ranks] = model.merges[:, 2]
    tokens = TokenTable.of(model.vocabulary)
    joins = JoinTable.of(tokens)
    byte_ids = np.full(256, NONE, np.uint32)
    if model.level == "byte":
        for byte in range(256):
            byte_ids[byte] = model.ids.get(bytes([byte]), NONE)
    complete = model.level == "byte" and bool((byte_ids != NONE).all())
    byte_pairs = np.full(1 << 16, NONE, np.uint32)
    byte_of = {int(token): byte for byte, token in enumerate(byte_ids) if token != NONE}
    known = np.fromiter(byte_of, np.int64, len(byte_of))
    is_byte = np.isin(model.merges[:, 0], known) & np.isin(model.merges[:, 1], known)
    for m in np.flatnonzero(is_byte)[::-1].tolist():  # of two merges of one pair the first stays
        left, right, _ = model.merges[m].tolist()
        byte_pairs[byte_of[left] << 8 | byte_of[right]] = ranks[m]
    fallback = np.full(256, NONE, np.uint32)
    if model.byte_fallback:
        for byte in range(256):
            fallback[byte] = model.ids.get(b"<0x%02X>" % byte, NONE)
    characters, points = _characters(model)
    settings = np.zeros(at.N_SETTINGS, np.int64)
    settings[at.MACHINE] = -1 if model.pattern.machine is None else model.pattern.machine
    settings[at.PAIR_SHIFT] = pairs.shift
    settings[at.JOIN_MASK] = len(joins.table) - 1
    settings[at.TOKEN_MASK] = len(tokens.table) - 1
    settings[at.LONGEST] = tokens.longest
    settings[at.WHOLE_TOKENS] = model.whole_tokens
    settings[at.CUT] = _may_be_cut(model, complete, fallback)
    settings[at.BYTE_LEVEL] = 0 if model.level == "char" else 1 if complete else 2
    settings[at.POINTS] = points
    settings[at.UNK] = -1 if model.unk is None else model.unk
    settings[at.FUSE_UNK] = model.fuse_unk
    settings[at.BYTE_FALLBACK] = model.byte_fallback
    settings[at.PREFIX] = bool(model.continuing_prefix)
    settings[at.SUFFIX] = bool(model.end_of_word)
    settings[at.BUCKET_MASK] = _BUCKETS - 1
    settings[at.ARENA_SIZE] = _ARENA
    settings[at.LONG_MASK] = _LONG_SLOTS - 1
    settings[at.LONG_BYTES_SIZE] = _LONG_BYTES
    settings[at.LONG_ARENA_SIZE] = _LONG_ARENA
    return [
        class_table(),
        byte_ids,
        byte_pairs,
        pairs.table,
        pairs.bloom,
        results,
        joins.table,
        joins.bloom,
        joins.ascii,
        tokens.table,
        tokens.blob,
        tokens.starts,
        characters,
        fallback,
        settings,
    ]


def _may_be_cut(model: BpeModel, complete: bool, fallback: NDArray[np.uint32]) -> bool:
    """Whether cutting a pre-token where no token joins leaves the result as it is.

    It does where each symbol depends on its own character alone: no prefix or suffix, no unknowns to fuse, and
    no merges of fallback bytes (whose text is not the bytes they stand for).
    """
    if model.level == "byte":
        return complete
    if model.continuing_prefix or model.end_of_word:
        return False
    covered = model.byte_fallback and bool((fallback != NONE).all())
    marked = model.unk is not None and not model.fuse_unk and not model.byte_fallback
    if not covered and not marked:  # what is dropped or fused makes neighbours of characters that were none
        return False
    return not np.isin(model.merges[:, :2], fallback[fallback != NONE]).any()


def _characters(model: BpeModel) -> tuple[NDArray[np.uint32], int]:
    """Ids of first symbols by code point, in four parts (bare, prefixed, suffixed, both), and their length."""
    if model.level == "byte":
        return np.full(4, NONE, np.uint32), 1
    entries: list[tuple[int, int, int]] = []
    prefix, suffix = model.continuing_prefix, model.end_of_word
    for token, index in model.ids.items():
        try:
            text = token.decode()
        except UnicodeDecodeError as error:
            raise TokenizerError(f"the token {token!r} of a character-level model is not UTF-8") from error
        if len(text) > len(prefix) + len(suffix) + 1:
            continue
        for form in range(4):
            head, tail = prefix if form & 1 else "", suffix if form & 2 else ""
            bare = text[len(head) : len(text) - len(tail)]
            if len(bare) == 1 and head + bare + tail == text:
                entries.append((form, ord(bare), index))
    points = max((point for _, point, _ in entries), default=0) + 1
    table = np.full(4 * points, NONE, np.uint32)
    for form, point, index in entries:
        table[form * points + point] = index
    return table, points
