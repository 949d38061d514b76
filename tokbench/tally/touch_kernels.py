"""The kernels of `tokbench.tally.touch`: which tokens touch which words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tokbench.kernels.bits import ALL, ONE, ZERO, count_bits, highest_bit, in_range_64
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Bytes, Int, Ints, Words
from tokbench.tally.marks import (
    INSIDE_GRAPHEME,
    INSIDE_WORD,
    WORD_BEGINS,
    boundaries_from,
    is_boundary,
    set_boundary,
)

if TYPE_CHECKING:
    from tokbench.tally.marks import MarkedBytes
    from tokbench.tally.text import Flags, InnerCuts, Offsets, Spans, Texts

AT_ONCE = 63
"""Bytes looked at together: one bit of 64 is left for a carry."""

TOUCHED = (
    "aligned_words",
    "word_tokens",
    "continued_words",
    "boundaries",
    "cut_chars",
    "cut_graphemes",
    "cross_words",
)
"""What is counted of each document."""


class Touching(NamedTuple):
    """What is counted: `TOUCHED` of each document, ``(7, documents)``, and words by the tokens that touch them.

    A word that n tokens touch is counted in ``few[n]``, or its n is appended to `many`.
    """

    counts: Ints
    few: Ints
    many: Offsets


@kernel
def touch_exact(texts: Texts, exact: Flags, words: Spans, every: MarkedBytes, found: Touching) -> int:
    """What `touch_words` does, for documents that their tokens divide without a gap, as `match` found them.

    There a word is touched by one token more than it has boundaries inside. Words are not looked at one by one:
    among the bits of 63 bytes, those inside words are runs of ones. Adding the boundaries in them carries a one
    out of each run that has any: so many words are touched by two tokens or more. The sum no longer has the
    lowest boundary of each run; adding what is left of them counts the words of three or more, and so on.
    One by one, counting novels in six languages with in-house BPE takes 1.6 times as long.
    """
    marks, boundary, few, many, counts = every.marks, every.boundary, found.few, found.many, found.counts
    n_many = 0
    for document in range(len(exact)):
        if not exact[document]:
            continue
        start, end = texts.starts[document], texts.ends[document]
        total: Int = 0
        continued: Int = 0
        boundaries: Int = 0
        cut_chars: Int = 0
        cut_graphemes: Int = 0
        first = ONE  # the document's start is a boundary of its first words
        clear = ZERO  # whether a boundary that is in no word lies right before these bytes
        doubtful = False  # whether some token may touch two words
        position = start
        while position < end:
            begins = in_range_64(marks, position, 0, WORD_BEGINS, 2)
            inner = in_range_64(marks, position, 0, INSIDE_WORD, 4)
            made = boundaries_from(boundary, position)
            size: Int = min(end - position, AT_ONCE)
            if inner >> np.uint64(size) & ONE != ZERO:  # the last word goes on: it is left to the next round
                size = highest_bit(begins & ~(ALL << np.uint64(size)))
            if size == 0:  # the word is longer than can be looked at together
                within: Int = 0
                last = end_of_word(marks, position)
                for at in range(position, last):
                    if is_boundary(boundary, at):
                        boundaries += 1
                        within += at > position
                        cut_graphemes += marks[at] & INSIDE_GRAPHEME
                        cut_chars += every.data[at] & 0xC0 == 0x80
                n_many = note_word(few, many, n_many, within + 1)
                total += within + 1
                continued += within > 0
                doubtful = True
                first, clear, position = ZERO, ZERO, last
                continue
            here = ~(ALL << np.uint64(size))
            begins, inner, made = begins & here, inner & here, made & here
            boundaries += count_bits(made)
            rest = made & inner
            left: Int = count_bits(begins)
            total += left + count_bits(rest)
            touching = 1
            while rest != ZERO:
                carried = rest + inner
                more = count_bits(carried & ~inner)  # words that one token more touches
                few[touching] += left - more
                left = more
                continued += more if touching == 1 else 0
                touching += 1
                rest &= carried
            few[touching] += left
            # words share a token where no boundary lies between them; it is doubtful where the second has none
            # at its beginning or right before
            outside = (made | first) & ~(begins | inner)
            doubtful |= begins & ~(made | first | outside << ONE | clear) != ZERO
            first, clear = ZERO, outside >> np.uint64(size - 1)
            within_graphemes = made & in_range_64(marks, position, 0xFE, 0xFF, 1)
            if within_graphemes != ZERO:
                cut_graphemes += count_bits(within_graphemes)
                cut_chars += count_bits(within_graphemes & in_range_64(every.data, position, 0, 0x80, 0x40))
            position += size
        low, high = words.limits[document], words.limits[document + 1]
        counts[0, document], counts[1, document], counts[2, document] = high - low, total, continued
        counts[3, document], counts[4, document] = boundaries, cut_chars
        counts[5, document] = cut_graphemes
        counts[6, document] = crossings(boundary, words, low, high) if doubtful else 0
    return n_many


@kernel
def end_of_word(marks: Bytes, at: Int) -> Int:
    """Where the word that begins at `at` ends."""
    at += 1
    while marks[at] & INSIDE_WORD:
        at += 1
    return at


@kernel
def crossings(boundary: Words, words: Spans, low: Int, high: Int) -> Int:
    """How many tokens touch two or more of the words `low` to `high` of a document that they divide."""
    crossing: Int = 0
    shared = False  # whether the word before shares a token with this one
    for word in range(low, high - 1):
        within = apart = False
        for at in range(words.start[word] + 1, words.end[word]):
            within |= is_boundary(boundary, at) != ZERO
        for at in range(words.end[word], words.start[word + 1] + 1):
            apart |= is_boundary(boundary, at) != ZERO
        crossing += not apart and not (shared and not within)
        shared = not apart
    return crossing


@kernel
def touch_words(
    texts: Texts, chosen: Flags, tokens: Spans, words: Spans, every: MarkedBytes, found: Touching, n_many: int
) -> int:
    """Count the tokens that touch each word, and the boundaries, of the `chosen` documents.

    Tokens and words are in ascending order of both ends. The tokens that touch a word are those that begin
    before its end less those that stop by its start. A bit of `boundary` is set where a token begins that is
    not at the start of its document. Gives the new `n_many`, of `many`.
    """
    begin, stop, marks, counts = tokens.start, tokens.end, every.marks, found.counts
    for document in range(len(chosen)):
        if not chosen[document]:
            continue
        first_word, last_word = words.limits[document], words.limits[document + 1]
        first, last = tokens.limits[document], tokens.limits[document + 1]
        started = ended = first
        total = continued = 0
        for word in range(first_word, last_word):
            while started < last and begin[started] < words.end[word]:
                started += 1
            while ended < last and stop[ended] <= words.start[word]:
                ended += 1
            touching = started - ended
            n_many = note_word(found.few, found.many, n_many, touching)
            total += touching
            continued += touching > 1
        started = ended = first_word
        boundaries = cut_chars = cut_graphemes = crossing = 0
        previous = texts.starts[document]
        for token in range(first, last):
            at = begin[token]
            if at != previous:
                previous = at
                set_boundary(every.boundary, np.uint64(at))
                boundaries += 1
                cut_chars += every.data[at] & 0xC0 == 0x80
                cut_graphemes += marks[at] & INSIDE_GRAPHEME
            while started < last_word and words.start[started] < stop[token]:
                started += 1
            while ended < last_word and words.end[ended] <= at:
                ended += 1
            crossing += started - ended > 1
        counts[0, document], counts[1, document], counts[2, document] = last_word - first_word, total, continued
        counts[3, document], counts[4, document] = boundaries, cut_chars
        counts[5, document], counts[6, document] = cut_graphemes, crossing
    return n_many


@inline
def note_word(few: Ints, many: Offsets, n_many: int, tokens: Int) -> int:
    """Count a word of so many tokens in ``few[tokens]``, or append it to the `n_many` of `many`."""
    if tokens < len(few):
        few[tokens] += 1
        return n_many
    many[n_many] = tokens
    return n_many + 1


@kernel
def boundaries_inside(boundary: Words, start: Offsets, end: Offsets, found: Ints) -> None:
    """How many boundaries each span has after its first byte and before its end."""
    for span in range(len(start)):
        n: Int = 0
        for at in range(start[span] + 1, end[span]):
            n += np.int64(is_boundary(boundary, at))
        found[span] = n


@kernel
def count_cuts(boundary: Words, cuts: InnerCuts, aligned: Flags, counts: Ints) -> None:
    """Of the places in aligned documents: boundaries, those that are `gold`, and all gold, by document."""
    for cut in range(len(cuts.at)):
        own = cuts.document[cut]
        if aligned[own]:
            made, right = np.int64(is_boundary(boundary, cuts.at[cut])), np.int64(cuts.gold[cut])
            counts[0, own] += made
            counts[1, own] += made & right
            counts[2, own] += right
