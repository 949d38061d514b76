"""Write `plugins/tokbench_subword/pipeline/unicode_8.py`: the character classes BERT's normalizer goes by.

`tokenizers` took its general categories for BERT from Unicode 8.0. Python no longer has them, so they are
measured: each code point is given to `BertNormalizer`, and what happens to it is written down as ranges. Run
with an installed `tokenizers`: ``python tools/wordpiece_characters.py``.
"""

from __future__ import annotations

import zlib
from base64 import b85encode
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenizers.normalizers import BertNormalizer

TARGET = Path(__file__).parents[1] / "plugins/tokbench_subword/pipeline/unicode_8.py"
OFF = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}


def measured() -> Iterator[tuple[str, str, set[int]]]:
    """Name, meaning and code points of each class."""
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    accents = BertNormalizer(**{**OFF, "strip_accents": True})
    clean = BertNormalizer(**{**OFF, "clean_text": True})
    yield (
        "MARKS",
        "Mn: what strip_accents removes after NFD.",
        {point for point in points if accents.normalize_str(chr(point)) == ""},
    )
    yield (
        "CONTROLS",
        "NUL, U+FFFD, Cc, Cf and Co but tab and line ends: what clean_text removes.",
        {point for point in points if clean.normalize_str(chr(point)) == ""},
    )


def packed(points: Iterable[int]) -> str:
    """Lengths of runs outside and inside the set, in turn: little-endian base-128, deflated, in base 85."""
    ends: list[int] = []
    for point in sorted(points):
        if ends and ends[-1] == point:
            ends[-1] = point + 1
        else:
            ends += [point, point + 1]
    data, last = bytearray(), 0
    for end in ends:
        length, last = end - last, end
        while length >= 0x80:
            data.append(0x80 | (length & 0x7F))
            length >>= 7
        data.append(length)
    return b85encode(zlib.compress(bytes(data), 9)).decode()


def main() -> None:
    """Write the module."""
    lines = [
        '"""Character classes of Unicode 8.0; written by tools/wordpiece_characters.py, not to be edited."""'
    ]
    for name, meaning, points in measured():
        text = packed(points)
        lines += ["", f"# {meaning}", f"{name} = ("]
        lines += [f'    "{text[start : start + 100]}"' for start in range(0, len(text), 100)]
        lines += [")"]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
