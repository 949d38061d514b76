"""What happens to text before WordPiece: added tokens, normalizing, cutting into words; see `pipeline`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tokbench_subword.files.tokenizer_json import TokenizerJson, steps_of
from tokbench_subword.pipeline import preparation
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.byte_alphabet import unspelled
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.wordpiece.model import WordPieceModel, bert_pipeline
from tokbench_subword.wordpiece.normalizer import NO_RULES, NormalizedWord, words


@dataclass(frozen=True, slots=True)
class TracedWord:
    """A word on its way into the model, or an added token that stands for itself."""

    word: NormalizedWord
    added: AddedToken | None


@dataclass(frozen=True, kw_only=True)
class WordPiecePreparation(preparation.Preparation):
    """Prepares text for one model."""

    spelled_by_model: bool = False
    """Whether bytes are left as they are, since the model's tokens can be taken as bytes themselves."""

    @classmethod
    def of(cls, model: WordPieceModel, match_special: bool = False) -> WordPiecePreparation:
        """The preparation of a model, BERT's written out."""
        around = model.pipeline or bert_pipeline(model.rules)
        document = TokenizerJson(
            model={},
            normalizer=around.normalizer,
            pre_tokenizer=around.pre_tokenizer,
            added_tokens=model.added_tokens,
        )
        steps = steps_of(around.pre_tokenizer, "pretokenizers")
        last = bool(steps) and steps[-1].get("type") == "ByteLevel"
        by_model = last and unspelled(model.prefix) is not None
        return cls(document=document, match_special=match_special, spelled_by_model=by_model)

    @property
    def gives_letters(self) -> bool:
        """Whether the pre-tokenizer writes the bytes of words as letters."""
        steps = steps_of(self.document.pre_tokenizer, "pretokenizers")
        return any(step.get("type") == "ByteLevel" for step in steps)

    @property
    def spells_segments(self) -> bool:
        """See `pipeline.preparation`."""
        return not self.spelled_by_model

    def words(self, text: str) -> Iterator[TracedWord]:
        """The words of `text`, and the added tokens between them."""
        for part in self.parts(text, track=True):
            if part.token is not None:
                yield TracedWord(
                    NormalizedWord(part.stretch.text, tuple(part.stretch.origin or ())), part.token
                )
            else:
                for word in self._cut(part.stretch):
                    yield TracedWord(word, None)

    def _cut(self, stretch: Stretch) -> Iterator[NormalizedWord]:
        config = self.document.pre_tokenizer
        if config is not None and config.get("type") == "BertPreTokenizer":  # its own keeps better account
            for word in words(stretch.text, NO_RULES):
                origin = stretch.origin or []
                yield NormalizedWord(word.text, tuple(origin[start] for start, _ in word.spans))
            return
        for part in self.pre_tokenizer(stretch):
            if part.text:
                yield NormalizedWord(part.text, tuple(part.origin or ()))
