r"""The best segmentation under a unigram model, exactly as the reference libraries find it, and fast.

The best path to position j is the best path to some i < j plus the piece from i to j; ties go to the earlier
start. sentencepiece adds up in float32 over the whole text, `tokenizers` in float64 over each word. A sum in
float32 depends on what was added before it, so a word's best segmentation can differ from place to place where
two candidates are close. This module keeps that:

* Text is cut where no piece crosses (`segments`); the score so far, rounded as the library rounds it, is
  carried over the cut. So far this is the library's own computation, only in stretches.
* A stretch of up to 32 bytes is looked up in a cache, *if the answer cannot depend on the score so far*. With n
  characters, the rounding errors of two paths differ by at most n units in the last place of the largest sum; if
  the best path beats the second best by more than that, rounding cannot make another path win. The
  margin is measured once, in float64, when the stretch is first seen; from it follows a `limit` on the score so far up
  to which the entry is good. Beyond the limit the stretch is computed. Either way, the ids are the library's.

sentencepiece (0.2.3) sets the running score back to zero when it passes ±100,000; so do these kernels.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.kernels.compiling import inline, subroutine
from tokbench_subword.kernels.hashing import mix
from tokbench_subword.kernels.pointers import load_u64
from tokbench_subword.unigram.layout import THRESHOLD, UNKNOWN
from tokbench_subword.unigram.trie import BASE_MASK, BASE_SHIFT, LABEL_MASK, VALUE_SHIFT

CACHED_BYTES = 32
"""The longest stretch that is remembered, in bytes."""
CACHED_TOKENS = 6
"""The most tokens an entry holds."""
SLOT_WORDS = 8
"""Words of 64 bits in a cache slot (one cache line): four of text, one of sizes and limit, three of ids."""
MAX_LIMIT = 1 << 30
"""A limit that is never reached."""
UNKNOWN_PIECE = -1
"""What stands for an unknown character in a path."""


@inline
def width_of(byte):  # type: ignore[no-untyped-def]
    """The bytes of the character that begins with `byte`."""
    if byte < 0x80:
        return np.int64(1)
    if byte < 0xE0:
        return np.int64(2)
    return np.int64(3) if byte < 0xF0 else np.int64(4)


@inline
def link(start, piece):  # type: ignore[no-untyped-def]
    """The last piece of a path, as one number: where it begins, and its id (or `UNKNOWN_PIECE`)."""
    return start << 32 | (piece & 0xFFFFFFFF)


@inline
def link_start(value):  # type: ignore[no-untyped-def]
    """Where the piece of a link begins; negative in a link that was never set."""
    return value >> 32


@inline
def link_piece(value):  # type: ignore[no-untyped-def]
    """The id of a link's piece, or `UNKNOWN_PIECE`."""
    return np.int64(np.int32(value & 0xFFFFFFFF))


@subroutine
def search(data, begin, size, units, scores, parameters, base, best, links):  # type: ignore[no-untyped-def]
    """Fill `links`, by the end of each piece, for the `size` bytes from `begin` on; returns the final score.

    `base` is the score so far; the dtype of `scores` and `parameters` (see `layout`) is the precision of every sum.
    """
    unknown, threshold = parameters[UNKNOWN], parameters[THRESHOLD]
    for position in range(1, size + 1):
        links[position] = -1
    best[0] = base
    root = np.int64(units[0] >> np.uint64(BASE_SHIFT)) & BASE_MASK
    here, frontier = np.int64(0), np.int64(0)
    while here < size:
        so_far = best[here]
        if so_far < -threshold or so_far > threshold:
            for position in range(here, frontier + 1):
                if position == here or links[position] >= 0:
                    best[position] -= so_far
            so_far = best[here]
        width = width_of(data[begin + here])
        node, position, single = root, here, False
        while position < size:
            byte = np.int64(data[begin + position])
            unit = units[node + byte]
            if np.int64(unit & np.uint64(LABEL_MASK)) != byte:
                break
            position += 1
            piece = np.int64(unit >> np.uint64(VALUE_SHIFT)) - 1
            if piece >= 0:
                score = so_far + scores[piece]
                if links[position] < 0 or score > best[position]:
                    best[position], links[position] = score, link(here, piece)
                if position - here == width:
                    single = True
                frontier = max(frontier, position)
            node = np.int64(unit >> np.uint64(BASE_SHIFT)) & BASE_MASK
            if node == 0:
                break
        if not single:
            position = here + width
            score = so_far + unknown
            if links[position] < 0 or score > best[position]:
                best[position], links[position] = score, link(here, UNKNOWN_PIECE)
            frontier = max(frontier, position)
        here += width
    return best[size]


@subroutine
def search_with_margin(  # type: ignore[no-untyped-def]
    data, begin, size, units, scores, parameters, base, best, links, exact
):
    """`search`, and the lead of the best path over the second best, in float64: (final score, lead, characters).

    Sums are not set back. `exact` is scratch, float64 of twice ``CACHED_BYTES + 1``: best and second best total
    up to each position.
    """
    unknown = parameters[UNKNOWN]
    for position in range(1, size + 1):
        links[position] = -1
        exact[2 * position] = exact[2 * position + 1] = -np.inf
    best[0] = base
    exact[0], exact[1] = 0.0, -np.inf
    root = np.int64(units[0] >> np.uint64(BASE_SHIFT)) & BASE_MASK
    here, characters = np.int64(0), 0
    while here < size:
        so_far, first, second = best[here], exact[2 * here], exact[2 * here + 1]
        width = width_of(data[begin + here])
        node, position, single = root, here, False
        while position < size:
            byte = np.int64(data[begin + position])
            unit = units[node + byte]
            if np.int64(unit & np.uint64(LABEL_MASK)) != byte:
                break
            position += 1
            piece = np.int64(unit >> np.uint64(VALUE_SHIFT)) - 1
            if piece >= 0:
                score = so_far + scores[piece]
                if links[position] < 0 or score > best[position]:
                    best[position], links[position] = score, link(here, piece)
                _offer(exact, position, first + scores[piece], second + scores[piece])
                if position - here == width:
                    single = True
            node = np.int64(unit >> np.uint64(BASE_SHIFT)) & BASE_MASK
            if node == 0:
                break
        if not single:
            position = here + width
            score = so_far + unknown
            if links[position] < 0 or score > best[position]:
                best[position], links[position] = score, link(here, UNKNOWN_PIECE)
            _offer(exact, position, first + unknown, second + unknown)
        here += width
        characters += 1
    return best[size], exact[2 * size] - exact[2 * size + 1], characters


@inline
def only_piece(data, begin, size, units):  # type: ignore[no-untyped-def]
    """The piece that is exactly these bytes, or `UNKNOWN_PIECE`."""
    unit = units[0]
    for position in range(begin, begin + size):
        byte = np.int64(data[position])
        unit = units[(np.int64(unit >> np.uint64(BASE_SHIFT)) & BASE_MASK) + byte]
        if np.int64(unit & np.uint64(LABEL_MASK)) != byte:
            return np.int64(UNKNOWN_PIECE)
    return np.int64(unit >> np.uint64(VALUE_SHIFT)) - 1


@inline
def _offer(exact, position, first, second):  # type: ignore[no-untyped-def]
    """Let two more totals compete for the best two at `position`."""
    if first > exact[2 * position]:
        exact[2 * position + 1] = max(exact[2 * position], second)
        exact[2 * position] = first
    elif first > exact[2 * position + 1]:
        exact[2 * position + 1] = first


@inline
def safe_limit(lead, characters, largest, threshold, ulp):  # type: ignore[no-untyped-def]
    """Up to which score so far (its absolute value) a stretch's best path is certain; negative for never.

    `largest` bounds the absolute score of a piece, `ulp` is the relative spacing of the sums' floats.
    """
    reach = characters * largest
    limit = lead / (characters * ulp) - reach
    return np.int64(max(-1.0, min(limit, min(threshold - reach, float(MAX_LIMIT)))))


@inline
def stretch_key(data, begin, size):  # type: ignore[no-untyped-def]
    """The bytes of a stretch of at most 32 as four words, zero behind its end (NUL bytes are told by the size)."""
    first = load_u64(data, begin)
    second = third = fourth = np.uint64(0)
    if size < 8:
        first &= (np.uint64(1) << np.uint64(8 * size)) - np.uint64(1)
    elif size > 8:
        second = load_u64(data, begin + 8)
        if size < 16:
            second &= (np.uint64(1) << np.uint64(8 * (size - 8))) - np.uint64(1)
        elif size > 16:
            third = load_u64(data, begin + 16)
            if size < 24:
                third &= (np.uint64(1) << np.uint64(8 * (size - 16))) - np.uint64(1)
            elif size > 24:
                fourth = load_u64(data, begin + 24)
                if size < 32:
                    fourth &= (np.uint64(1) << np.uint64(8 * (size - 24))) - np.uint64(1)
    return first, second, third, fourth


@inline
def slot_of(first, second, third, fourth, size, mask):  # type: ignore[no-untyped-def]
    """Where in the cache an entry of this key has its place (and its neighbour, the slot number xor 1)."""
    hashed = mix(first, second + np.uint64(size))
    if size > 16:
        hashed = mix(hashed ^ third, fourth)
    return np.int64(hashed) & mask


@inline
def holds(cache, slot, first, second, third, fourth, size):  # type: ignore[no-untyped-def]
    """Whether the slot holds the entry of this key."""
    place = slot * SLOT_WORDS
    return (
        cache[place] == first
        and cache[place + 1] == second
        and cache[place + 2] == third
        and cache[place + 3] == fourth
        and np.int64(cache[place + 4] & np.uint64(0xFF)) == size
    )


@inline
def count_tokens(links, size):  # type: ignore[no-untyped-def]
    """The tokens on the path that ends at `size`, and whether all of them are known."""
    count, known, position = np.int64(0), True, size
    while position > 0:
        value = links[position]
        if link_piece(value) == UNKNOWN_PIECE:
            known = False
        position = link_start(value)
        count += 1
    return count, known


@inline
def remember(cache, slot, first, second, third, fourth, size, count, limit, links):  # type: ignore[no-untyped-def]
    """Write the path that ends at `size` into a slot."""
    place = slot * SLOT_WORDS
    cache[place], cache[place + 1], cache[place + 2], cache[place + 3] = first, second, third, fourth
    cache[place + 4] = np.uint64(size) | np.uint64(count) << np.uint64(8) | np.uint64(limit) << np.uint64(16)
    cache[place + 5] = cache[place + 6] = cache[place + 7] = np.uint64(0)
    position, index = size, count
    while position > 0:
        index -= 1
        value = links[position]
        cache[place + 5 + (index >> 1)] |= np.uint64(value & 0xFFFFFFFF) << np.uint64(32 * (index & 1))
        position = link_start(value)
