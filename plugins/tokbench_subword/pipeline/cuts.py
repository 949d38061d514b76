"""A pre-tokenizer of a `tokenizer.json` compiled: what it changes in a text, and the automata that cut it, in
order.

The plain form is `pre_tokenizers`; what has no compiled form raises `NotExpressible` and is left to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokbench_subword.pipeline.cutting import Cutter, cutter_of
from tokbench_subword.pipeline.pattern_tree import NotExpressible
from tokbench_subword.pipeline.pre_tokenizers import GPT2_PATTERN, cut_at
from tokbench_subword.pipeline.regexes import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """What a pre-tokenizer does to a text.

    First each of `before` cuts the pieces of the one before, which are texts from then on. Spaces are written
    as `space` where that is something; then `prefix` goes before a text that does not begin with it, or before
    the first of a document only; then each of `cutters` cuts the pieces of the one before. Without cutters, the
    text is one pre-token.
    """

    before: tuple[Cutter, ...] = ()
    cutters: tuple[Cutter, ...] = ()
    prefix: str = ""
    only_first: bool = False
    space: str = ""

    @property
    def leaves_text(self) -> bool:
        """Whether pre-tokens, end to end, are the text itself, but for what is dropped."""
        return not self.prefix and not self.space


def cuts_of(steps: Sequence[Mapping[str, Any]]) -> Cuts:
    """The compiled form of pre-tokenizers that follow one another; raises `NotExpressible`.

    ``ByteLevel`` is not asked to spell bytes as letters: it must be the last step.

    Example:
        >>> cuts = cuts_of([{"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"}])
        >>> cuts.prefix, cuts.space, cuts.cutters[0].spans(b"_a__b").tolist()
        ('_', '_', [[0, 2], [2, 3], [3, 5]])
    """
    before: list[Cutter] = []
    cutters: list[Cutter] = []
    prefix = space = ""
    only_first = False
    for number, step in enumerate(steps):
        kind = str(step.get("type"))
        unchanged = not prefix and not space
        if kind == "ByteLevel":
            if number < len(steps) - 1:
                raise NotExpressible("something behind ByteLevel, which cuts its letters")
            if step.get("add_prefix_space", True):
                prefix = " "
        if kind == "Metaspace":
            space = str(step["replacement"])
            scheme = step.get("prepend_scheme") or ("always" if step.get("add_prefix_space", True) else "never")
            prefix, only_first = "" if str(scheme).lower() == "never" else space, str(scheme).lower() == "first"
        if (prefix or space) and number > 0 and unchanged:
            if only_first:
                raise NotExpressible(f"{kind} behind another pre-tokenizer, changing its first piece")
            before, cutters = cutters, []
        elif kind == "Metaspace" and not unchanged:
            raise NotExpressible("Metaspace behind another pre-tokenizer that changes text")
        cutters += _cutters(kind, step)
    return Cuts(before=tuple(before), cutters=tuple(cutters), prefix=prefix, only_first=only_first, space=space)


def _cutters(kind: str, step: Mapping[str, Any]) -> Iterable[Cutter]:
    """What one pre-tokenizer cuts by."""
    if kind == "ByteLevel":
        return [cutter_of(GPT2_PATTERN, "oniguruma")] if step.get("use_regex", True) else []
    if kind == "Metaspace":
        mark = quoted(str(step["replacement"]))
        return [] if step.get("split") is False else [cutter_of(mark, "oniguruma", "MergedWithNext")]
    if kind == "Split":
        pattern = step["pattern"]
        pattern = {"String": pattern} if isinstance(pattern, str) else pattern
        source = pattern["Regex"] if "Regex" in pattern else quoted(pattern["String"])
        return [cutter_of(source, "oniguruma", str(step["behavior"]), bool(step.get("invert", False)))]
    if kind == "Digits":
        each = bool(step.get("individual_digits"))
        return [cutter_of(cut_at("Digits"), "regex", "Isolated" if each else "Contiguous")]
    if kind == "Whitespace":
        return [cutter_of(r"\w+|[^\w\s]+", "rust", "Removed", True)]
    if kind == "WhitespaceSplit":
        return [cutter_of(r"\s", "oniguruma", "Removed")]
    if kind == "Punctuation":
        return [cutter_of(cut_at("Punctuation"), "regex", str(step.get("behavior", "Isolated")))]
    if kind == "BertPreTokenizer":
        marks = cut_at("Punctuation")
        return [cutter_of(rf"{marks}|[^\s{marks[1:]}+", "regex", "Removed", True)]
    if kind == "CharDelimiterSplit":
        return [cutter_of(quoted(str(step["delimiter"])), "oniguruma", "Removed")]
    raise NotExpressible(kind)
