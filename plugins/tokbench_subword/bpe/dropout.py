"""BPE-dropout (Provilkov et al. 2020): n log n in the length of a pre-token, seeded.

With a probability of 0 it is ordinary merging, which shows what tokens are made of (`merged_symbols`).

At every step, each possible merge is left out with probability alpha, and the first of the rest is done. Only
the merges before that one need a draw. They come from the queue of `merging.merge_long` in their order; merges
that are left out are set aside and return to the queue after the next merge. `plain.merges` with `drop` makes
the same draws, so both return the same ids with the same generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Ints, Keys
from tokbench_subword.bpe.merging import merge_long
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import first_symbols
from tokbench_subword.bpe.tables import PairTable, merges_in


def sample_merges(
    model: BpeModel, pretokens: Sequence[str], rng: np.random.Generator, alpha: float
) -> list[int]:
    """The ids of pre-tokens, with each merge left out with probability `alpha`, drawn from `rng`.

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
    """How many first symbols each token consists of; the symbols of a pre-token end at each of `ends`.

    Example:
        >>> model = BpeModel(vocabulary=(b"a", b"b", b"ab"), merges=np.array([[0, 1, 2]]))
        >>> merged_symbols(model, np.array([0, 1, 1]), np.array([2, 3]))
        array([2, 1])
    """
    return _merge(model, symbols.astype(np.uint32), ends, np.random.default_rng(0), 0.0)


def _merge(
    model: BpeModel,
    symbols: NDArray[np.uint32],
    ends: NDArray[np.int64],
    rng: np.random.Generator,
    alpha: float,
) -> NDArray[np.int64]:
    """Merge each pre-token in place; return how many first symbols each remaining symbol consists of."""
    sizes = np.empty(len(symbols), np.int64)
    return sizes[: _merge_all(symbols, sizes, ends, *_rules(model), rng, alpha)]


def _first_ids(model: BpeModel, pretokens: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The first symbols of all pre-tokens, and the end of each pre-token in them."""
    if model.level == "byte" and model.unk is None:
        data = [pretoken.encode() for pretoken in pretokens]
        ids = model.byte_ids[np.frombuffer(b"".join(data), np.uint8)]
        known = np.concatenate(([0], np.cumsum(ids >= 0)))  # a byte without an id is dropped
        return ids[ids >= 0].astype(np.uint32), known[np.cumsum(list(map(len, data)), dtype=np.int64)]
    parts = [[symbol.id for symbol in first_symbols(model, pretoken)] for pretoken in pretokens]
    symbols = np.array([index for part in parts for index in part], np.uint32)
    return symbols, np.cumsum(list(map(len, parts)), dtype=np.int64)


@lru_cache(maxsize=8)
def _rules(model: BpeModel) -> tuple[PairTable, NDArray[np.uint32]]:
    """The ranks of pairs, and the symbol that the merge of each rank results in."""
    ranks = model.merge_ranks
    results = np.zeros(int(ranks.max(initial=-1)) + 1, np.uint32)
    results[ranks] = model.merges[:, 2]
    return PairTable.of(model.merges, ranks), results


@kernel
def _merge_all(
    symbols: Keys,
    sizes: Ints,
    ends: Ints,
    pairs: PairTable,
    results: Keys,
    rng: np.random.Generator,
    alpha: float,
) -> np.int64:
    """Merge each pre-token; move the remaining symbols and sizes to the beginning; return their number."""
    merges, kept, begin = merges_in(pairs), np.int64(0), np.int64(0)
    for end in ends:
        own, theirs = symbols[begin:end], sizes[begin:end]
        for k in range(merge_long(own, end - begin, merges, results, alpha, None, rng, theirs)):
            symbols[kept], sizes[kept] = own[k], theirs[k]
            kept += 1
        begin = end
    return kept
