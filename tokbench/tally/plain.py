"""The scan's fast path: cuts plain text into words, clusters and numbers, up to 64 bytes at a time.

Without it, counting novels in six languages with in-house BPE takes 1.6 times as long.

In plain text the rules of UAX #29 look no further than one character to each side, and the only clusters of
more than one character are line ends of two. Plain are ASCII, and the letters of two bytes that all rules
treat as those of ASCII: U+00C0 to U+017F without the signs × and ÷, and U+0400 to U+047F.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tokbench.kernels.bits import ALL, ONE, ZERO, count_bits, highest_bit, in_range_64, spread_64, write_bits
from tokbench.kernels.compiling import lean_inline, lean_kernel
from tokbench.kernels.pointers import Bytes, Int, Ints
from tokbench.tally.text import Spans, Texts

COLUMNS = (
    *("chars", "graphemes", "lines", "letters", "digits", "spaces", "punctuation"),
    *("non_ascii", "surrogates", "unspaced_words"),
)
"""What is counted of each document, and where in an array of counts it stands:"""
CHARS, GRAPHEMES, LINES, LETTERS, DIGITS, SPACES, PUNCTUATION, NON_ASCII, SURROGATES, UNSPACED = range(10)


@lean_inline
def may_be_plain(byte: int) -> bool:
    """Whether some character that begins with this byte is plain."""
    return byte < 0x80 or (byte >= 0xC3 and byte <= 0xC5) or byte == 0xD0 or byte == 0xD1


class Found(NamedTuple):
    """What is filled in: counts by document, ``(columns, documents)``, marks of every byte, words and numbers.

    `sums` are the counts of the document that is being read. Marks and spans have room for 64 past the end.
    """

    counts: Ints
    sums: Ints
    marks: Bytes
    words: Spans
    numbers: Spans


@lean_kernel
def cut_plain(
    texts: Texts, found: Found, position: Int, document: Int, words: Int, numbers: Int
) -> tuple[Int, Int, Int, Int]:
    """Read plain text from `position`, after a space or a line feed, up to the last of those before other text.

    That may span documents. The arguments are those of `tokbench.tally.scan.scan` and how far that has come;
    gives the new `position`, `document`, `words` and `numbers`.
    """
    data, starts, ends, sums = texts.data, texts.starts, texts.ends, found.sums
    end = ends[document]
    while document < len(starts):
        stops, lead = plain_part(data, position)
        if stops == ZERO:
            break
        size = highest_bit(stops) + 1
        here = ALL >> np.uint64(64 - size)
        letter = (in_range_64(data, position, 32, 97, 26) | lead | lead << ONE) & here
        digit = in_range_64(data, position, 0, 48, 10) & here
        mark = in_range_64(data, position, 0, 33, 94) & here & ~(letter | digit)
        feed = in_range_64(data, position, 0, 10, 1) & here
        blank = (in_range_64(data, position, 0, 32, 1) | in_range_64(data, position, 0, 9, 5)) & here
        underscore = in_range_64(data, position, 0, 95, 1) & here
        begins, after = word_limits_of(data, position, letter, digit, underscore)
        number_begins = digit & ~(digit << ONE)
        many, follow = lead & here, lead << ONE & here
        single = here & ~follow
        letter &= single
        pair = ZERO
        if feed != ZERO:
            pair = in_range_64(data, position, 0, 13, 1) << ONE & feed  # GB3
        stop = position + size
        while end < stop:  # a document ends here
            own = here & ~(ALL << np.uint64(end - position))
            here &= ~own
            count(sums, own, single, pair, feed, letter, digit, blank, mark, many)
            pair &= ~(here & ~(here - ONE))  # the line feed between documents ends no CR LF of this one
            finish(found, document, end > starts[document] and data[end - 1] != 10)
            document += 1
            found.words.limits[document] = words + count_bits(begins & ~here)
            found.numbers.limits[document] = numbers + count_bits(number_begins & ~here)
            here &= here - ONE
            end = ends[document] if document < len(starts) else stop
        count(sums, here, single, pair, feed, letter, digit, blank, mark, many)
        spread_64(found.marks, position, follow | pair, begins, after - begins & ~begins)
        write_bits(found.words.start, words, position, begins)
        words = write_bits(found.words.end, words, position, after)
        if digit != ZERO:
            write_bits(found.numbers.start, numbers, position, number_begins)
            numbers = write_bits(found.numbers.end, numbers, position, digit << ONE & ~digit)
        position = stop
    return position, document, words, numbers


@lean_inline
def count(
    sums: Ints,
    own: np.uint64,
    single: np.uint64,
    pair: np.uint64,
    feed: np.uint64,
    letter: np.uint64,
    digit: np.uint64,
    blank: np.uint64,
    mark: np.uint64,
    many: np.uint64,
) -> None:
    """Add to a document's counts what is set among the bits of its `own` bytes."""
    n = count_bits(single & own)
    sums[CHARS] += n
    sums[GRAPHEMES] += n
    sums[LETTERS] += count_bits(letter & own)
    sums[DIGITS] += count_bits(digit & own)
    sums[SPACES] += count_bits(blank & own)
    sums[PUNCTUATION] += count_bits(mark & own)
    sums[NON_ASCII] += count_bits(many & own)
    if feed & own != ZERO:
        sums[GRAPHEMES] -= count_bits(pair & own)
        sums[LINES] += count_bits(feed & own)


@lean_inline
def finish(found: Found, document: Int, unfinished: bool) -> None:
    """Write the counts of a document, whose last line may have no line feed, and begin anew."""
    found.sums[LINES] += unfinished
    for column in range(len(found.sums)):
        found.counts[column, document] = found.sums[column]
        found.sums[column] = 0


@lean_inline
def plain_part(data: Bytes, position: Int) -> tuple[np.uint64, np.uint64]:
    """Of 64 bytes: the spaces and line feeds before which all is plain; where letters of two bytes begin."""
    stops = in_range_64(data, position, 0, 32, 1) | in_range_64(data, position, 0, 10, 1)
    other = in_range_64(data, position, 0, 128, 128)
    lead = ZERO
    if other != ZERO:
        lead = plain_letters(data, position)
        other &= ~(lead | lead << ONE)
        if other != ZERO:
            stops &= ~other & (other - ONE)  # the bits below the lowest
    return stops, lead


@lean_inline
def plain_letters(data: Bytes, position: Int) -> np.uint64:
    """Where in 64 bytes a plain letter of two bytes begins, both of which are among them."""
    lead = in_range_64(data, position, 0, 0xC3, 3) | in_range_64(data, position, 0, 0xD0, 2)
    signs = in_range_64(data, position, 0x20, 0xB7, 1) >> ONE  # × and ÷, after 0xC3
    return lead & ~(signs & in_range_64(data, position, 0, 0xC3, 1)) & ALL >> ONE


@lean_inline
def word_limits_of(
    data: Bytes, position: Int, letter: np.uint64, digit: np.uint64, underscore: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Where words begin, and after which bytes they end, in a stretch of plain characters."""
    filled = letter | digit
    wordlike = filled | underscore
    dot = in_range_64(data, position, 0, 46, 1) | in_range_64(data, position, 0, 39, 1)
    colon = in_range_64(data, position, 0, 58, 1)
    comma = in_range_64(data, position, 0, 44, 1) | in_range_64(data, position, 0, 59, 1)
    # WB6, WB7, WB11, WB12: what may stand between two letters, or two digits
    middle = (dot | colon) & letter << ONE & letter >> ONE | (dot | comma) & digit << ONE & digit >> ONE
    joined = wordlike & wordlike << ONE | middle | middle << ONE  # WB5, WB8 to WB10, WB13a, b
    begins, after = wordlike & ~joined, wordlike << ONE & ~joined
    if underscore != ZERO:
        begins, after = without_blanks(begins, after, filled)
    return begins, after


@lean_inline
def without_blanks(first: np.uint64, after: np.uint64, filled: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The beginnings and ends of spans without those of the spans in which no bit is `filled`."""
    starts, ends = first, after
    while starts != ZERO:
        begin, end = starts & ~(starts - ONE), ends & ~(ends - ONE)
        if (end - begin) & filled == ZERO:  # the bits from `begin` on below `end`
            first ^= begin
            after ^= end
        starts ^= begin
        ends ^= end
    return first, after
