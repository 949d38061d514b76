"""Pairs and triples of consecutive ids, found by one sort: the kernels of `tokbench.tally.ngrams`.

A chain is a pair with the id after it, ``first << 43 | second << 22 | third + 1`` in uint64, 0 for the third
where the text ends. In order, equal chains are runs of equal triples, and so are, of their pairs, the chains
that begin alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tokbench.tally.bits import highest_bit
from tokbench.tally.compiling import kernel

_ID, _THIRD = np.uint64(21), np.uint64(22)
_ONE, _NONE = np.uint64(1), np.uint64(0)
_THIRDS = np.uint64((1 << 22) - 1)


@kernel
def weigh(keys: Any, sizes: Any, most: int, sampled: Any, met: Any) -> None:
    """Add the bytes of each document, `most` at most, to those `sampled` at its level, which is `met` then.

    A level is the number of leading zero bits of a 32-bit key.
    """
    for document in range(len(keys)):
        key = np.uint64(keys[document])
        level = 31 - highest_bit(key) if key != 0 else 32
        sampled[level] += min(sizes[document], most)
        met[level] = True


@kernel
def find_chains(ids: Any, offsets: Any, documents: Any, kept: Any, chains: Any) -> int:
    """Fill in the chains of the first ``kept[i]`` tokens of each ``documents[i]``; say how many there are."""
    n = 0
    for place in range(len(documents)):
        first = offsets[documents[place]]
        end = first + kept[place]
        for index in range(first + 1, end):
            third = np.uint64(ids[index + 1]) + _ONE if index + 1 < end else _NONE
            pair = np.uint64(ids[index - 1]) << _ID | np.uint64(ids[index])
            chains[n] = pair << _THIRD | third
            n += 1
    return n


@kernel
def count_ngrams(ordered: Any, pairs: Any, of_pairs: Any, triples: Any, of_triples: Any) -> Any:
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
