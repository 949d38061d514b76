"""Training of GreedTok (Lim et al. 2025): repeatedly chooses the substring that saves the most tokens.

A token covers a place of a word unless an earlier token crosses one of its ends; the tokens within it are
replaced. Its gain there is the number of replaced tokens minus one, times the count of the word. Choosing by
gain is the greedy algorithm for weighted maximum coverage, a relaxation of the problem.

The places of a substring are a run of the suffix array: neighbouring suffixes with the same prefix. Gains only
fall as words are covered, so an earlier gain is an upper bound of the current one. The gain of the candidate
with the highest bound is computed again, and it is the best one if it stays above all other bounds (Minoux
1978). If a substring overlaps itself ("aba" in "ababa"), the bound counts both places, the gain only the left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import inline, kernel, subroutine
from tokbench.kernels.pointers import Ids, Int, Ints
from tokbench_subword.optimal.heap import pop, push
from tokbench_subword.unigram.train_suffixes import sorted_suffixes

MOST_CANDIDATES = 1 << 28
"""The most substrings to choose from; each takes 29 bytes of memory."""
_STEPS = 500  # tokens chosen between two reports of progress

N_QUEUED, N_CHOSEN = range(2)
NOT_LOOKED_AT, APART, OVERLAPPING = range(3)


class Cover(NamedTuple):
    """The words and candidates, as arrays for the kernels.

    - `symbols` int32: byte + 1 for all bytes of all words; 0 after each word, and for NUL bytes;
    - `cuts` uint8, of the same length: 1 where a token begins, and at the end of a word;
    - `counts` int64, of the same length: the count of the word at that place;
    - `order` int32: the places of all bytes, sorted by the suffixes that begin there;
    - for each candidate, in the order of their bytes: its run in `order` from `low` to `high`, its `lengths` in
      bytes, and whether its places overlap (`shapes`);
    - `bounds` and `queue` int64: a heap of bounds of gains, and the numbers of their candidates.
    """

    symbols: NDArray[np.int32]
    cuts: NDArray[np.uint8]
    counts: NDArray[np.int64]
    order: NDArray[np.int32]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    lengths: NDArray[np.int32]
    shapes: NDArray[np.int8]
    bounds: NDArray[np.int64]
    queue: NDArray[np.int64]


def chosen_tokens(
    words: WordCounts,
    size: int,
    *,
    longest: int,
    forbidden: Iterable[bytes] = (),
    workers: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> list[bytes]:
    """Choose `size` tokens of two to `longest` bytes, in order; fewer if no other token has a gain.

    Of tokens with equal gains, the first in the order of bytes is chosen. Raises `TokenizerError` for more
    substrings than `MOST_CANDIDATES`.

    Example:
        >>> chosen_tokens(WordCounts.of({"abab": 3, "abc": 2, "cab": 4}), 3, longest=8)
        [b'ab', b'cab', b'abab']
    """
    cover = cover_of(words, longest, workers)
    for token in forbidden:
        _forbid(cover, token)
    cover.queue[:] = np.argsort(-cover.bounds, kind="stable")
    cover.bounds[:] = cover.bounds[cover.queue]
    state = np.array([len(cover.queue), 0], np.int64)
    size = min(size, len(cover.queue))
    chosen = np.empty(max(size, 0), np.int32)
    while state[N_CHOSEN] < size:
        before = int(state[N_CHOSEN])
        _choose(cover, state, chosen, min(size, before + _STEPS))
        if state[N_CHOSEN] == before:
            break
        progress(int(state[N_CHOSEN]) / size)
    found = []
    for candidate in chosen[: state[N_CHOSEN]].tolist():
        place = cover.order[cover.low[candidate]]
        symbols = cover.symbols[place : place + cover.lengths[candidate]]
        found.append((symbols - 1).astype(np.uint8).tobytes())
    return found


def cover_of(words: WordCounts, longest: int, workers: int) -> Cover:
    """The words, not yet covered, and all substrings of 2 to `longest` bytes as candidates."""
    sizes = np.diff(words.starts)
    longest = min(longest, int(sizes.max(initial=2)))
    n = len(words.data) + len(words)
    if n >= 2**31 - longest:
        raise TokenizerError(f"the distinct words have {n:,} bytes, too many for greedtok: train on a part")
    place_of = np.arange(len(words.data)) + np.repeat(np.arange(len(words)), sizes)
    symbols = np.zeros(n + longest + 1, np.int32)
    symbols[place_of] = words.data
    symbols[place_of] += symbols[place_of] > 0  # no token contains a NUL byte
    counts = np.zeros(n, np.int64)
    counts[place_of] = np.repeat(words.counts, sizes)
    parts = sorted_suffixes(symbols, n, longest, 257, workers) if symbols.any() else []
    order = np.concatenate(parts) if parts else np.zeros(0, np.int32)
    n_candidates = _candidates(
        symbols, order, longest, counts, np.zeros((3, 0), np.int32), np.zeros(0, np.int64)
    )
    if n_candidates > MOST_CANDIDATES:
        raise TokenizerError(
            f"the text has {n_candidates:,} substrings of up to {longest} bytes, and the limit of greedtok is "
            f"{MOST_CANDIDATES:,}: lower max_token_length, cut into shorter words, or train on a part"
        )
    runs, bounds = np.empty((3, n_candidates), np.int32), np.empty(n_candidates, np.int64)
    _candidates(symbols, order, longest, counts, runs, bounds)
    queue, shapes = np.empty(n_candidates, np.int64), np.zeros(n_candidates, np.int8)
    low, high, lengths = runs
    cuts = np.ones(len(symbols), np.uint8)
    return Cover(symbols, cuts, counts, order, low, high, lengths, shapes, bounds, queue)


def _forbid(cover: Cover, token: bytes) -> None:
    """Exclude a token from the choice."""
    like = np.flatnonzero(cover.lengths == len(token))
    for index, byte in enumerate(token):
        like = like[cover.symbols[cover.order[cover.low[like]] + index] == byte + 1]
    cover.bounds[like] = 0


@kernel
def _candidates(symbols: Ids, order: Ids, longest: Int, counts: Ints, runs: Ids, bounds: Ints) -> np.int64:
    """Find all candidates, in the order of their bytes; write those that fit, and return the number of all.

    Each prefix of two or more bytes that a suffix does not share with the suffix before is a new candidate. It
    remains open until a suffix that does not share it.
    """
    count, room = np.int64(0), len(bounds)
    opened = np.empty(longest + 1, np.int64)  # the open candidate of each length
    seen = np.zeros(longest + 1, np.int64)  # the total count of its words
    depth, n = np.int64(0), len(order)
    for rank in range(n + 1):
        common, size = np.int64(0), np.int64(0)
        if rank < n:
            place = np.int64(order[rank])
            while size < longest and symbols[place + size] != 0:
                size += 1
            if rank > 0:
                other = np.int64(order[rank - 1])
                while common < size and symbols[other + common] == symbols[place + common]:
                    common += 1
        first = common + 1 if common > 1 else np.int64(2)  # the shortest prefix that is not shared
        for length in range(first, depth + 1):
            if opened[length] < room:
                runs[1, opened[length]] = np.int32(rank)
                bounds[opened[length]] = seen[length] * (length - 1)
        for length in range(first, size + 1):
            opened[length], seen[length] = count, 0
            if count < room:
                runs[0, count], runs[2, count] = np.int32(rank), np.int32(length)
            count += 1
        depth = size
        for length in range(2, size + 1):
            seen[length] += counts[place]
    return count


@subroutine
def _places(cover: Cover, candidate: Int) -> Ids:
    """The places of a candidate, from left to right."""
    places = cover.order[cover.low[candidate] : cover.high[candidate]].copy()
    places.sort()
    return places


@subroutine
def _shape(cover: Cover, candidate: Int) -> int:
    """Whether two places of a candidate overlap, which is possible only if a prefix is also a suffix."""
    start, length = np.int64(cover.order[cover.low[candidate]]), np.int64(cover.lengths[candidate])
    for shift in range(1, length):
        same = 0
        while shift + same < length and cover.symbols[start + same] == cover.symbols[start + shift + same]:
            same += 1
        if shift + same == length:
            places = _places(cover, candidate)
            for index in range(1, len(places)):
                if places[index] - places[index - 1] < length:
                    return OVERLAPPING
            return APART
    return APART


@inline
def _gain_at(cover: Cover, place: Int, length: Int) -> np.int64:
    """How many tokens a candidate saves at one place; -1 if it does not fit there."""
    cuts = cover.cuts
    if cuts[place] == 0 or cuts[place + length] == 0:
        return np.int64(-1)
    parts = np.int64(0)
    for byte in range(place + 1, place + length):
        parts += cuts[byte]
    return parts


@subroutine
def _gain(cover: Cover, candidate: Int) -> tuple[np.int64, np.int64]:
    """The current gain of a candidate, and its bound: the gain if overlapping places all counted."""
    length = np.int64(cover.lengths[candidate])
    bound = np.int64(0)
    for rank in range(cover.low[candidate], cover.high[candidate]):
        place = np.int64(cover.order[rank])
        gain = _gain_at(cover, place, length)
        if gain > 0:
            bound += gain * cover.counts[place]
    if cover.shapes[candidate] == NOT_LOOKED_AT:
        cover.shapes[candidate] = np.int8(_shape(cover, candidate))
    if cover.shapes[candidate] == APART:
        return bound, bound
    total, end = np.int64(0), np.int64(0)
    for place in _places(cover, candidate):
        gain = _gain_at(cover, np.int64(place), length)
        if gain >= 0 and place >= end:
            total += gain * cover.counts[place]
            end = place + length
    return total, bound


@kernel
def _choose(cover: Cover, state: Ints, chosen: Ids, until: Int) -> None:
    """Choose tokens, which cover their places, until there are `until`, or none has a gain."""
    queue, bounds = cover.queue, cover.bounds
    while state[N_CHOSEN] < until:
        best, most = np.int64(-1), np.int64(0)
        size = state[N_QUEUED]
        while size > 0:
            bound, first = bounds[0], queue[0]
            if bound == 0 or bound < most or (bound == most and first > best):
                break
            pop(bounds, queue, size)
            size -= 1
            gain, bound = _gain(cover, first)
            bounds[size], queue[size] = bound, first  # keep evaluated ones after the heap
            if gain > most or (gain == most and gain > 0 and first < best):
                best, most = first, gain
        if best < 0:
            return
        for place in range(size, state[N_QUEUED]):
            bound, candidate = bounds[place], queue[place]
            if candidate != best:
                push(bounds, queue, size, bound, candidate)
                size += 1
        state[N_QUEUED] = size
        length = np.int64(cover.lengths[best])
        for place in _places(cover, best):
            if cover.cuts[place] == 1 and cover.cuts[place + length] == 1:
                for byte in range(place + 1, place + length):
                    cover.cuts[byte] = 0
        chosen[state[N_CHOSEN]] = np.int32(best)
        state[N_CHOSEN] += 1
