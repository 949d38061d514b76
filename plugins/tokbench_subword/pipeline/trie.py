r"""A double-array trie over the UTF-8 of a vocabulary's pieces: one 64-bit unit a node, one load a step.

The child of a node for a byte is at ``base + byte``. A unit stores the byte that leads to it, so that a step to
a missing child is detected without a second table (Aoe 1989). No two nodes have the same base, so the byte is
enough, as in darts-clone.

    bits  0..8    the byte that leads here, 256 for a unit that is not in use
    bits  9..34   id of the piece that ends here plus one, 0 for none
    bits 35..63   base of the children, 0 for none
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import inline, lean_kernel
from tokbench.kernels.pointers import Bytes, Int, Ints, Words, pointer
from tokbench.kernels.text import end_to_end

LABEL_MASK = 0x1FF
VALUE_SHIFT, BASE_SHIFT = 9, 35
VALUE_MASK = (1 << BASE_SHIFT - VALUE_SHIFT) - 1
EMPTY = 256
_MOST_NODES = (1 << 64 - BASE_SHIFT) - 1
_SPREAD = 257  # a unit's children lie within base .. base + 255


def build_trie(pieces: Mapping[bytes, int], *, nul: bool = False) -> NDArray[np.uint64]:
    """The trie that maps each of `pieces` to its id: uint64, padded so that no step leaves the array.

    Raises `TokenizerError` for a piece that is empty or, but with `nul`, holds a NUL byte; for ids from 67
    million on, and for a vocabulary of more than 500 million nodes.

    Example:
        >>> units = build_trie({b"a": 0, b"ab": 1})
        >>> [unit_of(units, key) >> VALUE_SHIFT for key in (b"ab", b"b")]  # ids plus one, 0 for none
        [2, 0]
    """
    keys = sorted(pieces)
    for key in keys:
        if not key or (b"\0" in key and not nul):
            raise TokenizerError(f"piece {key!r} cannot be in a vocabulary: it is empty or holds a NUL")
    if keys and max(pieces.values()) >= VALUE_MASK:
        raise TokenizerError(
            f"the id {max(pieces.values()):,} is too large: a trie holds those below {VALUE_MASK:,}"
        )
    data, offsets = end_to_end(keys, spare=16)
    ids = np.fromiter(map(pieces.__getitem__, keys), np.int64, len(keys))
    labels, firsts = np.empty((2, _SPREAD), np.int64)
    stack = np.empty(4 * max(1, len(keys)), np.int64)  # of runs of keys, none of which has two
    capacity = len(data) + 4 * _SPREAD  # there are no more nodes than bytes, and hardly any gaps
    while capacity <= _MOST_NODES:
        units = np.full(capacity, EMPTY, np.uint64)
        used = _build(data, offsets, ids, units, np.zeros(capacity, np.uint8), labels, firsts, stack)
        if used >= 0:
            return units[: used + 2 * _SPREAD].copy()
        capacity *= 2
    raise TokenizerError(f"a vocabulary of {len(keys)} pieces needs more than {_MOST_NODES} trie nodes")


def unit_of(units: NDArray[np.uint64], key: bytes) -> int:
    """The unit that `key` leads to, `EMPTY` if there is none: the plain form of a walk by `descend`."""
    unit = int(units[0])
    for byte in key:
        base = unit >> BASE_SHIFT
        unit = int(units[base + byte]) if base else EMPTY
        if unit & LABEL_MASK != byte:
            return EMPTY
    return unit


@inline
def root_of(units: Words) -> np.int64:
    """The root, at which a walk begins: the base of its children."""
    return np.int64(units[0] >> np.uint64(BASE_SHIFT))


@inline
def descend(units: Words, node: Int, byte: Int) -> tuple[np.int64, np.int64]:
    """The child of a node for a byte (0: it has no children, -1: there is none), and its piece or -1."""
    unit = units[node + byte]
    if np.int64(unit & np.uint64(LABEL_MASK)) != byte:
        return np.int64(-1), np.int64(-1)
    piece = np.int64(unit >> np.uint64(VALUE_SHIFT)) & VALUE_MASK
    return np.int64(unit >> np.uint64(BASE_SHIFT)), piece - 1


@inline
def longest_below(units: Words, node: Int, data: Bytes, at: Int, stop: Int) -> tuple[np.int64, Int]:
    """The longest piece below a node that matches the text from `at` on, or -1; and its end."""
    found, end = np.int64(-1), at
    while at < stop and node > 0:
        node, piece = descend(units, node, np.int64(data[at]))
        at += 1
        if piece >= 0:
            found, end = piece, at
    return found, end


@lean_kernel
def _build(
    data_array: Bytes,
    offsets_array: Ints,
    ids_array: Ints,
    units_array: Words,
    taken_array: Bytes,
    labels_array: Ints,
    firsts_array: Ints,
    stack_array: Ints,
) -> Int:
    """Lay out sorted keys depth first, each node's children at the first base that fits; -1 without enough
    room.

    `taken` marks the bases in use. `labels` are the bytes of a node's children, and `firsts` the first key of
    each child. The stack has four numbers for each node: its place, its first key, the key after its last, its
    depth.
    """
    data, offsets, ids = pointer(data_array), pointer(offsets_array), pointer(ids_array)
    units, taken, stack = pointer(units_array), pointer(taken_array), pointer(stack_array)
    labels, firsts = pointer(labels_array), pointer(firsts_array)
    capacity = np.int64(len(units_array))
    stack[0], stack[1], stack[2], stack[3] = 0, 0, len(ids_array), 0
    on_stack, first_free, highest = np.int64(1), np.int64(_SPREAD), np.int64(0)
    while on_stack > 0:
        on_stack -= 1
        top = 4 * on_stack
        node, low, high, depth = stack[top], stack[top + 1], stack[top + 2], stack[top + 3]
        if low < high and offsets[low + 1] - offsets[low] == depth:
            units[node] |= np.uint64(ids[low] + 1) << np.uint64(VALUE_SHIFT)
            low += 1
        if low >= high:
            continue
        n_labels, previous = np.int64(0), np.int64(-1)
        for key in range(low, high):
            label = np.int64(data[offsets[key] + depth])
            if label != previous:
                labels[n_labels], firsts[n_labels] = label, key
                n_labels, previous = n_labels + 1, label
        firsts[n_labels] = high
        while first_free < capacity and units[first_free] != np.uint64(EMPTY):
            first_free += 1
        base, tries, fits = max(np.int64(1), first_free - labels[0]), 0, False
        while not fits:
            if base + _SPREAD >= capacity:
                return np.int64(-1)
            fits = taken[base] == 0
            for index in range(n_labels):
                if not fits:
                    break
                slot = base + labels[index]
                fits = slot >= _SPREAD and units[slot] == np.uint64(EMPTY)
            if not fits:
                base, tries = base + 1, tries + 1
                # a crowded start is not searched again: its holes stay free. After 2048 tries, building would
                # take four times as long (r50k, cl100k), and save one unit in a thousand
                if tries == 256:
                    first_free += 64
        taken[base] = 1
        units[node] |= np.uint64(base) << np.uint64(BASE_SHIFT)
        for index in range(n_labels - 1, -1, -1):
            slot, top = base + labels[index], 4 * on_stack
            units[slot] = np.uint64(labels[index])
            highest = max(highest, slot)
            stack[top], stack[top + 1], stack[top + 2] = slot, firsts[index], firsts[index + 1]
            stack[top + 3] = depth + 1
            on_stack += 1
    return highest
