"""What WordPiece is tested with: `tokenizers` with the same vocabulary and rules, and texts that are hard."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hypothesis import strategies as st
from tokbench_subword.pipeline import bert
from tokbench_subword.pipeline.bert import BertRules
from tokbench_subword.pipeline.normal_forms import combining_classes
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.pre_tokenizers import pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch

# Characters that do something: marks, controls, punctuation, ideographs, spaces, what is reordered or folded.
_HARD = st.sampled_from(
    "ab?.,'-#$ \t\n\r\x00\x0b\x85\xa0\u2000\u2001\u200b\u3000\ufffd"
    "北京ΣςİŸßé\u0301\u0323\u0334\u1b44\ua9c0"
    "\u302eﬁ가힣ㅎ１２①\U0001d15e\U0001d165"
    "\U0001d16d\u1c89\U00010d50\U00011938\U0002b820\U0002b920ก็เद्"
)
hard_texts = st.text(_HARD | st.characters(exclude_categories=["Cs"]), max_size=30)


def reordered() -> frozenset[int]:
    """Characters that stay when accents go, yet take part in canonical ordering."""
    return frozenset(map(ord, combining_classes())) - bert.marks()


def normalize(text: str, rules: BertRules) -> str:
    """`text` as the plain form of BERT's normalizer leaves it."""
    plain = normalizer_of({"type": "BertNormalizer", **asdict(rules)})
    assert plain is not None
    return plain(Stretch(text)).text


def words(text: str, rules: BertRules) -> list[Stretch]:
    """The pre-tokens of `text` by the plain form of BERT's rules."""
    return list(pre_tokenizer_of({"type": "BertPreTokenizer"})(Stretch(normalize(text, rules))))


def reference(vocabulary: dict[str, int], rules: BertRules, **options: Any) -> Any:
    """A tokenizer of `tokenizers` with the same vocabulary and rules."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", **options))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=rules.clean_text,
        handle_chinese_chars=rules.handle_chinese_chars,
        strip_accents=rules.strip_accents,
        lowercase=rules.lowercase,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer
