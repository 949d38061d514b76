"""The texts that checks try: edge cases written by hand, texts by rule, and a hypothesis strategy."""

from __future__ import annotations

from collections.abc import Sequence
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
    *("a", " ", "  two  spaces  ", "\t\n\r\n", "\x00", "trailing newline\n"),
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

RULE_TEXTS: dict[str, Sequence[str]] = {
    "ordinary words": (
        "Hello world, it's John's dog; WE'LL see what they'd do.",
        "Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich, für 12,50 €.",
        "Dès Noël où un zéphyr haï me vêt de glaçons würmiens – voilà!",
        "Съешь же ещё этих мягких французских булок, да выпей чаю.",
        "Ξεσκεπάζω την ψυχοφθόρα σας βδελυγμία: ναι, όχι;",
        "नमस्ते दुनिया, क्या हाल है? १२३",
        "สวัสดีชาวโลก น้ำใส ภาษาไทย",
        "مرحبا بالعالم، كيف حالك؟",
        "שלום עולם, מה נשמע?",
        "你好，世界！今天天气很好。東京都に住んでいます。カタカナ",
        "안녕하세요 세계, 오늘은 날씨가 좋네요.",
        "xin chào thế giới, tiếng Việt",
        "for (int i = 0; i < 10; ++i) { x[i] += f('a', \"b\"); }  // --- **",
        "https://example.org/a_b?c=d&e=%20#f <b>bold</b> @name #tag $5 100% C:\\x",
    ),
    "spaces at the ends": [
        " a",
        "a ",
        " ",
        "  ",
        "   a b   ",
        "\u00a0a\u00a0",
        "\u3000a",
        "\ta\t",
        "\na\n",
        "",
    ],
    "spaces doubled": ("a  b", "a   b    c", "  a  b  ", "a \n b", "a\u00a0 b", "a \u2003b", "x=1;        y"),
    "the mark of spaces": ("▁", "▁a", "a▁b", "▁ a", "a ▁▁ b▁"),
    "line ends and tabs": (
        *("a\nb", "a\r\nb\r\n", "a\n\n\nb", "a\tb\t\tc", "\n", "a\n b\n  c"),
        "a\x0bb\x0cc\u2028d",
    ),
    "digits": ("1", "12", "123", "1234", "12345678901", "3.14 1,000 2024-01-02", "٣٤٥ ४५६ 七八 x2y33"),
    "control characters": ("a\x01b\x1fc\x7fd", "a\x85b\x9fc", "a\u200bb\u200dc\u200ed\ufeffe\u00adf", "\ufffd"),
    "forms of characters": (
        "é ü ñ Å",
        "e\u0301 u\u0308 n\u0303 A\u030a",
        "ﬁ ﬂ ① ② ½ ² ™ … № ℌ Ⅷ",
        "ＡＢＣ１２３ ｱｲｳ ｶﾞ",
        "㍍ ﷺ ǅ ĳ ŉ",
        "한\u1112\u1161\u11ab",
    ),
    "case": ("ABC abc Abc", "ÀÉÎ Straße STRASSE ẞ", "ПРИВЕТ ΣΊΣΥΦΟΣ İI ıi"),
    "punctuation": (
        *("...!!!???", "a-b--c---d", "«a» “b” ‘c’ (d) [e] {f}", "''' \"\"\" ``` ~~~ ^^^", "_a_ __b__"),
    ),
    "characters outside the vocabulary": (
        "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL} \N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}",
        "\U00010380\U00012000 x",
        "\ue000 \u0378a",
        "a龘b鱻c",
    ),
    "runs of one character": tuple(c * n for c in "a-= 0\n!好" for n in (2, 3, 4, 5, 6, 7, 8, 13, 21, 40)),
}
"""Texts by the rule that they are there for: what tokenizers and their formats do differently."""

LONE_SURROGATE = "a\ud800b"

SPECIAL_TEXTS = ("<|endoftext|>", "<|im_start|>", "<s>", "</s>", "[CLS]", "[SEP]", "[MASK]", "<pad>")


def texts() -> SearchStrategy[str]:
    """Text of every script, with whitespace and repetition more often than chance would have it."""
    from hypothesis import strategies as st

    anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    familiar = st.text(st.sampled_from(FAMILIAR), max_size=40)
    return st.one_of(anything, familiar, st.sampled_from(EDGE_CASES))
