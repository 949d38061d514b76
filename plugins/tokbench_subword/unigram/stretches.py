"""What the kernels of both algorithms share: paths as links, remembering them, and writing ids.

A path is kept by the ends of its pieces: ``links[end]`` is one number made of where the piece begins and its
id. A cache entry (see `kernels.stretch_cache`) also says up to which score it is good (see `viterbi`).
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.stretch_cache import ABOUT, IDS, SLOT_WORDS
from tokbench_subword.unigram.trie import BASE_MASK, BASE_SHIFT, LABEL_MASK, VALUE_SHIFT

MAX_LIMIT = 1 << 30
"""A limit that is never reached."""
UNKNOWN_PIECE = -1
"""What stands for an unknown character in a path."""
CACHE_SLOTS = 1 << 16
"""Stretches of text that a work space remembers (64 bytes each)."""
GROW_TEXT, GROW_OUTPUT = -1, -2
"""What an encoding kernel may ask for: more room for normalised text, or for ids."""


@inline
def width_of(byte):  # type: ignore[no-untyped-def]
    """The bytes of the character that begins with `byte`."""
    if byte < 0x80:
        return np.int64(1)
    if byte < 0xE0:
        return np.int64(2)
    return np.int64(3) if byte < 0xF0 else np.int64(4)


def plain_width_of(byte: int) -> int:
    """`width_of` for Python, which cannot call what is compiled into kernels."""
    return 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


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
    cache[place + ABOUT] = (
        np.uint64(size) | np.uint64(count) << np.uint64(8) | np.uint64(limit) << np.uint64(16)
    )
    cache[place + IDS] = cache[place + IDS + 1] = cache[place + IDS + 2] = np.uint64(0)
    position, index = size, count
    while position > 0:
        index -= 1
        value = links[position]
        cache[place + IDS + (index >> 1)] |= np.uint64(value & 0xFFFFFFFF) << np.uint64(32 * (index & 1))
        position = link_start(value)


@inline
def set_span(spans, token, start, end):  # type: ignore[no-untyped-def]
    """Note where a token lies, in bytes; nothing where no places are asked for, and `spans` is None."""
    if spans is not None:
        spans[2 * token], spans[2 * token + 1] = start, end


@inline
def emit_unknown(unk_id, fused, after_unknown, start, end, output, spans, written):  # type: ignore[no-untyped-def]
    """Append an unknown token, or make the one before it longer; returns how many ids there are."""
    if after_unknown and fused:
        if spans is not None:
            spans[2 * written - 1] = end
        return written
    output[written] = unk_id
    set_span(spans, written, start, end)
    return written + 1


@inline
def emit_path(  # type: ignore[no-untyped-def]
    data, begin, size, links, byte_ids, fallback, escaped, unk_id, fused, after_unknown, output, spans, written
):
    """Append the ids of the path that ends at `size`: (ids written, whether the last is an unknown token)."""
    count, known = count_tokens(links, size)
    if known:
        position, place = size, written + count
        while position > 0:  # backwards, each id into its place
            place -= 1
            value = links[position]
            output[place] = link_piece(value)
            set_span(spans, place, begin + link_start(value), begin + position)
            position = link_start(value)
        return written + count, False
    return _emit_with_unknown(
        data, begin, size, links, byte_ids, fallback, escaped, unk_id, fused, after_unknown, output, spans,
        written,
    )  # fmt: skip


@inline
def _emit_with_unknown(  # type: ignore[no-untyped-def]
    data, begin, size, links, byte_ids, fallback, escaped, unk_id, fused, after_unknown, output, spans, written
):
    """Append a path that has unknown characters: as their bytes, or as one unknown token for a run of them."""
    # Turn the links around, so that the path can be followed forwards: each is moved to where its piece begins.
    position, moved = size, np.int64(-1)
    while position > 0:
        value = links[position]
        links[position] = moved
        moved, position = link(position, link_piece(value)), link_start(value)
    links[0] = moved
    position = np.int64(0)
    while position < size:
        end, piece = link_start(links[position]), link_piece(links[position])
        if piece != UNKNOWN_PIECE:
            output[written] = piece
            set_span(spans, written, begin + position, begin + end)
            written, after_unknown = written + 1, False
        elif fallback:
            first = written
            if escaped and data[begin + position] == 0x20:  # internal form of U+2581
                output[written], output[written + 1] = byte_ids[0xE2], byte_ids[0x96]
                output[written + 2] = byte_ids[0x81]
                written += 3
            else:
                for index in range(position, end):
                    output[written] = byte_ids[data[begin + index]]
                    written += 1
            for token in range(first, written):  # all bytes of a character lie where it does
                set_span(spans, token, begin + position, begin + end)
            after_unknown = False
        else:
            written = emit_unknown(
                unk_id, fused, after_unknown, begin + position, begin + end, output, spans, written
            )
            after_unknown = True
        position = end
    return written, after_unknown
