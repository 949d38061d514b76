"""BPE-dropout (Provilkov et al. 2020): n log n in the length of a pre-token, seeded.

With a probability of 0 it is merging as ever, which tells what tokens are made of (`merged_symbols`).

At every step each merge that could be done next is left out with probability alpha, and the first of the rest
is done. Only merges before that one need a draw: they come up from the queue of `merging.merge_long` in their
order, are laid aside while draws leave them out, and go back with the merge. That is what `plain.merges` does
with `drop`, draw by draw, so from one generator both give the same ids.
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
    return _merge(model, symbols.astype(np.uint32), ends, np.random.default_rng(0), 0.0)


def _merge(
    model: BpeModel,
    symbols: NDArray[np.uint32],
    ends: NDArray[np.int64],
    rng: np.random.Generator,
    alpha: float,
) -> NDArray[np.int64]:
    """Merge in place each pre-token, up to one of `ends`; of how many symbols each that is left is made."""
    sizes = np.empty(len(symbols), np.int64)
    return sizes[: _merge_all(symbols, sizes, ends, *_rules(model), rng, alpha)]


def _first_ids(model: BpeModel, pretokens: Sequence[str]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The symbols that merging starts from, of all pre-tokens, and where each ends."""
    if model.level == "byte" and model.unk is None:
        data = [pretoken.encode() for pretoken in pretokens]
        ids = model.byte_ids[np.frombuffer(b"".join(data), np.uint8)]
        known = np.concatenate(([0], np.cumsum(ids >= 0)))  # a byte without an id is left out
        return ids[ids >= 0].astype(np.uint32), known[np.cumsum(list(map(len, data)), dtype=np.int64)]
    parts = [[symbol.id for symbol in first_symbols(model, pretoken)] for pretoken in pretokens]
    symbols = np.array([index for part in parts for index in part], np.uint32)
    return symbols, np.cumsum(list(map(len, parts)), dtype=np.int64)


@lru_cache(maxsize=8)
def _rules(model: BpeModel) -> tuple[PairTable, NDArray[np.uint32]]:
    """The ranks of pairs, and what the merge of each rank gives."""
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
    """Merge each pre-token and move what is left together; how many symbols that are, and of how many each."""
    merges, kept, begin = merges_in(pairs), np.int64(0), np.int64(0)
    for end in ends:
        own, theirs = symbols[begin:end], sizes[begin:end]
        for k in range(merge_long(own, end - begin, merges, results, alpha, None, rng, theirs)):
            symbols[kept], sizes[kept] = own[k], theirs[k]
            kept += 1
        begin = end
    return kept
