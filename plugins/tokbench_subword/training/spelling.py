"""What tokens spell: as hashes during training, so that pairs that spell the same make one token; and as bytes,
once all is learned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.hashing import spread
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, Word, Words, i32_in, i64_in, pointer, u64_in
from tokbench.kernels.text import end_to_end
from tokbench_subword.training import layout as at
from tokbench_subword.training.layout import MergeWorkspace
from tokbench_subword.training.superwords import joined_shape, may_be

_BASE = np.uint64(0xD6E8FEB86659FD93)  # odd: the base of the polynomial that hashes spellings
_ONE = np.uint64(1)
_FREE = np.uint64(0)
_HIGH = np.uint64(32)
NOT_A_TOKEN = -2
"""The id in the table of spellings that forbids a token: a merge never makes the text of a special token."""


@inline
def _power(exponent: Int) -> np.uint64:
    """`_BASE` to a power, modulo 2**64."""
    result, base = _ONE, _BASE
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@inline
def _find_spelling(hashes: Words, mask: Int, value: Word) -> np.int64:
    """Where a spelling's hash is in the table of spellings, or where it would go; 0 means free."""
    place = np.int64(spread(value) >> _HIGH) & mask
    while hashes[place] != value and hashes[place] != _FREE:
        place = (place + 1) & mask
    return place


@inline
def enter_token(block: Block, left: Int, right: Int) -> np.int64:
    """The token that a pair spells: a known one, `NOT_A_TOKEN`, or the next new one, entered in the tables.

    A token t has a row of three in `TOKEN_HASHES`: the hash of its spelling, that of what it adds to the token
    before it (without its prefix), and how many bytes that is.
    """
    hashes, spelled = u64_in(block, at.TOKEN_HASHES), u64_in(block, at.SPELLED)
    ids, lengths = i32_in(block, at.SPELLED_IDS), i64_in(block, at.LENGTHS)
    state, sizes = i64_in(block, at.STATE), i64_in(block, at.SIZES)
    shapes, most_words = i64_in(block, at.SHAPES), state[at.MOST_WORDS]
    if most_words > 0 and not may_be(joined_shape(shapes[left], shapes[right]), most_words):
        return np.int64(NOT_A_TOKEN)
    shift = _power(np.int64(hashes[3 * right + 2]))
    value = hashes[3 * left] * shift + hashes[3 * right + 1]
    place = _find_spelling(spelled, sizes[at.SPELLED] - 1, value)
    if spelled[place] == value:
        return np.int64(ids[place])
    new = state[at.N_TOKENS]
    state[at.N_TOKENS] += 1
    spelled[place] = value
    ids[place] = np.int32(new)
    hashes[3 * new] = value
    hashes[3 * new + 1] = hashes[3 * left + 1] * shift + hashes[3 * right + 1]
    hashes[3 * new + 2] = hashes[3 * left + 2] + hashes[3 * right + 2]
    lengths[new] = lengths[left] + lengths[right]
    if most_words > 0:
        shapes[new] = joined_shape(shapes[left], shapes[right])
    return new


def fill_spellings(
    work: MergeWorkspace, tokens: Sequence[bytes], prefix: bytes, forbidden: Sequence[bytes]
) -> None:
    """Set the tables for the first tokens; none of `forbidden` will ever be spelled."""
    n_wanted = int(work[at.STATE][at.N_WANTED])
    work[at.LENGTHS] = np.ones(n_wanted, np.int64)
    capacity = 1 << (2 * (n_wanted + len(forbidden)) + 8).bit_length()
    hashes = np.zeros((n_wanted, 3), np.uint64)
    spelled_, ids = np.zeros(capacity, np.uint64), np.zeros(capacity, np.int32)
    added = [token.removeprefix(prefix) or token for token in tokens] if prefix else tokens
    whole, n_tokens = _spelling_hashes(tokens), len(tokens)
    hashes[:n_tokens, 0], hashes[:n_tokens, 1] = whole, _spelling_hashes(added) if prefix else whole
    hashes[:n_tokens, 2] = list(map(len, added))
    _enter_spellings(whole, np.arange(n_tokens, dtype=np.int32), spelled_, ids)
    never = np.full(len(forbidden), NOT_A_TOKEN, np.int32)
    _enter_spellings(_spelling_hashes(forbidden), never, spelled_, ids)
    work[at.TOKEN_HASHES], work[at.SPELLED], work[at.SPELLED_IDS] = hashes.reshape(-1), spelled_, ids


def make_room_for_spellings(work: MergeWorkspace) -> None:
    """Have the tables take half as many tokens again; sets `N_WANTED`."""
    work.grow(at.LENGTHS)
    work.grow(at.TOKEN_HASHES, unit=3)
    work[at.STATE][at.N_WANTED] = len(work[at.LENGTHS])
    known = np.flatnonzero(work[at.SPELLED])
    hashes, ids = work[at.SPELLED][known], work[at.SPELLED_IDS][known]
    capacity = 2 * len(work[at.SPELLED])
    work[at.SPELLED], work[at.SPELLED_IDS] = np.zeros(capacity, np.uint64), np.zeros(capacity, np.int32)
    _enter_spellings(hashes, ids, work[at.SPELLED], work[at.SPELLED_IDS])


def _spelling_hashes(tokens: Sequence[bytes]) -> NDArray[np.uint64]:
    """The hash of the bytes of each token."""
    data, starts = end_to_end(tokens)
    hashes = np.zeros(len(tokens), np.uint64)
    _hash_spellings(data, starts[1:], hashes)
    return hashes


@kernel
def _hash_spellings(data: Bytes, ends: Ints, hashes: Words) -> None:
    """The hashes of tokens that lie one after another."""
    place = np.int64(0)
    for token in range(len(ends)):
        value = np.uint64(0)
        while place < ends[token]:
            value = value * _BASE + np.uint64(data[place]) + _ONE
            place += 1
        hashes[token] = value


@kernel
def _enter_spellings(values: Words, numbers: Ids, hashes_: Words, ids: Ids) -> None:
    """Enter hashes of spellings in their table, with the ids that they mean from now on."""
    hashes, mask = pointer(hashes_), np.int64(len(hashes_) - 1)
    for index in range(len(values)):
        place = _find_spelling(hashes, mask, values[index])
        hashes[place], ids[place] = values[index], numbers[index]


def spelled(tokens: Sequence[bytes], merges: NDArray[np.int32], prefix: bytes = b"") -> list[bytes]:
    """The bytes of every token: of the first ones, and of those that `merges` make (see `MergeSession.run`).

    A token drops its `prefix` where it is joined to one before it.

    Example:
        >>> spelled([b"a", b"b"], np.array([[0, 1, 2], [2, 0, 3]], np.int32))
        [b'a', b'b', b'ab', b'aba']
    """
    found = list(tokens)
    for left, right, new in merges.tolist():
        if new == len(found):  # if not, it is known
            found.append(found[left] + found[right].removeprefix(prefix))
    return found
