"""What happens to text before the model sees it: added tokens, normalizing, cutting into words.

Batches go through `pipeline.compiled`. Here is the plain form of the same, in Python: for tracing, and for the
places of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokbench.kernels.copies import cached_property
from tokbench_subword.files.tokenizer_json import Document, steps_of
from tokbench_subword.pipeline.added_tokens import AddedToken, AddedTokens
from tokbench_subword.pipeline.byte_alphabet import unspelled
from tokbench_subword.pipeline.compiled import CompiledPipeline
from tokbench_subword.pipeline.normalizers import Normalizer, normalizer_of
from tokbench_subword.pipeline.pre_tokenizers import PreTokenizer, pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.wordpiece.model import Pipeline, WordPieceModel, bert_pipeline
from tokbench_subword.wordpiece.normalizer import NO_RULES, Word, words


@dataclass(frozen=True, slots=True)
class TracedWord:
    """A word on its way into the model, or an added token that stands for itself."""

    word: Word
    added: AddedToken | None


@dataclass(frozen=True)
class Preparation:
    """Prepares text for one model."""

    model: WordPieceModel
    match_special: bool = False

    @cached_property
    def compiled(self) -> CompiledPipeline:
        """All of it for batches."""
        normalizer, pre_tokenizer = self.pipeline.normalizer, self.pipeline.pre_tokenizer
        document = Document(model={}, normalizer=normalizer, pre_tokenizer=pre_tokenizer)
        special, spell = self.match_special, self.spelling and not self.spelled_by_model
        return CompiledPipeline.of(document, self.raw, self.folded, match_special=special, spell=spell)

    @cached_property
    def pipeline(self) -> Pipeline:
        """The normalizer and the pre-tokenizer, BERT's written out."""
        return self.model.pipeline or bert_pipeline(self.model.rules)

    @cached_property
    def spelling(self) -> bool:
        """Whether the pre-tokenizer writes the bytes of words as letters."""
        steps = steps_of(self.pipeline.pre_tokenizer, "pretokenizers")
        return any(step.get("type") == "ByteLevel" for step in steps)

    @cached_property
    def spelled_by_model(self) -> bool:
        """Whether bytes are left as they are, since the model's tokens can be taken as bytes themselves."""
        steps = steps_of(self.pipeline.pre_tokenizer, "pretokenizers")
        last = bool(steps) and steps[-1].get("type") == "ByteLevel"
        return last and unspelled(self.model.prefix) is not None

    @cached_property
    def raw(self) -> AddedTokens:
        """The added tokens that are looked for in the text as given."""
        return AddedTokens(token for token in self.model.added_tokens if not token.normalized)

    @cached_property
    def folded(self) -> AddedTokens:
        """The added tokens that are looked for, normalized, in normalized text."""
        return AddedTokens(
            (token for token in self.model.added_tokens if token.normalized), normalize=self.normalize
        )

    def normalize(self, text: str) -> str:
        """`text` as the normalizer leaves it."""
        return self._normalized(Stretch.of(text)).text

    def words(self, text: str) -> Iterator[TracedWord]:
        """The words of `text`, and the added tokens between them."""
        for piece in self.raw.split(text, match_special=self.match_special):
            part = Stretch.of(text[piece.start : piece.end], start=piece.start, track=True)
            if piece.token is not None:
                yield _whole(part, piece.token)
                continue
            stretch = self._normalized(part)
            for inner in self.folded.split(stretch.text, match_special=self.match_special):
                if inner.token is not None:
                    yield _whole(stretch.part(inner.start, inner.end), inner.token)
                else:
                    for word in self._cut(stretch.part(inner.start, inner.end)):
                        yield TracedWord(word, None)

    @cached_property
    def _normalizer(self) -> Normalizer | None:
        return normalizer_of(self.pipeline.normalizer)

    def _normalized(self, stretch: Stretch) -> Stretch:
        return stretch if self._normalizer is None else self._normalizer(stretch)

    @cached_property
    def _pre_tokenizer(self) -> PreTokenizer | None:
        """None for BERT's own, which keeps better account of where words come from."""
        config = self.pipeline.pre_tokenizer
        if config is not None and config.get("type") == "BertPreTokenizer":
            return None
        return pre_tokenizer_of(config, spell=True)

    def _cut(self, stretch: Stretch) -> Iterator[Word]:
        if self._pre_tokenizer is None:
            for word in words(stretch.text, NO_RULES):
                origin = stretch.origin or []
                yield Word(word.text, tuple(origin[start] for start, _ in word.spans))
            return
        for part in self._pre_tokenizer(stretch):
            if part.text:
                yield Word(part.text, tuple(part.origin or ()))


def check_pipeline(normalizer: Mapping[str, Any] | None, pre_tokenizer: Mapping[str, Any] | None) -> None:
    """Raise `TokenizerError` naming a component that this plugin does not know."""
    normalizer_of(normalizer)
    pre_tokenizer_of(pre_tokenizer)


def _whole(stretch: Stretch, token: AddedToken) -> TracedWord:
    return TracedWord(Word(stretch.text, tuple(stretch.origin or ())), token)
