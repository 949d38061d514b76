"""The pass over a batch's tokens: which documents they spell byte for byte, and where in those each token lies.

Most tokenizers only cut: the bytes of a document's tokens, one after another, are the document. There each
token's place is known from the lengths of those before it, and the boundaries between tokens are kept as one
bit for every byte of the batch (see `tokbench.tally.marks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokbench.kernels.compiling import lean_inline, lean_kernel
from tokbench.kernels.hashing import equal_bytes
from tokbench.kernels.pointers import Ids, Int, Ints, Words
from tokbench.tally.marks import clear_boundaries, set_boundary
from tokbench.tally.vocabulary import EMPTY, SPLIT, UNKNOWN, UNTOLD, TokenArrays

if TYPE_CHECKING:
    from tokbench.tally.text import Flags, Offsets, Texts

SPACE = 0x20


class Tokens(NamedTuple):
    """The tokens of documents: those of document i are ``ids[offsets[i]:offsets[i + 1]]``."""

    ids: Ids
    offsets: Ints

    @property
    def lengths(self) -> Ints:
        """How many tokens each document has."""
        return np.diff(self.offsets)


class Matched(NamedTuple):
    """What `match` finds of each document, and the boundaries of those that are exact.

    Whether the tokens' bytes are its bytes (`exact`), with a space before them (`leads`); how many tokens are
    no whole characters (`split`), are the unknown token (`unknown`) or have no bytes (`empty`). `boundary` has
    a bit for every byte of the batch, see `tokbench.tally.marks`.
    """

    exact: Flags
    leads: Flags
    split: Ints
    unknown: Ints
    empty: Ints
    boundary: Words


@lean_kernel
def match(texts: Texts, tokens: Tokens, table: TokenArrays, seen: Ints, found: Matched) -> None:
    """Compare the bytes of documents' tokens with their text, and count each token in `seen`.

    All tokens are in the table. A document is `exact` where its tokens spell it, and none is unknown; it also
    `leads` where they spell one space before it, as many tokenizers put there. In an exact document a bit of
    `boundary` is set where a token begins, but for the first.
    """
    data, boundary = texts.data, found.boundary
    for document in range(len(texts.starts)):
        start, end = texts.starts[document], texts.ends[document]
        own = tokens.ids[tokens.offsets[document] : tokens.offsets[document + 1]]
        lead = leading_space(own, table, end - start)
        position = start - lead
        same = True
        kinds: Int = 0
        split: Int = 0
        for token in own:
            seen[token] += 1
            flags = np.int64(table.flags[token])
            kinds |= flags
            split += flags & SPLIT
            size = max(np.int64(table.length[token]), np.int64(0))
            if position > end:  # more tokens than text: begin again, so as to set no boundary past its end
                same, position = False, start
            if position < start:  # the space before the text
                same &= equal_bytes(table.blob, table.offset[token] + 1, data, start, size - 1)
            else:
                set_boundary(boundary, np.uint64(position))
                same &= equal_bytes(table.blob, table.offset[token], data, position, size)
            position += size
        exact = same and position == end and kinds & (UNKNOWN | UNTOLD) == 0
        # taken back: the boundaries of a document that is not exact, and those at its two ends
        clear_boundaries(boundary, start, start if exact else end)
        clear_boundaries(boundary, end, end)
        found.exact[document], found.leads[document] = exact, exact and lead == 1
        found.split[document] = split
        if kinds & (UNKNOWN | EMPTY):  # as in few documents
            for each in own:
                flags = np.int64(table.flags[each])
                found.unknown[document] += flags & UNKNOWN != 0
                found.empty[document] += flags & EMPTY != 0


@lean_inline
def leading_space(ids: Ids, table: TokenArrays, length: Int) -> np.int64:
    """1 where tokens begin with a space and have one byte more than a text of this `length`, else 0."""
    total: Int = 0
    for token in ids:
        size = max(np.int64(table.length[token]), np.int64(0))
        if total == 0 and size > 0 and table.blob[table.offset[token]] != SPACE:
            break
        total += size
    return np.int64(total == length + 1)


@lean_kernel
def lay_out(texts: Texts, tokens: Tokens, lengths: Ids, found: Matched, begin: Offsets, stop: Offsets) -> None:
    """Where each token begins and stops in the documents that `match` found to be exact; 0 in the others."""
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
