"""Text to train on and text that is hard on tokenizers, both from a seed; all of it is in the repository."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path


def chance(rng: random.Random, share: float = 0.5) -> bool:
    """True in a `share` of the cases."""
    return rng.random() < share


DATASETS = Path(__file__).parents[2] / "datasets"

HARD = (
    *("", " ", "  ", "\n", "\r\n", "\t", "\x00", "a\x00b", "\x01\x02\x1f\x7f", "\x1c\x1d\x1e\x1f"),
    *("\x0b\x0c", "a\x1cb\x85c\u2028d\u2029e", "\ufffd", "\ufeffBOM", "\u200b\u200c\u200d\u2060"),
    *("\U0010ffff \ue000", "e\u0301e\u0300\u0301\u0302", "\u0300", " \u0301a", "Å\u030a"),
    *("\u0344 \u0958", "\u1e9b\u0323", "\u3099か\u3099", "ﬁ ﬀ ﬃ① ½ ² ℌ ㎏", "ＦＵＬＬ　ｗｉｄｔｈ"),
    *("ｶﾞｷﾞ", "ﷺ", "\u2126\u212b", "ﬃ\u0301", "\u115f\u1160 \uac00\u11a8", "İstanbul ıspanak ẞ ß"),
    *("ΣΑΣ ς \u03c3\u03a3", "ǅ ʰ ª º Ǆ ŉ ΐ", "ᾳ ᾼ", "\u0130\u0131i\u0307", "Łódź Đà Nẵng"),
    *("שלום, בְּרֵאשִׁית", "مرحبا ١٢٣ لِلّهِ", "\u202eRTL\u202c x", "สวัสดีชาวโลก ๑๒๓"),
    *("नमस्ते क्षत्रिय ५६७", "བཀྲ་ཤིས། \u0f40\u0f72\u0f71", "မင်္ဂလာပါ", "தமிழ்", "ሰላም", "გამარჯობა"),
    *("ᏣᎳᎩ", "한국어 \u1112\u1161\u11ab", "日本語のテキスト、", "中文文本。没有空格！"),
    *("👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d💻", "🇩🇪🇫🇷🇯🇵", "☺️ ☺ ✌🏿", "𝔘𝔫𝔦 𐍈𐌰 𓀀"),
    *("🏴\U000e0067\U000e007f", "\U000e0041", "x" * 200, " " * 70, "\n" * 30, "ab" * 100),
    *("1234567890" * 6, "!?" * 30, "é" * 60, "中" * 65, "\u0301" * 40, "don't I'LL we've 'S 'ſ it’s"),
    *("f(b)[0]; x += 1 // c\n\tif (a&&b) {\r\n}\r\n\r\n", "3.14, 1,000.00 12345678", "   leading"),
    *("trailing   ", " \t mixed \u00a0nbsp\u3000ideo ", "a\u1680c\u2003d", "\u180e\u200e", "\r"),
    *("\n\r \n", "<s> </s> <unk> [UNK] [CLS] <|endoftext|>", "a<mask>b <mask> c", "<MASK> <Mask>"),
    *("hello_world HelloWorld", "▁under ▁▁ x▁y", "<0x41> <0xFF>", "Ġword Ċ", "##ing ##", "a</w> b</w>"),
    *("_a_b__ -x- --", "«quoted» “x” 「z」"),
    "a\xa0b\u1680c\u2000d\u2001e\u2002f\u2003g\u2004h\u2005i\u2006j\u2007k\u2008l\u2009m\u200an\u202fo\u205fp\u3000q",
    *("\ufdd0a\ufdef \ufffe\uffff \U0001fffe\U0010fffe", "\ue000\uf8ff \U000f0000\U00100000x\ue001"),
    *("ߒߞߏ ߊߟߎ߫ ߓ߭ߊ߬ ߁߂߃", "ភាសាខ្មែរ ក្រុម ១២៣", "ሰላም፡ዓለም። ፩፪", "ကျွန်တော် ၁၂၃", "தமிழ் கொடு க்ஷ ஸ்ரீ ௧௨"),
    *("क़्त ड़्ढ़ अ्या द्ध क़\u0314", "ড়্য র\u200d্য ড\u09bc", "ක්\u200dෂ ශ්\u200dරී", "น้ำ ກຳ", "𞤀𞤣𞤤𞤢𞤥 𞥑𞥒", "ᠮᠣᠩᠭᠣᠯ\u180e"),
    *("1\ufe0f\u20e3 ❤\ufe0f\u200d🔥 🧑🏿\u200d🤝\u200d🧑🏻", "\u200fאב\u200e \u061cعر \u2066x\u2069"),
    "𒀀𒁀 𝟙𝟚 Ⅷ ⑳",
)  # fmt: skip

_BETWEEN = (
    *(" ", "  ", "\n", "\r\n", "\t", "'", "1", "12", "A", "é", "e\u0301", "\x00"),
    *("<s>", "<mask>", "[X]", "▁", "_"),
    *(".", ",", "-", "\u200d", "中", "\u00a0", "\u3000", "ab", "the", "The", "hello", " x", "##", "</w>", "İ"),
)  # fmt: skip


@lru_cache(maxsize=1)
def corpora() -> tuple[tuple[str, ...], ...]:
    """The lines of each bundled text."""
    files = sorted(path for path in DATASETS.rglob("*") if path.suffix not in ("", ".toml", ".jsonl"))
    texts = [path.read_text(encoding="utf-8").split("\n") for path in files]
    with (DATASETS / "tricky/tricky.jsonl").open(encoding="utf-8") as tricky:
        texts.append([json.loads(line)["text"] for line in tricky])
    return tuple(tuple(line for line in text if line.strip()) for text in texts)


@lru_cache(maxsize=1)
def _fragments() -> tuple[str, ...]:
    words = [word for text in corpora() for word in text[0].split(" ")[:6]]
    parts = [part for hard in HARD for part in (hard[:6], hard[-5:], *hard.split(" ")[:3])]
    return tuple(one[:40] for one in (*words, *parts, *_BETWEEN) if one)


def training(rng: random.Random, per_text: int) -> list[str]:
    """Lines of every bundled text, and the hard ones."""
    return [line for text in corpora() for line in rng.sample(text, min(per_text, len(text)))] + list(HARD)


def samples(rng: random.Random, count: int) -> list[str]:
    """`count` texts without surrogates to encode: hard ones, real lines, and mixtures nobody would write."""
    kinds = (
        lambda: rng.choice(HARD),
        lambda: rng.choice(rng.choice(corpora()))[:300],
        lambda: "".join(_some(rng) for _ in range(rng.randrange(1, 14))),
        lambda: "".join(_some(rng) for _ in range(rng.randrange(1, 5))),
        lambda: _some(rng)[:4] * rng.randrange(2, 80),
    )
    return [rng.choice(kinds)() for _ in range(count)]


def mixtures(rng: random.Random, words: Sequence[str], count: int) -> list[str]:
    """`count` texts of given words, one against the other or with blanks and letters between."""
    some = [*words, *_BETWEEN[:8], "a", "_"]
    return ["".join(rng.choice(some) for _ in range(rng.randrange(1, 9))) for _ in range(count)]


def long_word(rng: random.Random) -> str:
    """One text of some ten thousand characters, of few words and mostly without blanks."""
    words = ["".join(_some(rng).split()) or "x" for _ in range(3)]
    return "".join(rng.choices(words, k=30_000 // len("".join(words))))


def _some(rng: random.Random) -> str:
    if rng.random() < 0.85:
        return rng.choice(_fragments())
    low, high = rng.choice(((1, 0x250), (0x250, 0xD800), (0xE000, 0x20000)))
    point = rng.randrange(low, high)
    if rng.random() < 0.5:
        return chr(point)
    near = (min(max(low, point + rng.randrange(-40, 40)), high - 1) for _ in range(5))  # mostly of one script
    return "".join(map(chr, near))
