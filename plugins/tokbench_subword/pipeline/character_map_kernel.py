"""The trie of a precompiled character map (`character_map`), walked in kernels."""

from __future__ import annotations

import numpy as np

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Bytes, Int, Keys
from tokbench_subword.pipeline.character_map import children_of

_children_of = inline(children_of)


@inline
def trie_root(units: Keys) -> np.int64:
    """The place of the children of the root of a map's trie (darts-clone's 32-bit units)."""
    return np.int64(_children_of(np.int64(units[0])))


@inline
def rule_step(units: Keys, n_units: Int, node: Int, byte: Int) -> tuple[np.int64, bool]:
    """From the children's place `node`, the place of the children behind `byte`, and whether a rule ends there.

    -1 where the trie has no such path.
    """
    node ^= byte
    if node >= n_units:
        return np.int64(-1), False
    unit = units[node]
    if np.int64(unit & np.uint32(0x800000FF)) != byte:
        return np.int64(-1), False
    ends = ((unit >> np.uint32(8)) & np.uint32(1)) == np.uint32(1)
    return np.int64(node ^ _children_of(np.int64(unit))), ends


@inline
def shortest_rule(data: Bytes, begin: Int, end: Int, units: Keys, n_units: Int) -> np.int64:
    """Where the target of the shortest rule that begins the text begins, or -1; -2 if only longer ones do."""
    node, found = trie_root(units), False
    while begin < end and node >= 0 and not found:
        node, found = rule_step(units, n_units, node, np.int64(data[begin]))
        begin += 1
    if found and node < n_units:
        return np.int64(units[node] & np.uint32(0x7FFFFFFF))
    return np.int64(-1) if node < 0 or found else np.int64(-2)
