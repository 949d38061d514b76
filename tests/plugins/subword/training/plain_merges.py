"""BPE training as textbooks explain it, to read and to test against: count all pairs, merge the first, repeat.

It counts everything anew for each merge, so it takes seconds where `session` takes milliseconds; and it is as
short as the algorithm is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from tokbench_subword.training.ties import FIRST_SEEN, LEXICOGRAPHIC

Pair = tuple[int, int]
T = TypeVar("T")


def plain_merges(
    words: Iterable[tuple[Sequence[int], int]],
    tokens: Sequence[bytes],
    *,
    n_wanted: int,
    rule: int,
    minimum: int = 0,
) -> tuple[list[tuple[int, int, int]], list[bytes]]:
    """The merges of `words` (symbols and count), and all tokens: `tokens`, then those that the merges make.

    `rule` is a number of `ties`. A token that two merges spell is one token. Stops at `n_wanted` tokens, or
    where no pair is seen `minimum` times (and at least once).

    Example:
        >>> merges, tokens = plain_merges([((0, 0, 0, 1), 1)], [b"a", b"b"], n_wanted=4, rule=FIRST_SEEN)
        >>> merges, tokens[2:]
        ([(0, 0, 2), (2, 0, 3)], [b'aa', b'aaa'])
    """
    sequences = [(list(symbols), count) for symbols, count in words]
    spelled = list(tokens)
    lengths = [1] * len(spelled)
    merges: list[tuple[int, int, int]] = []
    while len(spelled) < n_wanted:
        counts: Counter[Pair] = Counter()  # in the order in which pairs are first seen
        for symbols, count in sequences:
            for pair, times in Counter(pairwise(symbols)).items():
                counts[pair] += times * count
        if not counts:
            break
        pair = _first(counts, rule, spelled, lengths)
        if counts[pair] < max(minimum, 1):
            break
        token = spelled[pair[0]] + spelled[pair[1]]
        if token in spelled:
            new = spelled.index(token)
        else:
            new = len(spelled)
            spelled.append(token)
            lengths.append(lengths[pair[0]] + lengths[pair[1]])
        merges.append((*pair, new))
        sequences = [(merged(symbols, pair, new), count) for symbols, count in sequences]
    return merges, spelled


def _first(counts: Mapping[Pair, int], rule: int, spelled: Sequence[bytes], lengths: Sequence[int]) -> Pair:
    """The pair to merge: of the most frequent ones, the first by `rule`."""
    most = max(counts.values())
    equals = [pair for pair, count in counts.items() if count == most]
    if rule == FIRST_SEEN:
        return equals[0]
    if rule == LEXICOGRAPHIC:
        return min(
            equals,
            key=lambda pair: (lengths[pair[0]] + lengths[pair[1]], spelled[pair[0]] + spelled[pair[1]], pair),
        )
    return min(equals)


def merged(symbols: Sequence[T], pair: tuple[T, T], new: T) -> list[T]:
    """`symbols` with `pair` replaced from left to right."""
    return replaced(symbols, pair, [new])


def replaced(symbols: Sequence[T], before: Sequence[T], after: Sequence[T]) -> list[T]:
    """`symbols` with `after` wherever `before` stands, from left to right."""
    result: list[T] = []
    at = 0
    while at < len(symbols):
        here = symbols[at] == before[0] and list(symbols[at : at + len(before)]) == list(before)
        result += after if here else [symbols[at]]
        at += len(before) if here else 1
    return result
