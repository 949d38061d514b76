"""The bytes of tokens: hashed during training, so that pairs with equal bytes make one token; then in full."""

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
"""The entry for a forbidden token in the table of spellings: no merge may make the text of a special token."""


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
    """The index of a hash in the table of spellings, or of the free entry (0) where it belongs."""
    place = np.int64(spread(value) >> _HIGH) & mask
    while hashes[place] != value and hashes[place] != _FREE:
        place = (place + 1) & mask
    return place


@inline
def enter_token(block: Block, left: Int, right: Int) -> np.int64:
    """The token with the bytes of a pair: a known one, `NOT_A_TOKEN`, or a new one, which enters the tables.

    `TOKEN_HASHES` has three entries for each token: the hash of its bytes, the hash of its bytes without the
    prefix (which it loses after another token), and the number of these.
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
    """Set the tables for the first tokens; no merge will make one of `forbidden`."""
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
    """Grow the tables to 1.5 times as many tokens; sets `N_WANTED`."""
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
    """Write the hashes of tokens that are stored end to end."""
    place = np.int64(0)
    for token in range(len(ends)):
        value = np.uint64(0)
        while place < ends[token]:
            value = value * _BASE + np.uint64(data[place]) + _ONE
            place += 1
        hashes[token] = value


@kernel
def _enter_spellings(values: Words, numbers: Ids, hashes_: Words, ids: Ids) -> None:
    """Insert hashes of spellings into their table, with their ids."""
    hashes, mask = pointer(hashes_), np.int64(len(hashes_) - 1)
    for index in range(len(values)):
        place = _find_spelling(hashes, mask, values[index])
        hashes[place], ids[place] = values[index], numbers[index]


def spelled(tokens: Sequence[bytes], merges: NDArray[np.int32], prefix: bytes = b"") -> list[bytes]:
    """The bytes of all tokens: the first `tokens`, and those that `merges` make (see `MergeSession.run`).

    A token loses its `prefix` when it is joined to a token before it.

    Example:
        >>> spelled([b"a", b"b"], np.array([[0, 1, 2], [2, 0, 3]], np.int32))
        [b'a', b'b', b'ab', b'aba']
    """
    found = list(tokens)
    for left, right, new in merges.tolist():
        if new == len(found):  # otherwise an earlier merge has made it
            found.append(found[left] + found[right].removeprefix(prefix))
    return found
