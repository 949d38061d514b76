"""`CompiledPipeline`: all that happens to a batch of texts before the model sees it, by kernels, stage by
stage.

    added tokens → normalizers → added tokens that are normalized → what the pre-tokenizer changes → its cuts

Each stage is compiled from what the `tokenizer.json` says of it; its plain form, in Python, is `AddedTokens`,
`normalizer_of` and `pre_tokenizer_of`. What no kernel can do, a stage leaves to its plain form, for the texts
that need it, and `ways` tells of it. The cuts themselves are left to the model's encoder, which makes them on
the way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.compiled_normalizers import BatchNormalizer
from tokbench_subword.pipeline.compiled_pre_tokenizers import Cuts, IntoPieces, TextChange
from tokbench_subword.pipeline.leading import Leading
from tokbench_subword.pipeline.patterns.cutters import Cutter
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import Written


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPipeline:
    """The stages, each None where there is nothing to do."""

    raw_tokens: AddedMatcher | None
    normalizer: BatchNormalizer | None
    normal_tokens: AddedMatcher | None
    cuts: Cuts
    leading: Leading | None = None
    """Where a document begins, if anything asks for it."""

    @property
    def cutters(self) -> tuple[Cutter, ...]:
        """What is left to cut for the model's encoder."""
        return self.cuts.cutters

    @property
    def leaves_text(self) -> bool:
        """Whether every text is one segment, and as it was."""
        return not (self.raw_tokens or self.normal_tokens or self.normalizer or self.cuts.changes)

    @property
    def example(self) -> str:
        """A text in which there are added tokens, if any are looked for."""
        return " ".join(matcher.example for matcher in (self.raw_tokens, self.normal_tokens) if matcher)

    @property
    def written(self) -> tuple[Written, ...] | None:
        """All that happens to a text by itself in which no added token is found, as kernels; None where some of
        it takes more than these. The first that finds a token says so.
        """
        cutting_before = any(isinstance(change, IntoPieces) for change in self.cuts.changes)
        if self.leading is not None and (self.normalizer is not None or cutting_before):
            return None  # where a document begins is then told by plain Python
        stages: list[AddedMatcher | BatchNormalizer | TextChange | None]
        stages = [self.raw_tokens, self.normalizer, self.normal_tokens, *self.cuts.changes]
        kernels: list[Written] = []
        for stage in stages:
            written = stage.written if stage else ()
            if written is None:
                return None
            kernels += written
        return tuple(kernels)

    @property
    def ways(self) -> dict[str, str]:
        """How normalizing and cutting are done: by kernels, or, said with the reason, in Python."""
        normalized = ["a step without a kernel"] * (self.normalizer is not None and self.normalizer.in_python)
        return {
            stage: f"Python: {'; '.join(reasons)}" if reasons else "kernels"
            for stage, reasons in (("normalizing", normalized), ("cutting", self.cuts.reasons))
        }

    def segments(self, texts: Segments) -> Segments:
        """The texts as the model's encoder takes them: to be cut, and nothing else."""
        if self.leaves_text:
            return texts
        if not texts.data.flags.writeable:  # kernels are compiled for one kind of array
            texts = texts.rewritten(texts.data.copy(), texts.offsets)
        texts = texts.split(self.raw_tokens)
        if self.leading is not None:
            texts = replace(texts, leading=self.leading.of(texts))
        if self.normalizer is not None:
            texts = self.normalizer(texts)
        texts = texts.split(self.normal_tokens)
        for change in self.cuts.changes:
            texts = change(texts)
        return texts
