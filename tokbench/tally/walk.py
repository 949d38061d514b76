"""The passes over a batch's tokens: which bytes each stands for, and what it touches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.bits import count_bits, in_range_64
from tokbench.tally.compiling import kernel

KNOWN, SPLIT, EMPTY = 1, 2, 4
"""Flags of a token: looked up; no whole UTF-8 characters; no bytes."""
MATCHED = ("split", "unknown", "empty")
"""What `match` counts of each document: tokens of some kind."""
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
"""The lowest bytes of a window, by their number."""
_RECENT, _NO_KEY = 1 << 12, -(1 << 62)

TOUCHED = (
    "aligned_words",
    "word_tokens",
    "continued_words",
    "boundaries",
    "cut_chars",
    "cut_graphemes",
    "cross_words",
)
"""What `touch_words` counts of each document."""


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
    unknown: int,
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
    document's and none is `unknown`, `seen` by id, and by document `MATCHED`. In exact documents without empty
    tokens `boundary` becomes 1 where a token begins that is not the first.
    """
    size_of_table = len(entries)
    for document in range(first, len(starts)):
        begun, end = np.int64(starts[document]), np.int64(ends[document])
        position = begun
        good = True
        split: Any = 0
        empty: Any = 0
        unknowns = 0
        for index in range(offsets[document], offsets[document + 1]):
            token = np.int64(ids[index])
            entry: Any = np.int64(0)
            if token >= 0 and token < size_of_table:
                entry = np.int64(entries[token, 1])
            if entry == 0:  # none of this document has been seen, then
                for done in range(offsets[document], index):
                    seen[ids[done]] -= 1
                boundary[begun : end + 1] = 0
                return document
            seen[token] += 1
            split += entry >> 1 & 1
            empty += entry >> 2 & 1
            unknowns += token == unknown
            if not good:
                continue
            window = windows[position]
            boundary[position] = 1
            size = entry >> 8
            if size < 0 or position + size > end:
                good = False
            elif size <= 8:
                good = (window ^ entries[token, 0]) & masks[size] == 0
            else:
                good = window == entries[token, 0]
                place = places[token]
                done = 8
                while good and done + 8 <= size:
                    good = windows[position + done] == blob[place + done]
                    done += 8
                # the last eight bytes, which overlap what was compared
                good = good and windows[position + size - 8] == blob[place + size - 8]
            position += size
        good = good and position == end and unknowns == 0
        exact[document] = good
        if not good or empty:
            boundary[begun : end + 1] = 0
        boundary[begun] = 0
        counts[0, document], counts[1, document], counts[2, document] = split, unknowns, empty
    return len(starts)


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
def touch_exact(
    data: Any,
    starts: Any,
    ends: Any,
    exact: Any,
    limits: Any,
    word_start: Any,
    word_end: Any,
    word_limits: Any,
    inside: Any,
    boundary: Any,
    few: Any,
    many: Any,
    counts: Any,
) -> int:
    """What `touch_words` does, for documents that their tokens divide without a gap, as `match` found them.

    There a token touches a word for every boundary inside it, and one more; and two words that follow each
    other share a token where no boundary lies between them. Boundaries are looked at 64 bytes at a time.
    """
    n_many = 0
    for document in range(len(exact)):
        if not exact[document]:
            continue
        first, last = word_limits[document], word_limits[document + 1]
        total: Any = 0
        continued: Any = 0
        crossing: Any = 0
        shared = False  # whether the word before shares a token with this one
        for word in range(first, last):
            start, end = np.int64(word_start[word]), np.int64(word_end[word])
            following = np.int64(word_start[word + 1]) if word + 1 < last else end
            marks = in_range_64(boundary, start + 1, 0, 1, 255)
            inner = end - start - 1
            if following - start < 64:
                within = count_bits(marks & ~(ALL << np.uint64(inner)))
                between = marks >> np.uint64(inner) & ~(ALL << np.uint64(following - end + 1))
                apart = between != 0
            else:
                within = 0
                for at in range(start + 1, end):
                    within += boundary[at]
                apart = False
                for at in range(end, following + 1):
                    apart = apart or boundary[at] != 0
            if within + 1 < len(few):
                few[within + 1] += 1
            else:
                many[n_many] = within + 1
                n_many += 1
            total += within + 1
            continued += within > 0
            joins = not apart and word + 1 < last
            crossing += joins and not (shared and within == 0)
            shared = joins
        cut_chars: Any = 0
        cut_graphemes: Any = 0
        for block in range(starts[document], ends[document], 64):
            marks = in_range_64(inside, block, 0, 1, 1)
            if marks != 0:
                marks &= in_range_64(boundary, block, 0, 1, 1)
                if ends[document] - block < 64:
                    marks &= ~(ALL << np.uint64(ends[document] - block))
                cut_graphemes += count_bits(marks)
                cut_chars += count_bits(marks & in_range_64(data, block, 0, 0x80, 0x40))
        counts[0, document], counts[1, document], counts[2, document] = last - first, total, continued
        counts[3, document] = max(limits[document + 1] - limits[document] - 1, 0)
        counts[4, document], counts[5, document], counts[6, document] = cut_chars, cut_graphemes, crossing
    return n_many


@kernel
def touch_words(
    data: Any,
    starts: Any,
    exact: Any,
    aligned: Any,
    limits: Any,
    begin: Any,
    stop: Any,
    word_start: Any,
    word_end: Any,
    word_limits: Any,
    inside: Any,
    boundary: Any,
    few: Any,
    many: Any,
    n_many: int,
    counts: Any,
) -> int:
    """Count the tokens that touch each word, and the boundaries, of aligned documents that are not `exact`.

    The tokens of document i, ``limits[i]`` to ``limits[i + 1]``, and its words are in ascending order of both
    ends. The tokens that touch a word are those that begin before its end less those that stop by its start.
    A word that n tokens touch is counted in ``few[n]``, or its n is appended to the `n_many` of `many`;
    `boundary` becomes 1 where a token begins that is not at the start of its document. Gives the new `n_many`.
    """
    for document in range(len(starts)):
        first_word, last_word = word_limits[document], word_limits[document + 1]
        if exact[document] or not aligned[document]:
            continue
        first, last = limits[document], limits[document + 1]
        started = ended = first
        total = continued = 0
        for word in range(first_word, last_word):
            while started < last and begin[started] < word_end[word]:
                started += 1
            while ended < last and stop[ended] <= word_start[word]:
                ended += 1
            touching = started - ended
            if touching < len(few):
                few[touching] += 1
            else:
                many[n_many] = touching
                n_many += 1
            total += touching
            continued += touching > 1
        started = ended = first_word
        boundaries = cut_chars = cut_graphemes = crossing = 0
        previous = starts[document]
        for token in range(first, last):
            at = begin[token]
            if at != previous:
                previous = at
                boundary[at] = 1
                boundaries += 1
                cut_chars += data[at] & 0xC0 == 0x80
                cut_graphemes += inside[at]
            while started < last_word and word_start[started] < stop[token]:
                started += 1
            while ended < last_word and word_end[ended] <= at:
                ended += 1
            crossing += started - ended > 1
        counts[0, document], counts[1, document], counts[2, document] = last_word - first_word, total, continued
        counts[3, document], counts[4, document] = boundaries, cut_chars
        counts[5, document], counts[6, document] = cut_graphemes, crossing
    return n_many


@kernel
def boundaries_inside(boundary: Any, start: Any, end: Any, found: Any) -> None:
    """How many boundaries lie inside each span, its two ends left out."""
    for span in range(len(start)):
        n = 0
        for at in range(start[span] + 1, end[span]):
            n += boundary[at]
        found[span] = n


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
