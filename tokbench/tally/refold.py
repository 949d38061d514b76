"""Finding a normalising tokenizer's tokens in the text, by the folded forms of both.

A document's folded text and its folded tokens are laid side by side. Where they are equal, each token lies over
the characters whose folded bytes it holds. Around unknown tokens, which hide text, the runs of tokens between
them are looked for in the folded text; that counts only if the first and the last way to find them agree. All
of it takes time linear in the text.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.kernels.compiling import kernel
from tokbench.tally.folding import LENGTH_BITS, REFUSED

_LENGTHS = (1 << LENGTH_BITS) - 1
_NEW, _NOT_THERE = -1, -2


@kernel
def align_folded(
    documents: Any,
    data: Any,
    starts: Any,
    ends: Any,
    ids: Any,
    offsets: Any,
    unknown: int,
    characters: Any,
    character_blob: Any,
    tokens: Any,
    token_blob: Any,
    room: int,
    most: int,
    begin: Any,
    stop: Any,
    aligned: Any,
    hidden: Any,
) -> bool:
    """Align whichever of `documents` can be; false where a code point or token has no folded form yet.

    `characters` and `tokens` are the entries of `tokbench.tally.folding.Pieces`, by code point and by id; no
    document folds to more than `room` bytes or has more than `most` tokens. Filled in are `begin` and `stop` of
    the tokens that have an extent, `aligned`, and `hidden`, the characters under unknown tokens, as far as it
    can be told from the bytes that are left over.
    """
    text, made = np.empty(room, np.uint8), np.empty(room, np.uint8)
    low, high = np.empty(room, np.int32), np.empty(room, np.int32)
    links = np.empty(room, np.int32)
    text_back, made_back = np.empty(room, np.uint8), np.empty(room, np.uint8)
    runs, places = np.empty(most + 2, np.int64), np.empty(most + 2, np.int64)
    runs_back, places_back = np.empty(most + 2, np.int64), np.empty(most + 2, np.int64)
    for document in documents:
        first = starts[document]
        size, visible = _fold_text(data, first, ends[document], characters, character_blob, text, low, high)
        if size == _NEW:
            return False
        n = _fold_tokens(
            ids, offsets[document], offsets[document + 1], unknown, tokens, token_blob, size, made, runs
        )
        if n == _NEW:
            return False
        if n == _NOT_THERE:
            continue
        total = runs[n]
        if n == 1:
            if total != size or not _same(text, 0, made, 0, size):
                continue
            places[0] = 0
        else:
            if not leftmost(text, size, made, runs, n, links, places):
                continue
            hidden[document] = np.int64(np.rint(visible * (size - total) / max(size, 1)))
            certain = True
            for run in range(1, n):  # between two runs there is something for an unknown token to hide
                certain = certain and places[run - 1] + runs[run] - runs[run - 1] < places[run]
            if certain and n > 2:
                _mirror(text, size, text_back)
                _mirror(made, total, made_back)
                for run in range(n + 1):
                    runs_back[run] = total - runs[n - run]
                leftmost(text_back, size, made_back, runs_back, n, links, places_back)
                for run in range(n):
                    at = size - places_back[n - 1 - run] - (runs[run + 1] - runs[run])
                    certain = certain and places[run] == at
            if not certain:
                continue
        aligned[document] = True
        at = run = 0
        for index in range(offsets[document], offsets[document + 1]):
            if ids[index] == unknown:
                run += 1
                to = places[run]
            else:
                to = at + (tokens[ids[index]] >> 2 & _LENGTHS)
            if to > at:
                begin[index], stop[index] = first + low[at], first + high[to - 1]
            at = to
    return True


@kernel
def _fold_text(data: Any, first: int, end: int, entries: Any, blob: Any, text: Any, low: Any, high: Any) -> Any:
    """Fold ``data[first:end]`` into `text`; say how long that is and how many characters show in it.

    What each folded byte stands for begins at `low` and ends at `high`, counted from `first` on: the same byte
    where the character folds to itself, else the whole character.
    """
    position = first
    size = visible = 0
    while position < end:
        width = _width(data[position])
        point = np.int64(data[position])
        if width > 1:
            point &= 0x7F >> width
            for index in range(1, width):
                point = point << 6 | np.int64(data[position + index] & 0x3F)
        entry = entries[point]
        if entry == 0:
            return _NEW, 0
        length = entry >> 2 & _LENGTHS
        at = entry >> (LENGTH_BITS + 2)
        itself = length == width
        for index in range(length):
            text[size + index] = blob[at + index]
            itself = itself and blob[at + index] == data[position + index]
        for index in range(length):
            low[size + index] = position - first + (index if itself else 0)
            high[size + index] = position - first + (index + 1 if itself else width)
        size += length
        visible += length > 0
        position += width
    return size, visible


@kernel
def _fold_tokens(
    ids: Any, first: int, last: int, unknown: int, entries: Any, blob: Any, room: int, made: Any, runs: Any
) -> int:
    """Fold the tokens into `made`; say how many runs there are of tokens that are not `unknown`.

    Run i is ``made[runs[i]:runs[i + 1]]``; there is one more than unknown tokens. There can be no places where
    a token's bytes are refused or all of them are more than the `room` of the text.
    """
    size = 0
    n = 1
    runs[0] = 0
    for index in range(first, last):
        if ids[index] == unknown:
            runs[n] = size
            n += 1
            continue
        entry = entries[ids[index]]
        if entry == 0:
            return _NEW
        length = entry >> 2 & _LENGTHS
        if entry & REFUSED or size + length > room:
            return _NOT_THERE
        at = entry >> (LENGTH_BITS + 2)
        for byte in range(length):
            made[size + byte] = blob[at + byte]
        size += length
    runs[n] = size
    return n


@kernel
def leftmost(text: Any, size: int, made: Any, runs: Any, n: int, links: Any, places: Any) -> bool:
    """Where each of two or more runs lies in ``text[:size]`` at the earliest, in order; false if nowhere.

    The first must be at the start and the last at the end; all of them are no longer than the text.
    """
    last = size - (runs[n] - runs[n - 1])
    if not _same(text, 0, made, 0, runs[1]) or not _same(text, last, made, runs[n - 1], size - last):
        return False
    places[0] = 0
    position = runs[1]
    for run in range(1, n - 1):
        places[run] = found(text, position, size, made, runs[run], runs[run + 1], links)
        if places[run] < 0:
            return False
        position = places[run] + runs[run + 1] - runs[run]
    places[n - 1] = last
    return bool(last >= position)


@kernel
def found(text: Any, position: int, end: int, made: Any, low: int, high: int, links: Any) -> int:
    """Where ``made[low:high]`` first lies in ``text[position:end]``, or −1.

    By the algorithm of Knuth, Morris and Pratt (1977): however much the text repeats itself, each byte is
    looked at twice at most. `links` are the lengths of the longest proper borders of the pattern's beginnings.
    """
    size = high - low
    if size == 0:
        return position
    links[0] = border = 0
    for index in range(1, size):
        while border > 0 and made[low + index] != made[low + border]:
            border = links[border - 1]
        border += made[low + index] == made[low + border]
        links[index] = border
    matched = 0
    for at in range(position, end):
        while matched > 0 and text[at] != made[low + matched]:
            matched = links[matched - 1]
        matched += text[at] == made[low + matched]
        if matched == size:
            return at - size + 1
    return -1


@kernel
def _same(text: Any, at: int, made: Any, low: int, size: int) -> bool:
    index = 0
    while index < size and text[at + index] == made[low + index]:
        index += 1
    return index == size


@kernel
def _mirror(data: Any, size: int, back: Any) -> None:
    for index in range(size):
        back[index] = data[size - 1 - index]


@kernel
def _width(lead: Any) -> int:
    """Bytes of the character that a byte of UTF-8 begins."""
    return int(1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0))


@kernel
def count_hidden(
    documents: Any,
    data: Any,
    starts: Any,
    ends: Any,
    ids: Any,
    offsets: Any,
    unknown: int,
    begin: Any,
    stop: Any,
    hidden: Any,
) -> None:
    """The characters under the unknown tokens of aligned `documents`, each once."""
    for document in documents:
        first, end = starts[document], ends[document]
        depth = np.zeros(end - first + 1, np.int32)
        for index in range(offsets[document], offsets[document + 1]):
            if ids[index] == unknown:
                depth[begin[index] - first] += 1
                depth[stop[index] - first] -= 1
        under = 0
        count = 0
        for position in range(end - first):
            under += depth[position]
            count += under > 0 and data[first + position] & 0xC0 != 0x80
        hidden[document] = count


@kernel
def part_characters(
    documents: Any,
    data: Any,
    ids: Any,
    offsets: Any,
    token_at: Any,
    token_length: Any,
    blob: Any,
    begin: Any,
    stop: Any,
) -> None:
    """Part the characters that tokens share, where offsets gave all of one to each of them, or to the last.

    A token that goes on with a character of which the tokens before it hold n bytes begins at the nth byte that
    no character begins with, of the text that the shared character was made from: that very byte where
    normalising left the character as it is. Where the text has too few such bytes, nothing is moved.
    """
    for document in documents:
        held: Any = 0
        for index in range(offsets[document], offsets[document + 1]):
            size, at = token_length[ids[index]], token_at[ids[index]]
            if size <= 0:
                held = 0
                continue
            if held > 0 and blob[at] & 0xC0 == 0x80:
                told = index  # sentencepiece gives the character to the last of its bytes
                most = min(offsets[document + 1], index + 3)
                while told + 1 < most and stop[told] == begin[told]:
                    told += 1
                low, high = begin[told], stop[told]
                place, left = low, held
                while left > 0 and place + 1 < high:
                    place += 1
                    left -= data[place] & 0xC0 == 0x80
                if left == 0:
                    begin[index], stop[index] = place, high
                    if stop[index - 1] == begin[index - 1]:
                        begin[index - 1] = low
                        stop[index - 1] = place
                    stop[index - 1] = min(stop[index - 1], place)
            for byte in range(at, at + size):
                if blob[byte] & 0xC0 == 0x80:
                    held += held > 0
                else:
                    held = np.int64(blob[byte] >= 0xC0)
