"""The precompiled character map of sentencepiece: a trie of source strings, and their replacements.

A map is a double-array trie (darts-clone's 32-bit units) from source strings to positions in a table of
NUL-terminated targets. sentencepiece and `tokenizers` apply it differently: `sentencepiece.charsmap` takes the
longest source at a place, `precompiled` the shortest one of a grapheme cluster. Both use `MapTrie` to classify
characters beforehand, so that the trie is walked only where some source may begin.
"""

from __future__ import annotations

import base64
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import Bytes, Int, Keys
from tokbench.kernels.unicode_classes import N_CODE_POINTS


def decoded_charsmap(charsmap: object) -> bytes:
    """The map in a normalizer's ``precompiled_charsmap``; raises `TokenizerError` if it is not base 64."""
    if not isinstance(charsmap, str):
        raise TokenizerError("the normalizer Precompiled has no precompiled_charsmap")
    try:
        return base64.b64decode(charsmap, validate=True)
    except ValueError as error:
        raise TokenizerError(f"the precompiled_charsmap is not base 64: {error}") from error


def split_map(charsmap: bytes, where: str) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """The trie units and the targets of a compiled map; raises `TokenizerError` if it is damaged."""
    if len(charsmap) < 4:
        raise TokenizerError(f"{where}: the precompiled character map is truncated ({len(charsmap)} bytes)")
    damaged = f"{where}: the precompiled character map is damaged"
    (size,) = struct.unpack_from("<I", charsmap)
    if size % 4 or not 0 < size < len(charsmap) - 4 or charsmap[-1] != 0:
        raise TokenizerError(f"{damaged}: a trie of {size} bytes in a map of {len(charsmap)}")
    units = np.frombuffer(charsmap, np.uint32, size // 4, 4)
    targets = np.frombuffer(charsmap, np.uint8, offset=4 + size)
    try:
        targets.tobytes().decode()
    except UnicodeDecodeError as error:
        raise TokenizerError(f"{damaged}: what it writes is not UTF-8 ({error})") from error
    ends = np.flatnonzero((units >> 31 == 0) & (units >> 8 & 1 == 1)).astype(np.int64)  # a key ends there
    values = ends ^ children_of(units[ends].astype(np.int64))
    places = units[np.minimum(values, len(units) - 1)] & 0x7FFFFFFF
    inside = (values < len(units)) & (places < len(targets))
    if not inside.all() or (targets[places] & 0xC0 == 0x80).any():
        raise TokenizerError(f"{damaged}: a key points to no text in it")
    try:
        _check_sources(units)
    except ValueError as error:
        raise TokenizerError(f"{damaged}: what it replaces is not UTF-8") from error
    return units, targets


def _check_sources(units: NDArray[np.uint32]) -> None:
    """Raise `ValueError` unless all sources of a map consist of whole characters and are finite."""
    trie = MapTrie(units)
    nodes = trie.root
    for _ in range(len(units)):  # no source is longer
        nodes = np.unique(trie.characters(nodes)[2])  # sources that end alike share nodes
        if not len(nodes):
            return
    raise ValueError


def children_of(unit: Any) -> Any:
    """The place of a node's children, relative to it, from its unit in the trie of a map (or from many
    units).
    """
    return unit >> 10 << ((unit & 1 << 9) >> 6)


class MapTrie:
    """The trie of a map, walked from many of its nodes at once; a node is identified by its children's place.

    `units` come from `split_map`; `root` is the first node, int64 ``(1,)``.
    """

    def __init__(self, units: NDArray[np.uint32]) -> None:
        self._units = units.astype(np.int64)
        self.root = np.array([children_of(self._units[0])])
        places = np.flatnonzero((self._units >> 31 == 0) & (self._units & 0xFF != 0))
        parents = places ^ self._units[places] & 0xFF
        order = np.argsort(parents, kind="stable")
        self._places, self._parents = places[order], parents[order]

    def steps(self, nodes: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
        """All steps from some nodes: the index of the node that a step leaves, its byte, the node that it leads
        to, and whether a source ends there.
        """
        first, last = (np.searchsorted(self._parents, nodes, side) for side in ("left", "right"))
        counts = last - first
        origin = np.repeat(np.arange(len(nodes)), counts)
        places = self._places[np.arange(len(origin)) + np.repeat(first - np.cumsum(counts) + counts, counts)]
        units = self._units[places]
        return origin, units & 0xFF, places ^ children_of(units), units >> 8 & 1 == 1

    def characters(self, nodes: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
        """The same by whole characters, as code points; raises `ValueError` if bytes are not UTF-8."""
        origin, byte, node, ends = self.steps(nodes)
        valid = (byte < 0x80) | (byte >= 0xC2) & (byte < 0xF5)
        left = (byte >= 0x80) * 1 + (byte >= 0xE0) + (byte >= 0xF0)  # bytes of the character still to come
        point = np.where(left > 0, byte & 0x3F >> left, byte)
        found = []
        for _ in range(4):
            if not valid.all() or (ends & (left > 0)).any():
                raise ValueError
            found.append([one[left == 0] for one in (origin, point, node, ends)])
            origin, point, node, left = (one[left > 0] for one in (origin, point, node, left))
            within, byte, node, ends = self.steps(node)
            origin, point, left = origin[within], point[within] << 6 | byte & 0x3F, left[within] - 1
            valid = (byte & 0xC0 == 0x80) & (point < N_CODE_POINTS)
        return tuple(map(np.concatenate, zip(*found, strict=True)))


_children_of = inline(children_of)


@inline
def trie_root(units: Keys) -> np.int64:
    """The place of the children of the root of a map's trie (darts-clone's 32-bit units)."""
    return np.int64(_children_of(np.int64(units[0])))


@inline
def rule_step(units: Keys, n_units: Int, node: Int, byte: Int) -> tuple[np.int64, bool]:
    """Follow `byte` from the node whose children are at `node`: the next node's children, and whether a rule
    ends.

    -1 if the trie has no such path.
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
    """The target of the shortest rule that matches at `begin`, or -1; -2 if only rules longer than the text may
    match.
    """
    node, found = trie_root(units), False
    while begin < end and node >= 0 and not found:
        node, found = rule_step(units, n_units, node, np.int64(data[begin]))
        begin += 1
    if found and node < n_units:
        return np.int64(units[node] & np.uint32(0x7FFFFFFF))
    return np.int64(-1) if node < 0 or found else np.int64(-2)
