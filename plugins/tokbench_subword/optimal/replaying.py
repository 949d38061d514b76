"""How PickyBPE encodes a word: what happened in training happens again, in the same order, in this word.

An event makes a pair of symbols one, or one several. The next one is looked for that can happen in the word as
it is spelled now, and is later than the last; it happens wherever it can, from left to right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import i32_in, i64_in, u64_in
from tokbench_subword.optimal.pickybpe import Event, Picked
from tokbench_subword.optimal.wordwise import WordwiseModel
from tokbench_subword.pipeline.byte_alphabet import spelled, unspelled
from tokbench_subword.words.encoder import Arrays
from tokbench_subword.words.layout import MODEL, WORD_KEYS, WORDS
from tokbench_subword.words.searching import Search
from tokbench_subword.words.slots import LONGEST_WORD, remember

(
    BYTE_SYMBOLS,  # int32 (256,): the symbol of each byte
    IDS,  # int32: the id of each symbol, -1 for those that were taken back
    KEYS,  # int64 (2**k,): open addressing, what an event begins with, -1 where there is none
    FIRSTS,  # int64 (2**k,): where the times of its events begin
    TIMES,  # int64: the numbers of events, ascending, those of each key followed by `NEVER`
    AFTERS,  # int64: of event e, its symbols after it begin at ``AFTERS[e]`` in the next array
    SYMBOLS,  # int32
    MASK,  # int64 (1,): the size of the table less one
) = range(MODEL, MODEL + 8)

NEVER = 1 << 62
ALONE = 0xFFFFFFFF
"""In place of the right symbol in the key of an event of one symbol."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@inline
def _next(keys, firsts, times, mask, left, right, now):  # type: ignore[no-untyped-def]
    """The first event of a pair, or of one symbol `ALONE`, that is later than `now`."""
    key = left << 32 | right
    slot = np.int64((np.uint64(key) * _MULTIPLIER) >> np.uint64(32)) & mask
    while keys[slot] != key:
        if keys[slot] < 0:
            return np.int64(NEVER)
        slot = (slot + 1) & mask
    at = firsts[slot]
    while times[at] <= now:
        at += 1
    return times[at]


@inline
def _earliest(block, word, size, now):  # type: ignore[no-untyped-def]
    """The first event later than `now` that can happen in a word of `size` symbols, and where it first does."""
    keys, firsts, times = i64_in(block, KEYS), i64_in(block, FIRSTS), i64_in(block, TIMES)
    mask, best, where = i64_in(block, MASK)[0], np.int64(NEVER), np.int64(0)
    for place in range(size):
        symbol = np.int64(word[place])
        if symbol >= 256:  # bytes are never taken back
            time = _next(keys, firsts, times, mask, symbol, np.int64(ALONE), now)
            if time < best:
                best, where = time, np.int64(place)
        if place + 1 < size:
            time = _next(keys, firsts, times, mask, symbol, np.int64(word[place + 1]), now)
            if time < best:
                best, where = time, np.int64(place)
    return best, where


@Search
def replay_word(block, text, start, length, k, count, out, o):  # type: ignore[no-untyped-def]
    """Encode word `k` of a group, and keep it; return the new end of `out`."""
    byte_symbols, ids = i32_in(block, BYTE_SYMBOLS), i32_in(block, IDS)
    afters, symbols = i64_in(block, AFTERS), i32_in(block, SYMBOLS)
    keys = u64_in(block, WORD_KEYS)
    low, high = keys[2 * k], keys[2 * k + 1]
    word, spare = np.empty(length, np.int32), np.empty(length, np.int32)
    for place in range(length):
        word[place] = byte_symbols[text[start + place]]
    size, now = length, np.int64(-1)
    while True:
        now, where = _earliest(block, word, size, now)
        if now == NEVER:
            break
        first, behind = afters[now], afters[now + 1]
        joins = behind - first == 1  # a symbol that is split becomes two or more
        left = word[where]
        right = word[where + 1] if joins else np.int32(-1)
        target, source = where, where
        for place in range(where):
            spare[place] = word[place]
        while source < size:
            here = word[source] == left
            if here and joins:
                here = source + 1 < size and word[source + 1] == right
            if here:
                for part in range(first, behind):
                    spare[target] = symbols[part]
                    target += 1
                source += 2 if joins else 1
            else:
                spare[target] = word[source]
                target += 1
                source += 1
        word, spare, size = spare, word, target
    for place in range(size):
        out[o + place] = ids[word[place]]
    if length <= LONGEST_WORD:
        remember(u64_in(block, WORDS), low, high, text, start, out, o, size)
    return o + size


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplayModel(WordwiseModel):
    """The tokens that are left, all symbols that ever were, and what happened to them."""

    kind = "PickyBPE"
    ending = ".pickybpe"
    why = "no model of a tokenizer.json takes a token back after merging"
    search = replay_word

    symbols: Sequence[bytes]
    events: Sequence[Event]

    @classmethod
    def of_picked(cls, picked: Picked, n_special: int, **around: Any) -> ReplayModel:
        """The model of a training; special tokens have the first ids."""
        tokens = [picked.symbols[index] for index in picked.present]
        vocabulary = (*[b""] * n_special, *tokens)
        return cls(vocabulary=vocabulary, symbols=picked.symbols, events=picked.events, **around)

    def shared(self) -> Arrays:
        """The arrays that `replay_word` asks for."""
        number = {token: index for index, token in enumerate(self.symbols)}
        afters = np.cumsum([0, *(len(event.after) for event in self.events)])
        return (
            np.array([number[bytes([byte])] for byte in range(256)], np.int32),
            np.array([self.ids.get(token, -1) for token in self.symbols], np.int32),
            *_table(self.events),
            afters.astype(np.int64),
            np.array([symbol for event in self.events for symbol in event.after] or [0], np.int32),
            np.array([_table_size(self.events) - 1], np.int64),
        )

    def content(self) -> dict[str, Any]:
        """Tokens and symbols as a `tokenizer.json` spells them; events by the numbers of symbols."""
        return {
            "tokens": [spelled(token) for token in self.vocabulary],
            "symbols": [spelled(token) for token in self.symbols],
            "events": [[list(event.before), list(event.after)] for event in self.events],
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any], **around: Any) -> ReplayModel:
        """The model of such content; raises `ValueError` for events that cannot be."""
        symbols = [unspelled(token) or b"" for token in content["symbols"]]
        events = [Event(tuple(before), tuple(after)) for before, after in content["events"]]
        for index, event in enumerate(events):
            numbers = (*event.before, *event.after)
            inside = all(type(number) is int and 0 <= number < len(symbols) for number in numbers)
            joins = len(event.before) == 2 and len(event.after) == 1
            if not inside or not (joins or (len(event.before) == 1 and len(event.after) >= 2)):
                raise ValueError(f"event {index} is {event.before} to {event.after}")
            made, was = (b"".join(symbols[number] for number in side) for side in (event.after, event.before))
            if made != was:
                raise ValueError(f"event {index} makes {made!r} of {was!r}")
        vocabulary = tuple(unspelled(token) or b"" for token in content["tokens"])
        return cls(vocabulary=vocabulary, symbols=symbols, events=events, **around)


def _table_size(events: Sequence[Event]) -> int:
    return 1 << max(4, (2 * len(events)).bit_length())


def _table(events: Sequence[Event]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """`KEYS`, `FIRSTS` and `TIMES`."""
    times_of: dict[int, list[int]] = {}
    for time, event in enumerate(events):
        left, right = event.before if len(event.before) == 2 else (event.before[0], ALONE)
        times_of.setdefault(left << 32 | right, []).append(time)
    size = _table_size(events)
    keys, firsts = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    times: list[int] = []
    for key, own in times_of.items():
        slot = ((key * int(_MULTIPLIER)) % (1 << 64) >> 32) & (size - 1)
        while keys[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        keys[slot], firsts[slot] = key, len(times)
        times += [*own, NEVER]
    return keys, firsts, np.array(times or [NEVER], np.int64)
