"""`WordPieceModel`: a WordPiece vocabulary and its rules, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import Rebuilt, cached_property
from tokbench_subword.files.beside import special_tokens
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.bert import NO_RULES, BertRules
from tokbench_subword.pipeline.document import TokenizerJson, steps_of
from tokbench_subword.pipeline.trie import VALUE_MASK

BERT_SPECIAL_TOKENS = special_tokens(pad="[PAD]", unk="[UNK]", cls="[CLS]", sep="[SEP]", mask="[MASK]")
"""BERT's special tokens in vocabulary order, keyed by the settings that name them."""
BERT_RULES = BertRules()
"""The rules of the uncased BERT."""


def bert_steps(rules: BertRules) -> dict[str, Any]:
    """BERT's normalizer, as `rules` set it, and its pre-tokenizer, in the form of `tokenizer.json`."""
    normalizer = {"type": "BertNormalizer", **asdict(rules)} if rules != NO_RULES else None
    return {"normalizer": normalizer, "pre_tokenizer": {"type": "BertPreTokenizer"}}


def bert_document(
    rules: BertRules = BERT_RULES, *, prefix: str = "##", added_tokens: tuple[AddedToken, ...] = ()
) -> TokenizerJson:
    """The document around a model with BERT's rules."""
    decoder = {"type": "WordPiece", "prefix": prefix, "cleanup": True}
    return TokenizerJson(model={}, **bert_steps(rules), decoder=decoder, added_tokens=added_tokens)


@dataclass(frozen=True, kw_only=True, eq=False)
class WordPieceModel(Rebuilt):
    """A WordPiece vocabulary and its rules.

    - `vocabulary`: token to id; ids need not be dense, and begin at 0.
    - `unk_token`: the token for a word that cannot be built; it must be in the vocabulary.
    - `prefix`: the beginning of tokens that continue a word.
    - `max_input_chars_per_word`: a longer word becomes one `unk_token`.
    - `document`: the other parts of the tokenizer; a model in the document is ignored. `encode` does not match
      its special added tokens (``[CLS]`` …): their text is ordinary text.

    Raises `TokenizerError` if the parts contradict each other.

    Example:
        >>> model = WordPieceModel(vocabulary={"[UNK]": 0, "un": 1, "##do": 2})
        >>> model.unk_id, model.size, model.tokens[2]
        (0, 3, '##do')
    """

    vocabulary: Mapping[str, int]
    unk_token: str = "[UNK]"
    prefix: str = "##"
    max_input_chars_per_word: int = 100
    document: TokenizerJson = field(default_factory=bert_document)

    def __post_init__(self) -> None:
        if self.unk_token not in self.vocabulary:
            raise TokenizerError(
                f"the unknown token {self.unk_token!r} is not among the {len(self.vocabulary)} tokens of the "
                f"vocabulary; name a token that is, with unk_token=…"
            )
        if not 1 <= self.max_input_chars_per_word < 2**63:
            raise TokenizerError(
                f"max_input_chars_per_word must be at least 1 and below 2^63; it is "
                f"{self.max_input_chars_per_word}"
            )
        wrong = next((item for item in self.vocabulary.items() if not 0 <= item[1] < VALUE_MASK), None)
        if wrong:
            raise TokenizerError(
                f"the token {wrong[0]!r} has the id {wrong[1]}; ids are 0 to {VALUE_MASK - 1} here"
            )
        for added in self.document.added_tokens:
            known = self.vocabulary.get(added.content)
            if known not in (None, added.id):
                raise TokenizerError(
                    f"the added token {added.content!r} has the id {added.id}, and {known} in the vocabulary"
                )

    @cached_property
    def rules(self) -> BertRules | None:
        """BERT's rules, if normalizer and pre-tokenizer are equivalent to some; else None."""
        normalizers = steps_of(self.document.normalizer, "normalizers")
        cuts = steps_of(self.document.pre_tokenizer, "pretokenizers")
        if [cut["type"] for cut in cuts] != ["BertPreTokenizer"]:
            return None
        if [step["type"] for step in normalizers] == ["BertNormalizer"]:
            return BertRules.from_json(normalizers[0])
        return None if normalizers else NO_RULES

    @cached_property
    def tokens(self) -> dict[int, str]:
        """Token by id; if a damaged file lists a token twice, only the last id is included."""
        tokens = {index: token for token, index in self.vocabulary.items()}
        tokens.update((added.id, added.content) for added in self.document.added_tokens)
        return tokens

    @property
    def unk_id(self) -> int:
        """The id of the unknown token."""
        return self.vocabulary[self.unk_token]

    @cached_property
    def size(self) -> int:
        """One more than the highest id."""
        return 1 + max(self.tokens)

    @cached_property
    def special_tokens(self) -> dict[str, int]:
        """The declared special tokens and the unknown token, with their ids."""
        special = {added.content: added.id for added in self.document.added_tokens if added.special}
        return dict(sorted({**special, self.unk_token: self.unk_id}.items(), key=lambda item: item[1]))
