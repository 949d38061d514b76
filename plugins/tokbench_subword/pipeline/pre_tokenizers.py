"""The pre-tokenizers of `tokenizer.json`, by their names there: a stretch of text into several.

This is the plain form, in Python, with patterns run by `regex`; `cuts` is the compiled one, and `splits`
says where both cut. `ByteLevel` writes the bytes of its pieces as characters only where it is asked to: a model
of bytes rather has its vocabulary read as bytes, and the text left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from tokbench_subword.pipeline.normalizers import spelled_out
from tokbench_subword.pipeline.regexes import Regex, compile_regex
from tokbench_subword.pipeline.splits import Split, splits_of
from tokbench_subword.pipeline.stretch import Stretch

PreTokenizer = Callable[[Stretch], Iterable[Stretch]]


def pre_tokenizer_of(config: Mapping[str, Any] | None, *, spell: bool = False) -> PreTokenizer:
    """The pre-tokenizer a `tokenizer.json` asks for; raises `TokenizerError` for one that is not known.

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
    return partial(_split, compile_regex(split.source, split.dialect), split.behavior, split.invert)


def _split(regex: Regex, behavior: str, invert: bool, stretch: Stretch) -> list[Stretch]:
    return [stretch.part(start, end) for start, end in regex.split(stretch.text, behavior, invert)]


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
    """Which texts ``Metaspace`` puts its mark before: ``always``, ``never``, or ``first``."""
    scheme = config.get("prepend_scheme") or ("always" if config.get("add_prefix_space", True) else "never")
    return str(scheme).lower()
