"""The WordPiece kernels: BERT's text rules and greedy longest match in one pass over UTF-8.

`encode_documents` is the fast path. `match_words` matches words that something else has cut, for pipelines that
are not BERT's, and says where each token ends, for offsets. Both end in `_match`, where the algorithm is.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.kernels.compiling import inline, kernel
from tokbench_subword.kernels.pointers import i32_in, i64_in, pointer, u8_in
from tokbench_subword.kernels.utf8 import code_point
from tokbench_subword.wordpiece.table import (
    ALONE,
    DROPPED,
    LETTER,
    LETTER_MAPPED,
    ORDERED,
    SPACE,
)


@inline
def _match(word, start, stop, nodes, values, continuation, unk, limit, ids, count):  # type: ignore[no-untyped-def]
    """Write the tokens of ``word[start:stop]`` to ``ids[count:]`` and return the new count.

    From each position the longest token, from the root at the beginning of the word and from `continuation`
    (the node of the prefix) after it. Where nothing matches, the whole word is one `unk`; so it is where it has
    more than `limit` characters.
    """
    if stop - start > limit:
        n_characters = 0
        for index in range(start, stop):
            if (word[index] & 0xC0) != 0x80:
                n_characters += 1
        if n_characters > limit:
            ids[count] = unk
            return count + 1
    first = count
    root = np.int64(0)
    while start < stop:
        node = root
        best = np.int64(-1)
        end = start
        index = start
        while index < stop and node >= 0:
            base = np.int64(nodes[2 * node]) >> 1
            child = base + np.int64(word[index])
            if base == 0 or nodes[2 * child + 1] != node:
                break
            node = child
            index += 1
            if nodes[2 * node] & 1:
                best = node
                end = index
        if best < 0:
            ids[first] = unk
            return first + 1
        ids[count] = values[best]
        count += 1
        start = end
        root = continuation
    return count


# The arrays of an encoder, in the order in which they stand in its block.
KINDS, ASCII, SLOTS, MAPPED, NODES, VALUES, SETTINGS = range(7)
# `SETTINGS`, int64.
CONTINUATION, UNK, LIMIT = range(3)


@kernel
def encode_documents(block, data, starts, first, word, ids, offsets):  # type: ignore[no-untyped-def]
    """Encode documents from `first` on until one needs canonical reordering; returns its index, or the end.

    `block` holds a `CharacterTable`, a `Trie`, and settings. `data` is uint8 UTF-8 with `PADDING`, document d
    ``data[starts[d]:starts[d + 1]]``. `word` is scratch of at least three bytes for each byte of the longest
    document. Ids go to ``ids[offsets[d]:offsets[d + 1]]``; `offsets[first]` is set.
    """
    n_documents = len(starts) - 1
    text, kind_of, ascii_of = pointer(data), u8_in(block, KINDS), u8_in(block, ASCII)
    slot_of, replacements = i32_in(block, SLOTS), u8_in(block, MAPPED)
    rows, value_of, settings = i32_in(block, NODES), i32_in(block, VALUES), i64_in(block, SETTINGS)
    buffer, out = pointer(word), pointer(ids)
    continuation, unk, limit = settings[CONTINUATION], np.int32(settings[UNK]), settings[LIMIT]
    count = offsets[first]
    for document in range(first, n_documents):
        position, stop = starts[document], starts[document + 1]
        length = np.int64(0)
        ordered_end = np.int64(-1)
        while position < stop:
            byte = text[position]
            if byte < 0x80:
                kind = kind_of[byte]
                if kind == LETTER:
                    buffer[length] = ascii_of[byte]
                    length += 1
                    position += 1
                    continue
                point, width = np.int64(byte), np.int64(1)
            else:
                point, width = code_point(text, position)
                kind = kind_of[point]
                if kind == LETTER:
                    for index in range(width):
                        buffer[length + index] = text[position + index]
                    length += width
                    position += width
                    continue
            if kind == DROPPED:
                position += width
                continue
            if LETTER_MAPPED <= kind <= ORDERED:
                if kind == ORDERED and ordered_end == length:
                    return document
                slot = np.int64(slot_of[point])
                size = np.int64(replacements[slot])
                for index in range(size):
                    buffer[length + index] = replacements[slot + 1 + index]
                length += size
                if kind == ORDERED:
                    ordered_end = length
                position += width
                continue
            if length > 0:
                count = _match(buffer, 0, length, rows, value_of, continuation, unk, limit, out, count)
                length = np.int64(0)
            if kind != SPACE:
                size = width
                if kind == ALONE:
                    for index in range(width):
                        buffer[index] = text[position + index]
                else:
                    slot = np.int64(slot_of[point])
                    size = np.int64(replacements[slot])
                    for index in range(size):
                        buffer[index] = replacements[slot + 1 + index]
                count = _match(buffer, 0, size, rows, value_of, continuation, unk, limit, out, count)
            position += width
        if length > 0:
            count = _match(buffer, 0, length, rows, value_of, continuation, unk, limit, out, count)
        offsets[document + 1] = count
    return n_documents


@kernel
def match_words(block, data, starts, ids, offsets):  # type: ignore[no-untyped-def]
    """Tokens of words ``data[starts[w]:starts[w + 1]]`` (UTF-8), to ``ids[offsets[w]:offsets[w + 1]]``."""
    rows, value_of, settings = i32_in(block, NODES), i32_in(block, VALUES), i64_in(block, SETTINGS)
    text, out = pointer(data), pointer(ids)
    continuation, unk, limit = settings[CONTINUATION], np.int32(settings[UNK]), settings[LIMIT]
    count = np.int64(0)
    offsets[0] = 0
    for word in range(len(starts) - 1):
        if starts[word] < starts[word + 1]:
            count = _match(
                text, starts[word], starts[word + 1], rows, value_of, continuation, unk, limit, out, count
            )
        offsets[word + 1] = count
    return count
