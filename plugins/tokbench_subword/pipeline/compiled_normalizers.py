"""The normalizers of `tokenizer.json` for whole batches of UTF-8, compiled from their description.

Each does exactly what `normalizers`, which defines them, does to each text. A normalizer becomes a list of
steps, most of which are kernels over buffers; neighbouring steps that look at single code points become one. A
step without a kernel uses the definition, document by document, in its place among the others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import PADDING, block
from tokbench.kernels.text import utf8_of
from tokbench.kernels.utf8 import encodable
from tokbench_subword.pipeline.bert import BertRules
from tokbench_subword.pipeline.byte_alphabet import CHARACTER_OF
from tokbench_subword.pipeline.character_map import decoded_charsmap
from tokbench_subword.pipeline.normal_form_kernel import normal_form
from tokbench_subword.pipeline.normal_form_tables import normal_form_tables
from tokbench_subword.pipeline.normal_forms import Form
from tokbench_subword.pipeline.normalizers import BY_CHARACTER, becoming, check_growth, text_normalizer_of
from tokbench_subword.pipeline.patterns.cutters import finder_of
from tokbench_subword.pipeline.patterns.tree import NotExpressible
from tokbench_subword.pipeline.precompiled_kernel import by_charsmap, charsmap_tables
from tokbench_subword.pipeline.replacing_kernel import edges, replace_literal, replace_matches, spell_bytes
from tokbench_subword.pipeline.rewriting import Rewriting, rewriting_tables
from tokbench_subword.pipeline.rewriting_kernel import rewrite
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import BoundWriter


@dataclass(frozen=True, slots=True, eq=False)
class NormalizerStep(Stays):
    """A step done by a kernel; `plain` handles the texts that the kernel declines, or all if there is no
    kernel.

    `growth` is the expected growth of a text in bytes, as a factor; if a text grows more, more room is made.
    """

    kernel: BoundWriter | None
    growth: float = 1.25
    plain: Callable[[str], str] | None = None

    def __call__(self, texts: Segments) -> Segments:
        """The texts after this step; the same object if nothing changed."""
        size = int(texts.offsets[-1] - texts.offsets[0])
        return texts.by_kernel(self.kernel, int(self.growth * size), self.plain)


Part = NormalizerStep | Form | Rewriting
"""A step, or something that becomes a step, perhaps together with its neighbours."""


@dataclass(frozen=True, slots=True)
class BatchNormalizer(Stays):
    """A compiled normalizer: its steps, in order."""

    steps: tuple[NormalizerStep, ...]

    @property
    def writers(self) -> tuple[BoundWriter, ...] | None:
        """The kernels of its steps; None if a step needs more than a kernel."""
        kernels = tuple(step.kernel for step in self.steps if step.kernel)
        return None if self.in_python else kernels

    @property
    def in_python(self) -> bool:
        """Whether some step has no kernel, and works document by document."""
        return any(step.kernel is None for step in self.steps)

    def __call__(self, texts: Segments) -> Segments:
        """The segments with their text normalized; the same object if nothing changed.

        Example:
            >>> from tokbench.kernels.text import utf8_of
            >>> normalizer = compiled_normalizer_of({"type": "Sequence", "normalizers": [
            ...     {"type": "Lowercase"}, {"type": "NFD"}]})
            >>> found = normalizer(Segments(*utf8_of(["ONE", "é"])))
            >>> found.data[:6].tobytes().decode() == "onee" + chr(0x301), found.offsets.tolist()
            (True, [0, 3, 6])
        """
        result = texts
        for step in self.steps:
            result = step(result)
            check_growth(len(texts.data), len(result.data))
        return result


def compiled_normalizer_of(config: Mapping[str, Any] | None) -> BatchNormalizer | None:
    """The compiled normalizer a `tokenizer.json` asks for; raises `TokenizerError` for an unknown one."""
    if config is None or text_normalizer_of(config) is None:
        return None
    return _compiled(json.dumps(config))


@lru_cache(maxsize=16)
def _compiled(config: str) -> BatchNormalizer:
    """The normalizer of a JSON text, cached, because tables of all code points take 0.1 s to make."""
    parts: list[Part] = []
    for part in _parts(json.loads(config)):
        if isinstance(part, Rewriting) and parts and isinstance(parts[-1], Rewriting):
            parts[-1] = parts[-1].then(part)
            check_growth(1, max(map(len, parts[-1].becomes)))
        else:
            parts.append(part)
    steps: list[Part] = []
    for part in parts:
        if isinstance(part, Rewriting) and steps and isinstance(steps[-1], str):
            steps[-2:] = _at_once(steps[-2:], part)
        else:
            steps.append(part)
    return BatchNormalizer(tuple(map(_step, steps)))


def _at_once(before: Sequence[Part], last: Rewriting) -> list[Part]:
    """Join a normal form, the part before it (if any) and the rewriting `last` after it to one step if
    possible.

    In three steps, BERT takes 1.15 (English) to 1.3 (21 languages) times as long.
    """
    form = cast(Form, before[-1])
    if form in ("NFC", "NFKC"):  # a rewriting after it would not see a composed accent
        return [*before, last]
    first = before[0] if isinstance(before[0], Rewriting) else Rewriting.of({})
    whole = first.around(form, last)
    if whole is None:
        return [*before, last]
    step = _step(whole, _one_after_the_other(first, form, last))
    return [step] if first is before[0] else [*before[:-1], step]


def _one_after_the_other(*parts: Part) -> Callable[[str], str]:
    """A function that applies the parts to a text as separate steps; their tables are made at its first call.

    It is for documents that the joint step declines because two marks meet in them; plain Python, character by
    character, would take 250 times as long.
    """

    @lru_cache(maxsize=1)
    def steps() -> BatchNormalizer:
        return BatchNormalizer(tuple(map(_step, parts)))

    def normalized(text: str) -> str:
        result = steps()(Segments(*utf8_of([text])))
        return result.data[: result.offsets[-1]].tobytes().decode()

    return normalized


def _step(part: Part, plain: Callable[[str], str] | None = None) -> NormalizerStep:
    """The step of a part; `plain` is for texts in which characters may have to be reordered."""
    if isinstance(part, Rewriting):
        return NormalizerStep(BoundWriter(rewrite, rewriting_tables(part)), 1.5, plain)
    if isinstance(part, str):
        return NormalizerStep(BoundWriter(normal_form, normal_form_tables(part)), 1.5)
    return part


def _parts(config: Mapping[str, Any]) -> Iterator[Part]:
    """The parts of a normalizer, in order."""
    kind = config["type"]
    if kind == "Sequence":
        for item in config["normalizers"]:
            yield from _parts(item)
    elif kind in ("NFC", "NFD", "NFKC", "NFKD"):
        yield cast(Form, kind)
    elif kind in BY_CHARACTER:
        yield Rewriting.to(becoming(kind))
    elif kind == "BertNormalizer":
        for rule in BertRules.from_json(config).on:
            if rule == "strip_accents":
                yield "NFD"
            yield Rewriting.to(becoming(rule))
    elif kind == "Prepend":
        yield NormalizerStep(edges(encodable(str(config["prepend"]))))
    elif kind == "Strip":
        yield NormalizerStep(edges(left=bool(config.get("strip_left")), right=bool(config.get("strip_right"))))
    elif kind == "ByteLevel":
        spellings = b"".join(CHARACTER_OF[byte].encode().ljust(2, b"\0") for byte in range(256))
        yield NormalizerStep(BoundWriter(spell_bytes, [_array(spellings)]), 2)
    elif kind == "Precompiled":
        if charsmap := decoded_charsmap(config.get("precompiled_charsmap")):
            yield NormalizerStep(BoundWriter(by_charsmap, charsmap_tables(charsmap)), plain=_plain(config))
    else:
        yield _replace(config["pattern"], config)


def _replace(pattern: Mapping[str, str], config: Mapping[str, Any]) -> Part:
    """The part that replaces a character, a literal, or an expression (in Python if it has no automaton)."""
    literal = pattern.get("String", "")
    if len(literal) == 1:
        return Rewriting.of({ord(literal): config["content"]})
    old, content = encodable(literal), encodable(config["content"])
    if old:
        return literal_replaced(old, content)
    try:
        cutter = finder_of(pattern.get("Regex", ""))
    except NotExpressible:
        return NormalizerStep(None, plain=_plain(config))
    arrays = [cutter.block, _array(content), np.array([len(content)])]
    return NormalizerStep(BoundWriter(replace_matches, [*arrays, cutter], block(arrays)))


def literal_replaced(old: bytes, new: bytes) -> NormalizerStep:
    """The step that replaces each `old` by `new`."""
    sizes = np.array([len(old), len(new)])
    return NormalizerStep(BoundWriter(replace_literal, [_array(old), _array(new), sizes]))


def _array(data: bytes) -> NDArray[np.uint8]:
    """Bytes as an array, writable as kernels expect it, and followed by readable bytes."""
    return np.frombuffer(bytearray(data + bytes(PADDING)), np.uint8)


def _plain(config: Mapping[str, Any]) -> Callable[[str], str]:
    return cast(Callable[[str], str], text_normalizer_of(config))
