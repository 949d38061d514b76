"""From UTF-8 documents to ids in one compiled call: normalise, cut, look up or search, emit."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import f64_in, i32_in, i64_in, pointer, typed_in, u8_in, u64_in
from tokbench.kernels.stretch_cache import (
    ABOUT,
    CACHED_BYTES,
    CACHED_TOKENS,
    IDS,
    SLOT_WORDS,
    holds,
    slot_of,
    stretch_key,
)
from tokbench.kernels.utf8 import code_point
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.places import normalize_in, to_characters
from tokbench_subword.unigram.segments import LEADS, PIECE_SHIFT, next_cut
from tokbench_subword.unigram.stretches import (
    CACHE_SLOTS,
    GROW_OUTPUT,
    GROW_TEXT,
    UNKNOWN_PIECE,
    count_tokens,
    emit_path,
    emit_unknown,
    link,
    only_piece,
    remember,
    set_span,
    width_of,
)
from tokbench_subword.unigram.viterbi import safe_limit, search, search_with_margin


@kernel
def encode_documents(block, parameters, source, offsets, output_ends):  # type: ignore[no-untyped-def]
    """Encode the documents of `source` (bytes) at `offsets`: ids to OUTPUT, their ends to `output_ends`.

    Begins with document ``STATE[DOCUMENT]``, which is set back to 0 at the end.

    `block` is laid out as `layout` says. Where text comes normalised, 32 bytes must be readable behind
    `source`. Returns the number of ids, or what to grow before calling again with the same state.
    """
    return _encode(block, parameters, source, offsets, output_ends, None, None)


@kernel
def locate_documents(block, parameters, source, offsets, output_ends):  # type: ignore[no-untyped-def]
    """`encode_documents`, and to SPANS where each token lies (see `places`), for which there must be room."""
    spans, origins = i64_in(block, at.SPANS), i64_in(block, at.ORIGINS)
    return _encode(block, parameters, source, offsets, output_ends, spans, origins)


@inline
def _encode(block, parameters, source, offsets, output_ends, spans, origins):  # type: ignore[no-untyped-def]
    """What both kernels do; places are kept where `spans` is not None."""
    numbers, state = i64_in(block, at.NUMBERS), i64_in(block, at.STATE)
    data, normalized = pointer(source), u8_in(block, at.TEXT)
    ready = numbers[at.FLAGS] < 0
    n_documents = len(offsets) - 1
    document, written = state[at.DOCUMENT], state[at.WRITTEN]
    while document < n_documents:
        start, stop = offsets[document], offsets[document + 1]
        where, begin, size = data, start, stop - start
        if not ready:
            where, begin = normalized, np.int64(0)
            size = normalize_in(block, data, start, stop, origins)
        state[at.SIZE] = size
        if size < 0 or size + 2 > state[at.SEARCH_ROOM]:
            state[at.DOCUMENT], state[at.WRITTEN] = document, written
            return GROW_TEXT
        if written + (3 * size if numbers[at.FALLBACK] else size) > state[at.OUTPUT_ROOM]:
            state[at.DOCUMENT], state[at.WRITTEN] = document, written
            return GROW_OUTPUT
        first = written
        written = _encode_text(
            where, begin, begin + size, u64_in(block, at.UNITS), typed_in(block, at.SCORES, parameters),
            pointer(parameters), i32_in(block, at.BYTE_IDS), numbers[at.FALLBACK] != 0,
            numbers[at.ESCAPED] != 0, numbers[at.UNK_ID], numbers[at.FUSED] != 0,
            u8_in(block, at.CUT_CLASSES), i32_in(block, at.CHARACTERS), u8_in(block, at.BEFORE_SPACE),
            u8_in(block, at.PAIRS), u64_in(block, at.CACHE), typed_in(block, at.BEST, parameters),
            i64_in(block, at.LINKS), f64_in(block, at.EXACT), i32_in(block, at.LENGTHS),
            i32_in(block, at.OUTPUT), spans, written,
        )  # fmt: skip
        if spans is not None and not ready:
            to_characters(data, start, origins, size, spans, first, written)
        document += 1
        output_ends[document] = written
    state[at.DOCUMENT] = state[at.WRITTEN] = 0
    return written


@inline
def _encode_text(  # type: ignore[no-untyped-def]
    data, begin, stop, units, scores, parameters, byte_ids, fallback, escaped, unk_id, fused,
    cut_classes, alphabet, before_space, pairs, cache, best, links, exact, lengths, output, spans, written,
):  # fmt: skip
    """Append the ids of ``data[begin:stop]`` to `output`; returns how many ids it then holds.

    Where `spans` is not None, it gets the places of the tokens in `data`.
    """
    unknown, threshold = parameters[at.UNKNOWN], parameters[at.THRESHOLD]
    largest, ulp = float(parameters[at.LARGEST]), float(parameters[at.ULP])
    so_far = unknown - unknown  # zero, in the precision of the scores
    after_unknown = False
    index = begin
    while index < stop:
        character, width = code_point(data, index)
        about = alphabet[character]
        end = index + width
        if about & LEADS:
            end = next_cut(data, index, stop, cut_classes, alphabet, before_space, pairs)
        size = end - index
        if abs(so_far) + size * largest >= threshold:
            so_far = search(data, index, size, units, scores, parameters, so_far, best, links)
        elif size == width:
            piece = np.int64(about >> PIECE_SHIFT) - 1
            if piece != UNKNOWN_PIECE:
                so_far = so_far + scores[piece]
                output[written] = piece
                set_span(spans, written, index, end)
                written, index, after_unknown = written + 1, end, False
                continue
            so_far = so_far + unknown
            if not fallback:
                written = emit_unknown(unk_id, fused, after_unknown, index, end, output, spans, written)
                index, after_unknown = end, True
                continue
            links[size] = link(np.int64(0), np.int64(UNKNOWN_PIECE))
        elif about >> PIECE_SHIFT and size == width + width_of(data[index + width]):
            # Two characters, as most stretches without spaces are: either one piece or two.
            character, _ = code_point(data, index + width)
            second = np.int64(alphabet[character] >> PIECE_SHIFT) - 1
            if second == UNKNOWN_PIECE:
                so_far = search(data, index, size, units, scores, parameters, so_far, best, links)
            else:
                piece = np.int64(about >> PIECE_SHIFT) - 1
                both = only_piece(data, index, size, units)
                apart = so_far + scores[piece] + scores[second]
                if both == UNKNOWN_PIECE or apart > so_far + scores[both]:
                    output[written], output[written + 1] = piece, second
                    set_span(spans, written, index, index + width)
                    set_span(spans, written + 1, index + width, end)
                    so_far, written = apart, written + 2
                else:
                    output[written] = both
                    set_span(spans, written, index, end)
                    so_far, written = so_far + scores[both], written + 1
                index, after_unknown = end, False
                continue
        elif size <= CACHED_BYTES:
            first, second, third, fourth = stretch_key(data, index, size)
            slot = slot_of(first, second, third, fourth, size, CACHE_SLOTS - 1)
            found = holds(cache, slot, first, second, third, fourth, size)
            if not found:
                slot ^= 1
                found = holds(cache, slot, first, second, third, fourth, size)
            if found:
                place = slot * SLOT_WORDS
                sizes = cache[place + ABOUT]
                if abs(so_far) <= np.int64(sizes >> np.uint64(16)):
                    count = np.int64(sizes >> np.uint64(8)) & 0xFF
                    for token in range(count):
                        piece = (
                            np.int64(cache[place + IDS + (token >> 1)] >> np.uint64(32 * (token & 1)))
                            & 0xFFFFFFFF
                        )
                        output[written + token] = piece
                        if spans is not None:
                            set_span(spans, written + token, index, index + lengths[piece])
                            index += lengths[piece]
                        so_far = so_far + scores[piece]
                    written, index, after_unknown = written + count, end, False
                    continue
                so_far = search(data, index, size, units, scores, parameters, so_far, best, links)
            else:
                before = abs(so_far)
                so_far, lead, characters = search_with_margin(
                    data, index, size, units, scores, parameters, so_far, best, links, exact
                )
                limit = safe_limit(lead, characters, largest, float(threshold), ulp)
                if before <= limit:
                    count, known = count_tokens(links, size)
                    if known and count <= CACHED_TOKENS:
                        if cache[slot * SLOT_WORDS + ABOUT] != np.uint64(0):
                            slot ^= 1  # the neighbour is taken: the entry's own place
                        remember(cache, slot, first, second, third, fourth, size, count, limit, links)
        else:
            so_far = search(data, index, size, units, scores, parameters, so_far, best, links)
        written, after_unknown = emit_path(
            data, index, size, links, byte_ids, fallback, escaped, unk_id, fused, after_unknown, output, spans,
            written,
        )  # fmt: skip
        index = end
    return written
