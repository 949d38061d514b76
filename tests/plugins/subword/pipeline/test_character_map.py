"""The precompiled character map: its trie walked from many nodes at once, and what is refused."""

from __future__ import annotations

import struct
import unicodedata

import numpy as np
import pytest
from tokbench_subword.pipeline.character_map import MapTrie, split_map
from tokbench_subword.pipeline.precompiled import Precompiled
from tokbench_subword.sentencepiece.rules import charsmap_of

from tokbench import TokenizerError


@pytest.fixture(scope="module")
def charsmap() -> bytes:
    """The map of NFKC and what goes with it, as sentencepiece has it."""
    return charsmap_of("nmt_nfkc")


def test_every_rule_of_one_character_is_found(charsmap: bytes) -> None:
    units, targets = split_map(charsmap, "model")
    trie = MapTrie(units)
    _, points, nodes, ends = trie.characters(trie.root)
    places = units[nodes[ends]].astype(np.int64) & 0x7FFFFFFF
    found = {
        chr(point): targets[place:].tobytes().split(b"\0")[0].decode()
        for point, place in zip(points[ends].tolist(), places.tolist(), strict=True)
    }
    plain = Precompiled(charsmap)
    characters = [chr(point) for point in range(1, 0x30000) if not 0xD800 <= point < 0xE000]
    assert found == {one: new for one in characters if (new := plain._rule(one)) is not None}
    assert found["\ufb01"] == "fi"


def test_characters_are_those_that_a_text_goes_on_with(charsmap: bytes) -> None:
    trie = MapTrie(split_map(charsmap, "model")[0])
    _, firsts, nodes, _ = trie.characters(trie.root)
    origin, seconds, _, ends = trie.characters(nodes)
    pairs = {
        chr(first) + chr(second)
        for first, second in zip(firsts[origin[ends]].tolist(), seconds[ends].tolist(), strict=True)
    }
    composed = (unicodedata.normalize("NFD", chr(point)) for point in range(0xC0, 0x250))
    assert pairs > {pair for pair in composed if len(pair) == 2}
    assert trie.characters(np.array([], np.int64))[0].tolist() == []


def map_of(units: list[int]) -> bytes:
    """A map of these units, whose only target is the letter x."""
    return struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + b"x\0"


def one_source(key: bytes, *, endless: bool = False) -> bytes:
    """A map with one source: node k has its child at ``256 * (k + 1) ^ byte``; the value is behind the last.

    `endless`: the last byte leads to where the first one does.
    """
    units = [1 << 31] * (256 * (len(key) + 2))
    units[0] = 256 << 10
    for number, byte in enumerate(key):
        children = 256 * (number + 1)
        place = children ^ byte
        last = number + 1 == len(key)
        target = 256 if last and endless else children + 256
        units[place] = (place ^ target) << 10 | (last and not endless) << 8 | byte
    return map_of(units)


def test_sources_are_whole_characters() -> None:
    assert Precompiled(one_source("aé".encode()))._rule("aé") == "x"
    for wrong in (b"\xc3", b"a\xe2\x82", b"\x80", b"a\xff", b"\xf5\x80\x80\x80", b"\xc3a"):
        with pytest.raises(TokenizerError, match=r"model: .* damaged: what it replaces is not UTF-8"):
            split_map(one_source(wrong), "model")


def test_a_map_that_goes_in_circles_is_refused() -> None:
    with pytest.raises(TokenizerError, match="damaged"):
        split_map(one_source(b"abc", endless=True), "model")
