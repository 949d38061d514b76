"""What happens to text before the model sees it: added tokens, normalizing, cutting into words.

BERT's rules run inside the encoding kernel. This is the way of everything else: text with added tokens, other
normalizers and pre-tokenizers of `tokenizer.json`, and whatever wants to know where a word came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tokbench.kernels.copies import cached_property
from tokbench.kernels.utf8 import repaired
from tokbench_subword.pipeline.added_tokens import AddedToken, AddedTokens
from tokbench_subword.pipeline.normalizers import Normalizer, normalizer_of
from tokbench_subword.pipeline.pre_tokenizers import PreTokenizer, pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.wordpiece.model import WordPieceModel
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

    @cached_property
    def always_plain(self) -> bool:
        """Whether the encoding kernel can take any text as it is."""
        return self.model.pipeline is None and self.folded.only_special and self.raw.only_special

    def is_plain(self, text: str) -> bool:
        """Whether the encoding kernel can take `text` as it is."""
        return self.always_plain or (
            self.model.pipeline is None
            and self.folded.only_special
            and not self.raw.may_match(repaired(text), match_special=False)
        )

    def normalize(self, text: str) -> str:
        """`text` as the normalizer leaves it."""
        return self._normalized(Stretch.of(text)).text

    def words(self, text: str) -> Iterator[TracedWord]:
        """The words of `text`, and the added tokens between them."""
        for piece in self.raw.split(text, match_special=False):
            part = Stretch.of(text[piece.start : piece.end], start=piece.start, track=True)
            if piece.token is not None:
                yield _whole(part, piece.token)
                continue
            stretch = self._normalized(part)
            for inner in self.folded.split(stretch.text, match_special=False):
                if inner.token is not None:
                    yield _whole(stretch.part(inner.start, inner.end), inner.token)
                else:
                    for word in self._cut(stretch.part(inner.start, inner.end)):
                        yield TracedWord(word, None)

    @cached_property
    def _normalizer(self) -> Normalizer | None:
        if self.model.pipeline is None:
            return normalizer_of({"type": "BertNormalizer", **asdict(self.model.rules)})
        return normalizer_of(self.model.pipeline.normalizer)

    def _normalized(self, stretch: Stretch) -> Stretch:
        return stretch if self._normalizer is None else self._normalizer(stretch)

    @cached_property
    def _pre_tokenizer(self) -> PreTokenizer | None:
        """None for BERT's own, which keeps better account of where words come from."""
        if self.model.pipeline is None:
            return None
        config = self.model.pipeline.pre_tokenizer
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
