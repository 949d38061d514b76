"""`Preparation`: everything that a `tokenizer.json` does to text before the model, in two forms.

`CompiledPipeline` is the form for batches. The plain form, in Python, serves tracing and the places of tokens,
and is the definition that the compiled form is tested against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.copies import cached_property
from tokbench.kernels.text import utf8_of
from tokbench.kernels.utf8 import repaired
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.added_tokens import AddedToken, AddedTokens
from tokbench_subword.pipeline.compiled_normalizers import BatchNormalizer, compiled_normalizer_of
from tokbench_subword.pipeline.compiled_pre_tokenizers import IntoPieces, Prefixed, TextChange, cuts_of
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.pipeline.leading import Leading
from tokbench_subword.pipeline.normalizers import Normalizer, normalizer_of
from tokbench_subword.pipeline.patterns.cutters import Cutter, units_of
from tokbench_subword.pipeline.pre_tokenizers import PreTokenizer, pre_tokenizer_of
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import BoundWriter
from tokbench_subword.pipeline.stretch import Span, Stretch

Stage = AddedMatcher | Leading | BatchNormalizer | TextChange


@dataclass(frozen=True, slots=True, eq=False)
class CompiledPipeline:
    """Prepares a batch of texts for the model: by its `stages`, in order; then each of the `cutters` cuts the
    pieces of the one before.

    If a kernel cannot do something, its stage uses the plain form for the texts that need it; `ways` reports
    that.
    """

    stages: tuple[Stage, ...]
    cutters: tuple[Cutter, ...]
    """The cutters that the model's encoder runs itself; without any, a text is one pre-token."""

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


Locate = Callable[[NDArray[np.uint8], NDArray[np.int64]], tuple[TokenBatch, NDArray[np.int64]]]
"""What a model makes of words, int64 ``(n, 2)`` of begin and end in UTF-8: the ids of each, and where in the
bytes the tokens begin and end.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text: normalized, to be cut; or, with `token`, an added token."""

    stretch: Stretch
    token: AddedToken | None
    span: Span
    """Where in the text it comes from; if that is not tracked, where the text between added tokens is."""


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """Prepares text as `document` says; raises `TokenizerError` naming what is not known here.

    Special tokens are found in text only with `match_special`. `spelling` says that pre-tokens are written in
    the byte alphabet where the pre-tokenizer says ``ByteLevel``; `spelled_by_encoder`, that `compiled` leaves
    this to the encoder behind it, which takes the tokens of its model as bytes.

    Example:
        >>> steps = {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}}
        >>> lower = TokenizerJson(model={}, **steps)
        >>> preparation = Preparation(document=lower)
        >>> (part,) = preparation.parts("Ab c")
        >>> [word.text for word in preparation.pre_tokenizer(part.stretch)]
        ['ab', 'c']
    """

    document: TokenizerJson
    match_special: bool = False
    spelling: bool = True
    spelled_by_encoder: bool = False

    def __post_init__(self) -> None:
        _ = self.normalizer, self.pre_tokenizer, self.normal_tokens

    @cached_property
    def normalizer(self) -> Normalizer | None:
        """The normalizer, or None."""
        return normalizer_of(self.document.normalizer)

    @cached_property
    def pre_tokenizer(self) -> PreTokenizer:
        """The pre-tokenizer."""
        return pre_tokenizer_of(self.document.pre_tokenizer, spell=self.spelling)

    @cached_property
    def raw_tokens(self) -> AddedTokens:
        """Added tokens that are matched in the text as it is."""
        return AddedTokens(token for token in self.document.added_tokens if not token.normalized)

    @cached_property
    def normal_tokens(self) -> AddedTokens:
        """Added tokens that are matched, normalized, in normalized text."""
        tokens = (token for token in self.document.added_tokens if token.normalized)
        return AddedTokens(tokens, normalize=self.normalized if self.normalizer else None)

    @cached_property
    def written(self) -> dict[int, str]:
        """Each added token by its id, as decoding writes it: as it is looked for, normalized or not."""
        tokens = (*self.raw_tokens.by_text.items(), *self.normal_tokens.by_text.items())
        return {token.id: text for text, token in tokens}

    @cached_property
    def compiled(self) -> CompiledPipeline:
        """All of it for batches."""
        normalizer, steps = self.document.normalizer, steps_of(self.document.pre_tokenizer, "pretokenizers")
        changes, cutters = cuts_of(steps, spell=self.spelling and not self.spelled_by_encoder)
        only_first = any(isinstance(change, Prefixed) and change.only_first for change in changes)
        stages = (
            AddedMatcher.of(self.raw_tokens, match_special=self.match_special),
            Leading(normalizer) if only_first else None,
            compiled_normalizer_of(normalizer),
            AddedMatcher.of(self.normal_tokens, match_special=self.match_special),
            *changes,
        )
        return CompiledPipeline(tuple(stage for stage in stages if stage), cutters)

    @cached_property
    def before_model(self) -> CompiledPipeline:
        """`compiled`, but with bytes written in the byte alphabet here, even if the encoder can do that."""
        if not self.spelled_by_encoder:
            return self.compiled
        return Preparation(document=self.document, match_special=self.match_special).compiled

    def normalized(self, text: str) -> str:
        """`text` after the normalizer."""
        return self._after(Stretch(text)).text

    def _after(self, stretch: Stretch) -> Stretch:
        return stretch if self.normalizer is None else self.normalizer(stretch)

    def parts(self, text: str, *, track: bool = False) -> Iterator[Part]:
        """`text`, which holds no surrogates, as added tokens and normalized stretches, in order.

        With `track`, stretches know where each of their characters comes from.
        """
        for piece in self.raw_tokens.split(text, match_special=self.match_special):
            span = (piece.start, piece.end)
            stretch = Stretch.of(text[piece.start : piece.end], start=piece.start, track=track)
            if piece.token is not None:
                yield Part(stretch, piece.token, span)
                continue
            stretch = self._after(stretch)
            for inner in self.normal_tokens.split(stretch.text, match_special=self.match_special):
                part = stretch.part(inner.start, inner.end)
                origin = part.origin
                yield Part(part, inner.token, (origin[0][0], origin[-1][1]) if origin else span)

    def words(self, text: str, *, track: bool = False) -> Iterator[Part]:
        """`text` as added tokens and pre-tokens, in order; a lone surrogate counts as U+FFFD."""
        for part in self.parts(repaired(text), track=track):
            if part.token is not None:
                yield part
            else:
                yield from (
                    Part(word, None, part.span) for word in self.pre_tokenizer(part.stretch) if word.text
                )

    def spans(self, text: str, locate: Locate) -> NDArray[np.int64]:
        """The spans of the tokens of `text` in its code points, int64 ``(n, 2)``.

        A token's begins where its first character comes from and ends where its last one does.
        """
        parts = list(self.words(text, track=True))
        words = [part.stretch for part in parts if part.token is None]
        data, offsets = utf8_of([word.text for word in words])
        batch, places = locate(data, units_of(offsets))
        begun = np.cumsum((data & 0xC0) != 0x80)  # characters up to each byte, with its own
        origin = np.array([span for word in words for span in word.origin or []], np.int64).reshape(-1, 2)
        first, last = begun[places[:, 0]] - 1, begun[places[:, 1] - 1] - 1
        added = [(number, part.span) for number, part in enumerate(parts) if part.token is not None]
        before = np.array([number for number, _ in added], np.int64) - np.arange(len(added))
        own = np.array([span for _, span in added], np.int64).reshape(-1, 2)
        spans = np.stack([origin[first, 0], origin[last, 1]], axis=1)
        return np.insert(spans, batch.offsets[before], own, axis=0)

    def stages(self, text: str) -> dict[str, list[str]]:
        """The pieces of `text` after each stage; an added token is a piece of its own.

        Example:
            >>> steps = {"normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "Whitespace"}}
            >>> Preparation(document=TokenizerJson(model={}, **steps)).stages("Ab c")
            {'added tokens': ['Ab c'], 'normalizer': ['ab c'], 'pre-tokenizer': ['ab', 'c']}
        """
        text = repaired(text)
        pieces = self.raw_tokens.split(text, match_special=self.match_special)
        return {
            "added tokens": [text[piece.start : piece.end] for piece in pieces],
            "normalizer": [part.stretch.text for part in self.parts(text)],
            "pre-tokenizer": [part.stretch.text for part in self.words(text)],
        }
