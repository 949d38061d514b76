"""What happens to text before BPE: matching added tokens, normalizing, and cutting it into pre-tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel, Level
from tokbench_subword.pipeline import preparation
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.pipeline.pre_tokenizers import GPT2_PATTERN


@dataclass(frozen=True, kw_only=True)
class BpePreparation(preparation.Preparation):
    """Splits text into added tokens and stretches of ordinary text, and cuts the stretches into pre-tokens.

    `pattern` is set if a single named pattern does the cutting. Then `prefix_space` says whether a space is
    added before a stretch that does not begin with one. If `spelling`, pre-tokens are written in the byte
    alphabet and the model works on its characters. That is needed with an end-of-word suffix (CLIP), with a
    pre-tokenizer after ``ByteLevel``, or with ``ByteLevel`` among the normalizers.
    """

    level: Level
    pattern: Pattern | None
    prefix_space: bool = False

    @classmethod
    def of(cls, document: TokenizerJson, *, match_special: bool = False) -> BpePreparation:
        """The preparation that a document describes; raises `TokenizerError` for an unsupported step."""
        steps = steps_of(document.pre_tokenizer, "pretokenizers")
        before_last = [*steps_of(document.normalizer, "normalizers"), *steps[:-1]]
        bytewise, early = (
            any(step.get("type") == "ByteLevel" for step in some) for some in (steps, before_last)
        )
        pattern, prefix_space = fused(steps)
        model = document.model
        affixed = model.get("end_of_word_suffix") or model.get("continuing_subword_prefix")
        around = partial(cls, document=document, match_special=match_special)
        if early or (bytewise and affixed):
            return around(level="char", pattern=None, spelling=True, spelled_by_encoder=not early)
        level: Level = "byte" if bytewise else "char"
        return around(level=level, pattern=pattern, prefix_space=prefix_space, spelling=False)

    @classmethod
    def around(cls, model: BpeModel, document: TokenizerJson, *, match_special: bool = False) -> BpePreparation:
        """The preparation that a document describes, with the affixes of `model` instead of the document's."""
        affixes = {
            "end_of_word_suffix": model.end_of_word,
            "continuing_subword_prefix": model.continuing_prefix,
        }
        return cls.of(document.with_model(affixes), match_special=match_special)

    def encoder(self, model: BpeModel, **options: Any) -> BpeEncoder:
        """The encoder that follows this preparation; `options` are those of `BpeEncoder`."""
        return BpeEncoder(model, self.compiled.cutters, spelled=self.spelled_by_encoder, **options)


def fused(steps: Sequence[Mapping[str, Any]]) -> tuple[Pattern | None, bool]:
    """The single named pattern that these pre-tokenizers amount to, or None; whether they add a space."""
    steps = list(steps)
    prefix_space = False
    expression: str | None = None
    if steps and steps[-1].get("type") == "ByteLevel":
        last = steps.pop()
        prefix_space = bool(last.get("add_prefix_space", True))
        if last.get("use_regex", True):
            expression = GPT2_PATTERN
            if steps:
                return None, False
        elif steps and prefix_space:
            return None, False  # `ByteLevel` adds a space before every pre-token
    if not steps:
        return Pattern.of(expression) if expression else Pattern("none"), prefix_space
    if len(steps) > 1 or steps[0].get("type") != "Split" or "Regex" not in steps[0].get("pattern", {}):
        return None, False
    behavior, invert = steps[0].get("behavior"), bool(steps[0].get("invert"))
    pattern = Pattern.of(steps[0]["pattern"]["Regex"])
    if not pattern.name or (behavior, invert) not in (("Isolated", False), ("Removed", True)):
        return None, False  # named patterns leave no gaps, so these two are equivalent for them
    return pattern, prefix_space
