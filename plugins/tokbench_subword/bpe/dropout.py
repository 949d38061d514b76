"""BPE-dropout as a kernel (Provilkov et al. 2020): n log n in the length of a pre-token, seeded.

At every step each merge that could be done next is left out with probability alpha, and the first of the rest
is done. Only merges before that one need a draw: they come up from a queue in their order, are laid aside while
draws leave them out, and go back behind the merge. That is what `plain.merges` does with `drop`, draw by draw,
so from one generator both give the same ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import announce, inline, kernel
from tokbench.kernels.heap import pop, push
from tokbench.kernels.pointers import Int, Ints, pointer
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import first_symbols, rules_of
from tokbench_subword.training.initial import pair_table
from tokbench_subword.training.pairs import find_pair, pair_key

_RANK, _RESULT = 1, 2
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
    announce(_merge_all)
    symbols, ends = _first_ids(model, pretokens)
    longest = int(np.diff(ends, prepend=0).max(initial=0))
    kept = _merge_all(symbols, ends, _rules(model), np.empty(6 * (longest + 1), np.int64), rng, alpha)
    ids: list[int] = symbols[:kept].tolist()
    return ids


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
def _rules(model: BpeModel) -> NDArray[np.int64]:
    """The merges in a table of pairs, with rank and result."""
    rules = rules_of(model)
    rows = np.array([(*pair, rule.rank, rule.result) for pair, rule in rules.items()], np.int64).reshape(-1, 4)
    table = pair_table(max(4, (2 * len(rows)).bit_length()))
    _fill(rows, table)
    return table


@kernel
def _fill(rows: Ints, table_: Ints) -> None:
    table, mask = pointer(table_), np.int64(len(table_) // 4 - 1)
    for index in range(len(rows)):
        key = pair_key(rows[index, 0], rows[index, 1])
        row = find_pair(table, mask, key)
        table[row], table[row + _RANK], table[row + _RESULT] = key, rows[index, 2], rows[index, 3]


@inline
def _row(symbols: Ints, begin: Int, at: Int, following: Ints, count: Int, rules: Ints, mask: Int) -> np.int64:
    """The row of the rule for the pair at a place, or -1."""
    after = following[at]
    if after >= count or symbols[begin + at] == _GONE:
        return np.int64(-1)
    key = pair_key(symbols[begin + at], symbols[begin + after])
    row = find_pair(rules, mask, key)
    return row if rules[row] == key else np.int64(-1)


@kernel
def _merge_all(
    symbols: Ints, ends: Ints, rules_: Ints, scratch: Ints, rng: np.random.Generator, alpha: float
) -> np.int64:
    """Merge each pre-token and move what is left together; how many symbols that are.

    Entries of the queue are ``rank << 32 | place``. `scratch` has six numbers for each symbol of the longest:
    links, three entries in the queue, one that is laid aside.
    """
    rules, mask = pointer(rules_), np.int64(len(rules_) // 4 - 1)
    room = len(scratch) // 6
    following, before = scratch[:room], scratch[room : 2 * room]
    heap, aside = scratch[2 * room : 5 * room], scratch[5 * room :]
    kept, begin = np.int64(0), np.int64(0)
    for end in ends:
        count, size, n_aside = end - begin, 0, 0
        for at in range(count):
            following[at], before[at] = at + 1, at - 1
        for at in range(count - 1):
            row = _row(symbols, begin, at, following, count, rules, mask)
            if row >= 0:
                size = push(heap, size, (rules[row + _RANK] << _HALF) | at)
        while size > 0:
            entry = pop(heap, size)
            size -= 1
            at = entry & _LOW
            row = _row(symbols, begin, at, following, count, rules, mask)
            if row < 0 or rules[row + _RANK] != entry >> _HALF:
                continue  # one of the two has merged with another since
            if rng.random() < alpha:
                aside[n_aside] = entry
                n_aside += 1
                continue
            symbols[begin + at] = rules[row + _RESULT]
            symbols[begin + following[at]] = _GONE
            following[at] = following[following[at]]
            if following[at] < count:
                before[following[at]] = at
            for index in range(n_aside):
                size = push(heap, size, aside[index])
            n_aside = 0
            for place in (before[at], at):
                if place >= 0:
                    row = _row(symbols, begin, place, following, count, rules, mask)
                    if row >= 0:
                        size = push(heap, size, (rules[row + _RANK] << _HALF) | place)
        for at in range(count):
            if symbols[begin + at] != _GONE:
                symbols[kept] = symbols[begin + at]
                kept += 1
        begin = end
    return kept
