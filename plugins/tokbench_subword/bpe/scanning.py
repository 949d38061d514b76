"""Cutting text into pre-tokens, most of them without a loop: words, numbers, punctuation and spaces in ASCII.

The state machines of `pretokens` go byte by byte and guess at every branch. `_begins` classifies 64 bytes at
once, as sets of bits, and finds where all pre-tokens among them begin by shifting and adding these sets, up to
the first place that is beyond it: characters that are not ASCII, contractions, long numbers, some white space.
There the machine goes on, for one pre-token.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import (
    WINDOW,
    apostrophes,
    beyond_ascii,
    blanks,
    carriage_returns,
    digits,
    letters,
    line_feeds,
    lower_case,
    slashes,
    trailing_zeros,
    upper_case,
    white_controls,
)
from tokbench.kernels.compiling import inline
from tokbench_subword.bpe.pretokens import GPT2, O200K, QWEN2, WHOLE, next_pretoken

_ZERO, _ONE, _TWO, _THREE, _ALL = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(2**64 - 1)
_TOP = np.uint64(1 << 63)


@inline
def _first(bits):  # type: ignore[no-untyped-def]
    """The first byte of each run."""
    return bits & ~(bits << _ONE)


@inline
def _through(marks, runs):  # type: ignore[no-untyped-def]
    """The bytes of `runs` from each of `marks` to the end of its run: the carry of an addition finds it."""
    return (((marks + runs) ^ runs) | marks) & runs


@inline
def _begins_gpt2(letter, digit, other, white, blank, quote, filled):  # type: ignore[no-untyped-def]
    """`_begins` for GPT-2's pattern: where pre-tokens begin, and what is doubtful."""
    begins = (_first(letter) | _first(digit) | _first(other)) & ~(blank << _ONE)
    begins |= _first(white) | (white & (filled >> _ONE))  # the last space goes with what follows
    return begins, quote & begins


@inline
def _begins_words(machine, text, base, letter, digit, other, white, blank, newline, quote, filled):  # type: ignore[no-untyped-def]
    """`_begins` for the other patterns. Blanks here are all white space but newlines."""
    slash = slashes(text, base) if machine == O200K else _ZERO
    ends_run = _through(newline & (other << _ONE), newline | slash)  # newlines that go with what stands before
    other &= ~ends_run
    free, spaces = newline & ~ends_run, white & ~newline
    indents = spaces & (free << _ONE)
    begins = _first(white) & ~ends_run
    begins |= spaces & ((newline << _ONE) | (filled >> _ONE))
    begins |= _first(other) & ~(blank << _ONE)
    single = _first(other) & ~(other >> _ONE) & ~(blank << _ONE)  # goes with the word that follows
    begins |= _first(letter) & ~((spaces | single) << _ONE)
    doubtful = _ZERO
    if (spaces + indents) & free or spaces & _TOP:  # blank lines may go on after an indent
        begins &= ~indents
        doubtful = indents
    if machine == QWEN2:
        begins |= digit
    else:
        fourth = digit & (digit << _ONE) & (digit << _TWO) & (digit << _THREE)
        begins |= _first(digit) | _first(fourth)
        doubtful |= fourth
    if machine == O200K:
        contraction = quote & (letter << _ONE)
        begins &= ~contraction
        begins |= upper_case(text, base) & (lower_case(text, base) << _ONE)
        return begins, doubtful | contraction
    return begins, doubtful | (quote & begins)


@inline
def _begins(machine, text, base, end):  # type: ignore[no-untyped-def]
    """Where pre-tokens begin in the window at `base`, where one begins, and whether only the machine can go on.

    The last of the bits is where the last one found ends; the first is `base` itself.
    """
    size = end - base
    inside = _ALL if size >= WINDOW else (_ONE << np.uint64(size)) - _ONE
    letter, digit = letters(text, base) & inside, digits(text, base) & inside
    high, quote = beyond_ascii(text, base) & inside, apostrophes(text, base) & inside
    blank = blanks(text, base) & inside
    newline = (line_feeds(text, base) | carriage_returns(text, base)) & inside
    white = (blank | white_controls(text, base)) & inside
    filled = inside & ~white
    other = filled & ~(letter | digit | high)
    if machine == GPT2:
        begins, doubtful = _begins_gpt2(letter, digit, other, white, blank, quote, filled)
    else:
        begins, doubtful = _begins_words(
            machine, text, base, letter, digit, other, white, blank, newline, quote, filled
        )
    near = high | (high >> _ONE)
    doubtful |= near
    begins &= ~near
    if size >= WINDOW:
        begins &= ~_TOP
        limit = _TOP
    else:
        limit = _ONE << np.uint64(size)
        begins |= limit
        if white & (limit >> _ONE):  # white space that ends the text
            doubtful |= _first(white) & ((white >> _ONE) | (limit >> _ONE))
    stop = np.uint64(trailing_zeros(doubtful | limit))
    begins = (begins | _ONE) & ((_TWO << stop) - _ONE)
    return begins, (doubtful >> stop) & _ONE != _ZERO


@inline
def cut_words(machine, text, i, end, classes, starts, count, most):  # type: ignore[no-untyped-def]
    """Write where the pre-tokens of ``text[i:end]`` begin to ``starts[count:most]``.

    Returns where the last of them ends, and the new count. `WINDOW` bytes past `end` must be readable.
    """
    while i < end and count < most:
        base, stuck = i, True
        if (text[i] | text[i + 1]) < 0x80 and machine != WHOLE:
            begins, stuck = _begins(machine, text, base, end)
            begins &= begins - _ONE
            while begins != _ZERO and count < most:
                starts[count] = i
                count += 1
                i = base + np.int64(trailing_zeros(begins))
                begins &= begins - _ONE
        if (stuck or i == base) and i < end and count < most:
            starts[count] = i
            count += 1
            i = next_pretoken(machine, text, i, end, classes)
    return i, count
