"""What happens to text before WordPiece: added tokens, normalizing, cutting into words; see `pipeline`."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench_subword.pipeline import preparation
from tokbench_subword.pipeline.byte_alphabet import unspelled
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.wordpiece.model import WordPieceModel, bert_pipeline


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
