"""The pass over a batch's bytes that finds words, grapheme clusters and numbers and counts characters.

Most text is cut by the state machines of `tokbench.tally.segments`, a character at a time. Stretches of plain
characters that begin after a space or a line feed and end with one are cut by bit operations, up to 64 bytes at
a time: there the rules look no further than one character to each side, and the only clusters of more than one
character are line ends of two. Plain are ASCII and the letters of two bytes that are to every rule what those
of ASCII are: U+00C0 to U+017F without the signs × and ÷, and U+0400 to U+047F.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.bits import count_bits, highest_bit, in_range_64, lowest_bit, spread_64
from tokbench.tally.compiling import kernel
from tokbench.tally.marks import INSIDE_GRAPHEME, mark_word
from tokbench.tally.segments import AFTER_FEED, GRAPHEME_AFTER_SPACE, WORD_AFTER_SPACE

COLUMNS = (
    "chars",
    "graphemes",
    "lines",
    "letters",
    "digits",
    "spaces",
    "punctuation",
    "non_ascii",
    "surrogates",
    "unspaced_words",
)
"""What `scan` counts of each document."""

ONE = np.uint64(1)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def scan(
    data: Any,
    windows: Any,
    starts: Any,
    ends: Any,
    properties: Any,
    word_machine: Any,
    grapheme_machine: Any,
    counts: Any,
    word_start: Any,
    word_end: Any,
    word_limits: Any,
    marks: Any,
    number_start: Any,
    number_end: Any,
    number_limits: Any,
) -> bool:
    """Read every document; false where a code point has no properties yet.

    Document i is ``data[starts[i]:ends[i]]``, of valid UTF-8 (surrogates included). Filled in are `counts`
    (`COLUMNS`, documents), the words and numbers as spans of bytes with the ``…_limits`` of each document's,
    and the `marks` of every byte. A word has a letter or a number in it. `marks` has room for 64 bytes, and the
    spans for 8, past the end.
    """
    words = numbers = 0
    for document in range(len(starts)):
        position, end = starts[document], ends[document]
        chars: Any = 0
        clusters: Any = 0
        feeds: Any = 0
        letters: Any = 0
        spaces: Any = 0
        punctuation: Any = 0
        wide = digits = surrogates = 0
        word_state: Any = 0
        grapheme_state: Any = 0
        begun = begun_before = position
        wordy: Any = 0  # whether the segment has a letter or number in it
        wordy_before: Any = 0
        foreign: Any = 0  # whether it begins in a script without spaces
        foreign_before: Any = 0
        unspaced: Any = 0
        in_number = 0
        last: Any = 10
        while position < end:
            if (last == 32 or last == 10) and (data[position] < 0x80 or plain_lead(data[position])):
                # --- a stretch of plain characters, up to its last space or line feed or the document's end
                space = in_range_64(data, position, 0, 32, 1)
                feed = in_range_64(data, position, 0, 10, 1)
                other = in_range_64(data, position, 0, 128, 128)
                lead = np.uint64(0)
                if other != 0:
                    lead = in_range_64(data, position, 0, 0xC3, 3) | in_range_64(data, position, 0, 0xD0, 2)
                    signs = in_range_64(data, position, 0x20, 0xB7, 1) >> ONE  # × and ÷, after 0xC3
                    lead &= ~(signs & in_range_64(data, position, 0, 0xC3, 1)) & ALL >> ONE
                    other &= ~(lead | lead << ONE)
                size: Any = end - position
                if size > 64:
                    size = 64
                if other != 0 and lowest_bit(other) < size:
                    size = lowest_bit(other)
                if position + size < end:
                    stops = (space | feed) & ~(ALL << np.uint64(size)) if size < 64 else space | feed
                    size = highest_bit(stops) + 1 if stops != 0 else 0
                if size > 0:
                    here = ALL >> np.uint64(64 - size)
                    lead &= here
                    letter = (in_range_64(data, position, 32, 97, 26) | lead | lead << ONE) & here
                    digit = in_range_64(data, position, 0, 48, 10) & here
                    graphic = in_range_64(data, position, 0, 33, 94) & here
                    blank = in_range_64(data, position, 0, 9, 5) & here
                    underscore = in_range_64(data, position, 0, 95, 1) & here
                    dot = in_range_64(data, position, 0, 46, 1)
                    quote = in_range_64(data, position, 0, 39, 1)
                    colon = in_range_64(data, position, 0, 58, 1)
                    comma = in_range_64(data, position, 0, 44, 1) | in_range_64(data, position, 0, 59, 1)
                    space &= here
                    feed &= here
                    # WB6, WB7, WB11, WB12: what may stand between two letters, or two digits
                    middle = (dot | quote | colon) & letter << ONE & letter >> ONE
                    middle |= (dot | quote | comma) & digit << ONE & digit >> ONE
                    wordlike = letter | digit | underscore
                    joined = wordlike & wordlike << ONE | middle | middle << ONE  # WB5, WB8 to WB10, WB13a, b
                    first = wordlike & ~joined
                    after = wordlike << ONE & ~joined
                    if underscore != 0:
                        first, after = without_blanks(first, after, letter | digit)
                    begins, inner = first, after - first & ~first
                    words = write_spans(word_start, word_end, words, position, first, after)
                    if digit != 0:
                        first, after = digit & ~(digit << ONE), ~digit & digit << ONE
                        numbers = write_spans(number_start, number_end, numbers, position, first, after)
                    doubled = count_bits(lead)
                    chars += size - doubled
                    clusters += size - doubled
                    wide += doubled
                    letters += count_bits(letter) - doubled
                    digits += count_bits(digit)
                    spaces += count_bits(space | blank)
                    punctuation += count_bits(graphic & ~(letter | digit))
                    within = lead << ONE
                    if feed != 0:
                        feeds += count_bits(feed)
                        pair = in_range_64(data, position, 0, 13, 1) << ONE & feed  # GB3
                        clusters -= count_bits(pair)
                        within |= pair
                    spread_64(marks, position, within, begins, inner)
                    position += size
                    last = np.int64(data[position - 1])
                    grapheme_state = GRAPHEME_AFTER_SPACE if last == 32 else AFTER_FEED
                    word_state = WORD_AFTER_SPACE if last == 32 else AFTER_FEED
                    begun = begun_before = position
                    wordy = wordy_before = 0
                    continue
            # --- one character
            at = position
            point: Any = np.int64(data[position])
            position += 1
            if point >= 0x80:
                wide += 1
                second = np.int64(data[at + 1] & 0x3F)
                marks[at + 1] = INSIDE_GRAPHEME
                if point < 0xE0:
                    point = (point & 0x1F) << 6 | second
                    position = at + 2
                elif point < 0xF0:
                    point = (point & 0x0F) << 12 | second << 6 | np.int64(data[at + 2] & 0x3F)
                    marks[at + 2] = INSIDE_GRAPHEME
                    position = at + 3
                    surrogates += point >> 11 == 0x1B
                else:
                    third = np.int64(data[at + 2] & 0x3F)
                    point = (point & 7) << 18 | second << 12 | third << 6 | np.int64(data[at + 3] & 0x3F)
                    marks[at + 2] = marks[at + 3] = INSIDE_GRAPHEME
                    position = at + 4
            last = point
            own = np.int64(properties[point])
            if own == 0:
                return False
            kind = own >> 10
            chars += 1
            feeds += point == 10
            letters += kind & 1
            spaces += kind >> 3 & 1
            punctuation += kind >> 4 & 1

            entry = np.int64(grapheme_machine[grapheme_state << 5 | (own >> 5 & 31)])
            grapheme_state = entry >> 2
            marks[at] = entry & 1
            clusters += 1 - (entry & 1)

            entry = np.int64(word_machine[word_state << 5 | (own & 31)])
            word_state = entry >> 2
            if entry & 1 == 0:
                if wordy:
                    word_start[words] = begun
                    word_end[words] = at
                    words += 1
                    mark_word(marks, begun, at)
                    unspaced += foreign
                begun_before, wordy_before, foreign_before = begun, wordy, foreign
                begun, wordy, foreign = at, 0, kind >> 5 & 1
            elif entry & 2:
                words -= wordy_before
                unspaced -= wordy_before & foreign_before
                begun, foreign = begun_before, foreign_before
                wordy |= wordy_before
            wordy |= kind >> 2 & 1

            if kind >> 1 & 1:
                digits += 1
                if not in_number:
                    in_number = 1
                    number_start[numbers] = at
            elif in_number:
                in_number = 0
                number_end[numbers] = at
                numbers += 1
        if wordy:
            word_start[words] = begun
            word_end[words] = end
            words += 1
            mark_word(marks, begun, end)
            unspaced += foreign
        if in_number:
            number_end[numbers] = end
            numbers += 1
        word_limits[document + 1] = words
        number_limits[document + 1] = numbers
        counts[0, document], counts[1, document] = chars, clusters
        counts[2, document] = feeds + (last != 10)
        counts[3, document], counts[4, document] = letters, digits
        counts[5, document], counts[6, document] = spaces, punctuation
        counts[7, document], counts[8, document] = wide, surrogates
        counts[9, document] = unspaced
        marks[end] = 0
    return True


@kernel
def plain_lead(byte: Any) -> Any:
    """Whether a byte begins a character of U+00C0 to U+017F or U+0400 to U+047F."""
    return (byte >= 0xC3 and byte <= 0xC5) or byte == 0xD0 or byte == 0xD1


@kernel
def write_spans(start: Any, end: Any, n: Any, position: Any, first: Any, after: Any) -> Any:
    """Append the spans that begin at the bits `first` and end before the bits `after`; gives the new `n`.

    They are written eight at a time, so that no branch depends on how many there are. The last may end with
    the 64th byte, and has no bit then.
    """
    total = n + count_bits(first)
    while n < total:
        for index in range(n, n + 8):
            start[index] = position + lowest_bit(first)
            end[index] = position + lowest_bit(after)
            first &= first - ONE
            after &= after - ONE
        n += 8
    return total


@kernel
def without_blanks(first: Any, after: Any, filled: Any) -> Any:
    """The beginnings and ends of spans without those of the spans in which no bit is `filled`."""
    starts, ends = first, after
    while starts != 0:
        begin, end = starts & ~(starts - ONE), ends & ~(ends - ONE)
        if (end - begin) & filled == 0:  # the bits from `begin` on below `end`; all above where there is no end
            first ^= begin
            after ^= end
        starts ^= begin
        ends ^= end
    return first, after
