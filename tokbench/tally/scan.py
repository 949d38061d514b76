"""The pass over a batch's bytes that finds words, grapheme clusters and numbers and counts characters.

Any text can be cut by the state machines of `tokbench.tally.segments`, a character at a time. Plain text
between spaces or line feeds is cut 64 bytes at a time: see `tokbench.tally.plain`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import lean_inline, lean_kernel
from tokbench.kernels.pointers import PADDING, Bytes, Int, Keys, pointer
from tokbench.kernels.utf8 import code_point
from tokbench.tally.characters import GRAPHEME_SHIFT, KIND_SHIFT, CharacterKind, characters
from tokbench.tally.marks import INSIDE_GRAPHEME, mark_word
from tokbench.tally.plain import (
    CHARS,
    COLUMNS,
    DIGITS,
    GRAPHEMES,
    LETTERS,
    LINES,
    NON_ASCII,
    PUNCTUATION,
    SPACES,
    SURROGATES,
    UNSPACED,
    Found,
    cut_plain,
    finish,
    may_be_plain,
)
from tokbench.tally.segments import (
    AFTER_FEED,
    CLASS_BITS,
    GRAPHEME_AFTER_SPACE,
    JOIN,
    STATE_SHIFT,
    TAKE_BACK,
    WORD_AFTER_SPACE,
    grapheme_machine,
    word_machine,
)
from tokbench.tally.text import Spans, Texts

CLASSES = (1 << CLASS_BITS) - 1
LETTER, DIGIT, WORD, SPACE, MARK, WITHOUT_SPACES = map(int, CharacterKind)
LEARNT = 1 << 15
"""Bytes whose characters are looked up together once one is new; text after them seldom has another."""


class ScanTables(NamedTuple):
    """What `scan` goes by: the properties of code points, and the machines of `tokbench.tally.segments`."""

    properties: NDArray[np.uint16]
    words: Bytes
    graphemes: Bytes


def scanned(texts: Texts) -> Found:
    """Segments, clusters, numbers and characters of documents; their bytes are followed by padding."""
    n, size = len(texts.starts), len(texts.data)
    place = np.dtype(np.int32 if size < 1 << 31 else np.int64)

    def room() -> Spans:
        """For as many words or numbers as bytes, and 64, since up to 64 are written at a time."""
        limits = np.zeros(n + 1, np.int64)
        return Spans(np.empty(size + 64, place), np.empty(size + 64, place), limits)

    counts, sums = np.zeros((len(COLUMNS), n), np.int64), np.zeros(len(COLUMNS), np.int64)
    found = Found(counts, sums, np.empty(size + PADDING, np.uint8), room(), room())
    tables = characters()
    rules = ScanTables(tables.properties, word_machine(), grapheme_machine())
    read: Int = 0
    while (read := scan(texts, rules, found, read)) < n:
        last = max(read, int(np.searchsorted(texts.ends, texts.starts[read] + LEARNT)) - 1)
        tables.know(code_points(texts.data[texts.starts[read] : texts.ends[last]]))

    def filled(spans: Spans) -> Spans:
        n_found = int(spans.limits[-1])
        return Spans(spans.start[:n_found].copy(), spans.end[:n_found].copy(), spans.limits)

    return found._replace(words=filled(found.words), numbers=filled(found.numbers))


def code_points(data: Bytes) -> Keys:
    """The code points of a text."""
    text = data.tobytes().decode("utf-8", "surrogatepass")
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


@lean_kernel
def scan(texts: Texts, rules: ScanTables, found: Found, first: Int) -> Int:
    """Read documents from `first` on; gives the number of the one in which a code point has no properties yet.

    Document i is ``data[starts[i]:ends[i]]``, of valid UTF-8 (surrogates included); the next one begins after a
    line feed that belongs to neither. A word has a letter or a number in it.
    """
    data, starts, ends, marks, sums = texts.data, texts.starts, texts.ends, found.marks, found.sums
    text = pointer(data)
    sums[:] = 0
    document: Int = first
    words, numbers = found.words.limits[first], found.numbers.limits[first]
    position: Int = starts[first] if first < len(starts) else 0
    word_state: Int = 0
    grapheme_state: Int = 0
    begun = begun_before = position
    wordy: Int = 0  # whether the segment has a letter or number in it
    wordy_before: Int = 0
    foreign: Int = 0  # whether it begins in a script without spaces
    foreign_before: Int = 0
    in_number = 0
    last: Int = 10  # the character before; a document begins as if after a line feed
    while document < len(starts):
        end = ends[document]
        if (last == 32 or last == 10) and may_be_plain(data[position]):
            before = position
            position, document, words, numbers = cut_plain(texts, found, position, document, words, numbers)
            if position > before:
                if document == len(starts):
                    break
                end = ends[document]
                last = np.int64(data[position - 1])
                grapheme_state = GRAPHEME_AFTER_SPACE if last == 32 else AFTER_FEED
                word_state = WORD_AFTER_SPACE if last == 32 else AFTER_FEED
                begun = begun_before = position
                wordy = wordy_before = 0
        if position == end:  # write down the document, begin the next one
            if wordy:
                words = write_word(found, words, begun, end)
                sums[UNSPACED] += foreign
            if in_number:
                found.numbers.end[numbers] = end
                numbers += 1
            finish(found, document, last != 10)
            marks[end] = 0
            document += 1
            found.words.limits[document] = words
            found.numbers.limits[document] = numbers
            position = end + 1
            begun = begun_before = position
            wordy = wordy_before = foreign = foreign_before = in_number = word_state = grapheme_state = 0
            last = 10
            continue
        # one character: its code point, and what that is
        at = position
        point, size = code_point(text, at)
        position = at + size
        last = point
        own = np.int64(rules.properties[point])
        if own == 0:
            return document
        kind = own >> KIND_SHIFT
        sums[CHARS] += 1
        sums[LINES] += point == 10
        sums[LETTERS] += kind & LETTER != 0
        sums[SPACES] += kind & SPACE != 0
        sums[PUNCTUATION] += kind & MARK != 0
        if size > 1:
            sums[NON_ASCII] += 1
            sums[SURROGATES] += point >> 11 == 0x1B
            for inner in range(at + 1, position):
                marks[inner] = INSIDE_GRAPHEME

        # grapheme clusters: whether one begins here
        entry = np.int64(rules.graphemes[grapheme_state << CLASS_BITS | (own >> GRAPHEME_SHIFT & CLASSES)])
        grapheme_state = entry >> STATE_SHIFT
        marks[at] = entry & JOIN
        sums[GRAPHEMES] += 1 - (entry & JOIN)

        # segments, of which those with a letter or number are words: whether one begins here
        entry = np.int64(rules.words[word_state << CLASS_BITS | (own & CLASSES)])
        word_state = entry >> STATE_SHIFT
        if entry & JOIN == 0:
            if wordy:
                words = write_word(found, words, begun, at)
                sums[UNSPACED] += foreign
            begun_before, wordy_before, foreign_before = begun, wordy, foreign
            begun, wordy, foreign = at, 0, np.int64(kind & WITHOUT_SPACES != 0)
        elif entry & TAKE_BACK:  # the last break was none: the segment before it goes on
            words -= wordy_before
            sums[UNSPACED] -= wordy_before & foreign_before
            begun, foreign = begun_before, foreign_before
            wordy |= wordy_before
        wordy |= np.int64(kind & WORD != 0)

        # numbers: runs of digits
        if kind & DIGIT:
            sums[DIGITS] += 1
            if not in_number:
                in_number = 1
                found.numbers.start[numbers] = at
        elif in_number:
            in_number = 0
            found.numbers.end[numbers] = at
            numbers += 1
    return document


@lean_inline
def write_word(found: Found, words: Int, begun: Int, at: Int) -> Int:
    """Append the word from `begun` to `at`, and mark it; gives how many words there are."""
    found.words.start[words], found.words.end[words] = begun, at
    mark_word(found.marks, begun, at)
    return words + 1
