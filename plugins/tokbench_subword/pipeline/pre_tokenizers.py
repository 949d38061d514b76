"""The pre-tokenizers of `tokenizer.json`, by their names there: they cut a stretch of text into several.

`splits_of` gives the patterns that they cut at, and what becomes of the matches. The rest is the plain form, in
Python, with patterns run by `regex`; `compiled_pre_tokenizers` is the compiled form. ``ByteLevel`` writes bytes
in the byte alphabet only if asked to: a byte-level model has its vocabulary converted to bytes instead, and the
text stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.unicode_classes import ranges, unpacked
from tokbench_subword.pipeline import unicode_tables
from tokbench_subword.pipeline.normal_forms import points_of
from tokbench_subword.pipeline.normalizers import spelled_out
from tokbench_subword.pipeline.patterns import NAMED
from tokbench_subword.pipeline.patterns.behaviors import Rules
from tokbench_subword.pipeline.patterns.class_names import Dialect
from tokbench_subword.pipeline.patterns.cutters import leaves_no_gaps
from tokbench_subword.pipeline.patterns.parsing import MOST_TIMES
from tokbench_subword.pipeline.patterns.point_sets import Points
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.patterns.tree import quoted
from tokbench_subword.pipeline.stretch import Stretch

GPT2_PATTERN = NAMED["gpt2"]
"""The pattern of `ByteLevel`, unless ``use_regex`` is false."""


class Split(NamedTuple):
    """A cut at the matches of a pattern; `invert` swaps matches and the text between them."""

    source: str
    dialect: Dialect
    behavior: str = "Isolated"
    invert: bool = False


def splits_of(step: Mapping[str, Any]) -> list[Split]:
    """The cuts that a pre-tokenizer makes, if any; raises `TokenizerError` for an unknown one.

    Example:
        >>> splits_of({"type": "Metaspace", "replacement": "_"})
        [Split(source='_', dialect='oniguruma', behavior='MergedWithNext', invert=False)]
    """
    kind = str(step.get("type"))
    if kind == "ByteLevel":
        return [Split(GPT2_PATTERN, "oniguruma")] if step.get("use_regex", True) else []
    if kind == "Metaspace":
        mark = quoted(str(step["replacement"]))
        return [] if step.get("split") is False else [Split(mark, "oniguruma", "MergedWithNext")]
    if kind == "Split":
        source, behavior = expression_of(step["pattern"]), str(step["behavior"])
        return [Split(source, "oniguruma", behavior, bool(step.get("invert", False)))]
    if kind == "Digits":
        each = bool(step.get("individual_digits"))
        return [Split(cut_at("Digits"), "oniguruma", "Isolated" if each else "Contiguous")]
    if kind == "Whitespace":
        return [Split(r"\w+|[^\w\s]+", "rust", "Removed", True)]
    if kind == "WhitespaceSplit":
        return [Split(r"\s", "oniguruma", "Removed")]
    if kind == "Punctuation":
        return [Split(cut_at("Punctuation"), "oniguruma", str(step.get("behavior", "Isolated")))]
    if kind == "BertPreTokenizer":
        marks = cut_at("Punctuation")
        return [Split(rf"{marks}|[^\s{marks[1:]}+", "oniguruma", "Removed", True)]
    if kind == "CharDelimiterSplit":
        return [Split(quoted(str(step["delimiter"])), "oniguruma", "Removed")]
    if kind == "UnicodeScripts":
        return [Split(runs, "oniguruma", "Removed", True) for runs in _script_runs()]
    if kind == "FixedLength":
        return [Split(f"(?s:.{{1,{_fixed_length(step)}}})", "rust")]
    raise TokenizerError(
        f"the pre-tokenizer {kind!r:.80} is not known to this plugin; load the tokenizer with `transformers:`"
    )


def keeps_text(steps: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the pieces of every text, joined, are that text: nothing is dropped, and nothing is added.

    Example:
        >>> keeps_text([{"type": "Digits"}, {"type": "ByteLevel", "add_prefix_space": False}])
        True
        >>> keeps_text([{"type": "WhitespaceSplit"}]), keeps_text([{"type": "ByteLevel"}])
        (False, False)
    """

    def keeps(split: Split) -> bool:
        return split.behavior != "Removed" or (split.invert and leaves_no_gaps(split.source, split.dialect))

    return all(
        step["type"] != "Metaspace"
        and not (step["type"] == "ByteLevel" and step.get("add_prefix_space", True))
        and all(map(keeps, splits_of(step)))
        for step in steps
    )


def expression_of(pattern: Mapping[str, str]) -> str:
    """A pattern of `tokenizer.json`, a ``String`` or a ``Regex``, as an expression of Oniguruma."""
    return str(pattern["Regex"]) if "Regex" in pattern else quoted(str(pattern["String"]))


@lru_cache(maxsize=2)
def cut_at(kind: str) -> str:
    """The characters that a pre-tokenizer of `tokenizers` cuts at, as a set in brackets."""
    return f"[{ranges(points_of(unicode_tables.DIGITS if kind == 'Digits' else unicode_tables.PUNCTUATION))}]"


@lru_cache(maxsize=1)
def _script_runs() -> tuple[str, str]:
    """Two expressions that together match runs of one script: the second cuts the matches of the first.

    A space, or a character without a script, belongs to the run before it; before the first run it is dropped.
    Hiragana and Katakana count as Han. The scripts are arranged in a square: the first expression distinguishes
    its rows, the second its columns. A single expression would need more classes than an automaton has.
    """
    scripts = unpacked(unicode_tables.SCRIPTS).astype(np.int64)
    none = scripts == 0

    def runs_of(numbers: NDArray[np.int64]) -> str:
        kinds = [_members((numbers == number) & ~none) for number in np.unique(numbers[~none])]
        return "|".join(f"[{kind}][{kind}{_members(none)}]*" for kind in kinds)

    rows, columns = np.divmod(scripts - 1, isqrt(int(scripts.max())) + 1)
    return runs_of(rows), runs_of(columns)


def _members(flags: NDArray[np.bool_]) -> str:
    """The code points that `flags` marks, as the inside of a bracket expression."""
    runs = Points.of_flags(flags).bounds.reshape(-1, 2).tolist()
    return "".join(f"\\x{{{first:X}}}-\\x{{{stop - 1:X}}}" for first, stop in runs)


def _fixed_length(config: Mapping[str, Any]) -> int:
    """The length in characters of the pieces of ``FixedLength``; raises `TokenizerError` if it is 0."""
    length = min(int(config.get("length", 5)), MOST_TIMES)
    if length < 1:
        raise TokenizerError(
            f"the pre-tokenizer FixedLength cuts pieces of {length} characters; give it 1 or more"
        )
    return length


PreTokenizer = Callable[[Stretch], Iterable[Stretch]]


def pre_tokenizer_of(config: Mapping[str, Any] | None, *, spell: bool = False) -> PreTokenizer:
    """The pre-tokenizer of a `tokenizer.json`; raises `TokenizerError` for an unknown one.

    With `spell`, ``ByteLevel`` writes pieces in the byte alphabet, for models that work on characters.

    Example:
        >>> split = pre_tokenizer_of({"type": "Digits", "individual_digits": True})
        >>> [piece.text for piece in split(Stretch("ab12"))]
        ['ab', '1', '2']
    """
    if config is None:
        return lambda stretch: [stretch]
    if config.get("type") == "Sequence":
        return partial(_in_order, [pre_tokenizer_of(item, spell=spell) for item in config["pretokenizers"]])
    split = partial(_in_order, [_cutting(one) for one in splits_of(config)])
    if config["type"] == "ByteLevel":
        return partial(_byte_level, bool(config.get("add_prefix_space", True)), split, spell)
    if config["type"] == "Metaspace":
        return partial(_metaspace, str(config["replacement"]), prepend_scheme(config), split)
    return split


def _in_order(steps: Sequence[PreTokenizer], stretch: Stretch) -> list[Stretch]:
    pieces = [stretch]
    for step in steps:
        pieces = [part for piece in pieces for part in step(piece)]
    return pieces


def _cutting(split: Split) -> PreTokenizer:
    regex, rules = compile_regex(split.source, split.dialect), Rules.of(split.behavior, invert=split.invert)
    return lambda stretch: [stretch.part(*span) for span in regex.split(stretch.text, rules)]


def _byte_level(prefix: bool, split: PreTokenizer, spell: bool, stretch: Stretch) -> Iterable[Stretch]:
    if prefix and stretch.text and not stretch.text.startswith(" "):
        stretch = stretch.edited([(0, 0, " ")])
    pieces = split(stretch)
    return map(spelled_out, pieces) if spell else pieces


def _metaspace(replacement: str, scheme: str, split: PreTokenizer, stretch: Stretch) -> Iterable[Stretch]:
    first = stretch.first
    spaces = ((at, at + 1, replacement) for at, character in enumerate(stretch.text) if character == " ")
    stretch = stretch.edited(spaces)
    wanted = scheme == "always" or (scheme == "first" and first)
    if wanted and stretch.text and not stretch.text.startswith(replacement):
        stretch = stretch.edited([(0, 0, replacement)])
    return split(stretch)


def prepend_scheme(config: Mapping[str, Any]) -> str:
    """When ``Metaspace`` puts its mark before a text: ``always``, ``never``, or only before the ``first``."""
    return str(config.get("prepend_scheme", "never" if config.get("add_prefix_space") is False else "always"))
