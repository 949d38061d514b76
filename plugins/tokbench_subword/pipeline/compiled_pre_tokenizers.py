"""A pre-tokenizer of a `tokenizer.json` compiled: what it changes in a text, and what cuts it, in order.

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
    """Each of the cutters cuts what the one before it made; the pieces are texts of their own from then on."""

    cutters: tuple[Cutter, ...]

    def __call__(self, texts: Segments) -> Segments:
        """The pieces."""
        return texts.cut(self.cutters)

    @property
    def writers(self) -> tuple[BoundWriter, ...] | None:
        """The kernels that do the same to texts without added tokens; None where that takes more."""
        return piece_writers(self.cutters)


@dataclass(frozen=True, slots=True)
class Rewritten(BatchNormalizer):
    """Each character is rewritten, whatever is around it, and `leading` is counted in what becomes of it."""

    def __call__(self, texts: Segments) -> Segments:
        """The texts rewritten."""
        changed = BatchNormalizer.__call__(self, texts)
        if texts.leading is None:
            return changed
        heads = BatchNormalizer.__call__(self, texts.heads())
        return replace(changed, leading=np.diff(heads.offsets))


@dataclass(frozen=True, slots=True)
class Prefixed(Stays):
    """`head` goes before each text that does not begin with it, or before those where a document begins."""

    head: bytes
    before_all: BoundWriter
    """What puts it before all texts: to make this for each batch takes a quarter of a short one's time."""
    only_first: bool
    writers: tuple[BoundWriter, ...] | None
    """The kernels that do the same to a text that is a whole document; None where texts are pieces of one."""

    def __call__(self, texts: Segments) -> Segments:
        """The texts with what goes before them."""
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
"""Something done to the texts of a batch."""


def _prefixed_pieces(cutter: Cutter, head: bytes, *, space: bool) -> BatchNormalizer:
    """What writes the pieces of each text end to end, `head` before each that does not begin with it or, where
    that is to become it, with a space; for where the next cutter cuts before every `head`.

    With pieces as texts of their own, all encoding by T5's or ALBERT's tokenizer.json takes 1.2 (code) to 1.5
    times as long (English), the first time and later.
    """
    numbers = np.array([len(head), ord(" ") if space else -1], np.int64)
    arrays = [cutter.block, np.frombuffer(head + bytes(PADDING), np.uint8), numbers]
    writer = BoundWriter(prefix_pieces, [*arrays, cutter], block(arrays))
    return BatchNormalizer((NormalizerStep(writer, 2),))


def piece_writers(cutters: Sequence[Cutter]) -> tuple[BoundWriter, ...] | None:
    """The kernels that make each piece a text of its own; None where a cutter has none."""
    if any(cutter.block is None for cutter in cutters):
        return None
    return tuple(BoundWriter(write_pieces, [cutter], cutter.block) for cutter in cutters)


class _CutsSoFar:
    """What pre-tokenizers that follow one another change and cut, as far as they have been read."""

    def __init__(self) -> None:
        self.changes: list[TextChange] = []
        self.cutters: list[Cutter] = []

    def change(self, one: TextChange) -> None:
        """Have texts changed; what was cut before that are texts of their own by then."""
        if self.cutters:
            self.changes.append(IntoPieces(joined_cutters(self.cutters)))
            self.cutters = []
        self.changes.append(one)

    def rewrite(self, **config: object) -> None:
        """Have each character rewritten, as a normalizer of this description would."""
        normalizer = compiled_normalizer_of(config)
        assert normalizer is not None
        self.change(Rewritten(normalizer.steps))

    def prefix(self, text: str, *, only_first: bool = False) -> None:
        """Have a text put before all texts, or only before those where a document begins."""
        head = text.encode()
        in_pieces = self.cutters or any(isinstance(one, IntoPieces) for one in self.changes)
        kernel = edges(head, once=True)
        self.change(Prefixed(head, kernel, only_first, None if only_first and in_pieces else (kernel,)))

    def mark_spaces(self, step: Mapping[str, Any], *, asks_for_first: bool) -> None:
        """What ``Metaspace`` changes: spaces become its mark, which is also put before texts by its scheme."""
        mark, scheme = str(step["replacement"]), prepend_scheme(step)
        self.cutters = [*joined_cutters(self.cutters)]
        in_place = len(self.cutters) == 1 and self.cutters[0].block is not None and splits_of(step)
        if scheme == "always" and in_place and not asks_for_first:
            self.changes.append(_prefixed_pieces(self.cutters.pop(), mark.encode(), space=mark != " "))
            if mark != " ":  # spaces that are left, mostly none: a search takes a tenth of a table's time
                self.change(Rewritten((literal_replaced(b" ", mark.encode()),)))
            return
        if mark != " ":
            self.rewrite(type="Replace", pattern={"String": " "}, content=mark)
        if scheme != "never":
            self.prefix(mark, only_first=scheme == "first")


def cuts_of(
    steps: Sequence[Mapping[str, Any]], *, spell: bool = False
) -> tuple[tuple[TextChange, ...], tuple[Cutter, ...]]:
    """What pre-tokenizers that follow one another change in a text, in order; then each of the cutters cuts
    what the one before it made. Without cutters, a text is one pre-token.

    ``ByteLevel`` spells bytes as letters where it is asked to, or where something cuts behind it.

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
