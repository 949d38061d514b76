"""Where the tokens of a text stand in it: BERT's rules and the matching again, with a place for each symbol.

`locate_documents` goes through a text as `kernels.encode_documents` does, but keeps, beside the symbols of a
word, the number of the character that each came from. A word met before is matched again: its tokens are the
same, its places are not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce, inline, kernel
from tokbench.kernels.pointers import i32_in, i64_in, pointer, u8_in, u64_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.wordpiece.encoder import Encoder, laid_out
from tokbench_subword.wordpiece.kernels import (
    ENTRIES,
    KINDS,
    REPLACEMENTS,
    SETTINGS,
    UNITS,
    UNK,
    add_symbols,
    match,
)
from tokbench_subword.wordpiece.table import DROPPED, ORDERED, SPACE


@inline
def _add_word(word, places, length, units, settings, sizes, prefix, ids, spans, count):  # type: ignore[no-untyped-def]
    """Write the tokens of a word of `length` symbols, and the spans that follow from the places of these.

    They go to `ids` and `spans` from `count` on; returns the new count.
    """
    first = count
    count = match(word, length, units, settings, ids, count)
    if count == first + 1 and ids[first] == np.int32(settings[UNK]):  # the whole word, whatever matched
        spans[2 * first], spans[2 * first + 1] = places[0], places[length - 1] + 1
        return count
    at = np.int64(0)
    for token in range(first, count):
        size = sizes[ids[token]] - (prefix if token > first else 0)
        spans[2 * token], spans[2 * token + 1] = places[at], places[at + size - 1] + 1
        at += size
    return count


@kernel
def locate_documents(block, data, starts, first, written, words, places, ids, spans, limits):  # type: ignore[no-untyped-def]
    """Write the spans of documents from `first` on until one needs canonical reordering; returns its index.

    `block`, `data` and `starts` are as `kernels.encode_documents` has them. ``written[id]`` is how many code
    points a token is written with, ``written[-1]`` how many of them only say that it continues a word. Spans
    are in code points, those of document d ``spans[limits[d]:limits[d + 1]]``; ``limits[first]`` is set.
    `words` and `places`, int32, have room for the symbols of the longest document, `ids` for the tokens of all.
    """
    text, kinds, entries = pointer(data), u8_in(block, KINDS), i32_in(block, ENTRIES)
    replacements, units, settings = i32_in(block, REPLACEMENTS), u64_in(block, UNITS), i64_in(block, SETTINGS)
    word, place, sizes = pointer(words), pointer(places), pointer(written)
    out, span, prefix, count = pointer(ids), pointer(spans), written[len(written) - 1], limits[first]
    for document in range(first, len(starts) - 1):
        position, stop = starts[document], starts[document + 1]
        character = length = np.int64(0)
        ordered_end = np.int64(-1)
        while position < stop:
            point, width = code_point(text, position)
            kind, entry = kinds[point], entries[point]
            if kind >= SPACE:
                count = _add_word(word, place, length, units, settings, sizes, prefix, out, span, count)
                length, ordered_end = np.int64(0), np.int64(-1)
            if kind == ORDERED and ordered_end == length:
                return document
            if kind not in (DROPPED, SPACE):
                begin = length
                length = add_symbols(kind, entry, replacements, word, length)
                for symbol in range(begin, length):
                    place[symbol] = character
            if kind == ORDERED:
                ordered_end = length
            if kind > SPACE:  # punctuation or an ideograph: a word of its own
                count = _add_word(word, place, length, units, settings, sizes, prefix, out, span, count)
                length = np.int64(0)
            position += width
            character += 1
        count = _add_word(word, place, length, units, settings, sizes, prefix, out, span, count)
        limits[document + 1] = count
    return len(starts) - 1


class Offsets:
    """The spans of tokens under one model; `otherwise` gives those of a text that needs reordering."""

    def __init__(self, encoder: Encoder, otherwise: Callable[[str], NDArray[np.int64]]) -> None:
        announce(locate_documents)
        self._encoder, self._otherwise = encoder, otherwise
        model = encoder.model
        self._written = np.zeros(model.size + 1, np.int32)
        self._written[-1] = len(model.prefix)
        for token, index in model.vocabulary.items():
            self._written[index] = len(token)

    def of(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The spans of all tokens in code points, ``(total, 2)``, and where those of each text begin."""
        data, starts, word = laid_out(texts)
        places = np.empty_like(word)
        ids, limits = np.empty(len(data), np.int32), np.zeros(len(texts) + 1, np.int64)
        spans = np.empty((len(data), 2), np.int64)
        document = 0
        while True:
            document = locate_documents(
                self._encoder.block, data, starts, document, self._written, word, places, ids, spans, limits
            )
            if document == len(texts):
                return spans[: limits[-1]].copy(), limits
            found = self._otherwise(texts[document])
            limits[document + 1] = limits[document] + len(found)
            spans[limits[document] : limits[document + 1]] = found
            document += 1
