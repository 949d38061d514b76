"""Merging by likelihood: the pair with the highest count(ab) / (count(a) · count(b)) first.

The score is what a merge adds to the likelihood of the corpus under independent tokens, per occurrence of the
pair; Schuster and Nakajima (2012), and the way WordPiece is taught. Unlike a count, it can rise: when `a` is
merged with something else, count(a) falls, and every other pair of `a` gains. So each symbol keeps a list of
its partners, whose pairs are queued again after each merge. Everything else is the BPE trainer's.

Scores are float64, one division of exact integers converted to float64; the pair seen more often goes first
among equal scores, then the smaller one. Hence the same result everywhere.
"""

from __future__ import annotations

import numpy as np

from tokbench_subword.bpe.train_merges import (
    AT,
    CHOOSING,
    CHUNKS_FULL,
    COUNTING,
    DONE,
    DRAINING,
    HEAP_FULL,
    HEAP_SIZE,
    LEFT,
    MERGES_FULL,
    MERGING,
    N_DRAINED,
    N_MERGES,
    N_POSITIONS,
    N_TOKENS,
    N_TOUCHED,
    NEW,
    NOT_A_TOKEN,
    PAIRS_FULL,
    PAUSED,
    POSITIONS_FULL,
    QUEUING,
    RIGHT,
    STAGE,
    STATE_SIZE,
    TOUCHED_FULL,
    enter_token,
)
from tokbench_subword.bpe.train_pairs import (
    COUNT,
    FIRST,
    FREE_CHUNK,
    FRESH_CHUNK,
    LINK,
    N_PAIRS,
    NEXT,
    add_occurrence,
    find_pair,
    free_list,
    merge_at,
    pair_key,
    read_list,
    sort_positions,
    take_list,
    weight_of,
)
from tokbench_subword.kernels.compiling import inline, kernel
from tokbench_subword.kernels.pointers import pointer

# More state, after the BPE trainer's.
N_PARTNERS, RESCORED, SIDE = range(STATE_SIZE, STATE_SIZE + 3)
LIKELIHOOD_STATE_SIZE = STATE_SIZE + 4

# One more stage, between MERGING and DRAINING, and one more reason to stop.
RESCORING = 10
PARTNERS_FULL = 10

_LOW_32 = np.int64(0xFFFFFFFF)


@inline
def _score(count, left, right):  # type: ignore[no-untyped-def]
    return np.float64(count) / (np.float64(left) * np.float64(right))


@inline
def _before(score_a, count_a, key_a, score_b, count_b, key_b):  # type: ignore[no-untyped-def]
    if score_a != score_b:
        return score_a > score_b
    if count_a != count_b:
        return count_a > count_b
    return key_a < key_b


@inline
def _push(scores, counts, keys, size, score, count, key):  # type: ignore[no-untyped-def]
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if not _before(score, count, key, scores[parent], counts[parent], keys[parent]):
            break
        scores[at], counts[at], keys[at] = scores[parent], counts[parent], keys[parent]
        at = parent
    scores[at], counts[at], keys[at] = score, count, key


@inline
def _replace_top(scores, counts, keys, size, score, count, key):  # type: ignore[no-untyped-def]
    at = np.int64(0)
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(
            scores[child + 1], counts[child + 1], keys[child + 1], scores[child], counts[child], keys[child]
        ):
            child += 1
        if not _before(scores[child], counts[child], keys[child], score, count, key):
            break
        scores[at], counts[at], keys[at] = scores[child], counts[child], keys[child]
        at = child
    scores[at], counts[at], keys[at] = score, count, key


@inline
def _add_partner(partners, firsts, state, symbol, other, is_left):  # type: ignore[no-untyped-def]
    """Note that `symbol` forms a pair with `other`; takes one cell. Cells are (partner, next + 1)."""
    cell = state[N_PARTNERS]
    state[N_PARTNERS] += 1
    partners[2 * cell] = np.int32((other << 1) | is_left)
    partners[2 * cell + 1] = np.int32(firsts[symbol])
    firsts[symbol] = np.int32(cell + 1)


@inline
def _partner_key(symbol, partner):  # type: ignore[no-untyped-def]
    other = np.int64(partner) >> 1
    if partner & 1:
        return pair_key(symbol, other)
    return pair_key(other, symbol)


@kernel
def learn_by_likelihood(  # type: ignore[no-untyped-def]
    records_,
    heavy_,
    pairs_,
    chunks_,
    heap_scores_,
    heap_counts_,
    heap_keys_,
    positions_,
    touched_,
    lengths_,
    token_hashes_,
    spelled_,
    spelled_ids_,
    symbol_counts_,
    partners_,
    firsts_,
    merges_,
    state_,
    minimum,
    n_wanted,
    pause_at,
):
    """Learn merges as `train_merges.learn_merges` does, by likelihood; returns why it stopped.

    Beside that kernel's arrays: ``symbol_counts_[t]`` (int64), how often token t stands in the corpus;
    `partners_` (int32 ``(n, 2)``) and ``firsts_[t]``, the lists of each token's partners. A pair seen less than
    `minimum` times is not queued.
    """
    records, heavy, pairs, chunks = pointer(records_), pointer(heavy_), pointer(pairs_), pointer(chunks_)
    scores, counts, keys = pointer(heap_scores_), pointer(heap_counts_), pointer(heap_keys_)
    positions, touched, lengths = pointer(positions_), pointer(touched_), pointer(lengths_)
    token_hashes, spelled, spelled_ids = pointer(token_hashes_), pointer(spelled_), pointer(spelled_ids_)
    symbol_counts, partners, firsts = pointer(symbol_counts_), pointer(partners_), pointer(firsts_)
    merges, state = pointer(merges_), pointer(state_)
    mask = np.int64(len(pairs_) // 4 - 1)
    most_pairs = len(pairs_) // 4 * 5 // 8
    most_chunks = len(chunks_) // 4
    most_entries = len(heap_keys_)
    most_partners = len(partners_) // 2
    spelled_mask = np.int64(len(spelled_) - 1)
    least = max(minimum, 1)
    size = state[HEAP_SIZE]

    if state[STAGE] == COUNTING:
        at = state[AT]
        while at < len(records_) // 4:
            if state[N_PAIRS] >= most_pairs or state[FRESH_CHUNK] >= most_chunks:
                state[AT] = at
                return PAIRS_FULL if state[N_PAIRS] >= most_pairs else CHUNKS_FULL
            weight = weight_of(records, at, heavy)
            symbol_counts[records[4 * at]] += weight
            second = np.int64(records[4 * at + NEXT])
            if second >= 0:
                key = pair_key(records[4 * at], records[4 * second])
                add_occurrence(pairs, mask, chunks, state, key, at, weight, 0)
            at += 1
        state[AT] = 0
        state[STAGE] = QUEUING

    if state[STAGE] == QUEUING:
        if state[N_PAIRS] > most_entries:
            return HEAP_FULL
        if 2 * state[N_PAIRS] > most_partners:
            return PARTNERS_FULL
        for row in range(0, len(pairs_), 4):
            key, count = pairs[row], pairs[row + COUNT]
            if key >= 0 and count > 0:
                left, right = key >> 32, key & _LOW_32
                _add_partner(partners, firsts, state, left, right, 1)
                if left != right:
                    _add_partner(partners, firsts, state, right, left, 0)
                if count >= least:
                    score = _score(count, symbol_counts[left], symbol_counts[right])
                    _push(scores, counts, keys, size, score, count, key)
                    size += 1
        state[HEAP_SIZE] = size
        state[STAGE] = CHOOSING

    while True:
        if state[STAGE] == CHOOSING:
            if state[N_TOKENS] >= n_wanted or size == 0:
                return DONE
            if state[N_MERGES] >= pause_at:
                return PAUSED
            if state[N_MERGES] >= len(merges_) // 3:
                return MERGES_FULL
            key = keys[0]
            left, right = key >> 32, key & _LOW_32
            row = find_pair(pairs, mask, key)
            count = pairs[row + COUNT] if pairs[row] == key else np.int64(0)
            score = 0.0
            if count >= least:
                score = _score(count, symbol_counts[left], symbol_counts[right])
            if score != scores[0] or count != counts[0]:
                if score > 0.0 and not _before(score, count, key, scores[0], counts[0], key):
                    _replace_top(scores, counts, keys, size, score, count, key)
                else:  # gone, or queued again with its better score
                    size -= 1
                    _replace_top(scores, counts, keys, size, scores[size], counts[size], keys[size])
                    state[HEAP_SIZE] = size
                continue
            chain = (pairs[row + FIRST] & _LOW_32) - 1
            n_positions, last = read_list(chunks, chain, positions, len(positions_))
            if n_positions < 0:
                return POSITIONS_FULL
            if chain >= 0:
                take_list(pairs, row)
                free_list(chunks, state, chain, last)
            size -= 1
            _replace_top(scores, counts, keys, size, scores[size], counts[size], keys[size])
            state[HEAP_SIZE] = size
            new = enter_token(token_hashes, spelled, spelled_ids, spelled_mask, lengths, state, left, right)
            if new == NOT_A_TOKEN:
                continue
            number = state[N_MERGES]
            merges[3 * number], merges[3 * number + 1] = np.int32(left), np.int32(right)
            merges[3 * number + 2] = np.int32(new)
            state[N_MERGES] = number + 1
            sort_positions(positions, n_positions)
            state[N_POSITIONS], state[LEFT], state[RIGHT], state[NEW] = n_positions, left, right, new
            state[AT], state[N_TOUCHED], state[N_DRAINED] = 0, 0, 0
            state[STAGE] = MERGING

        left, right, new = state[LEFT], state[RIGHT], state[NEW]
        if state[STAGE] == MERGING:
            at, n_touched, stamp = state[AT], state[N_TOUCHED], state[N_MERGES]
            own = np.int64(0)
            full = DONE
            while at < state[N_POSITIONS]:
                free = state[FREE_CHUNK]
                if state[N_PAIRS] + 2 > most_pairs:
                    full = PAIRS_FULL
                elif state[FRESH_CHUNK] + 2 > most_chunks and (free < 0 or chunks[4 * free + LINK] < 0):
                    full = CHUNKS_FULL
                elif n_touched + 2 > len(touched_):
                    full = TOUCHED_FULL
                if full != DONE:
                    break
                n_touched, weight = merge_at(
                    records,
                    heavy,
                    pairs,
                    mask,
                    chunks,
                    state,
                    touched,
                    n_touched,
                    np.int64(positions[at]),
                    left,
                    right,
                    new,
                    lengths,
                    np.int64(1) << 62,
                    stamp,
                )
                own += weight
                at += 1
            row = find_pair(pairs, mask, pair_key(left, right))
            if pairs[row] >= 0:
                pairs[row + COUNT] -= own
            symbol_counts[left] -= own
            symbol_counts[right] -= own
            symbol_counts[new] += own
            state[AT], state[N_TOUCHED] = at, n_touched
            if full != DONE:
                return full
            state[RESCORED], state[SIDE] = firsts[left], 0
            state[STAGE] = RESCORING

        if state[STAGE] == RESCORING:
            while True:
                symbol = left if state[SIDE] == 0 else right
                cell = state[RESCORED] - 1
                while cell >= 0:
                    if size >= most_entries:
                        state[RESCORED], state[HEAP_SIZE] = cell + 1, size
                        return HEAP_FULL
                    key = _partner_key(symbol, partners[2 * cell])
                    row = find_pair(pairs, mask, key)
                    if pairs[row] == key and pairs[row + COUNT] >= least:
                        count = pairs[row + COUNT]
                        score = _score(count, symbol_counts[key >> 32], symbol_counts[key & _LOW_32])
                        _push(scores, counts, keys, size, score, count, key)
                        size += 1
                    cell = np.int64(partners[2 * cell + 1]) - 1
                if state[SIDE] == 1 or left == right:
                    break
                state[SIDE] = 1
                state[RESCORED] = firsts[right]
            state[HEAP_SIZE] = size
            state[STAGE] = DRAINING

        if state[STAGE] == DRAINING:
            drained = state[N_DRAINED]
            while drained < state[N_TOUCHED]:
                if size >= most_entries or state[N_PARTNERS] + 2 > most_partners:
                    state[N_DRAINED], state[HEAP_SIZE] = drained, size
                    return HEAP_FULL if size >= most_entries else PARTNERS_FULL
                key = touched[drained]
                row = find_pair(pairs, mask, key)
                if pairs[row] >= 0 and pairs[row + COUNT] > 0:
                    first, second = key >> 32, key & _LOW_32
                    _add_partner(partners, firsts, state, first, second, 1)
                    if first != second:
                        _add_partner(partners, firsts, state, second, first, 0)
                    count = pairs[row + COUNT]
                    if count >= least:
                        score = _score(count, symbol_counts[first], symbol_counts[second])
                        _push(scores, counts, keys, size, score, count, key)
                        size += 1
                drained += 1
            state[HEAP_SIZE] = size
            state[STAGE] = CHOOSING
