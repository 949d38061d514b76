"""Finds a normalising tokenizer's tokens in the text, by the folded forms of both (`tokbench.tally.folding`).

A document's folded text and its folded tokens are laid side by side. Where they are equal, each token lies over
the characters whose folded bytes it holds. Where unknown tokens hide text, the runs of tokens between them are
looked for in the folded text; places count only if the leftmost and the rightmost ones agree. All of it takes
time linear in the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Bytes, Ids, Ints
from tokbench.kernels.utf8 import code_point
from tokbench.tally.folding import LENGTH_BITS, REFUSED, Folded

if TYPE_CHECKING:
    from tokbench.tally.match import Tokens
    from tokbench.tally.text import Flags, Offsets, Texts

_LENGTHS = (1 << LENGTH_BITS) - 1
_NEW, _NOT_THERE = -1, -2


class Aligned(NamedTuple):
    """Where each token begins and stops, in bytes of the batch; which documents are `done`, that is, have such
    places; and how many characters unknown tokens hide in each (−1: not known).
    """

    begin: Offsets
    stop: Offsets
    done: Flags
    hidden: Ints


class Room(NamedTuple):
    """Work space for a document: its folded text, the bytes each folded byte stands for, its folded tokens."""

    text: Bytes
    low: Ids
    high: Ids
    made: Bytes
    runs: Ints


@kernel
def align_folded(
    documents: Ints,
    texts: Texts,
    tokens: Tokens,
    unknown: int,
    characters: Folded,
    pieces: Folded,
    size: int,
    most: int,
    found: Aligned,
) -> bool:
    """Align whichever of `documents` can be; false where a code point or token has no folded form yet.

    No document folds to more than `size` bytes or has more than `most` tokens. Filled in are `begin` and `stop`
    of the tokens that have an extent, `done`, and `hidden` as far as it can be told from the bytes that are
    left over.
    """
    room = Room(
        np.empty(size, np.uint8),
        np.empty(size, np.int32),
        np.empty(size, np.int32),
        np.empty(size, np.uint8),
        np.empty(most + 2, np.int64),
    )
    for document in documents:
        first = texts.starts[document]
        low, high = tokens.offsets[document], tokens.offsets[document + 1]
        length, visible = _fold_text(texts.data, first, texts.ends[document], characters, room)
        if length == _NEW:
            return False
        n = _fold_tokens(tokens.ids, low, high, unknown, pieces, length, room)
        if n == _NEW:
            return False
        if n == _NOT_THERE:
            continue
        text, made, runs = room.text[:length], room.made[: room.runs[n]], room.runs[: n + 1]
        places = leftmost(text, made, runs)
        if places[0] < 0:
            continue
        if n > 1:
            # an estimate, by the share of bytes that no token covers; counted exactly where places are found
            found.hidden[document] = np.int64(np.rint(visible * (length - len(made)) / max(length, 1)))
            if not _is_only_way(text, made, runs, places):
                continue
        found.done[document] = True
        at = run = 0
        for index in range(low, high):
            if tokens.ids[index] == unknown:
                run += 1
                to = places[run]
            else:
                to = at + (pieces.entries[tokens.ids[index]] >> 2 & _LENGTHS)
            if to > at:
                found.begin[index], found.stop[index] = first + room.low[at], first + room.high[to - 1]
            at = to
    return True


@kernel
def compare_folded(documents: Ints, texts: Texts, others: Texts, characters: Folded, same: Flags) -> bool:
    """Whether each of `documents` folds to the same bytes as the other text of its number.

    False where a code point has no folded form yet.
    """
    for document in documents:
        here, end = texts.starts[document], texts.ends[document]
        there, stop = others.starts[document], others.ends[document]
        # the folded bytes of the last character of each text that are not compared yet: from where, how many
        at, to = 0, 0
        left, more = 0, 0
        same[document] = True
        while True:
            if left == 0 and here < end:
                point, width = code_point(texts.data, here)
                here += width
                entry = characters.entries[point]
                if entry == 0:
                    return False
                at, left = entry >> (LENGTH_BITS + 2), entry >> 2 & _LENGTHS
            elif more == 0 and there < stop:
                point, width = code_point(others.data, there)
                there += width
                entry = characters.entries[point]
                if entry == 0:
                    return False
                to, more = entry >> (LENGTH_BITS + 2), entry >> 2 & _LENGTHS
            elif left == 0 or more == 0:
                same[document] = left == more
                break
            elif characters.blob[at] != characters.blob[to]:
                same[document] = False
                break
            else:
                at, left = at + 1, left - 1
                to, more = to + 1, more - 1
    return True


@kernel
def _fold_text(data: Bytes, first: int, end: int, characters: Folded, room: Room) -> tuple[int, int]:
    """Fold ``data[first:end]`` into `text`; gives how long that is and how many characters show in it.

    What each folded byte stands for begins at `low` and ends at `high`, counted from `first` on: the same byte
    where the character folds to itself, else the whole character.
    """
    position = first
    size = visible = 0
    while position < end:
        point, width = code_point(data, position)
        entry = characters.entries[point]
        if entry == 0:
            return _NEW, 0
        length = entry >> 2 & _LENGTHS
        at = entry >> (LENGTH_BITS + 2)
        itself = length == width
        for index in range(length):
            room.text[size + index] = characters.blob[at + index]
            itself = itself and characters.blob[at + index] == data[position + index]
        for index in range(length):
            room.low[size + index] = position - first + (index if itself else 0)
            room.high[size + index] = position - first + (index + 1 if itself else width)
        size += length
        visible += length > 0
        position += width
    return size, visible


@kernel
def _fold_tokens(
    ids: Offsets, first: int, last: int, unknown: int, pieces: Folded, length: int, room: Room
) -> int:
    """Fold the tokens into `made`; gives how many runs there are of tokens that are not `unknown`.

    Run i is ``made[runs[i]:runs[i + 1]]``; there is one run more than unknown tokens. Gives `_NOT_THERE` where
    a token is refused or the tokens are longer than the folded text, which has `length` bytes.
    """
    size = 0
    n = 1
    room.runs[0] = 0
    for index in range(first, last):
        if ids[index] == unknown:
            room.runs[n] = size
            n += 1
            continue
        entry = pieces.entries[ids[index]]
        if entry == 0:
            return _NEW
        own = entry >> 2 & _LENGTHS
        if entry & REFUSED or size + own > length:
            return _NOT_THERE
        at = entry >> (LENGTH_BITS + 2)
        for byte in range(own):
            room.made[size + byte] = pieces.blob[at + byte]
        size += own
    room.runs[n] = size
    return n


@kernel
def leftmost(text: Bytes, made: Bytes, runs: Ints) -> Ints:
    """Where each run ``made[runs[i]:runs[i + 1]]`` lies in a text at the earliest, in order.

    The first place is −1 where there are none. The first run must be at the start and the last at the end; all
    of them are no longer than the text.
    """
    n = len(runs) - 1
    places, links = np.zeros(n, np.int64), np.empty(len(made), np.int32)
    last = len(text) - (runs[n] - runs[n - 1])
    if not _same(text[: runs[1]], made[: runs[1]]) or not _same(text[last:], made[runs[n - 1] :]):
        places[0] = -1
        return places
    position = runs[1]
    for run in range(1, n - 1):
        places[run] = find(text, position, made[runs[run] : runs[run + 1]], links)
        if places[run] < 0:
            places[0] = -1
            return places
        position = places[run] + runs[run + 1] - runs[run]
    if last < position if n > 1 else last > 0:  # a single run is the whole text
        places[0] = -1
    elif n > 1:
        places[n - 1] = last
    return places


@kernel
def _is_only_way(text: Bytes, made: Bytes, runs: Ints, places: Ints) -> bool:
    """Whether two or more runs, whose earliest places are `places`, can lie nowhere else, and lie apart."""
    n = len(places)
    for run in range(1, n):  # between two runs there is something for an unknown token to hide
        if places[run - 1] + runs[run] - runs[run - 1] >= places[run]:
            return False
    if n > 2:
        # the latest places of all are the earliest ones from behind
        latest = leftmost(text[::-1].copy(), made[::-1].copy(), len(made) - runs[::-1])
        for run in range(n):
            if places[run] != len(text) - latest[n - 1 - run] - (runs[run + 1] - runs[run]):
                return False
    return True


@kernel
def find(text: Bytes, position: int, piece: Bytes, links: Ids) -> int:
    """Where a piece first lies in a text from a position on, or −1.

    By the algorithm of Knuth, Morris and Pratt (1977): however much the text repeats itself, each byte is
    looked at twice at most. `links` has room for the lengths of the longest proper borders of the piece's
    beginnings.
    """
    if len(piece) == 0:
        return position
    links[0] = border = 0
    for index in range(1, len(piece)):
        while border > 0 and piece[index] != piece[border]:
            border = links[border - 1]
        border += piece[index] == piece[border]
        links[index] = border
    matched = 0
    for at in range(position, len(text)):
        while matched > 0 and text[at] != piece[matched]:
            matched = links[matched - 1]
        matched += text[at] == piece[matched]
        if matched == len(piece):
            return int(at - matched + 1)
    return -1


@kernel
def _same(one: Bytes, other: Bytes) -> bool:
    """Whether two pieces of the same length are equal."""
    index = 0
    while index < len(one) and one[index] == other[index]:
        index += 1
    return index == len(one)
