"""The pre-tokenizers of `tokenizer.json`, by their names there: a stretch of text into several.

This is the plain form, in Python, with patterns run by `regex`; `cuts` is the compiled one. `ByteLevel` writes
the bytes of its pieces as characters only where it is asked to: a model of bytes rather has its vocabulary read
as bytes, and the text left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from tokbench.errors import TokenizerError
from tokbench.kernels.unicode_classes import CATEGORIES, general_categories, ranges
from tokbench_subword.pipeline.normalizers import compile_pattern, spelled_out
from tokbench_subword.pipeline.patterns import NAMED
from tokbench_subword.pipeline.regexes import compile_regex
from tokbench_subword.pipeline.splitting import Spans, split_spans
from tokbench_subword.pipeline.stretch import Stretch

PreTokenizer = Callable[[Stretch], Iterable[Stretch]]

GPT2_PATTERN = NAMED["gpt2"]
"""What `ByteLevel` splits by unless told not to."""


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
    kind = str(config.get("type"))
    if kind == "Sequence":
        if None in config["pretokenizers"]:
            raise TokenizerError("a pre-tokenizer of the Sequence is null")
        return partial(_in_order, [pre_tokenizer_of(item, spell=spell) for item in config["pretokenizers"]])
    if kind == "ByteLevel":
        split = _regex_split(GPT2_PATTERN, "Isolated") if config.get("use_regex", True) else None
        return partial(_byte_level, bool(config.get("add_prefix_space", True)), split, spell)
    if kind == "Split":
        spans, invert = compile_pattern(config["pattern"]), bool(config.get("invert", False))
        return partial(_split, spans, _behavior(config["behavior"]), invert)
    if kind == "Digits":
        each = bool(config.get("individual_digits"))
        return _regex_split(cut_at("Digits"), "Isolated" if each else "Contiguous")
    if kind == "Whitespace":
        return partial(_split, compile_regex(r"\w+|[^\w\s]+", "rust").spans, "Removed", True)
    if kind == "WhitespaceSplit":
        return _regex_split(r"\s", "Removed")
    if kind == "Punctuation":
        return _regex_split(cut_at("Punctuation"), _behavior(config.get("behavior", "Isolated")))
    if kind == "BertPreTokenizer":
        return partial(
            _in_order, [_regex_split(r"\s", "Removed"), _regex_split(cut_at("Punctuation"), "Isolated")]
        )
    if kind == "CharDelimiterSplit":
        return partial(_split, compile_pattern({"String": str(config["delimiter"])}), "Removed", False)
    if kind == "Metaspace":
        mark, scheme, split_too = str(config["replacement"]), prepend_scheme(config), config.get("split")
        return partial(_metaspace, mark, scheme, split_too is not False)
    if kind == "FixedLength":
        return partial(_fixed_length, fixed_length(config))
    raise TokenizerError(
        f"the pre-tokenizer {kind!r:.80} is not known to this plugin; load the tokenizer with `transformers:`"
    )


@lru_cache(maxsize=4)
def cut_at(kind: str) -> str:
    """The characters that a pre-tokenizer of `tokenizers` cuts at, as a set in brackets.

    Asked of the library itself, since it has them from several versions of Unicode: of those that are numbers,
    or punctuation and symbols, in Unicode 16.0, and of those that were unassigned then and may be since.
    """
    from tokenizers import pre_tokenizers

    first, categories = ("0", "N") if kind == "Digits" else ("!", "PSMNZ")
    options = {"individual_digits": False} if kind == "Digits" else {"behavior": "contiguous"}
    wanted = [name[0] in categories or name == "Cn" for name in CATEGORIES]
    points = np.flatnonzero(np.array(wanted)[general_categories()])
    points = points[(points < 0x34000) & ((points < 0xD800) | (points > 0xFFFF) | (points // 0x1000 == 0xF))]
    asked = first + "".join(map(chr, points.tolist()))
    pieces = getattr(pre_tokenizers, kind)(**options).pre_tokenize_str(asked)
    return "[" + ranges(ord(one) for piece, _ in pieces[::2] for one in piece) + "]"


def _in_order(steps: Sequence[PreTokenizer], stretch: Stretch) -> list[Stretch]:
    pieces = [stretch]
    for step in steps:
        pieces = [part for piece in pieces for part in step(piece)]
    return pieces


def _regex_split(pattern: str, behavior: str) -> PreTokenizer:
    return partial(_split, compile_regex(pattern, "oniguruma").spans, behavior, False)


def _behavior(value: Any) -> str:
    """What becomes of matches; raises `TokenizerError` for a word that says nothing of it."""
    if value not in ("Removed", "Isolated", "Contiguous", "MergedWithPrevious", "MergedWithNext"):
        raise TokenizerError(f"the split behavior {value!r:.80} is not known")
    return str(value)


def _split(spans: Spans, behavior: str, invert: bool, stretch: Stretch) -> list[Stretch]:
    """Cut at the matches; `behavior` says what becomes of them."""
    return [stretch.part(start, end) for start, end in split_spans(spans, behavior, invert, stretch.text)]


def _byte_level(prefix: bool, split: PreTokenizer | None, spell: bool, stretch: Stretch) -> Iterable[Stretch]:
    if prefix and stretch.text and not stretch.text.startswith(" "):
        stretch = stretch.edited([(0, 0, " ")])
    pieces = split(stretch) if split else [stretch]
    return map(spelled_out, pieces) if spell else pieces


def _metaspace(replacement: str, scheme: str, split: bool, stretch: Stretch) -> Iterable[Stretch]:
    first = stretch.first
    spaces = compile_pattern({"String": " "})
    stretch = stretch.edited((start, end, replacement) for start, end in spaces(stretch.text))
    wanted = scheme == "always" or (scheme == "first" and first)
    if wanted and stretch.text and not stretch.text.startswith(replacement):
        stretch = stretch.edited([(0, 0, replacement)])
    if not split:
        return [stretch]
    return _split(compile_pattern({"String": replacement}), "MergedWithNext", False, stretch)


def prepend_scheme(config: Mapping[str, Any]) -> str:
    """Which texts ``Metaspace`` puts its mark before: ``always``, ``never``, or ``first``."""
    scheme = config.get("prepend_scheme") or ("always" if config.get("add_prefix_space", True) else "never")
    return str(scheme).lower()


def fixed_length(config: Mapping[str, Any]) -> int:
    """The characters of each piece that ``FixedLength`` cuts; raises `TokenizerError` where that is 0."""
    length = min(int(config.get("length", 5)), 1 << 30)  # more than any text has, and patterns cannot count to
    if length < 1:
        raise TokenizerError(
            f"the pre-tokenizer FixedLength cuts pieces of {length} characters; give it 1 or more"
        )
    return length


def _fixed_length(length: int, stretch: Stretch) -> list[Stretch]:
    return [stretch.part(at, min(at + length, len(stretch.text))) for at in range(0, len(stretch.text), length)]
