"""The normalizer `Precompiled` of `tokenizer.json`, which applies a character map of sentencepiece.

It is *not* what sentencepiece does with the same map, but what `tokenizers` does. A grapheme cluster of fewer
than six bytes is looked up as a whole: the shortest rule that matches its beginning replaces all of it. If
there is no such rule, and in longer clusters, each character is looked up by itself, again with the shortest
rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.unicode_classes import CATEGORIES, general_categories, ranges
from tokbench_subword.pipeline.character_map import children_of, split_map
from tokbench_subword.pipeline.stretch import Stretch

Edit = tuple[int, int, str]
"""The start and end of some characters, and the text that replaces them."""

SHORT_CLUSTER = 6
"""A grapheme cluster of this many bytes or more is not looked up as a whole."""
# Characters that came with Unicode 17.0 and extend the cluster before them.
_EXTENDERS_OF_17 = (
    (0x1ACF, 0x1ADD),
    (0x1AE0, 0x1AEB),
    (0x10EFA, 0x10EFB),
    (0x11B60, 0x11B67),
    (0x1E6E3, 0x1E6E3),
    (0x1E6E6, 0x1E6E6),
    (0x1E6EE, 0x1E6EF),
    (0x1E6F5, 0x1E6F5),
)


@lru_cache(maxsize=1)
def _clustered() -> str:
    """All characters that may be in a grapheme cluster with others, in order."""
    import regex

    points = chain(range(0xD800), range(0xF900, 0x20000), range(0x2F800, 0x2FA20), range(0xE0000, 0xE1000))
    some = r"[\P{GCB=Other}\P{InCB=None}\p{Extended_Pictographic}]+"
    return "".join(regex.findall(some, "".join(map(chr, points))))


def points_of(kinds: str) -> NDArray[np.int64]:
    """The code points of some grapheme cluster classes of `regex`, in order."""
    import regex

    return np.fromiter(map(ord, "".join(regex.findall(f"[{kinds}]+", _clustered()))), np.int64)


@lru_cache(maxsize=1)
def recent_joiners() -> frozenset[int]:
    """Characters that extend the cluster before them for `regex`, but not for `tokenizers`, which follows
    Unicode 17.0 here.
    """
    categories = general_categories()
    joiners = points_of(r"\p{GCB=Extend}\p{GCB=SpacingMark}\p{InCB=Consonant}")
    return frozenset(point for point in joiners.tolist() if CATEGORIES[categories[point]] == "Cn") - {
        point for first, last in _EXTENDERS_OF_17 for point in range(first, last + 1)
    }


class Precompiled:
    """The normalizer `Precompiled` of `tokenizers`, from its character map."""

    def __init__(self, charsmap: bytes) -> None:
        import regex

        self._units: list[int] = []
        self._targets = b""
        if charsmap:
            units, targets = split_map(charsmap, "Precompiled")
            self._units, self._targets = units.astype(np.int64).tolist(), targets.tobytes()
        self._clusters = regex.compile(r"\X")
        recent = f"[{ranges(recent_joiners())}]" if recent_joiners() else r"(?!)"
        self._recent = regex.compile(rf"{recent}(?<!\p{{GCB=Prepend}}.)")  # any character joins such a sign
        # A consonant continues a cluster behind a linker of consonants: where, as for `tokenizers` but not for
        # `regex`, another consonant is before that.
        consonant, between = rf"(?!{recent})\p{{InCB=Consonant}}", r"[\p{InCB=Extend}\p{InCB=Linker}]"
        linked = rf"{consonant}{between}*?\p{{InCB=Linker}}{between}*"
        self._wrongly_joined = regex.compile(rf"(?<={between})(?<!{linked}){consonant}")
        self._known_edits = lru_cache(maxsize=1 << 16)(self._edits)

    def __call__(self, stretch: Stretch) -> Stretch:
        """`stretch` normalized."""
        text = stretch.text
        edits: list[Edit] = []
        for match in self._clusters_of(text):
            found = self._known_edits(match.group())
            edits += [(match.start() + start, match.start() + end, new) for start, end, new in found]
        if not edits:
            return stretch
        return replace(stretch.edited(edits), leading=stretch.leading_after(_changes(edits, len(text))))

    def _clusters_of(self, text: str) -> Iterator[Any]:
        """The grapheme clusters of `text`, in which recent characters do not extend the cluster before them."""
        done = 0
        for cut in [*(match.start() for match in self._recent.finditer(text)), len(text)]:
            yield from self._clusters.finditer(text, done, cut)
            done = cut

    def _edits(self, joined: str) -> tuple[Edit, ...]:
        """The edits of one or more clusters that `regex` takes for a single one."""
        edits: list[Edit] = []
        cuts = [match.start() for match in self._wrongly_joined.finditer(joined)]
        for begin, end in pairwise((0, *cuts, len(joined))):
            edits += self._cluster_edits(joined[begin:end], begin)
        return tuple(edits)

    def _cluster_edits(self, cluster: str, begin: int) -> list[Edit]:
        """The edits of a cluster that begins at `begin`: of all of it, or of some of its characters."""
        whole = self._rule(cluster) if len(cluster.encode()) < SHORT_CLUSTER else None
        if whole is not None:
            return [(begin, begin + len(cluster), whole)]
        each = ((i, i + 1, self._rule(character)) for i, character in enumerate(cluster, begin))
        return [(start, end, new) for start, end, new in each if new is not None]

    def _rule(self, chunk: str) -> str | None:
        """The target of the shortest rule that matches the beginning of `chunk`."""
        units = self._units
        if not units:
            return None
        node = children_of(units[0])
        for byte in chunk.encode():
            if byte == 0:
                return None
            node ^= byte
            if node >= len(units) or units[node] & 0x800000FF != byte:
                return None
            unit = units[node]
            node ^= children_of(unit)
            if unit >> 8 & 1:
                start = units[node] & 0x7FFFFFFF
                return self._targets[start : self._targets.index(b"\0", start)].decode()
        return None


def _changes(edits: Iterable[Edit], length: int) -> Iterator[int]:
    """The changes that `tokenizers` notes for these edits (see `Stretch.leading_after`).

    Removed characters are noted with the new character before them, whichever it is; without one, not at all.
    """
    held: int | None = None  # the last change, until it is known whether more characters are removed
    done = 0
    for start, end, new in (*edits, (length, length, "")):
        more = len(new) - (end - start)
        for change in chain(repeat(0, start - done + len(new) - max(0, more)), repeat(1, max(0, more))):
            if held is not None:
                yield held
            held = change
        if held is not None and more < 0:
            held += more
        done = end
    if held is not None:
        yield held
