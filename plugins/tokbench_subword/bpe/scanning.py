"""Cutting text into pre-tokens, most of them without a loop: words and punctuation in ASCII.

The state machines of `pretokens` go byte by byte and guess at every branch. Most pre-tokens are one of two
simple kinds, though: a word, or a run of other characters, perhaps with one character before it, and nothing
doubtful around. `_window` classifies 64 bytes at once, as sets of bits, such that for every pattern
`_plain_end` finds the end of such a pre-token by shifting and counting, with hardly a branch. All else is left
to the machine.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.bpe.pretokens import GPT2, O200K, WHOLE, next_pretoken
from tokbench_subword.kernels.compiling import inline
from tokbench_subword.kernels.masks import (
    WINDOW,
    apostrophes,
    beyond_ascii,
    blanks,
    carriage_returns,
    digits,
    letters,
    line_feeds,
    lower_case,
    trailing_zeros,
    upper_case,
    white_controls,
)

_ZERO, _ONE, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_SEEN = 40
"""A window is used for pre-tokens that begin in so many of its first bytes: few reach beyond its end then."""


@inline
def _window(machine, text, base, end):  # type: ignore[no-untyped-def]
    """Sets of bits of the bytes from `base` on, without those from `end` on.

    - before: bytes that go with the word or run that follows them
    - caps: bytes that may begin a word and not go on with it
    - word, other: bytes that words and runs consist of
    - after_word, after_other: bytes that must not follow those, for the machine to decide
    - doubtful: bytes that only the machine can begin with
    """
    inside = _ALL if end - base >= WINDOW else (_ONE << np.uint64(end - base)) - _ONE
    letter, high = letters(text, base) & inside, beyond_ascii(text, base) & inside
    blank = blanks(text, base)
    newline = (line_feeds(text, base) | carriage_returns(text, base)) & inside
    quote = apostrophes(text, base) & inside
    other = inside & ~(letter | high | digits(text, base) | blank | white_controls(text, base))
    if machine == WHOLE:
        return _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO, _ZERO
    before = blank & ((letter | other) >> _ONE)
    if machine == GPT2:
        return before, _ZERO, letter, other, high, high, quote
    before |= (other | (white_controls(text, base) & ~newline)) & (letter >> _ONE)
    if machine == O200K:
        caps, word = upper_case(text, base) & inside, lower_case(text, base) & inside
        return before, caps, word, other, high | quote, high | newline, _ZERO
    return before, _ZERO, letter, other, high, high | newline, quote


@inline
def _plain_end(window, place):  # type: ignore[no-untyped-def]
    """Where the pre-token ends that begins at `place` of the window, or 0 where the machine has to look."""
    before, caps, word, other, after_word, after_other, doubtful = window
    begin = np.uint64(place)
    body = begin + ((before >> begin) & _ONE)
    rest = body + ((caps >> body) & _ONE)
    of_word = word >> rest
    is_word = of_word & _ONE
    run = of_word if is_word else other >> body
    first = rest if is_word else body
    stop = first + np.uint64(trailing_zeros(~run))
    if stop >= np.uint64(WINDOW):
        return 0
    wrong = (after_word if is_word else after_other) >> stop
    return np.int64(stop) if run & ~wrong & ~(doubtful >> begin) & _ONE else 0


@inline
def cut_words(machine, text, i, end, classes, starts, count, most):  # type: ignore[no-untyped-def]
    """Write where the pre-tokens of ``text[i:end]`` begin to ``starts[count:most]``.

    Returns where the last of them ends, and the new count. `WINDOW` bytes past `end` must be readable.
    """
    base = i
    window = _window(machine, text, base, end)
    while i < end and count < most:
        starts[count] = i
        count += 1
        stop = 0
        if (text[i] | text[i + 1]) < 0x80:
            if i - base >= _SEEN:
                base = i
                window = _window(machine, text, base, end)
            stop = _plain_end(window, i - base)
        i = base + stop if stop > 0 else next_pretoken(machine, text, i, end, classes)
    return i, count
