"""Texts on which a conversion is tried before it is written: each for a rule that formats say differently."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Probe(NamedTuple):
    """A text, and the rule that it is there for."""

    rule: str
    text: str


_FIXED: dict[str, Sequence[str]] = {
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
    "spaces at the ends": (
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
    ),
    "spaces doubled": ("a  b", "a   b    c", "  a  b  ", "a \n b", "a\u00a0 b", "a \u2003b", "x=1;        y"),
    "the mark of spaces": ("▁", "▁a", "a▁b", "▁ a", "a ▁▁ b▁"),
    "line ends and tabs": (
        "a\nb",
        "a\r\nb\r\n",
        "a\n\n\nb",
        "a\tb\t\tc",
        "\n",
        "a\n b\n  c",
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
        "...!!!???",
        "a-b--c---d",
        "«a» “b” ‘c’ (d) [e] {f}",
        "''' \"\"\" ``` ~~~ ^^^",
        "_a_ __b__",
    ),
    "characters outside the vocabulary": (
        "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL} \N{THUMBS UP SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}",
        "\U00010380\U00012000 x",
        "\ue000 \u0378a",
        "a龘b鱻c",
    ),
    "runs of one character": tuple(c * n for c in "a-= 0\n!好" for n in (2, 3, 4, 5, 6, 7, 8, 13, 21, 40)),
}

_WOVEN = 400
_LONGEST = 12
_MOST_SYMBOLS = 64


def probes(
    tokens: Sequence[str], *, symbols: Iterable[str] = (), tied: Iterable[str] = (), never: Iterable[str] = ()
) -> list[Probe]:
    """The texts for a vocabulary: the fixed ones, its `symbols` in all places, and its `tokens` woven together.

    `tokens` are as text has them. `symbols` are matched whole wherever they stand (added tokens, user-defined
    symbols), `tied` are tokens that nothing but their place decides between. No probe holds one of `never`:
    special tokens, whose text is a matter of each library's own.

    Example:
        >>> found = probes(["a"], symbols=["<x>"])
        >>> [probe.text for probe in found if probe.rule == "symbols matched whole"][:3]
        ['<x>', 'a<x>b', 'a <x> b']
    """
    found = [Probe(rule, text) for rule, texts in _FIXED.items() for text in texts]
    found += [Probe("symbols matched whole", text) for text in _around(sorted(set(symbols)))]
    found += [Probe("tokens side by side", text) for text in _woven(tokens)]
    found += [Probe("tokens of one score", text) for text in _woven(sorted(set(tied)))]
    apart = [text for text in never if text]
    return [probe for probe in found if not any(text in probe.text for text in apart)]


def texts_of(tokens: Iterable[bytes]) -> list[str]:
    """The tokens that are text by themselves."""
    found = []
    for token in tokens:
        try:
            found.append(token.decode())
        except UnicodeDecodeError:
            continue
    return found


def _around(symbols: Sequence[str]) -> Iterator[str]:
    if len(symbols) > _MOST_SYMBOLS:
        symbols = [*symbols[: _MOST_SYMBOLS // 2], *symbols[-_MOST_SYMBOLS // 2 :]]
    for index, one in enumerate(symbols):
        other = symbols[index - 1]
        for text in ("{0}", "a{0}b", "a {0} b", "a  {0}  b", " {0}", "{0} ", "{0}{0}", "{0} {1}", "{1}{0}c"):
            yield text.format(one, other)
        yield from (one.upper(), f"{one.lower()}x", one[:-1], one[1:])


def _woven(tokens: Sequence[str]) -> Iterator[str]:
    """Tokens drawn evenly from the whole vocabulary, in a row: what merges and scores decide between."""
    drawn = random.Random(0)
    known = [token for token in tokens if token]
    for length in range(_WOVEN) if known else ():
        between = " " if length % 3 == 0 else ""
        yield between.join(drawn.choices(known, k=1 + length % _LONGEST))
