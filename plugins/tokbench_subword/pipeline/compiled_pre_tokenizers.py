"""A pre-tokenizer of a `tokenizer.json` compiled: what it changes in a text, and what cuts it, in order.

The plain form is `pre_tokenizers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from tokbench.kernels.pointers import PADDING
from tokbench_subword.pipeline.compiled_normalizers import BatchNormalizer, compiled_normalizer_of
from tokbench_subword.pipeline.patterns.cutters import Cutter, cutter_of, few_of
from tokbench_subword.pipeline.pre_tokenizers import prepend_scheme, splits_of
from tokbench_subword.pipeline.replacing_kernel import edges, write_pieces
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import Written


@dataclass(frozen=True, slots=True)
class IntoPieces:
    """Each of the cutters cuts the pieces of the one before, which are texts from then on."""

    cutters: tuple[Cutter, ...]

    def __call__(self, texts: Segments) -> Segments:
        """The pieces."""
        return texts.cut(self.cutters)

    @property
    def written(self) -> tuple[Written, ...] | None:
        """The kernels that do the same to texts without added tokens; None where that takes more."""
        return cutting(self.cutters)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Each character is written otherwise, by a normalizer that looks at no other."""

    normalizer: BatchNormalizer

    def __call__(self, texts: Segments) -> Segments:
        """The texts rewritten."""
        changed = self.normalizer(texts)
        if texts.leading is None:
            return changed
        return replace(changed, leading=np.diff(self.normalizer(texts.heads()).offsets))

    @property
    def written(self) -> tuple[Written, ...] | None:
        """See `IntoPieces`."""
        return self.normalizer.written


@dataclass(frozen=True, slots=True)
class Prefixed:
    """`text` goes before each text that does not begin with it, or before those where a document begins."""

    text: str
    only_first: bool = False

    def __call__(self, texts: Segments) -> Segments:
        """The texts with what goes before them."""
        leading, head = texts.leading, self.text.encode()
        written = _prefixing_all(self.text)
        if self.only_first and leading is not None:
            written = edges(head, once=True, wanted=(leading > 0).view(np.uint8))
        n_texts = len(texts.offsets) - 1
        size = int(texts.offsets[-1] - texts.offsets[0]) + len(head) * n_texts + PADDING
        prefixed = texts.by_kernel(written, size)
        if leading is None:
            return prefixed
        grown = np.diff(prefixed.offsets) - np.diff(texts.offsets)
        return replace(prefixed, leading=leading + grown * (leading > 0))

    @property
    def written(self) -> tuple[Written, ...]:
        """See `IntoPieces`; where each text is a whole document."""
        return (_prefixing_all(self.text),)


@lru_cache(maxsize=16)
def _prefixing_all(prefix: str) -> Written:
    """What puts `prefix` before all texts; made once, since that takes a quarter of a short batch's time."""
    return edges(prefix.encode(), once=True)


TextChange = IntoPieces | Rewritten | Prefixed
"""Something done to the texts of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """What a pre-tokenizer does to a text: the `changes`, in order; then each of `cutters` cuts the pieces of
    the one before. Without cutters, a text is one pre-token.
    """

    changes: tuple[TextChange, ...] = ()
    cutters: tuple[Cutter, ...] = ()

    @property
    def only_first(self) -> bool:
        """Whether anything asks where a document begins."""
        return any(isinstance(change, Prefixed) and change.only_first for change in self.changes)

    @property
    def reasons(self) -> Sequence[str]:
        """What some patterns have that no kernel can do: these are cut in Python."""
        before = (change.cutters for change in self.changes if isinstance(change, IntoPieces))
        return [one.reason for cutters in (*before, self.cutters) for one in cutters if one.reason]


def cutting(cutters: Sequence[Cutter]) -> tuple[Written, ...] | None:
    """The kernels that make each piece a text of its own; None where a cutter is none."""
    machines = [cutter.block for cutter in cutters]
    if any(machine is None for machine in machines):
        return None
    return tuple(Written(write_pieces, [cutter], cutter.block) for cutter in cutters)


def cuts_of(steps: Sequence[Mapping[str, Any]], *, spell: bool = False) -> Cuts:
    """The compiled form of pre-tokenizers that follow one another.

    ``ByteLevel`` spells bytes as letters where it is asked to, or where something cuts behind it.

    Example:
        >>> cuts = cuts_of([{"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}])
        >>> [type(change).__name__ for change in cuts.changes], cuts.cutters[0].spans(b"_a__b").tolist()
        (['Rewritten', 'Prefixed'], [[0, 2], [2, 3], [3, 5]])
    """
    changes: list[TextChange] = []
    cutters: list[Cutter] = []

    def change(one: TextChange) -> None:
        if cutters:
            changes.append(IntoPieces(few_of(cutters)))
            cutters.clear()
        changes.append(one)

    for number, step in enumerate(steps):
        kind = str(step.get("type"))
        if kind == "ByteLevel" and step.get("add_prefix_space", True):
            change(Prefixed(" "))
        if kind == "Metaspace":
            mark = str(step["replacement"])
            scheme = prepend_scheme(step)
            if mark != " ":
                change(Rewritten(_normalizer(type="Replace", pattern={"String": " "}, content=mark)))
            if scheme != "never":
                change(Prefixed(mark, only_first=scheme == "first"))
        cutters += [cutter_of(*split) for split in splits_of(step)]
        if kind == "ByteLevel" and (spell or number < len(steps) - 1):
            change(Rewritten(_normalizer(type="ByteLevel")))
    return Cuts(changes=tuple(changes), cutters=few_of(cutters))


def _normalizer(**config: object) -> BatchNormalizer:
    normalizer = compiled_normalizer_of(config)
    assert normalizer is not None
    return normalizer
