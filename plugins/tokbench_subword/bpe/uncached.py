"""One pre-token that is in no cache, or a part of one: its bytes or characters as ids, and those merged."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, Keys, i64_in, keep, pointer, u32_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.merging import SHORT, merge_long, merge_short
from tokbench_subword.bpe.pieces import N_BYTES, stays_apart
from tokbench_subword.bpe.tables import NONE, MergeTable, Number, merges_at


@inline
def _first_symbols(
    ids: Keys,
    fallback: Keys,
    settings: Ints,
    text: Bytes,
    start: Int,
    end: Int,
    symbols: Keys,
    places: Ints | None,
) -> np.int64:
    """Write the first symbols of ``text[start:end]``, bytes or characters; return how many, which may be none.

    See `BpeModel`. An unknown token is `waiting`, since those after it may become one with it. `places`, where
    asked for, are the two ends of each in `text`.
    """
    units, unk, bytewise = settings[at.UNITS], settings[at.UNK], settings[at.BYTEWISE] != 0
    count, waiting = np.int64(0), False
    begun = ended = i = start  # begun and ended: the two ends of what waits
    while i < end:
        unit, length = (np.int64(text[i]), 1) if bytewise else code_point(text, i)
        form = (settings[at.PREFIX] if i > start else 0) + (2 * settings[at.SUFFIX] if i + length == end else 0)
        found = ids[form * units + unit] if unit < units else NONE
        spelled = found == NONE and settings[at.BYTE_FALLBACK] != 0
        if spelled:
            for k in range(length):
                spelled = spelled and fallback[text[i + k]] != NONE
        if spelled:  # what waits comes behind this, as in `tokenizers`
            for k in range(length):
                symbols[count] = fallback[text[i + k]]
                _place(places, count, i + k, i + k + 1)
                count += 1
        else:
            if waiting and (found != NONE or settings[at.FUSE_UNK] == 0):
                symbols[count] = unk
                _place(places, count, begun, ended)
                count, waiting = count + 1, False
            if found != NONE:
                symbols[count] = found
                _place(places, count, i, i + length)
                count += 1
            elif unk >= 0:
                begun, ended = begun if waiting else i, i + length
                waiting = True
        i += length
    if waiting:
        symbols[count] = unk
        _place(places, count, begun, ended)
        count += 1
    return count


@inline
def _place(places: Ints | None, symbol: Int, begin: Int, end: Int) -> None:
    if places is not None:
        places[2 * symbol], places[2 * symbol + 1] = begin, end


@inline
def _symbols_of(block: Block, text: Bytes, start: Int, end: Int, symbols: Keys) -> np.int64:
    """The same by the tables of a block, without places."""
    ids, fallback, settings = (
        u32_in(block, at.FIRST_IDS),
        u32_in(block, at.FALLBACK),
        i64_in(block, at.SETTINGS),
    )
    return _first_symbols(ids, fallback, settings, text, start, end, symbols, None)


@kernel
def symbols_of_words(
    ids: Keys, fallback: Keys, settings: Ints, text: Bytes, words: Ints, symbols: Keys, places: Ints, ends: Ints
) -> None:
    """Write the first symbols of words, which begin and end in `text` as `words` say; see `BpeEncoder`."""
    data, count = pointer(text), np.int64(0)
    for word in range(len(words)):
        start, end = words[word, 0], words[word, 1]
        some, theirs = symbols[count:], places[2 * count :]
        count += _first_symbols(ids, fallback, settings, data, start, end, some, theirs)
        ends[word] = count


@inline
def _if_certain(
    merge: Number, rivals: Keys, text: Bytes, place: tuple[Int, Int], word: tuple[Int, Int]
) -> np.uint32:
    """The `merge` that makes the bytes of a word at `place` one, or `NONE` if another may take some of them."""
    begin, end = place
    if begin > word[0]:
        merge = merge if merge < rivals[2 * (np.int64(text[begin - 1]) << 8 | text[begin])] else NONE
    if end < word[1]:
        merge = merge if merge < rivals[2 * (np.int64(text[end - 1]) << 8 | text[end]) + 1] else NONE
    return np.uint32(merge)


@inline
def _first_pieces(block: Block, text: Bytes, start: Int, length: Int, pieces: Keys) -> np.int64:
    """Write for each byte of a pre-token the piece that it is sure to become with the next one, or its own.

    Returns the highest byte.
    """
    byte_pairs, rivals = u32_in(block, at.BYTE_PAIRS), u32_in(block, at.RIVALS)
    word, highest = (start, start + length), np.int64(0)
    for k in range(length - 1):
        first = np.int64(text[start + k])
        highest = max(highest, first)
        pair = byte_pairs[first << 8 | text[start + k + 1]]
        pair = _if_certain(pair, rivals, text, (start + k, start + k + 2), word)
        pieces[k] = first if pair == NONE else pair
    pieces[length - 1] = text[start + length - 1]
    return highest


@subroutine
def _with_characters(
    block: Block, text: Bytes, start: Int, length: Int, symbols: Keys, pieces: Keys
) -> np.int64:
    """`_certain_merges` of a pre-token with wide characters, given its `_first_pieces`."""
    characters, rivals, word = u32_in(block, at.CHARACTERS), u32_in(block, at.RIVALS), (start, start + length)
    count, i = np.int64(0), np.int64(0)
    while i < length:
        piece, size = pieces[i], np.int64(1) + np.int64(pieces[i] >= N_BYTES)
        if text[start + i] & 0xF0 == 0xE0 and i + 3 <= length:
            point, _ = code_point(text, start + i)
            whole = _if_certain(characters[point], rivals, text, (start + i, start + i + 3), word)
            if whole != NONE:
                piece, size = whole, np.int64(3)
        symbols[count] = piece
        i += size
        count += 1
    return count


@inline
def _certain_merges(
    block: Block, text: Bytes, start: Int, length: Int, symbols: Keys, pieces: Keys
) -> np.int64:
    """Write the bytes of a pre-token to `symbols`, as one where nothing can come before their merges.

    Returns how many symbols there are; `pieces` is scratch space. Two bytes, or the three of a character, are
    sure to merge where each merge that could take one of them away is a later one: whatever the symbols beside
    them have become, those end or begin with the bytes that stand there. Merges of what they make come later
    still, so that it may be made first.

    Without it a first pass takes 1.20 to 1.24 of the time over Russian (GPT-2, Qwen2, cl100k); without the
    characters, encoding without a cache takes 1.2 to 1.3 of it over Chinese, Japanese and Thai (o200k, cl100k).
    """
    if _first_pieces(block, text, start, length, pieces) >= 0xE0:
        return _with_characters(block, text, start, length, symbols, pieces)
    count, i = np.int64(0), np.int64(0)
    while i < length:
        symbols[count] = pieces[i]
        i += 1 + np.int64(pieces[i] >= N_BYTES)  # no branch, which no predictor could guess
        count += 1
    return count


@inline
def merge_few(block: Block, settings: Ints, merges: MergeTable, count: Int) -> np.int64:
    """Merge up to `SHORT` symbols, which are in `SYMBOLS`; return how many are left."""
    themselves = NONE if settings[at.N_PIECES] > 0 else np.uint32(0)
    return merge_short(block, np.int64(at.SYMBOLS), count, merges, u32_in(block, at.RESULTS), themselves)


@inline
def merge_many(block: Block, merges: MergeTable, symbols: Keys, count: Int) -> np.int64:
    """Merge any number of symbols in place; return how many are left."""
    return merge_long(symbols, count, merges, u32_in(block, at.RESULTS), None, 0.0)


@inline
def write_symbols(block: Block, symbols: Keys, count: Int, out: Ids, o: Int, as_ids: bool) -> np.int64:
    """Write symbols, `as_ids` or, where they are numbers of pieces, as these; return the new end of `out`.

    Most ids go on as the numbers of pieces do, and need no memory that is far away: with all of them looked up,
    a first pass takes 1.2 of the time over 21 languages, 1.08 over the texts of FLORES (o200k).
    """
    settings = i64_in(block, at.SETTINGS)
    if as_ids and settings[at.N_PIECES] > 0:
        ids, onward, ahead = u32_in(block, at.PIECE_IDS), settings[at.ONWARD], settings[at.AHEAD]
        for i in range(count):
            piece = np.int64(symbols[i])
            found = np.int64(ids[min(piece, onward)])  # no branch, which no predictor could guess
            out[o + i] = found if piece < onward else piece + ahead
    else:
        for i in range(count):
            out[o + i] = symbols[i]
    return np.int64(o + count)


@inline
def _piece_size(block: Block, piece: Number) -> np.int64:
    """How many bytes a piece has."""
    token, starts = np.int64(u32_in(block, at.PIECE_IDS)[piece]), i64_in(block, at.TOKEN_STARTS)
    return np.int64(starts[token + 1] - starts[token])


@inline
def _merge_bytes(block: Block, merges: MergeTable, text: Bytes, start: Int, length: Int) -> np.int64:
    """Merge up to `SHORT` bytes of a model with `pieces` in `SYMBOLS`; return how many are left."""
    count = _certain_merges(block, text, start, length, u32_in(block, at.SYMBOLS), u32_in(block, at.KEYS))
    return merge_few(block, i64_in(block, at.SETTINGS), merges, count)


@subroutine
def _merge_windows(block: Block, merges: MergeTable, text: Bytes, start: Int, end: Int, kept: Keys) -> np.int64:
    """Merge a long pre-token window by window to the pieces `kept`; return how many, -1 where that does not go.

    Pieces side by side are what merging makes of their text if each stays apart from the next. So a window is
    merged by itself, and its pieces are kept but for those in its last quarter, where the next window begins.
    If the first piece of one does not stay apart from the last one kept, that piece is taken back, and the
    window begins there instead.

    By a queue of all pairs instead, a megabyte of DNA or of one letter takes five times as long (GPT-2, o200k).
    """
    few, sides = u32_in(block, at.SYMBOLS), u32_in(block, at.PIECE_SIDES)
    count, position, tries = np.int64(0), np.int64(start), np.int64((end - start) // 16)
    while position < end:
        size = min(np.int64(SHORT), end - position)
        found = _merge_bytes(block, merges, text, position, size)
        if count > 0 and not stays_apart(sides, merges, kept[count - 1], few[0]):
            count, tries = count - 1, tries - 1
            position -= _piece_size(block, kept[count])
            if tries < 0:
                return np.int64(-1)
            continue
        until = end if position + size == end else position + size - size // 4
        first, k = count, 0
        while k < found and position + _piece_size(block, few[k]) <= until:
            position += _piece_size(block, few[k])
            kept[count] = few[k]
            count, k = count + 1, k + 1
        if count == first:  # a token that is longer than what is kept of a window
            return np.int64(-1)
    return count


@inline
def merged(
    block: Block, merges: MergeTable, text: Bytes, start: Int, end: Int, out: Ids, o: Int, as_ids: bool
) -> np.int64:
    """Merge ``text[start:end]`` and write what is left by `write_symbols`; return the new end of `out`."""
    settings = i64_in(block, at.SETTINGS)
    length, numbered = end - start, settings[at.N_PIECES] > 0
    if length > SHORT:
        array = np.empty(length + 1, np.uint32)
        symbols = pointer(array)
        count = _merge_windows(block, merges, text, start, end, symbols) if numbered else np.int64(-1)
        if count < 0:
            count = np.int64(length)
            if numbered:
                for i in range(length):
                    symbols[i] = text[start + i]
            else:
                count = _symbols_of(block, text, start, end, symbols)
            count = merge_many(block, merges, symbols, count)
        o = write_symbols(block, symbols, count, out, o, as_ids)
        keep(array)
        return o
    symbols = u32_in(block, at.SYMBOLS)
    if numbered:
        count = _merge_bytes(block, merges, text, start, length)
    else:
        count = _symbols_of(block, text, start, end, symbols)
        count = merge_few(block, settings, merges, count)
    return write_symbols(block, symbols, count, out, o, as_ids)


@subroutine
def encode_uncached(block: Block, text: Bytes, start: Int, end: Int, out: Ids, o: Int) -> np.int64:
    """Encode ``text[start:end]``, a pre-token or a part of one, by its merges; return the new end of `out`."""
    return merged(block, merges_at(block, at.PAIRS), text, start, end, out, o, True)
