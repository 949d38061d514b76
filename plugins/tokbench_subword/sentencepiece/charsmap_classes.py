"""Find the characters that a precompiled map can change, so that its trie is searched only at those.

Most characters have no rule, or only one before a few others ("e" before a combining accent). A table by code
point, made once per map by walking the trie, stores this.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench_subword.pipeline.character_map import MapTrie, split_map

SPECIAL = 1
"""Class bit of a character that may have to be changed: it has a rule of its own, may begin a user-defined
symbol, or is U+2581."""
JOINED = 2
"""Class bit of the first character of a longer rule."""
FOLLOWER = 4
"""Class bit of the second character of a rule."""


@lru_cache(maxsize=8)
def compiled_map(charsmap: bytes, where: str) -> tuple[Any, ...]:
    """The units, targets, classes and plain bytes of a map; raises `TokenizerError` if the map is damaged."""
    classes, plain = np.zeros(N_CODE_POINTS, np.uint32), np.zeros(256, np.uint8)
    plain[0x20:0x7F] = 1
    if not charsmap:
        plain[:0x80] = 1
        return np.zeros(0, np.uint32), np.zeros(0, np.uint8), with_special(classes, "\u2581"), plain
    units, targets = split_map(charsmap, where)
    trie = MapTrie(units)
    _, firsts, nodes, ends = trie.characters(trie.root)
    origin, seconds, _, _ = trie.characters(nodes)
    classes[firsts] |= np.where(ends, SPECIAL, 0).astype(np.uint32)
    classes[firsts[origin]] |= np.uint32(JOINED)
    classes[seconds] |= np.uint32(FOLLOWER)
    for changed in (firsts[ends], firsts[origin[seconds < 0x80]]):  # by ASCII, or by ASCII that follows
        plain[changed[changed < 0x80]] = 0
    return units, targets, with_special(classes, "\u2581"), plain


def with_special(classes: NDArray[np.uint32], characters: Iterable[str]) -> NDArray[np.uint32]:
    """A copy of `classes` in which `characters` are SPECIAL."""
    classes = classes.copy()
    classes[list(map(ord, characters))] |= np.uint32(SPECIAL)
    return classes
