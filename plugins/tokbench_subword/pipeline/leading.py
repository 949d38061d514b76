"""Counts `leading`: how much of a normalized text comes from the very beginning of the text
(`Stretch.leading`).

The scheme ``first`` of Metaspace needs it, since a normalizer may remove the first character or make several of
it. The plain normalizer keeps count. It is given only the head of each text, up to the second letter that no
step changes, because no step except an odd ``Replace`` looks across the beginning of such a letter. For most
texts that is a few characters, and many texts begin with the same ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.copies import cached_property
from tokbench_subword.pipeline.document import steps_of
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.patterns.simplifying import tree_of
from tokbench_subword.pipeline.patterns.tree import NotExpressible, may_be_empty, may_read
from tokbench_subword.pipeline.pre_tokenizers import expression_of
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import BoundWriter
from tokbench_subword.pipeline.stretch import Stretch

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
"""Ranges of letters, none of which combines with the character before it; the first three are ASCII."""
_NEAR = 64
"""How many bytes of a text are searched first."""


class Leading:
    """Finds `Segments.leading` for the texts that a normalizer will make.

    Example:
        >>> strips = Leading({"type": "Strip", "strip_left": True, "strip_right": False})
        >>> from tokbench.kernels.text import utf8_of
        >>> strips.of(Segments(*utf8_of([" a", "a "]))).tolist()
        [0, 1]
    """

    def __init__(self, config: Mapping[str, Any] | None) -> None:
        self._normalize = normalizer_of(config)
        self._steps = [json.dumps(step) for step in steps_of(config, "normalizers")]
        self._of_head = lru_cache(maxsize=1 << 14)(self._leading_of)

    @property
    def writers(self) -> tuple[BoundWriter, ...] | None:
        """The kernels for whole documents: none are needed; None if there is a normalizer."""
        return () if self._normalize is None else None

    def __call__(self, texts: Segments) -> Segments:
        """The texts, still to be normalized, with the `leading` that they will have then."""
        return replace(texts, leading=self.of(texts))

    def of(self, texts: Segments) -> NDArray[np.int64]:
        """The leading bytes of each segment once it is normalized; 0 except in a document's first segment."""
        data, offsets = texts.data, texts.offsets
        leading = np.zeros(len(offsets) - 1, np.int64)
        firsts = texts.limits[:-1][np.diff(texts.limits) > 0]
        if self._normalize is None:
            some = firsts[offsets[firsts] < offsets[firsts + 1]]
            lead = data[offsets[some]]
            leading[some] = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
            return leading
        for first in firsts.tolist():
            leading[first] = self._of_head(self._head(data[offsets[first] : offsets[first + 1]]))
        return leading

    def _head(self, text: NDArray[np.uint8]) -> str:
        """As much of a text as decides its leading bytes."""
        near = text[:_NEAR].tobytes().decode(errors="ignore")
        met = self._ascii.search(near) or self._any.search(near)
        if met is None:
            near = text.tobytes().decode()
            met = self._any.search(near)
        return near[: met.end()] if met else near

    def _leading_of(self, head: str) -> int:
        """The leading bytes of a head once it is normalized."""
        assert self._normalize is not None
        found = self._normalize(Stretch.of(head))
        return len(found.text[: found.leading or 0].encode())

    @cached_property
    def _ascii(self) -> re.Pattern[str]:
        return self._left(_LETTERS[:3])

    @cached_property
    def _any(self) -> re.Pattern[str]:
        return self._left(_LETTERS)

    def _left(self, ranges: Iterable[str]) -> re.Pattern[str]:
        """Matches a letter that no step changes, and everything up to the next such letter."""
        left = [ends for ends in ranges if all(_stops_between(step, ends) for step in self._steps)]
        letters = "".join(f"{ends[0]}-{ends[1]}" for ends in left)
        return re.compile(f"[{letters}][^{letters}]*(?=[{letters}])" if letters else r"(?!)")


@lru_cache(maxsize=1024)
def _stops_between(description: str, ends: str) -> bool:
    """Whether a normalizer changes at most the case of a range's letters, and never looks across two."""
    step = json.loads(description)
    letters = "".join(map(chr, range(ord(ends[0]), ord(ends[1]) + 1)))
    if step["type"] == "Replace":
        try:
            tree = tree_of(expression_of(step["pattern"]), "oniguruma")
        except NotExpressible:
            return False
        cases = letters + letters.lower() + letters.upper()  # a step before it may have changed that
        return not may_be_empty(tree) and not may_read(tree, [ord(one) for one in cases])
    if (normalize := normalizer_of(step)) is None:
        return True
    return normalize(Stretch.of(letters)).text.lower().endswith(letters.lower())
