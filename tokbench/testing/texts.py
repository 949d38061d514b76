"""The texts a tokenizer is tried on: edge cases by hand, and a hypothesis strategy for the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

PROSE = """\
The ferry was late again, and nobody on the quay seemed to mind. A woman in a yellow coat had spread her
newspaper over two seats; a boy was feeding the rest of his sandwich to the gulls. "Twenty minutes," said the
man at the gate, "or forty. It depends on the wind, doesn't it?" It did. By half past three the water had
turned the colour of slate, and the first drops - large, warm, unhurried - fell on the planks.

She counted what was left in her purse: £14.60, two stamps and a ticket from 1998. Enough for tea, not for the
train. Well, she thought, there are worse places to be kept waiting; and besides, she had brought the letters.
"""
"""Ordinary prose, in lines and paragraphs: what tokenizers are for."""

FAMILIAR = "aaab  \n\t'.,019éß漢ไอ👍\u0301\u200d"

EDGE_CASES: tuple[str, ...] = (
    "a",
    " ",
    "  two  spaces  ",
    "\t\n\r\n",
    "\x00",
    "trailing newline\n",
    "New York, NewYork and  NEW YORK",
    "can't, won’t, I'LL",
    "1234567890 3.14 1,000,000",
    "naïve café Ångström",
    "e\u0301 \u0065\u0301\u0323",
    "\u200b\u200d\ufeff",
    "日本語のテキスト",
    "ภาษาไทย",
    "العربية עברית",
    "\u202eright to left override\u202c",
    "👩‍👩‍👧‍👦 🇺🇳 👍🏽",
    "\U0010ffff\ue000\U000f0000",
    "x" * 300,
    "<|endoftext|> [UNK] <s> </s> <unk> [CLS]",
    "def f(x):\n    return x ** 2  # square\n",
    "https://example.org/a?b=c&d=%20#e",
    PROSE,
)

LONE_SURROGATE = "a\ud800b"

SPECIAL_TEXTS: tuple[str, ...] = (
    "<|endoftext|>",
    "<|im_start|>",
    "<s>",
    "</s>",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "<pad>",
)


def texts() -> SearchStrategy[str]:
    """Text of every script, with whitespace and repetition more often than chance would have it."""
    from hypothesis import strategies as st

    anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    familiar = st.text(st.sampled_from(FAMILIAR), max_size=40)
    return st.one_of(anything, familiar, st.sampled_from(EDGE_CASES))
