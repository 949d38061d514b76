"""The passes over a batch's tokens: which bytes each stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.bits import differ_64, in_range_64, spread_64
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import copy_bytes_16, prefetch
from tokbench.tally.boundaries import clear, set_bits

SPLIT, KNOWN, EMPTY, UNKNOWN, UNTOLD = 1, 2, 4, 8, 16
"""Flags of a token: no whole UTF-8 characters; looked up; no bytes; the unknown one; of bytes nobody tells."""
MATCHED = ("split", "unknown", "empty")
"""What `match` counts of each document: tokens of some kind."""
ZERO, ONE = np.uint64(0), np.uint64(1)
SPACE = 0x20
ALL, BLOCK = np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(64)
_FLAGS, _AT_ONCE = np.uint64(8), np.uint64(16)
_SPLIT, _SPOILING = np.uint64(SPLIT), np.uint64(UNKNOWN | UNTOLD)
_UNKNOWN, _EMPTY = np.uint64(UNKNOWN), np.uint64(EMPTY)
_NUMBERS, _BYTES = np.uint64(4), np.uint64(32)
"""Of a row: see `tokbench.tally.rows`."""
_ENTRY, _SEEN = np.uint64(2), np.uint64(3)
"""Where in a row these numbers are."""
AHEAD = np.uint64(128)
"""So many tokens before it is looked at, a token's row is asked for, which may be in no cache."""
_RECENT, _NO_KEY = 1 << 12, -(1 << 62)


@kernel
def match(
    ids: Any,
    offsets: Any,
    data: Any,
    starts: Any,
    ends: Any,
    rows: Any,
    pieces: Any,
    places: Any,
    blob: Any,
    spelled: Any,
    begins: Any,
    boundary: Any,
    exact: Any,
    leads: Any,
    counts: Any,
    first: int,
) -> int:
    """Compare the bytes of documents' tokens with their text, and count the tokens, from document `first` on.

    Returns the number of documents done: fewer than there are where a token has no row in the table yet.

    Read: `rows` (the table of `tokbench.tally.rows` as one array; its counts are added to) and `pieces` (the
    same memory as bytes); `blob`, the bytes of all tokens, token t's from ``places[t]`` on.

    Scratch, with room for the longest document and 128 bytes more: `spelled`, where a document's tokens are
    spelled out, and `begins`, the bits of where each begins, 0 before and after.

    Written for each document: `exact`, whether its tokens spell it and none is unknown; `leads`, whether they
    spell it behind one space, which many tokenizers put before a text; and its `MATCHED` numbers. In an exact
    document, a bit of `boundary` is set where a token begins, but for the first.
    """
    n_rows, n_ids = np.uint64(len(rows) // 4), np.uint64(len(ids))
    for document in range(first, len(starts)):
        length = np.uint64(ends[document] - starts[document])
        position = kinds = split = ZERO
        empty: Any = 0
        fits = True
        # unsigned indices, here and below, spare the question whether they count from the end
        index, last = np.uint64(offsets[document]), np.uint64(offsets[document + 1])
        ahead = min(AHEAD, n_ids - last)
        while index < last:
            token = np.uint64(np.int64(ids[index]))
            if token >= n_rows:
                break
            prefetch(pieces, np.uint64(np.int64(ids[index + ahead])) * _BYTES)
            row = token * _NUMBERS
            entry = rows[row + _ENTRY]
            size = entry >> _FLAGS
            if size == ZERO or size > _AT_ONCE or position > length + ONE:
                if entry == ZERO:
                    break
                if position > length + ONE:
                    fits, position = False, ZERO
                if entry & _EMPTY:
                    empty += 1
                if size > _AT_ONCE and position + size <= length + ONE:
                    at = np.uint64(places[token])
                    for more in range(_AT_ONCE, size):
                        spelled[position + more] = blob[at + more]
            rows[row + _SEEN] += ONE
            kinds |= entry
            split += entry & _SPLIT
            begins[position] = 1
            copy_bytes_16(pieces, token * _BYTES, spelled, position)  # what is too much is overwritten
            position += size
            index += ONE
        if index < last:
            for done in range(offsets[document], np.int64(index)):  # none of this document was seen, then
                rows[np.uint64(np.int64(ids[done])) * _NUMBERS + _SEEN] -= ONE
            for marked in range(0, np.int64(min(position, length + ONE)) + 1, 64):
                spread_64(begins, marked, ZERO, ZERO, ZERO)
            return document
        lead = ONE if position == length + ONE and spelled[0] == SPACE else ZERO
        fits &= position == length + lead and kinds & _SPOILING == ZERO
        exact[document] = fits & settle(data, starts[document], length, spelled, begins, boundary, lead)
        leads[document] = exact[document] and lead != ZERO
        if not exact[document]:
            clear(boundary, starts[document], ends[document])
        counts[0, document], counts[2, document] = split, empty
        if kinds & _UNKNOWN:
            for token in ids[offsets[document] : offsets[document + 1]]:
                entry = rows[np.uint64(np.int64(token)) * _NUMBERS + _ENTRY]
                counts[1, document] += entry & _UNKNOWN != ZERO
    return len(starts)


@kernel
def settle(data: Any, start: Any, length: Any, spelled: Any, begins: Any, boundary: Any, lead: Any) -> Any:
    """Whether a document is as it was spelled, after `lead` bytes (0 or 1) that are none of it.

    Where its tokens begin becomes bits of `boundary`, and `begins` is cleared.
    """
    begins[0] = begins[lead] = 0  # no boundary: the document begins here too
    begins[length + ONE] = 0
    different = at = ZERO
    place = np.uint64(start)
    while at + BLOCK <= length:
        different |= differ_64(spelled, at + lead, data, place)
        set_bits(boundary, place, in_range_64(begins, at + lead, 0, 1, 1))
        spread_64(begins, at + lead, ZERO, ZERO, ZERO)
        at += BLOCK
        place += BLOCK
    rest = ~(ALL << length - at)
    different |= differ_64(spelled, at + lead, data, place) & rest
    set_bits(boundary, place, in_range_64(begins, at + lead, 0, 1, 1) & rest)
    spread_64(begins, at + lead, ZERO, ZERO, ZERO)
    return different == ZERO


@kernel
def lay_out(
    ids: Any, offsets: Any, starts: Any, lengths: Any, exact: Any, leads: Any, begin: Any, stop: Any
) -> None:
    """Where each token of the documents begins and stops that `match` found to be exact; 0 in the others."""
    for document in range(len(starts)):
        start = np.int64(starts[document])
        position = start - leads[document]
        for index in range(offsets[document], offsets[document + 1]):
            if exact[document]:
                begin[index] = max(position, start)
                position += lengths[ids[index]]
                stop[index] = position
            else:
                begin[index] = stop[index] = 0


@kernel
def add_column(sums: Any, groups: Any, values: Any) -> None:
    """Add what document i has of a counter, ``values[i]``, to ``sums[groups[i]]``."""
    for document in range(len(groups)):
        sums[np.uint64(groups[document])] += values[document]


@kernel
def add_lengths(classes: Any, sizes: Any, offsets: Any, sums: Any, few: Any, many: Any) -> Any:
    """Count documents by their tokens, as `tell` does; gives how many are in `many`.

    To `sums`, by class of length, are added one for the document, the bytes and the tokens.
    """
    n_many: Any = 0
    for document in range(len(sizes)):
        tokens = offsets[document + 1] - offsets[document]
        own = np.uint64(min(classes[document], sums.shape[1] - 1))
        sums[0, own] += 1
        sums[1, own] += sizes[document]
        sums[2, own] += tokens
        n_many = tell(few, many, n_many, tokens)
    return n_many


@kernel
def tell(few: Any, many: Any, n_many: Any, tokens: Any) -> Any:
    """Count a word or document of so many tokens in ``few[tokens]``, or append it to the `n_many` of `many`."""
    if tokens < len(few):
        few[tokens] += 1
        return n_many
    many[n_many] = tokens
    return n_many + 1


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
