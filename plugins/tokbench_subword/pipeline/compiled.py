"""`CompiledPipeline`: all that happens to a batch of texts before the model sees it, by kernels, stage by
stage.

    added tokens → normalizers → added tokens that are normalized → what the pre-tokenizer changes → its cuts

Each stage is compiled from what the `tokenizer.json` says of it; its plain form, in Python, is `AddedTokens`,
`normalizer_of` and `pre_tokenizer_of`. A normalizer leaves to its plain form the texts that its tables cannot
do. The cuts themselves are left to the model's encoder, which makes them on the way.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokbench_subword.files.tokenizer_json import Document, steps_of
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.added_tokens import AddedTokens
from tokbench_subword.pipeline.compiled_normalizers import BatchNormalizer, compiled_normalizer_of
from tokbench_subword.pipeline.cuts import Cuts, cuts_of
from tokbench_subword.pipeline.cutting import Cutter
from tokbench_subword.pipeline.pattern_tree import NotExpressible
from tokbench_subword.pipeline.segments import Segments


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPipeline:
    """The stages, each None where there is nothing to do."""

    raw_tokens: AddedMatcher | None
    normalizer: BatchNormalizer | None
    normal_tokens: AddedMatcher | None
    spaces: BatchNormalizer | None
    cuts: Cuts
    spelling: BatchNormalizer | None = None
    """Writes pre-tokens in the byte alphabet, for a model of characters."""

    @classmethod
    def of(
        cls,
        document: Document,
        raw: AddedTokens,
        normal: AddedTokens,
        *,
        match_special: bool,
        spell: bool = False,
    ) -> CompiledPipeline:
        """Compile what stands around a model; raises `NotExpressible` where the pre-tokenizer cannot be.

        With `spell`, pre-tokens come written in the byte alphabet where the pre-tokenizer says ``ByteLevel``.
        """
        steps = steps_of(document.pre_tokenizer, "pretokenizers")
        cuts = cuts_of(steps)
        spelled = spell and any(step.get("type") == "ByteLevel" for step in steps)
        if cuts.only_first and document.normalizer is not None:
            raise NotExpressible(
                "a prefix for the first text alone, behind a normalizer that may take that away"
            )
        return cls(
            AddedMatcher.of(raw, match_special=match_special),
            compiled_normalizer_of(document.normalizer),
            AddedMatcher.of(normal, match_special=match_special),
            compiled_normalizer_of(_replace(" ", cuts.space)) if cuts.space else None,
            cuts,
            compiled_normalizer_of({"type": "ByteLevel"}) if spelled else None,
        )

    @property
    def cutters(self) -> tuple[Cutter, ...]:
        """What is left to cut for the model's encoder."""
        return () if self.spelling else self.cuts.cutters

    @property
    def leaves_text(self) -> bool:
        """Whether every text is one segment, and as it was."""
        found = self.raw_tokens or self.normal_tokens
        return not found and self.normalizer is None and self.cuts.leaves_text and not self.spelling

    @property
    def rewrites_only(self) -> bool:
        """Whether every text is one segment, with nothing done to it but each character rewritten by itself."""
        found = self.raw_tokens or self.normal_tokens
        tables = self.normalizer is None or self.normalizer.tables is not None
        return not found and tables and self.cuts.leaves_text and not self.spelling

    def segments(self, texts: Segments) -> Segments:
        """The texts as the model's encoder takes them: to be cut, and nothing else."""
        if (
            not self.leaves_text and not texts.data.flags.writeable
        ):  # kernels are compiled for one kind of array
            texts = texts.rewritten(texts.data.copy(), texts.offsets)
        texts = texts.split(self.raw_tokens)
        if self.normalizer is not None:
            texts = texts.rewritten(*self.normalizer.apply(texts.data, texts.offsets))
        texts = texts.split(self.normal_tokens)
        if self.cuts.before:
            texts = texts.cut(self.cuts.before)
        if self.spaces is not None and (texts.data == ord(" ")).any():
            texts = texts.rewritten(*self.spaces.apply(texts.data, texts.offsets))
        if self.cuts.prefix:
            texts = texts.prefixed(self.cuts.prefix, only_first=self.cuts.only_first)
        if self.spelling is not None:
            texts = texts.cut(self.cuts.cutters)
            texts = texts.rewritten(*self.spelling.apply(texts.data, texts.offsets))
        return texts


def _replace(old: str, new: str) -> dict[str, object]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}
