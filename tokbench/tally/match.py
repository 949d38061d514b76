"""The pass over a batch's tokens: which documents they spell byte for byte, and where in those each token lies.

Most tokenizers only cut: the bytes of a document's tokens, one after another, are the document. There each
token's place is known from the lengths of those before it, and the boundaries between tokens are kept as one
bit for every byte of the batch (see `tokbench.tally.marks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokbench.kernels.compiling import lean_inline, lean_kernel
from tokbench.kernels.hashing import equal_bytes
from tokbench.kernels.pointers import load_u64, prefetch, prefetch_to_read
from tokbench.tally.marks import clear, set_boundary
from tokbench.tally.text import Texts
from tokbench.tally.vocabulary import EMPTY, SPLIT, UNKNOWN, UNTOLD, TokenArrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]

MATCHED = ("split", "unknown", "empty")
"""What `match` counts of each document: tokens of some kind."""
ZERO, ONE, TWO, FOUR, EIGHT = map(np.uint64, (0, 1, 2, 4, 8))
SPACE = np.uint64(0x20)
AHEAD = np.uint64(128)
"""So many tokens before it is looked at, what is known of a token is asked for, which may be in no cache."""
MASKS = np.array(
    [[(1 << 8 * min(size, 8)) - 1, (1 << 8 * max(size - 8, 0)) - 1] for size in range(17)], np.uint64
)
"""The bits of the first and of the second eight bytes that tokens of 0 to 16 bytes have."""


class Tokens(NamedTuple):
    """The tokens of documents: those of document i are ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: NDArray[np.integer[Any]]
    offsets: NDArray[np.integer[Any]]


class Matched(NamedTuple):
    """What `match` writes for each document: see `tokbench.tally.places.Places`; `counts` are its `MATCHED`."""

    exact: Flags
    leads: Flags
    counts: Ints
    boundary: NDArray[np.uint64]


@lean_kernel
def match(texts: Texts, tokens: Tokens, table: TokenArrays, seen: Ints, found: Matched) -> None:
    """Compare the bytes of documents' tokens with their text, and count each token in `seen`.

    All of them are in the table. A document is exact where its tokens spell it, and none is unknown; it leads
    where they spell it behind one space, which many tokenizers put before a text. In an exact document a bit of
    `boundary` is set where a token begins, but for the first.
    """
    data, rows, boundary = texts.data, table.rows, found.boundary
    for document in range(len(texts.starts)):
        start, end = texts.starts[document], texts.ends[document]
        # unsigned indices, here and below, spare the question whether they count from the end
        index, last = np.uint64(tokens.offsets[document]), np.uint64(tokens.offsets[document + 1])
        ahead = min(AHEAD, np.uint64(len(tokens.ids)) - last)
        lead = leading_space(tokens.ids, index, last, table, end - start)
        position = start - lead
        different = kinds = split = ZERO
        while index < last:
            token = np.uint64(np.int64(tokens.ids[index]))
            following = np.int64(tokens.ids[index + ahead])
            prefetch_to_read(rows, 4 * following)
            prefetch(seen, following)
            seen[token] += 1
            entry = rows[token * FOUR + TWO]
            kinds |= entry
            split += entry & np.uint64(SPLIT)
            size = entry >> EIGHT
            if position > end:  # the tokens are more than the text
                different, position = ONE, start
            if position < start:  # the space before the text
                same = equal_bytes(table.blob, table.offset[token] + 1, data, start, np.int64(size) - 1)
                different |= np.uint64(not same)
            else:
                place: Any = np.uint64(position)
                set_boundary(boundary, place)
                if size <= np.uint64(16):
                    different |= (rows[token * FOUR] ^ load_u64(data, place)) & MASKS[size, 0]
                    different |= (rows[token * FOUR + ONE] ^ load_u64(data, place + EIGHT)) & MASKS[size, 1]
                else:
                    same = equal_bytes(table.blob, table.offset[token], data, position, np.int64(size))
                    different |= np.uint64(not same)
            position += np.int64(size)
            index += ONE
        exact = different == ZERO and position == end and kinds & np.uint64(UNKNOWN | UNTOLD) == ZERO
        # no boundary: the document begins and ends there anyway
        clear(boundary, start, start if exact else end)
        clear(boundary, end, end)
        found.exact[document], found.leads[document] = exact, exact and lead == 1
        found.counts[0, document] = split
        if kinds & np.uint64(UNKNOWN | EMPTY) != ZERO:  # as in few documents
            for token in tokens.ids[tokens.offsets[document] : np.int64(last)]:
                entry = rows[np.uint64(np.int64(token)) * FOUR + TWO]
                found.counts[1, document] += entry & np.uint64(UNKNOWN) != ZERO
                found.counts[2, document] += entry & np.uint64(EMPTY) != ZERO


@lean_inline
def leading_space(ids: Any, index: Any, last: Any, table: TokenArrays, length: Any) -> Any:
    """1 where tokens begin with a space and have one byte more than a text of this `length`, else 0."""
    total: Any = 0
    while index < last:
        token = np.uint64(np.int64(ids[index]))
        size = np.int64(table.rows[token * FOUR + TWO] >> EIGHT)
        if total == 0 and size > 0 and table.rows[token * FOUR] & np.uint64(0xFF) != SPACE:
            break
        total += size
        index += ONE
    return np.int64(total == length + 1)


@lean_kernel
def lay_out(
    texts: Texts, tokens: Tokens, lengths: NDArray[np.int32], found: Matched, begin: Any, stop: Any
) -> None:
    """Where each token of the documents begins and stops that `match` found to be exact; 0 in the others."""
    for document in range(len(texts.starts)):
        start = np.int64(texts.starts[document])
        position = start - found.leads[document]
        for index in range(tokens.offsets[document], tokens.offsets[document + 1]):
            if found.exact[document]:
                begin[index] = max(position, start)
                position += lengths[tokens.ids[index]]
                stop[index] = position
            else:
                begin[index] = stop[index] = 0
