"""How far what came back of a document is from its text: an example with its edit distance."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.bits import ALL, ONE, ZERO
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Int, Ints, Keys
from tokbench.tally.examples import Loss
from tokbench.tokenizer import first_difference

EDIT_WINDOW = 4096
"""Code points of a document that the edit distance looks at, from the first difference on."""
_EXCERPT = 120
_UNKNOWN = "\ufdd0"
"""A code point that is no character, in the place of an unknown token."""
_TOP = np.uint64(63)


def example_of(key: int, text: str, decoded: str, *, unknown: str = "") -> Loss:
    """The loss of one document; `unknown` is how unknown tokens are spelled, where the document has some.

    Each unknown token counts as one character that no text has, however it is spelled: ``[UNK]`` is no more
    wrong than ``⁇``.

    Example:
        >>> [example_of(0, "a☃b", f"a{un}b", unknown=un).edits for un in ("[UNK]", " ⁇ ")]
        [1, 1]
    """
    told = decoded
    for spelled in (unknown, unknown.strip()):
        if spelled.strip() and spelled not in text:
            told = told.replace(spelled, _UNKNOWN)
    first = first_difference(text, told)
    a, b = text[first : first + EDIT_WINDOW], told[first : first + EDIT_WINDOW]
    begin = max(0, first - 20)
    return Loss(
        key,
        len(text) if len(text) - first <= EDIT_WINDOW else first + EDIT_WINDOW,
        edit_distance(a, b),
        text[begin : begin + _EXCERPT],
        decoded[begin : begin + _EXCERPT],
    )


def edit_distance(a: str, b: str) -> int:
    """The Levenshtein distance of two texts, in code points.

    Example:
        >>> edit_distance("kitten", "sitting"), edit_distance("", "ab")
        (3, 2)
    """
    if not a or not b:
        return len(a) + len(b)
    points = [np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) for text in (a, b)]
    return int(distance(*points))


@kernel
def distance(a: Keys, b: Keys) -> int:
    """Insertions, deletions and replacements that make `a` into `b`: code points, uint32, neither empty.

    Myers' bit-parallel algorithm (A fast bit-vector algorithm for approximate string matching, Journal of the
    ACM 46, 1999) in the form of Hyyrö (2003): a column of the table has two bits for each row, one up or one
    down from the row above, 64 rows at a time. With Python's whole numbers as columns it takes eleven times as
    long: 9 ms for 4,096 characters, and a tokenizer that loses text has 32 such pairs in every part of it.
    """
    size = 1
    while size < 2 * len(a):
        size *= 2
    blocks = (len(a) + 63) // 64
    # a hash table of the characters of `a`: where each occurs, a bit a place; the last row is for all others
    owner = np.full(size, -1, np.int64)
    where = np.zeros((size + 1, blocks), np.uint64)
    for index in range(len(a)):
        slot = _slot(owner, a[index])
        owner[slot] = a[index]
        where[slot, index // 64] |= ONE << np.uint64(index % 64)
    up, down = np.full(blocks, ALL), np.zeros(blocks, np.uint64)
    last = np.uint64((len(a) - 1) % 64)
    found: Int = len(a)
    for character in b:
        slot = _slot(owner, character)
        row = slot if owner[slot] >= 0 else size
        plus_in, minus_in = ONE, ZERO  # the row above the first counts up
        for block in range(blocks):
            match = where[row, block]
            vertical = match | down[block]
            match |= minus_in
            diagonal = (((match & up[block]) + up[block]) ^ up[block]) | match
            plus = down[block] | ~(diagonal | up[block])
            minus = up[block] & diagonal
            if block == blocks - 1:
                found += np.int64(plus >> last & ONE) - np.int64(minus >> last & ONE)
            plus_out, minus_out = plus >> _TOP, minus >> _TOP
            plus = plus << ONE | plus_in
            minus = minus << ONE | minus_in
            up[block] = minus | ~(vertical | plus)
            down[block] = plus & vertical
            plus_in, minus_in = plus_out, minus_out
    return int(found)


@kernel
def _slot(owner: Ints, character: np.uint32) -> int:
    """Where a character is in the table, or the free place for it."""
    slot = np.int64(character) * 0x9E3779B1 >> 7 & len(owner) - 1
    while owner[slot] >= 0 and owner[slot] != character:
        slot = slot + 1 & len(owner) - 1
    return int(slot)
