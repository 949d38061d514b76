"""Which characters a precompiled map touches: so that its trie is walked only where it matters.

Most characters have no rule, or only in front of a few others ("e" before a combining accent). A table says so
per code point, made once per map by walking the trie (darts-clone's 32-bit units).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Bytes, Int, Ints, Keys, pointer
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.kernels.utf8 import put_character
from tokbench_subword.pipeline.precompiled import split_map
from tokbench_subword.pipeline.precompiled_kernel import rule_step, trie_root

SPECIAL = 1
"""In the class of a character that is not copied as it is without a closer look: it has a rule of its own, may
begin a user-defined symbol, or is U+2581."""
JOINED = 2
"""In the class of one that some rule begins with, and goes on."""
FOLLOWER = 4
"""In the class of one that is the second character of some rule."""


@lru_cache(maxsize=8)
def compiled_map(charsmap: bytes, where: str) -> tuple[Any, ...]:
    """The units, targets, classes and plain bytes of a map; raises `TokenizerError` where it is damaged."""
    classes, plain = np.zeros(N_CODE_POINTS, np.uint32), np.zeros(256, np.uint8)
    plain[0x20:0x7F] = 1
    if not charsmap:
        plain[:0x80] = 1
        return np.zeros(0, np.uint32), np.zeros(0, np.uint8), with_special(classes, "\u2581"), plain
    units, targets = split_map(charsmap, where)
    _classify(units, classes, plain, np.zeros(12, np.int64))
    return units, targets, with_special(classes, "\u2581"), plain


def with_special(classes: NDArray[np.uint32], characters: Iterable[str]) -> NDArray[np.uint32]:
    """`classes` with `characters` SPECIAL."""
    classes = classes.copy()
    classes[list(map(ord, characters))] |= np.uint32(SPECIAL)
    return classes


@kernel
def _classify(units_array: Keys, classes: Keys, plain: Bytes, path: Ints) -> None:
    """Fill the classes of all characters, and take the ASCII bytes that ASCII can change out of `plain`.

    `path` is scratch space, int64 ``(12,)``.
    """
    units, n_units = pointer(units_array), len(units_array)
    root = trie_root(units)
    encoded = np.zeros(4, np.uint8)
    for character in range(1, len(classes)):
        size = put_character(character, encoded, 0)
        node, ends = root, False
        for position in range(size):
            node, ends = rule_step(units, n_units, node, np.int64(encoded[position]))
            if node < 0:
                break
        if node < 0:
            continue
        any_follows, ascii_follows = _mark_followers(units, n_units, node, classes, path)
        classes[character] |= (SPECIAL if ends else 0) | (JOINED if any_follows else 0)
        if character < 0x80 and (ends or ascii_follows):
            plain[character] = 0


@inline
def _mark_followers(units: Keys, n_units: Int, node: Int, classes: Keys, path: Ints) -> tuple[bool, bool]:
    """Mark each character behind `node` in the trie as a FOLLOWER; whether there is any, and any in ASCII.

    `path` gets the nodes on the way, at 4 the bits of the character so far, at 8 the byte to try next.
    """
    any_follows = ascii_follows = False
    for first in range(1, 0xF5):
        after, _ = rule_step(units, n_units, node, np.int64(first))
        if after < 0:
            continue
        any_follows = True
        if first < 0x80:
            classes[first] |= FOLLOWER
            ascii_follows = True
            continue
        # depth first over continuation bytes
        left = 1 if first < 0xE0 else 2 if first < 0xF0 else 3
        path[0], path[4], path[8] = after, first & (0x3F >> left), 0x80
        depth = 0
        while depth >= 0:
            byte = path[8 + depth]
            if byte == 0xC0:
                depth -= 1
                continue
            path[8 + depth] += 1
            after, _ = rule_step(units, n_units, path[depth], byte)
            if after < 0:
                continue
            point = path[4 + depth] << 6 | byte & 0x3F
            if depth + 1 == left:
                if point < len(classes):
                    classes[point] |= FOLLOWER
            else:
                depth += 1
                path[depth], path[4 + depth], path[8 + depth] = after, point, 0x80
    return any_follows, ascii_follows
