"""The passes over a batch's tokens: which bytes each stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.compiling import kernel

SPLIT, KNOWN, EMPTY, UNKNOWN, UNTOLD = 1, 2, 4, 8, 16
"""Flags of a token: no whole UTF-8 characters; looked up; no bytes; the unknown one; of bytes nobody tells."""
MATCHED = ("split", "unknown", "empty")
"""What `match` counts of each document: tokens of some kind."""
MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
"""The lowest bytes of a window, by their number."""
ZERO, ONE, EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
SIXTEEN, _FLAGS = np.uint64(16), np.uint64(8)
_SPLIT, _SPOILING = np.uint64(SPLIT), np.uint64(UNKNOWN | UNTOLD)
_SELDOM = np.uint64(UNKNOWN | EMPTY)
_RECENT, _NO_KEY = 1 << 12, -(1 << 62)


@kernel
def match(
    ids: Any,
    offsets: Any,
    windows: Any,
    starts: Any,
    ends: Any,
    entries: Any,
    places: Any,
    blob: Any,
    masks: Any,
    seen: Any,
    boundary: Any,
    exact: Any,
    counts: Any,
    first: int,
) -> int:
    """Lay the bytes of each document's tokens over its text, and count the tokens, from document `first` on.

    Gives the number of the document before which it had to stop, for a token that is not known, or of them all.
    `windows` are those of the text and `blob` those of the tokens' bytes, which begin at `places`; `entries`
    hold their first eight and ``length << 8 | flags``. Filled in are `exact` where the tokens' bytes are the
    document's and none is unknown, `seen` by id, and by document `MATCHED`. In exact documents without empty
    tokens `boundary` becomes 1 where a token begins that is not the first.
    """
    size_of_table = np.uint64(len(entries))
    for document in range(first, len(starts)):
        begun, end = np.uint64(starts[document]), np.uint64(ends[document])
        position = begun
        different = kinds = split = ZERO
        # unsigned indices, here and below, spare the question whether they count from the end
        index, last = np.uint64(offsets[document]), np.uint64(offsets[document + 1])
        while index < last:
            token = np.uint64(np.int64(ids[index]))
            if token >= size_of_table:
                break
            entry = entries[token, 1]
            if entry == ZERO:
                break
            seen[token] += 1
            kinds |= entry
            split += entry & _SPLIT
            boundary[position] = 1
            size = entry >> _FLAGS
            if size <= EIGHT:
                different |= (windows[position] ^ entries[token, 0]) & masks[size]
            elif position + size <= end:
                at = np.uint64(places[token])
                different |= windows[position] ^ entries[token, 0]
                different |= windows[position + size - EIGHT] ^ blob[at + size - EIGHT]  # they may overlap
                if size > SIXTEEN:
                    different |= differ(windows, position, blob, at, size)
            position += size
            if position > end:
                different, position = ONE, begun
            index += ONE
        if index < last:
            for done in range(offsets[document], np.int64(index)):  # none of this document was seen, then
                seen[ids[done]] -= 1
            boundary[starts[document] : ends[document] + 1] = 0
            return document
        counts[0, document] = split
        if kinds & _SELDOM != ZERO:
            for token in ids[offsets[document] : offsets[document + 1]]:
                entry = np.int64(entries[token, 1])
                counts[1, document] += entry // UNKNOWN & 1
                counts[2, document] += entry // EMPTY & 1
        good = different == ZERO and position == end and kinds & _SPOILING == ZERO
        exact[document] = good
        if not good or counts[2, document]:
            boundary[starts[document] : ends[document] + 1] = 0
        boundary[begun] = 0
    return len(starts)


@kernel
def differ(windows: Any, position: Any, blob: Any, at: Any, size: Any) -> Any:
    """Not zero where two stretches of more than 16 bytes differ other than in the first or last eight."""
    different = ZERO
    while size > SIXTEEN:
        size -= EIGHT
        position += EIGHT
        at += EIGHT
        different |= windows[position] ^ blob[at]
    return different


@kernel
def lay_out(ids: Any, offsets: Any, starts: Any, entries: Any, documents: Any, begin: Any, stop: Any) -> None:
    """Where each token of some documents begins and stops, which `match` found to be exact; 0 in the others."""
    for document in range(len(starts)):
        position = np.int64(starts[document])
        for index in range(offsets[document], offsets[document + 1]):
            if documents[document]:
                begin[index] = position
                position += np.int64(entries[ids[index], 1]) >> 8
                stop[index] = position
            else:
                begin[index] = stop[index] = 0


@kernel
def add_column(sums: Any, groups: Any, values: Any) -> None:
    """Add what document i has of a counter, ``values[i]``, to ``sums[groups[i]]``."""
    for document in range(len(groups)):
        sums[groups[document]] += values[document]


@kernel
def unmet(keys: Any, entries: Any, found: Any) -> int:
    """Write to `found` the keys whose entry is 0, or which are out of range; gives how many.

    Most that come again are left out, not all.
    """
    recent = np.full(_RECENT, _NO_KEY)
    n = 0
    for key in keys:
        new = key < 0 or key >= len(entries) or entries[key] == 0
        if new and recent[key & _RECENT - 1] != key:
            recent[key & _RECENT - 1] = key
            found[n] = key
            n += 1
    return n


@kernel
def ascending(numbers: Any) -> bool:
    """Whether no number is below the one before it."""
    down = 0
    for index in range(1, len(numbers)):
        down |= numbers[index] < numbers[index - 1]
    return down == 0
