"""The encoding kernels: text to ids, pre-token by pre-token, through a cache of words.

Where the time goes, and what is done about it:

- Text is cut by an automaton without a branch at the ends of words (`pipeline.patterns`: `cutting`,
  `simd_cutting`).
- Text repeats itself: more than 95 % of words are found in the word cache (`slots`).
- The word cache does not fit into the processor's fastest cache. So words are taken in groups: all are cut,
  then all are hashed and their slots prefetched, then all are looked up. By then the slots have arrived, and a
  branch misprediction in one of the three steps does not hold up the other two.
- A word that is not in the cache is encoded by the model's search (`searching`), and then entered.

Each kernel takes the block of arrays described in `layout`. Texts must be followed by `pointers.PADDING`
readable bytes, and `out` must have room for one id per byte and `words.slots.SPARE_IDS` more.
"""

from __future__ import annotations

import numpy as np

from tokbench.kernels.calls import (
    addresses_at,
    call,
    called_directly,
    element,
    is_str,
    left_to_python,
    member,
    number,
    string_at,
)
from tokbench.kernels.compiling import kernel, subroutine
from tokbench.kernels.pointers import Block, Bytes, Ids, Int, Ints, i32_in, i64_in, pointer, u8_in, u64_in
from tokbench.kernels.text import write_text
from tokbench_subword.pipeline.patterns.cutting import SPARE, cut_some
from tokbench_subword.pipeline.patterns.simd_cutting import cut_units
from tokbench_subword.pipeline.splicing import (
    DECLINED,
    N_FOUND,
    N_TEXTS,
    NUMBERS,
    OFFSETS,
    SEARCHED,
    TEXT,
    UNCHANGED,
    write_at,
)
from tokbench_subword.words import layout as at
from tokbench_subword.words.layout import GROUP
from tokbench_subword.words.searching import search_at
from tokbench_subword.words.slots import SHIFT, SLOTS, STATE, WHOLE, grow_if_full, note_key, recall, remember


@subroutine
def look_up(
    block: Block, text: Bytes, starts: Ints, ends: Ints, first: Int, count: Int, out: Ids, o: Int
) -> np.int64:
    """Encode up to `GROUP` words, ``text[starts[k]:ends[k]]`` for k from `first` on; return the end of `out`.

    `starts` and `ends` point to int64. ``IDS_END[first]`` of the block receives where the ids of the first word
    begin, and each place after it where the ids of the next word end. A word may be empty.
    """
    keys, ids_end = u64_in(block, at.WORD_KEYS), i64_in(block, at.IDS_END)
    words, counters = u64_in(block, at.WORDS), i64_in(block, at.COUNTERS)
    slots, state = u64_in(words, SLOTS), i64_in(words, STATE)
    shift, longest = state[SHIFT], counters[at.LONGEST_KEPT]
    for k in range(count if longest > 0 else 0):  # an option can turn the cache off
        start = starts[first + k]
        note_key(slots, shift, keys, k, text, start, ends[first + k] - start, WHOLE)
    ids_end[first] = o
    for k in range(count):
        start = starts[first + k]
        after = recall(words, slots, state, keys, k, text, start, out, o) if longest > 0 else np.int64(-1)
        if after < 0:
            after, length = np.int64(o), ends[first + k] - start
            if length > 0:
                after = np.int64(search_at(counters[at.SEARCH], (block, text, start, length, out, o)))
                if length <= longest:
                    remember(words, keys, k, text, start, out, o, after - o)
                    grow_if_full(words)
        o = after
        ids_end[first + k + 1] = o
    return np.int64(o)


@kernel
def encode_texts_of(
    arrays: Block, text: Bytes, units: Ints, first: Int, last: Int, out: Ids, out_ends: Ints
) -> np.int64:
    """Cut and encode the texts ``text[units[u, 0]:units[u, 1]]`` from `first` to `last`; ids of all into `out`.

    ``out_ends[u + 1]`` receives the end of the ids of text u. Returns the number of ids written.
    """
    block, data, bounds = pointer(arrays), pointer(text), pointer(units)
    ids, told = pointer(out), pointer(out_ends)
    machine, ids_end = u64_in(block, at.MACHINE), i64_in(block, at.IDS_END)
    starts, ends = i64_in(block, at.STARTS), i64_in(block, at.ENDS)
    o, unit, row = np.int64(0), first, np.int64(0)
    i = began = units[first, 0] if first < last else np.int64(0)
    while unit < last:
        begun = unit
        unit, i, began, row, count = cut_units(
            machine, data, bounds, last, (unit, i, began, row), starts, ends, told, np.int64(at.WORDS_AT_ONCE)
        )
        ids_end[0] = o
        for k in range(0, count, GROUP):
            o = look_up(block, data, starts, ends, k, min(np.int64(GROUP), count - k), ids, o)
        for u in range(begun, unit):  # so far, told[u + 1] is the number of words up to the end of text u
            told[u + 1] = ids_end[told[u + 1]]
    return o


@subroutine
def _run_writers(block: Block, size: Int) -> np.int64:
    """Run the stages before the cut on the text of `size` bytes in `TEXT`.

    Returns which of the two batches holds the result, `FORTH` or `BACK`; -1 if a stage needs Python.
    """
    counters, writers = i64_in(block, at.COUNTERS), u64_in(block, at.WRITERS)
    now, after = at.FORTH, at.BACK
    batch = u64_in(block, now)
    numbers, declined, offsets = i64_in(batch, NUMBERS), u8_in(batch, DECLINED), i64_in(batch, OFFSETS)
    numbers[N_TEXTS], offsets[0], offsets[1] = 1, 0, size
    for k in range(counters[at.N_WRITERS]):
        numbers[SEARCHED] = numbers[N_FOUND] = 0
        n_texts = numbers[N_TEXTS]
        size = write_at(np.int64(writers[2 * k]), (u64_in(writers, 2 * k + 1), u64_in(block, now)))
        left = size < UNCHANGED
        for t in range(n_texts):
            left |= declined[t] != 0
            declined[t] = 0
        if left:
            return np.int64(-1)
        if size != UNCHANGED:
            now, after = after, now
    return np.int64(now)


@called_directly("text")
def encode_text(state: Int, arguments: Int, n_arguments: Int, names: Int) -> int:
    """The ids of one text: 0.3 µs for a short sentence, where `encode_batch` takes 20 to 90.

    `state` has the function for longer texts, the address of the block, and for each number of ids the function
    that makes the result (see `WordEncoder.one_by_one`).
    """
    if n_arguments != 1 or names != 0:
        return left_to_python(state, arguments, n_arguments, names)
    block, text = addresses_at(number(member(state, 1))), np.intp(addresses_at(arguments)[0])
    counters = i64_in(block, at.COUNTERS)
    if counters[at.BUSY] == 1 or not is_str(text) or len(string_at(text)) > at.TEXT_CHARACTERS:
        return left_to_python(state, arguments, n_arguments, names)
    counters[at.BUSY] = 1
    ids, machine = i32_in(block, at.IDS), u64_in(block, at.MACHINE)
    starts, ends = i64_in(block, at.STARTS), i64_in(block, at.ENDS)
    o = count = none = np.int64(0)  # a plain 0 would be a type of its own, compiled once more
    size = np.int64(write_text(string_at(text), u8_in(block, at.TEXT), none))
    now = _run_writers(block, size)
    batch = u64_in(block, max(now, np.int64(at.FORTH)))
    data, offsets, n_texts = u8_in(batch, TEXT), i64_in(batch, OFFSETS), i64_in(batch, NUMBERS)[N_TEXTS]
    if now < 0 or offsets[n_texts] > counters[at.MOST]:
        counters[at.BUSY] = 0
        return left_to_python(state, arguments, n_arguments, names)
    most = np.int64(GROUP - SPARE)
    for t in range(n_texts):
        i, began, row, end = offsets[t], offsets[t], none, offsets[t + 1]
        if counters[at.CUTS] == 0:
            starts[count], ends[count] = i, end
            count, i = count + 1, end
        while i < end or row != 0:
            i, began, row, count = cut_some(machine, data, i, began, row, end, starts, ends, count, most)
            if count >= most:
                o, count = look_up(block, data, starts, ends, none, count, ids, o), none
        if count >= most:
            o, count = look_up(block, data, starts, ends, none, count, ids, o), none
    o = look_up(block, data, starts, ends, none, count, ids, o)
    counters[at.N_IDS] = o
    found = call(element(member(state, 2), min(o, at.HEADS)))
    counters[at.BUSY] = 0
    return found


@kernel
def encode_spans(
    arrays: Block, text: Bytes, spans: Ints, first: Int, last: Int, out: Ids, out_offsets: Ints
) -> np.int64:
    """Encode pre-tokens that are cut already, int64 ``(n, 2)`` of start and end.

    ``out_offsets[p + 1]`` receives the end of the ids of pre-token p. Returns the number of ids written.
    """
    block, data, ids = pointer(arrays), pointer(text), pointer(out)
    starts, ends, ids_end = i64_in(block, at.STARTS), i64_in(block, at.ENDS), i64_in(block, at.IDS_END)
    o, none, begin = np.int64(0), np.int64(0), first
    while begin < last:
        count = min(np.int64(GROUP), last - begin)
        for k in range(count):
            starts[k], ends[k] = spans[begin + k, 0], spans[begin + k, 1]
        o = look_up(block, data, starts, ends, none, count, ids, o)
        for k in range(count):
            out_offsets[begin + k + 1] = ids_end[k + 1]
        begin += count
    return o
