"""`CompiledPipeline`: all that happens to a batch of texts before the model sees it, by kernels, stage by
stage.

    added tokens → normalizers → added tokens that are normalized → what the pre-tokenizer changes → its cuts

Each stage is compiled from what the `tokenizer.json` says of it; its plain form, in Python, is `AddedTokens`,
`normalizer_of` and `pre_tokenizer_of`. What no kernel can do, a stage leaves to its plain form, for the texts
that need it, and `ways` tells of it. The cuts themselves are left to the model's encoder, which makes them on
the way.
"""

from __future__ import annotations

from dataclasses import dataclass

from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.compiled_normalizers import BatchNormalizer
from tokbench_subword.pipeline.compiled_pre_tokenizers import IntoPieces, TextChange
from tokbench_subword.pipeline.leading import Leading
from tokbench_subword.pipeline.patterns.cutters import Cutter
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import BoundWriter

Stage = AddedMatcher | Leading | BatchNormalizer | TextChange


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPipeline:
    """The `stages` that there are, in order; then each of `cutters` cuts what the one before it made."""

    stages: tuple[Stage, ...]
    cutters: tuple[Cutter, ...]
    """What is left to cut for the model's encoder; without any, a text is one pre-token."""

    @property
    def leaves_text(self) -> bool:
        """Whether every text is one segment, and as it was."""
        return not self.stages

    @property
    def example(self) -> str:
        """A text in which there are added tokens, if any are looked for."""
        return " ".join(stage.example for stage in self.stages if isinstance(stage, AddedMatcher))

    @property
    def writers(self) -> tuple[BoundWriter, ...] | None:
        """The kernels that do all of it to one text without added tokens; None where a stage takes more.

        A kernel that does find an added token says so, and the text is left to `segments`.
        """
        kernels: list[BoundWriter] = []
        for stage in self.stages:
            if stage.writers is None:
                return None
            kernels += stage.writers
        return tuple(kernels)

    @property
    def ways(self) -> dict[str, str]:
        """How normalizing and cutting are done: by kernels, or, said with the reason, in Python."""
        in_python = any(isinstance(stage, BatchNormalizer) and stage.in_python for stage in self.stages)
        before = (stage.cutters for stage in self.stages if isinstance(stage, IntoPieces))
        reasons = [one.reason for cutters in (*before, self.cutters) for one in cutters if one.reason]
        return {
            "normalizing": "Python: a step without a kernel" if in_python else "kernels",
            "cutting": f"Python: {'; '.join(reasons)}" if reasons else "kernels",
        }

    def segments(self, texts: Segments) -> Segments:
        """The texts as the model's encoder takes them: to be cut, and nothing else."""
        if self.stages and not texts.data.flags.writeable:  # kernels are compiled for one kind of array
            texts = texts.rewritten(texts.data.copy(), texts.offsets)
        for stage in self.stages:
            texts = texts.split(stage) if isinstance(stage, AddedMatcher) else stage(texts)
        return texts
