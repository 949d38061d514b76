"""Text of many tests: strings that are hard on tokenizers, from a seed; English; and how GPT-2 cuts it."""

from __future__ import annotations

import random
from pathlib import Path

ENGLISH = (Path(__file__).parents[3] / "datasets" / "parallel" / "eng_Latn.txt").read_text("utf-8").splitlines()
GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
_POOL = [
    *" \n\r\t\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000'’`sStTdDmMlLvVrReEſK0١²Ⅻ一二abc.!?_-=/",
    *"éÅ中文字กขаб😀🇦\u0301\u200d\u00ad\ufeff\x00ABǅʰ\u0295\u1cf2",
    *("'ll", "'RE", "  ", "\r\n", "   \n", " 's", " the", "<|endoftext|>", "<s>"),
]


def hard_strings(count: int, *, seed: int = 7) -> list[str]:
    """`count` strings: some of characters that patterns treat differently, some of any code points."""
    chosen = random.Random(seed)

    def one() -> str:
        length = chosen.randrange(1, 60)
        if chosen.random() < 0.6:
            return "".join(chosen.choice(_POOL) for _ in range(length))
        top = (0x110000, 0x3000)
        points = (chosen.randrange(top[chosen.random() > 0.3]) for _ in range(length))
        return "".join(chr(point) for point in points if not 0xD800 <= point < 0xE000)

    return [one() for _ in range(count)]
