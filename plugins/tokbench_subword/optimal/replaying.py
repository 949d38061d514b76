"""How PickyBPE encodes a word: it replays the events of training on the word, in the same order.

An event merges a pair into one symbol, or splits one symbol into several. A queue contains the places where
events can happen: the earliest event first, and of equals the leftmost place. An entry is skipped if its
symbols have changed by then. Only later events can happen to the symbols that an event makes. So the time for a
word of n letters grows with n log n.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import inline
from tokbench.kernels.heap import pop, push
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Words, i32_in, i64_in, keep, pointer
from tokbench_subword.bpe.model import MOST_TOKENS
from tokbench_subword.bpe.tables import MOST_RANKS, NONE, PairTable, merges_at, pair_rank
from tokbench_subword.optimal.pickybpe import Event, Picked
from tokbench_subword.optimal.wordwise import WordwiseModel
from tokbench_subword.pipeline.byte_alphabet import spelled, unspelled
from tokbench_subword.words.encoder import Arrays
from tokbench_subword.words.layout import MODEL
from tokbench_subword.words.searching import Search

(
    BYTE_SYMBOLS,  # int32 (256,): the symbol of each byte
    IDS,  # int32: the id of each symbol, -1 for removed tokens
    PAIRS,  # the arrays of a `PairTable`: from the pairs that events merge to an index in TIMES
    _,
    _,
    SPLITS,  # int64: for each symbol, an index in TIMES of the events that split it
    TIMES,  # int64: lists of event numbers, ascending, one for each pair or symbol, each ended by `NEVER`
    BEFORES,  # int32: the symbols before event e, at 2e and 2e + 1; the second is -1 for a split
    AFTERS,  # int64: the symbols after event e begin at ``AFTERS[e]`` in the next array
    SYMBOLS,  # int32
    LENGTHS,  # int32: the length of each symbol in bytes
) = range(MODEL, MODEL + 11)

NEVER = 1 << 62
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


class Spelling(NamedTuple):
    """The current symbols of a word, by place: its bytes have the places from 1 on. Pointers:

    - `symbols` int32: the symbol that begins at a place; -1 within symbols, and at both ends of the word;
    - `firsts` int32: at the last place of a symbol, its first place.
    """

    symbols: Any
    firsts: Any


@inline
def _wait(block: Block, at: Int, now: Int, place: Int, heap: Words, size: np.int64) -> np.int64:
    """Queue the first event later than `now` in the list at `at`, if any; return the new size of the queue."""
    times = i64_in(block, TIMES)
    while times[at] <= now:
        at += 1
    if times[at] == NEVER:
        return size
    return push(heap, size, np.uint64(times[at]) << _HALF | np.uint64(place))


@inline
def _wait_together(block: Block, word: Spelling, place: Int, now: Int, heap: Words, size: np.int64) -> np.int64:
    """Queue the next event of the pair at a place, if any; return the new size of the queue."""
    left = np.int64(word.symbols[place])
    if left < 0:
        return size
    right = np.int64(word.symbols[place + i32_in(block, LENGTHS)[left]])
    if right < 0:
        return size
    first = pair_rank(merges_at(block, PAIRS), np.uint32(left), np.uint32(right))
    return size if first == NONE else _wait(block, np.int64(first), now, place, heap, size)


@inline
def _happens(block: Block, word: Spelling, time: Int, place: Int) -> np.int64:
    """Apply event `time` at a place, if it is possible; return the number of symbols it makes, or 0."""
    befores, afters = i32_in(block, BEFORES), i64_in(block, AFTERS)
    symbols, lengths = i32_in(block, SYMBOLS), i32_in(block, LENGTHS)
    left, right = befores[2 * time], befores[2 * time + 1]
    if word.symbols[place] != left:
        return np.int64(0)
    if right >= 0:
        middle = place + lengths[left]
        if word.symbols[middle] != right:
            return np.int64(0)
        word.symbols[middle] = np.int32(-1)
    at = place
    for index in range(afters[time], afters[time + 1]):
        word.symbols[at] = symbols[index]
        word.firsts[at + lengths[symbols[index]] - 1] = np.int32(at)
        at += lengths[symbols[index]]
    return afters[time + 1] - afters[time]


@Search
def replay_word(block: Block, text: Bytes, start: Int, length: Int, out: Ids, o: int) -> int:
    """Encode a word; return the new end of `out`."""
    byte_symbols, ids, lengths = i32_in(block, BYTE_SYMBOLS), i32_in(block, IDS), i32_in(block, LENGTHS)
    splits = i64_in(block, SPLITS)
    symbols, firsts = np.empty(length + 2, np.int32), np.empty(length + 2, np.int32)
    word, queue = Spelling(pointer(symbols), pointer(firsts)), np.empty(2 * length + 16, np.uint64)
    heap, size, behind = pointer(queue), np.int64(0), np.int64(length + 1)
    word.symbols[0], word.symbols[behind], word.firsts[0] = np.int32(-1), np.int32(-1), np.int32(0)
    for byte in range(1, behind):
        word.symbols[byte] = byte_symbols[text[start + byte - 1]]
        word.firsts[byte] = np.int32(byte)
    for byte in range(1, behind):
        size = _wait_together(block, word, np.int64(byte), np.int64(-1), heap, size)
    while size > 0:
        first = pop(heap, size)
        size -= 1
        time, place = np.int64(first >> _HALF), np.int64(first & _LOW)
        parts = _happens(block, word, time, place)
        if parts == 0:
            continue
        if size + 2 * parts + 1 > len(queue):
            longer = np.empty(2 * len(queue) + 2 * parts, np.uint64)
            longer[:size] = queue[:size]
            queue = longer
            heap = pointer(queue)
        size = _wait_together(block, word, np.int64(word.firsts[place - 1]), time, heap, size)
        for _ in range(parts):
            symbol = word.symbols[place]
            size = _wait(block, splits[symbol], time, place, heap, size)
            size = _wait_together(block, word, place, time, heap, size)
            place += lengths[symbol]
    found, place = o, np.int64(1)
    while place < behind:
        symbol = word.symbols[place]
        out[found] = ids[symbol]
        found += 1
        place += lengths[symbol]
    keep(symbols)
    keep(firsts)
    keep(queue)
    return found


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplayModel(WordwiseModel):
    """A PickyBPE model: the final vocabulary, all symbols (removed ones included), and the events."""

    kind = "PickyBPE"
    ending = ".pickybpe"
    why = "no model of a tokenizer.json splits a token again after merging"
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
        """The arrays for `replay_word`."""
        number = {token: index for index, token in enumerate(self.symbols)}
        afters = np.cumsum([0, *(len(event.after) for event in self.events)])
        return (
            np.array([number[bytes([byte])] for byte in range(256)], np.int32),
            np.array([self.ids.get(token, -1) for token in self.symbols], np.int32),
            *_times(self.events, len(self.symbols)),
            np.array([(*event.before, -1)[:2] for event in self.events] or [(-1, -1)], np.int32).ravel(),
            afters.astype(np.int64),
            np.array([symbol for event in self.events for symbol in event.after] or [0], np.int32),
            np.array([len(symbol) for symbol in self.symbols], np.int32),
        )

    def content(self) -> dict[str, Any]:
        """The model as JSON: tokens and symbols in the byte alphabet, events by the numbers of symbols."""
        return {
            **super().content(),
            "symbols": [spelled(token) for token in self.symbols],
            "events": [[list(event.before), list(event.after)] for event in self.events],
        }

    @classmethod
    def of_content(cls, content: Mapping[str, Any], **around: Any) -> Self:
        """The model of `content`; raises `ValueError` for impossible events, or final symbols without an id."""
        symbols = [unspelled(token) or b"" for token in content["symbols"]]
        events = [Event(tuple(before), tuple(after)) for before, after in content["events"]]
        left = {symbols.index(bytes([byte])) for byte in range(256)}
        for index, event in enumerate(events):
            numbers = (*event.before, *event.after)
            inside = all(type(number) is int and 0 <= number < len(symbols) for number in numbers)
            joins = len(event.before) == 2 and len(event.after) == 1
            if not inside or not (joins or (len(event.before) == 1 and len(event.after) >= 2)):
                raise ValueError(f"event {index} is no merge or split: {event.before} to {event.after}")
            made, was = (b"".join(symbols[number] for number in side) for side in (event.after, event.before))
            if made != was:
                raise ValueError(f"event {index} turns {was!r} into {made!r}")
            if not joins:
                left -= {*event.before}
            left |= {*event.after}
        model = super().of_content(content, symbols=symbols, events=events, **around)
        if strange := next((symbols[number] for number in left if symbols[number] not in model.ids), None):
            raise ValueError(f"{strange!r} is made and never removed, but is not a token")
        return model


def _times(events: Sequence[Event], n_symbols: int) -> tuple[NDArray[Any], ...]:
    """The arrays `PAIRS`, `SPLITS` and `TIMES`."""
    times_of: dict[tuple[int, ...], list[int]] = {}
    for time, event in enumerate(events):
        times_of.setdefault(event.before, []).append(time)
    splits, pairs, firsts = np.zeros(n_symbols, np.int64), [], []
    times: list[int] = [NEVER]  # of symbols that are never split
    for before, own in times_of.items():
        if len(before) == 1:
            splits[before[0]] = len(times)
        else:
            pairs.append(before)
            firsts.append(len(times))
        times += [*own, NEVER]
    if len(times) > MOST_RANKS or n_symbols > MOST_TOKENS:
        raise TokenizerError(f"pickybpe: {n_symbols:,} symbols and {len(events):,} events are too many")
    table = PairTable.of(np.array(pairs, np.int32).reshape(-1, 2), np.array(firsts, np.int32))
    return *table, splits, np.array(times, np.int64)
