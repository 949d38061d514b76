"""How much of the beginning of a normalized text stands where the text began: what `Stretch.leading` counts.

A normalizer may take the first character away, or make several of it, and the scheme ``first`` of Metaspace
asks. The plain normalizer keeps account of it. It is given as little of each text as decides: up to the second
of the letters that it leaves as they are. Across the beginning of one only an odd ``Replace`` reaches.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.copies import cached_property
from tokbench_subword.pipeline.document import steps_of
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.pattern_reading import tree_of
from tokbench_subword.pipeline.pattern_tree import Far, Look, Node, NotExpressible, One, may_be_empty, parts_of
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splits import expression_of
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.pipeline.translating import Translator

_LETTERS = (
    *("09", "AZ", "az", "\u00c0\u00d6", "\u00d8\u00f6", "\u00f8\u017f", "\u0391\u03a1", "\u03b1\u03c9"),
    *("\u0400\u0481", "\u041a\u0438", "\u043a\u044f", "\u0531\u0556", "\u0561\u0586", "\u05d0\u05ea"),
    *("\u0621\u063a", "\u0641\u064a", "\u07ca\u07ea", "\u0904\u0928", "\u092a\u0939", "\u0993\u09a8"),
    *("\u09aa\u09b0", "\u0a13\u0a28", "\u0a93\u0aa8", "\u0aaa\u0ab0", "\u0b13\u0b28", "\u0bae\u0bb9"),
    *("\u0c12\u0c28", "\u0c2a\u0c39", "\u0c92\u0ca8", "\u0caa\u0cb3", "\u0d12\u0d3a", "\u0d9a\u0db1"),
    *("\u0e01\u0e2e", "\u0e8c\u0ea3", "\u1000\u1025", "\u10d0\u10fa", "\u1200\u1248", "\u1260\u1288"),
    *("\u1290\u12b0", "\u12d8\u1310", "\u1780\u17b3", "\u2d30\u2d67", "\u3041\u3096", "\u30a1\u30fa"),
    *("\u4e00\u9fa5", "\uac00\ud7a3"),
)
"""First and last of ranges of letters, none of which joins with the one before; three of ASCII."""
_NEAR, _MOST_KNOWN = 64, 1 << 14


class Leading:
    """Tells `Segments.leading` of what a normalizer makes of texts.

    Example:
        >>> strips = Leading({"type": "Strip", "strip_left": True, "strip_right": False})
        >>> strips.of(Segments.of([b" a", b"a "])).tolist()
        [0, 1]
    """

    def __init__(self, config: Mapping[str, Any] | None) -> None:
        self._normalize = normalizer_of(config)
        self._steps = [json.dumps(step) for step in steps_of(config, "normalizers")]
        self._known: dict[str, int] = {}

    def of(self, texts: Segments) -> NDArray[np.int64]:
        """The bytes that stand where each document begins once they are normalized: of its first segment."""
        leading = np.zeros(len(texts.offsets) - 1, np.int64)
        documents = np.arange(len(texts.offsets)) if texts.documents is None else texts.documents
        data, offsets = texts.data, texts.offsets.tolist()
        for first in documents[:-1][np.diff(documents) > 0].tolist():
            leading[first] = self._count(data[offsets[first] : offsets[first + 1]])
        return leading

    def _count(self, text: NDArray[np.uint8]) -> int:
        near = text[:_NEAR].tobytes().decode(errors="ignore")
        if self._normalize is None:
            return len(near[:1].encode())
        met = self._ascii.search(near) or self._any.search(near)
        if met is None:
            near = text.tobytes().decode()
            met = self._any.search(near)
        head = near[: met.end()] if met else near
        if head not in self._known:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            found = self._normalize(Stretch.of(head))
            self._known[head] = len(found.text[: found.leading or 0].encode())
        return self._known[head]

    @cached_property
    def _ascii(self) -> re.Pattern[str]:
        return self._meeting(_LETTERS[:3])

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return self._meeting(_LETTERS)

    def _meeting(self, ranges: Iterable[str]) -> re.Pattern[str]:
        """A letter and all that is before the next, of those that every step leaves."""
        left = [ends for ends in ranges if all(_stops_between(step, ends) for step in self._steps)]
        letters = "".join(f"{ends[0]}-{ends[1]}" for ends in left)
        return re.compile(f"[{letters}][^{letters}]*(?=[{letters}])" if letters else r"(?!)")


@lru_cache(maxsize=1024)
def _stops_between(description: str, ends: str) -> bool:
    """Whether a normalizer leaves the letters of a range, but for their case, and never reaches across two."""
    step = json.loads(description)
    letters = "".join(map(chr, range(ord(ends[0]), ord(ends[1]) + 1)))
    if step["type"] == "Replace":
        try:
            tree = tree_of(Translator(expression_of(step["pattern"]), "oniguruma", exact=False).run())
        except NotExpressible:
            return False
        cases = letters + letters.lower() + letters.upper()  # a step before it may have changed that
        return not may_be_empty(tree) and not _reads_any(tree, [ord(one) for one in cases])
    if (normalize := normalizer_of(step)) is None:
        return True
    return normalize(Stretch.of(letters)).text.lower().endswith(letters.lower())


def _reads_any(node: Node, points: list[int]) -> bool:
    if isinstance(node, Look | Far):
        return True
    if isinstance(node, One):
        return bool(node.points.holds(points).any())
    return any(_reads_any(part, points) for part in parts_of(node))
