"""Pairs and triples of consecutive ids, found by one sort: the kernels of `tokbench.tally.ngrams`.

A chain is a pair with the id after it, ``first << 43 | second << 22 | third + 1`` in uint64, 0 for the third
where the text ends. In order, equal chains are runs of equal triples, and so are, of their pairs, the chains
that begin alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.kernels.bits import highest_bit
from tokbench.kernels.compiling import kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Keys = NDArray[np.uint32]
    Offsets = NDArray[np.integer[Any]]

_ID, _THIRD = np.uint64(21), np.uint64(22)
_ONE, _NONE = np.uint64(1), np.uint64(0)
_THIRDS = np.uint64((1 << 22) - 1)


@kernel
def level_of(key: Any) -> Any:
    """The number of leading zero bits of a 32-bit key."""
    return 31 - highest_bit(np.uint64(key)) if key != 0 else 32


@kernel
def weigh(keys: Keys, sizes: Ints, most: int, sampled: Ints, met: NDArray[np.bool_]) -> None:
    """Add the bytes of each document, `most` at most, to those `sampled` at its level, which is `met` then."""
    for document in range(len(keys)):
        level = level_of(keys[document])
        sampled[level] += min(sizes[document], most)
        met[level] = True


@kernel
def find_chains(
    ids: Offsets, offsets: Offsets, keys: Keys, sizes: Ints, most: int, lowest: int, limits: Ints
) -> NDArray[np.uint64]:
    """The chains of the documents of the `lowest` level or a higher one: uint64, one level after the other.

    Those of a level are from its place in `limits` to the next. Of a document of more bytes than `most` as
    large a part of the tokens counts.
    """
    limits[:] = 0
    for document in range(len(keys)):
        level = level_of(keys[document])
        if level >= lowest:
            limits[level + 1] += max(kept(offsets, sizes, document, most) - 1, 0)
    for level in range(len(limits) - 1):
        limits[level + 1] += limits[level]
    places = limits.copy()
    chains = np.empty(limits[-1], np.uint64)
    for document in range(len(keys)):
        level = level_of(keys[document])
        if level >= lowest:
            n, first = places[level], offsets[document]
            end = first + kept(offsets, sizes, document, most)
            for index in range(first + 1, end):
                third = np.uint64(ids[index + 1]) + _ONE if index + 1 < end else _NONE
                pair = np.uint64(ids[index - 1]) << _ID | np.uint64(ids[index])
                chains[n] = pair << _THIRD | third
                n += 1
            places[level] = n
    return chains


@kernel
def kept(offsets: Offsets, sizes: Ints, document: int, most: int) -> Any:
    """How many of a document's tokens count."""
    n, size = offsets[document + 1] - offsets[document], sizes[document]
    return n if size <= most else np.int64(n * (most / size))


@kernel
def count_ngrams(
    ordered: NDArray[np.uint64], pairs: Ints, of_pairs: Ints, triples: Ints, of_triples: Ints
) -> tuple[int, int]:
    """Fill in the distinct pairs and triples of `ordered` chains, how often each occurs; say how many of each.

    They are keys as `tokbench.tally.ngrams.NGrams` has them.
    """
    n_pairs = n_triples = 0
    pair_from = chain_from = 0
    for index in range(len(ordered)):
        chain = ordered[index]
        following = ordered[index + 1] if index + 1 < len(ordered) else ~chain
        pair, third = chain >> _THIRD, chain & _THIRDS
        # written every time and kept where a run ends, which no branch could foretell
        whole = third != _NONE
        triples[n_triples] = pair << _ID | (third - np.uint64(whole))
        of_triples[n_triples] = index + 1 - chain_from
        ends = following != chain
        n_triples += ends and whole
        chain_from = index + 1 if ends else chain_from
        pairs[n_pairs] = pair
        of_pairs[n_pairs] = index + 1 - pair_from
        ends = following >> _THIRD != pair
        n_pairs += ends
        pair_from = index + 1 if ends else pair_from
    return n_pairs, n_triples
