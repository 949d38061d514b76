"""The compiled form of a `tokenizer.json`'s pre-tokenizers: changes of the text, then cutters, in order.

The plain form is `pre_tokenizers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import PADDING, block
from tokbench_subword.pipeline.compiled_normalizers import (
    BatchNormalizer,
    NormalizerStep,
    compiled_normalizer_of,
    literal_replaced,
)
from tokbench_subword.pipeline.patterns.cutters import Cutter, cutter_of, joined_cutters
from tokbench_subword.pipeline.pre_tokenizers import prepend_scheme, splits_of
from tokbench_subword.pipeline.replacing_kernel import edges, prefix_pieces, write_pieces
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import BoundWriter


@dataclass(frozen=True, slots=True)
class IntoPieces:
    """Cuts texts by several cutters, one after another; later stages see each piece as a text of its own."""

    cutters: tuple[Cutter, ...]

    def __call__(self, texts: Segments) -> Segments:
        """The pieces."""
        return texts.cut(self.cutters)

    @property
    def writers(self) -> tuple[BoundWriter, ...] | None:
        """The kernels that do the same to texts without added tokens; None if a cutter has no kernel."""
        return piece_writers(self.cutters)


@dataclass(frozen=True, slots=True)
class Rewritten(BatchNormalizer):
    """Rewrites each character independently of its neighbours, and keeps count of the `leading` bytes."""

    def __call__(self, texts: Segments) -> Segments:
        """The texts rewritten."""
        changed = BatchNormalizer.__call__(self, texts)
        if texts.leading is None:
            return changed
        heads = BatchNormalizer.__call__(self, texts.heads())
        return replace(changed, leading=np.diff(heads.offsets))


@dataclass(frozen=True, slots=True)
class Prefixed(Stays):
    """Puts `head` before each text that does not begin with it, or only before the beginnings of documents."""

    head: bytes
    before_all: BoundWriter
    """The writer for all texts, made once: making it takes a quarter of the time of a short batch."""
    only_first: bool
    writers: tuple[BoundWriter, ...] | None
    """The kernels that do the same to whole documents; None if the texts are pieces of documents."""

    def __call__(self, texts: Segments) -> Segments:
        """The texts with their prefix."""
        leading, kernel = texts.leading, self.before_all
        if self.only_first and leading is not None:
            kernel = edges(self.head, once=True, wanted=(leading > 0).view(np.uint8))
        n_texts = len(texts.offsets) - 1
        size = int(texts.offsets[-1] - texts.offsets[0]) + len(self.head) * n_texts + PADDING
        prefixed = texts.by_kernel(kernel, size)
        if leading is None:
            return prefixed
        grown = np.diff(prefixed.offsets) - np.diff(texts.offsets)
        return replace(prefixed, leading=leading + grown * (leading > 0))


TextChange = IntoPieces | BatchNormalizer | Prefixed
"""A stage that changes the texts of a batch."""


def _prefixed_pieces(cutter: Cutter, head: bytes, *, space: bool) -> BatchNormalizer:
    """The stage that puts `head` before each piece and writes the pieces end to end.

    A piece that begins with `head`, or with a `space` that will become `head`, stays as it is. The next cutter
    must cut before every `head`, so pieces need not be texts of their own: if they were, encoding by T5's or
    ALBERT's tokenizer.json would take 1.2 (code) to 1.5 times as long (English), cold and warm.
    """
    numbers = np.array([len(head), ord(" ") if space else -1], np.int64)
    arrays = [cutter.block, np.frombuffer(head + bytes(PADDING), np.uint8), numbers]
    writer = BoundWriter(prefix_pieces, [*arrays, cutter], block(arrays))
    return BatchNormalizer((NormalizerStep(writer, 2),))


def piece_writers(cutters: Sequence[Cutter]) -> tuple[BoundWriter, ...] | None:
    """The kernels that make each piece a text of its own; None if a cutter has no kernel."""
    if any(cutter.block is None for cutter in cutters):
        return None
    return tuple(BoundWriter(write_pieces, [cutter], cutter.block) for cutter in cutters)


class _CutsSoFar:
    """Collects the changes and cutters of pre-tokenizers that follow one another."""

    def __init__(self) -> None:
        self.changes: list[TextChange] = []
        self.cutters: list[Cutter] = []

    def change(self, one: TextChange) -> None:
        """Add a change of the texts; the pieces cut so far become texts of their own before it."""
        if self.cutters:
            self.changes.append(IntoPieces(joined_cutters(self.cutters)))
            self.cutters = []
        self.changes.append(one)

    def rewrite(self, **config: object) -> None:
        """Add a change that rewrites each character as the normalizer with this config does."""
        normalizer = compiled_normalizer_of(config)
        assert normalizer is not None
        self.change(Rewritten(normalizer.steps))

    def prefix(self, text: str, *, only_first: bool = False) -> None:
        """Add a prefix to all texts, or only to the beginnings of documents."""
        head = text.encode()
        in_pieces = self.cutters or any(isinstance(one, IntoPieces) for one in self.changes)
        kernel = edges(head, once=True)
        self.change(Prefixed(head, kernel, only_first, None if only_first and in_pieces else (kernel,)))

    def mark_spaces(self, step: Mapping[str, Any], *, asks_for_first: bool) -> None:
        """Add the changes of ``Metaspace``: spaces become its mark, which also goes before texts by its
        scheme.
        """
        mark, scheme = str(step["replacement"]), prepend_scheme(step)
        self.cutters = [*joined_cutters(self.cutters)]
        in_place = len(self.cutters) == 1 and self.cutters[0].block is not None and splits_of(step)
        if scheme == "always" and in_place and not asks_for_first:
            self.changes.append(_prefixed_pieces(self.cutters.pop(), mark.encode(), space=mark != " "))
            if mark != " ":  # few spaces are left: a search takes a tenth of a table's time
                self.change(Rewritten((literal_replaced(b" ", mark.encode()),)))
            return
        if mark != " ":
            self.rewrite(type="Replace", pattern={"String": " "}, content=mark)
        if scheme != "never":
            self.prefix(mark, only_first=scheme == "first")


def cuts_of(
    steps: Sequence[Mapping[str, Any]], *, spell: bool = False
) -> tuple[tuple[TextChange, ...], tuple[Cutter, ...]]:
    """The changes that a sequence of pre-tokenizers makes, in order, and the cutters that follow them.

    Each cutter cuts the pieces of the one before; without cutters, a text is one pre-token. ``ByteLevel``
    writes bytes in the byte alphabet with `spell`, or if another pre-tokenizer follows.

    Example:
        >>> changes, (cutter,) = cuts_of([
        ...     {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}])
        >>> [type(change).__name__ for change in changes], cutter.spans(b"_a__b").tolist()
        (['Rewritten', 'Prefixed'], [[0, 2], [2, 3], [3, 5]])
    """
    found = _CutsSoFar()
    asks_for_first = any(step.get("type") == "Metaspace" and prepend_scheme(step) == "first" for step in steps)
    for number, step in enumerate(steps):
        byte_level = step.get("type") == "ByteLevel"
        if byte_level and step.get("add_prefix_space", True):
            found.prefix(" ")
        if step.get("type") == "Metaspace":
            found.mark_spaces(step, asks_for_first=asks_for_first)
        found.cutters += [cutter_of(*split) for split in splits_of(step)]
        if byte_level and (spell or number < len(steps) - 1):
            found.rewrite(type="ByteLevel")
    return tuple(found.changes), joined_cutters(found.cutters)
