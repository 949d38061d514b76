"""BPE-dropout as a kernel (Provilkov et al. 2020): n log n in the length of a pre-token, seeded.

With a probability of 0 it is merging as ever, which tells what tokens are made of (`merged_symbols`).

At every step each merge that could be done next is left out with probability alpha, and the first of the rest
is done. Only merges before that one need a draw: they come up from a queue in their order, are laid aside while
draws leave them out, and go back behind the merge. That is what `plain.merges` does with `drop`, draw by draw,
so from one generator both give the same ids.

`merging.merge_long`, which merges with a queue as well, passes over a merge for good once it is left out, as
sentencepiece does. Its draws are others, so neither can stand for the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.heap import pop, push
from tokbench.kernels.pointers import Int, Ints, Keys
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import first_symbols
from tokbench_subword.bpe.tables import NONE, MergeTable, PairTable, merges_in, pair_rank

_HALF = 32
_LOW = np.int64(0xFFFFFFFF)
_GONE = -1


def sample_merges(
    model: BpeModel, pretokens: Sequence[str], rng: np.random.Generator, alpha: float
) -> list[int]:
    """The ids of some pre-tokens with each merge left out with probability `alpha`, drawn from `rng`.

    Example:
        >>> model = BpeModel(vocabulary=(b"a", b"b", b"ab"), merges=np.array([[0, 1, 2]]))
        >>> sample_merges(model, ["ab", "b"], np.random.default_rng(0), 1.0)
        [0, 1, 1]
    """
    symbols, ends = _first_ids(model, pretokens)
    kept = len(_merge(model, symbols, ends, rng, alpha))
    ids: list[int] = symbols[:kept].tolist()
    return ids


def merged_symbols(model: BpeModel, symbols: NDArray[np.integer], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of how many of its first symbols, those up to one of `ends`, each token of every pre-token is made.

    Example:
        >>> model = BpeModel(vocabulary=(b"a", b"b", b"ab"), merges=np.array([[0, 1, 2]]))
        >>> merged_symbols(model, np.array([0, 1, 1]), np.array([2, 3]))
        array([2, 1])
    """
    return _merge(model, symbols.astype(np.int64), ends, np.random.default_rng(0), 0.0)


def _merge(
    model: BpeModel, symbols: NDArray[np.int64], ends: NDArray[np.int64], rng: np.random.Generator, alpha: float
) -> NDArray[np.int64]:
    """Merge in place each pre-token, up to one of `ends`; of how many symbols each that is left is made."""
    longest = int(np.diff(ends, prepend=0).max(initial=0))
    pairs, results = _rules(model)
    scratch, sizes = np.empty(6 * (longest + 1), np.int64), np.empty(len(symbols), np.int64)
    return sizes[: _merge_all(symbols, sizes, ends, pairs, results, scratch, rng, alpha)]


def _first_ids(model: BpeModel, pretokens: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The symbols that merging starts from, of all pre-tokens, and where each ends."""
    if model.level == "byte" and model.unk is None:
        data = [pretoken.encode() for pretoken in pretokens]
        ids = model.byte_ids[np.frombuffer(b"".join(data), np.uint8)]
        known = np.concatenate(([0], np.cumsum(ids >= 0)))  # a byte without an id is left out
        return ids[ids >= 0], known[np.cumsum(list(map(len, data)), dtype=np.int64)]
    parts = [[symbol.id for symbol in first_symbols(model, pretoken)] for pretoken in pretokens]
    ids = np.array([index for part in parts for index in part], np.int64)
    return ids, np.cumsum(list(map(len, parts)), dtype=np.int64)


@lru_cache(maxsize=8)
def _rules(model: BpeModel) -> tuple[PairTable, NDArray[np.uint32]]:
    """The ranks of pairs, and what the merge of each rank gives."""
    ranks = model.merge_ranks
    results = np.zeros(int(ranks.max(initial=-1)) + 1, np.uint32)
    results[ranks] = model.merges[:, 2]
    return PairTable.of(model.merges, ranks), results


@inline
def _rank_at(symbols: Ints, begin: Int, at: Int, following: Ints, count: Int, merges: MergeTable) -> np.uint32:
    """The rank of the merge at a place, or `NONE`."""
    after = following[at]
    if after >= count or symbols[begin + at] == _GONE:
        return NONE
    return pair_rank(merges, symbols[begin + at], symbols[begin + after])


@inline
def _offer(
    heap: Ints,
    size: np.int64,
    symbols: Ints,
    begin: Int,
    at: Int,
    following: Ints,
    count: Int,
    merges: MergeTable,
) -> np.int64:
    """Queue the merge at a place, if there is one; return the new size of the queue."""
    rank = _rank_at(symbols, begin, at, following, count, merges)
    return size if rank == NONE else push(heap, size, (np.int64(rank) << _HALF) | at)


@kernel
def _merge_all(
    symbols: Ints,
    sizes: Ints,
    ends: Ints,
    pairs: PairTable,
    results: Keys,
    scratch: Ints,
    rng: np.random.Generator,
    alpha: float,
) -> np.int64:
    """Merge each pre-token and move what is left together; how many symbols that are, and of how many each.

    Entries of the queue are ``rank << 32 | place``. `scratch` has six numbers for each symbol of the longest:
    links, three entries in the queue, one that is laid aside.
    """
    merges, room = merges_in(pairs), len(scratch) // 6
    following, before = scratch[:room], scratch[room : 2 * room]
    heap, aside = scratch[2 * room : 5 * room], scratch[5 * room :]
    kept, begin = np.int64(0), np.int64(0)
    for end in ends:
        count, size, n_aside = end - begin, np.int64(0), 0
        for at in range(count):
            following[at], before[at] = at + 1, at - 1
        for at in range(count - 1):
            size = _offer(heap, size, symbols, begin, at, following, count, merges)
        while size > 0:
            entry = pop(heap, size)
            size -= 1
            at = entry & _LOW
            rank = _rank_at(symbols, begin, at, following, count, merges)
            if rank == NONE or rank != entry >> _HALF:
                continue  # one of the two has merged with another since
            if rng.random() < alpha:
                aside[n_aside] = entry
                n_aside += 1
                continue
            symbols[begin + at] = results[rank]
            symbols[begin + following[at]] = _GONE
            following[at] = following[following[at]]
            if following[at] < count:
                before[following[at]] = at
            for index in range(n_aside):
                size = push(heap, size, aside[index])
            n_aside = 0
            for place in (before[at], at):
                if place >= 0:
                    size = _offer(heap, size, symbols, begin, place, following, count, merges)
        for at in range(count):
            if symbols[begin + at] != _GONE:
                symbols[kept], sizes[kept] = symbols[begin + at], following[at] - at
                kept += 1
        begin = end
    return kept
