r"""From a word to its ids: the best path through it, and long words in parts.

`tokenizers` adds up the scores of a word in float64 from zero, so that a word's ids depend on nothing but the
word. What is long, or in a script of many characters, is cut where no piece crosses (`segments`), and its parts
are looked up like words: a sentence comes but once, its parts come again. The score so far is carried from part
to part, as the library carries it. Rounding depends on it, so that a part is kept with a *limit*, the score so
far up to which no rounding can change its path (see `viterbi`); it stands behind the part's ids in the word
cache.

What is unknown is one token for a run of characters, or is spelled in bytes. The text of the unknown token
itself is a piece like any other, but is unknown beside what is unknown. `run` keeps account of that: `KNOWN`
behind a known token, `UNKNOWN_RUN` behind unknown characters, else the byte where the text of an unknown token
alone begins.

`spans`, where it is not None, gets the places of tokens: two int32 for each, in bytes, from `origin` on.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import f64_in, i32_in, i64_in, pointer, prefetch_to_read, u8_in, u64_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.unigram import word_layout as at
from tokbench_subword.unigram.layout import LARGEST, THRESHOLD, ULP, UNKNOWN
from tokbench_subword.unigram.segments import LEADS, PIECE_SHIFT, next_cut
from tokbench_subword.unigram.stretches import link, link_piece, link_start, only_piece, width_of
from tokbench_subword.unigram.viterbi import safe_limit, search, search_with_margin
from tokbench_subword.words.layout import GROUP, WORD_KEYS, WORDS
from tokbench_subword.words.searching import Search
from tokbench_subword.words.slots import (
    LONGEST_WORD,
    MASK,
    PART,
    SHIFT,
    SLOTS,
    STATE,
    recall,
    remember,
    word_home,
    word_key,
)

KNOWN, UNKNOWN_RUN = -1, -2
_UNCUT = 31
"""Bytes of words in alphabets of few letters up to which they are quicker searched than cut."""
_THREE_BYTES = 0xE0  # first byte of characters from U+0800 on
_MOST_LIMIT = (1 << 28) - 1  # so that it may stand in a slot as its fourth number


@inline
def _place(spans, o, start, end):  # type: ignore[no-untyped-def]
    """Note where token `o` lies, where places are asked for."""
    if spans is not None:
        spans[2 * o], spans[2 * o + 1] = start, end


@inline
def _unknown(out, spans, o, run, unk_id, start, end):  # type: ignore[no-untyped-def]
    """Append an unknown token, or make the one before it longer; return the new end of `out`."""
    if run == UNKNOWN_RUN:
        if spans is not None:
            spans[2 * o - 1] = end
        return o
    out[o] = unk_id
    _place(spans, o, start, end)
    return o + 1


@inline
def _spell(byte_ids, text, start, end, out, spans, o, origin):  # type: ignore[no-untyped-def]
    """Append the tokens of the bytes of a character, or of the unknown token's text; return where they end."""
    for i in range(start, end):
        out[o] = byte_ids[text[i]]
        _place(spans, o, start - origin, end - origin)
        o += 1
    return o


@subroutine
def _emit_unknown(block, text, begin, size, out, spans, o, run, origin):  # type: ignore[no-untyped-def]
    """`_emit` of a path with something unknown: the new end of `out`, and `run`."""
    links, settings, byte_ids = i64_in(block, at.LINKS), i64_in(block, at.SETTINGS), i32_in(block, at.BYTE_IDS)
    unknown, fallback = settings[at.UNK_ID], settings[at.FALLBACK] == 1
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
        start, stop = begin + position, begin + end
        known = piece >= 0 and piece != unknown
        if known or (fallback and piece >= 0 and run == KNOWN):
            out[o] = piece
            _place(spans, o, start - origin, stop - origin)
            o += 1
            run = np.int64(KNOWN) if known else start
        elif fallback:
            if run >= 0:
                o = _spell(byte_ids, text, run, start, out, spans, o - 1, origin)
            o = _spell(byte_ids, text, start, stop, out, spans, o, origin)
            run = np.int64(UNKNOWN_RUN)
        else:
            o = _unknown(out, spans, o, run, unknown, start - origin, stop - origin)
            run = np.int64(UNKNOWN_RUN)
        position = end
    return o, run


@inline
def _emit(block, text, begin, size, out, spans, o, run, origin):  # type: ignore[no-untyped-def]
    """Append the ids of the path to `size` that was found from byte `begin` on.

    Returns the new end of `out`, `run`, and whether all was known.
    """
    links, unknown = i64_in(block, at.LINKS), i64_in(block, at.SETTINGS)[at.UNK_ID]
    count, known, position = np.int64(0), True, size
    while position > 0:
        value = links[position]
        piece = link_piece(value)
        known = known and piece >= 0 and piece != unknown
        position = link_start(value)
        count += 1
    if not known:
        o, run = _emit_unknown(block, text, begin, size, out, spans, o, run, origin)
        return o, run, False
    position, place = size, o + count
    while position > 0:  # backwards, each id into its place
        place -= 1
        value = links[position]
        out[place] = link_piece(value)
        _place(spans, place, begin + link_start(value) - origin, begin + position - origin)
        position = link_start(value)
    return o + count, np.int64(KNOWN), True


@inline
def _find_parts(block, text, index, end):  # type: ignore[no-untyped-def]
    """Find where the next parts of a word end, their keys and their slots; return how many there are."""
    parts, keys, homes = i64_in(block, at.PARTS), u64_in(block, at.PART_KEYS), i64_in(block, at.PART_HOMES)
    words = u64_in(block, WORDS)
    slots, shift = u64_in(words, SLOTS), i64_in(words, STATE)[SHIFT]
    classes, alphabet = u8_in(block, at.CUT_CLASSES), i32_in(block, at.CHARACTERS)
    before_space, pairs = u8_in(block, at.BEFORE_SPACE), u8_in(block, at.PAIRS)
    count = np.int64(0)
    while index < end and count < GROUP:
        character, width = code_point(text, index)
        stop = index + width
        if alphabet[character] & LEADS:
            stop = next_cut(text, index, end, classes, alphabet, before_space, pairs)
        size = stop - index
        if width < size <= at.LONGEST_PART:
            keys[2 * count], keys[2 * count + 1] = word_key(text, index, size, PART)
            homes[count] = word_home(keys[2 * count], keys[2 * count + 1], shift)
            prefetch_to_read(slots, homes[count])
        parts[count] = stop
        count += 1
        index = stop
    return count


@subroutine
def encode_parts(block, text, start, end, out, spans, o):  # type: ignore[no-untyped-def]
    """Encode ``text[start:end]``, one word, in parts; return the new end of `out`."""
    units, scores, parameters = u64_in(block, at.UNITS), f64_in(block, at.SCORES), f64_in(block, at.PARAMETERS)
    best, links, exact = f64_in(block, at.BEST), i64_in(block, at.LINKS), f64_in(block, at.EXACT)
    words, lengths, alphabet = u64_in(block, WORDS), i32_in(block, at.LENGTHS), i32_in(block, at.CHARACTERS)
    parts, keys, homes = i64_in(block, at.PARTS), u64_in(block, at.PART_KEYS), i64_in(block, at.PART_HOMES)
    slots, mask = u64_in(words, SLOTS), i64_in(words, STATE)[MASK]
    settings, unknown = i64_in(block, at.SETTINGS), parameters[UNKNOWN]
    unk_id, fallback = settings[at.UNK_ID], settings[at.FALLBACK] == 1
    so_far, run, index = 0.0, np.int64(KNOWN), start
    while index < end:
        count = _find_parts(block, text, index, end)
        for k in range(count):
            stop = parts[k]
            size = stop - index
            character, width = code_point(text, index)
            one = np.int64(alphabet[character] >> PIECE_SHIFT) - 1
            if size == width:
                if one >= 0 and one != unk_id:
                    so_far += scores[one]
                    out[o] = one
                    _place(spans, o, index - start, stop - start)
                    o, run = o + 1, np.int64(KNOWN)
                elif one < 0 and not fallback:
                    so_far += unknown
                    o = _unknown(out, spans, o, run, unk_id, index - start, stop - start)
                    run = np.int64(UNKNOWN_RUN)
                else:
                    so_far += scores[one] if one >= 0 else unknown
                    links[size] = link(np.int64(0), one)
                    o, run = _emit_unknown(block, text, index, size, out, spans, o, run, start)
                index = stop
                continue
            middle = index + width
            if size == width + width_of(text[middle]):  # two characters: either one piece or two
                character, _ = code_point(text, middle)
                two = np.int64(alphabet[character] >> PIECE_SHIFT) - 1
                if one >= 0 and two >= 0 and one != unk_id and two != unk_id:
                    both = only_piece(text, index, size, units)
                    apart = so_far + scores[one] + scores[two]
                    if both < 0 or apart > so_far + scores[both]:
                        out[o], out[o + 1] = one, two
                        _place(spans, o, index - start, middle - start)
                        _place(spans, o + 1, middle - start, stop - start)
                        so_far, o, run = apart, o + 2, np.int64(KNOWN)
                        index = stop
                        continue
                    if both != unk_id:
                        out[o] = both
                        _place(spans, o, index - start, stop - start)
                        so_far, o, run = so_far + scores[both], o + 1, np.int64(KNOWN)
                        index = stop
                        continue
            if size > at.LONGEST_PART:
                so_far = search(text, index, size, units, scores, parameters, so_far, best, links)
                o, run, _ = _emit(block, text, index, size, out, spans, o, run, start)
                index = stop
                continue
            low, high = keys[2 * k], keys[2 * k + 1]
            after = recall(words, slots, mask, low, high, homes[k], text, index, out, o)
            if after >= 0:
                limit = np.int64(out[after - 1])
                if abs(so_far) <= limit:
                    for token in range(o, after - 1):
                        piece = out[token]
                        so_far += scores[piece]
                        if spans is not None:
                            _place(spans, token, index - start, index - start + lengths[piece])
                            index += lengths[piece]
                    o, run, index = after - 1, np.int64(KNOWN), stop
                    continue
            before = abs(so_far)
            so_far, lead, characters = search_with_margin(
                text, index, size, units, scores, parameters, so_far, best, links, exact
            )
            first = o
            o, run, known = _emit(block, text, index, size, out, spans, o, run, start)
            limit = safe_limit(lead, characters, parameters[LARGEST], parameters[THRESHOLD], parameters[ULP])
            if known and after < 0 and before <= limit:
                out[o] = min(limit, np.int64(_MOST_LIMIT))
                remember(words, low, high, text, index, out, first, o + 1 - first)
            index = stop
    return o


@Search
def encode_new(block, text, start, length, k, count, out, o):  # type: ignore[no-untyped-def]
    """Encode word `k` of a group, and keep it; return the new end of `out`."""
    second = start + width_of(text[start])  # the first is often the mark of a space
    if length > _UNCUT or (second < start + length and text[second] >= _THREE_BYTES):
        after = encode_parts(block, text, start, start + length, out, None, o)
    else:
        units, scores = u64_in(block, at.UNITS), f64_in(block, at.SCORES)
        best, links = f64_in(block, at.BEST), i64_in(block, at.LINKS)
        search(text, start, length, units, scores, f64_in(block, at.PARAMETERS), 0.0, best, links)
        after, _, _ = _emit(block, text, start, length, out, None, o, np.int64(KNOWN), start)
    if length <= LONGEST_WORD:
        keys = u64_in(block, WORD_KEYS)
        low, high = keys[2 * k], keys[2 * k + 1]
        remember(u64_in(block, WORDS), low, high, text, start, out, o, after - o)
    return after


@kernel
def locate_spans(arrays, text, spans, first, last, out, out_offsets):  # type: ignore[no-untyped-def]
    """`encode_spans` with places: an id, and where it begins and ends in its word, for each token."""
    block, data, ids = pointer(arrays), pointer(text), pointer(out)
    found, places = i32_in(block, at.FOUND), i32_in(block, at.SPANS)
    o, none = np.int64(0), np.int64(0)
    for p in range(first, last):
        count = encode_parts(block, data, spans[p, 0], spans[p, 1], found, places, none)
        for k in range(count):
            ids[o], ids[o + 1], ids[o + 2] = found[k], places[2 * k], places[2 * k + 1]
            o += 3
        out_offsets[p + 1] = o
    return o
