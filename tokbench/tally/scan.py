"""The pass over a batch's bytes that finds words, grapheme clusters and numbers and counts characters.

Most text is cut by the state machines of `tokbench.tally.segments`, a character at a time. Stretches of ASCII
that begin after a space or a line feed and end with one are cut by bit operations, up to 64 bytes at a time:
in ASCII the rules look no further than one character to each side, and the only clusters of more than one
character are line ends of two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.bits import count_bits, highest_bit, in_range_64, lowest_bit
from tokbench.tally.compiling import kernel
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
)
"""What `scan` counts of each document."""

HIGH_BITS = np.uint64(0x8080808080808080)
SPACES = np.uint64(0x2020202020202020)
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
    inside: Any,
    number_start: Any,
    number_end: Any,
    number_limits: Any,
) -> bool:
    """Read every document; false where a code point has no properties yet.

    Document i is ``data[starts[i]:ends[i]]``, of valid UTF-8 (surrogates included). Filled in are `counts`
    (`COLUMNS`, documents), the words and numbers as spans of bytes with the ``…_limits`` of each document's,
    and `inside`, which comes as zeros and becomes 1 at every byte where no grapheme cluster begins.
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
        in_number = 0
        last: Any = 10
        while position < end:
            if (last == 32 or last == 10) and windows[position] & HIGH_BITS == 0:
                # --- a stretch of ASCII, up to its last space or line feed or the end of the document
                space = in_range_64(data, position, 0, 32, 1)
                feed = in_range_64(data, position, 0, 10, 1)
                other = in_range_64(data, position, 0, 128, 128)
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
                    letter = in_range_64(data, position, 32, 97, 26) & here
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
                    n = words
                    while first != 0:
                        word_start[n] = position + lowest_bit(first)
                        n += 1
                        first &= first - ONE
                    n = words
                    while after != 0:
                        word_end[n] = position + lowest_bit(after)
                        n += 1
                        after &= after - ONE
                    words += count_bits(wordlike & ~joined)
                    if n < words:  # the 64th byte ends a word, at the end of a document
                        word_end[n] = position + size
                    if digit != 0:
                        first = digit & ~(digit << ONE)
                        after = ~digit & digit << ONE
                        n = numbers
                        while first != 0:
                            number_start[n] = position + lowest_bit(first)
                            number_end[n] = position + lowest_bit(after) if after != 0 else position + 64
                            n += 1
                            first &= first - ONE
                            after &= after - ONE
                        numbers = n
                    chars += size
                    clusters += size
                    letters += count_bits(letter)
                    digits += count_bits(digit)
                    spaces += count_bits(space | blank)
                    punctuation += count_bits(graphic & ~(letter | digit))
                    if feed != 0:
                        feeds += count_bits(feed)
                        pair = in_range_64(data, position, 0, 13, 1) << ONE & feed  # GB3
                        while pair != 0:
                            inside[position + lowest_bit(pair)] = 1
                            clusters -= 1
                            pair &= pair - ONE
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
                inside[at + 1] = 1
                if point < 0xE0:
                    point = (point & 0x1F) << 6 | second
                    position = at + 2
                elif point < 0xF0:
                    point = (point & 0x0F) << 12 | second << 6 | np.int64(data[at + 2] & 0x3F)
                    inside[at + 2] = 1
                    position = at + 3
                    surrogates += point >> 11 == 0x1B
                else:
                    third = np.int64(data[at + 2] & 0x3F)
                    point = (point & 7) << 18 | second << 12 | third << 6 | np.int64(data[at + 3] & 0x3F)
                    inside[at + 2] = inside[at + 3] = 1
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
            inside[at] = entry & 1
            clusters += 1 - (entry & 1)

            entry = np.int64(word_machine[word_state << 5 | (own & 31)])
            word_state = entry >> 2
            if entry & 1 == 0:
                if wordy:
                    word_start[words] = begun
                    word_end[words] = at
                    words += 1
                begun_before, wordy_before = begun, wordy
                begun, wordy = at, 0
            elif entry & 2:
                words -= wordy_before
                begun = begun_before
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
    return True


@kernel
def describe(
    data: Any,
    windows: Any,
    starts: Any,
    ends: Any,
    properties: Any,
    powers: Any,
    hashes: Any,
    wordy: Any,
    unspaced: Any,
) -> None:
    """Of each span of characters: a 64-bit hash, whether it has a letter or number, and how it begins.

    The hash is the polynomial sum((c_i + 1) · r^i) modulo 2^64, mixed; `powers` are those of r up to r^8, then
    their running sums. `unspaced` says whether the first character is a letter of a script without spaces.
    """
    for span in range(len(starts)):
        position, end = np.int64(starts[span]), np.int64(ends[span])
        total, power = np.uint64(0), ONE
        kinds: Any = 0
        first: Any = -1
        while position < end:
            window = windows[position]
            size: Any = end - position
            if size < 8:
                window &= ~(ALL << np.uint64(8 * size))
            else:
                size = 8
            if window & HIGH_BITS == 0:  # eight characters of ASCII, or what is left, without a branch
                part = powers[9 + size]
                for index in range(8):
                    part += (window >> np.uint64(8 * index) & np.uint64(0xFF)) * powers[index]
                total += part * power
                power *= powers[size]
                lower = window | SPACES  # a byte of at least x sets its high bit when 128 - x is added
                letters = lower + np.uint64(0x1F1F1F1F1F1F1F1F) & ~(lower + np.uint64(0x0505050505050505))
                digits = window + np.uint64(0x5050505050505050) & ~(window + np.uint64(0x4646464646464646))
                if (letters | digits) & HIGH_BITS != 0:
                    kinds |= 4
                first = max(first, 0)
                position += size
                continue
            point = np.int64(data[position])
            if point < 0x80:
                position += 1
            elif point < 0xE0:
                point = (point & 0x1F) << 6 | np.int64(data[position + 1] & 0x3F)
                position += 2
            elif point < 0xF0:
                second, third = np.int64(data[position + 1] & 0x3F), np.int64(data[position + 2] & 0x3F)
                point = (point & 0x0F) << 12 | second << 6 | third
                position += 3
            else:
                second, third = np.int64(data[position + 1] & 0x3F), np.int64(data[position + 2] & 0x3F)
                point = (point & 7) << 18 | second << 12 | third << 6 | np.int64(data[position + 3] & 0x3F)
                position += 4
            own = np.int64(properties[point]) >> 10
            first = own if first < 0 else first
            kinds |= own
            total += np.uint64(point + 1) * power
            power *= powers[1]
        total ^= total >> np.uint64(32)
        total *= np.uint64(0xD6E8FEB86659FD93)
        total ^= total >> np.uint64(32)
        hashes[span] = total
        wordy[span] = kinds & 4 != 0
        unspaced[span] = max(first, 0) & 32 != 0
