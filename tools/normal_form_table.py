"""Write `plugins/tokbench_subword/pipeline/unicode_9.py`: of which characters `tokenizers` knows normal forms.

It took its normal forms and accents from Unicode 9.0, and Python has another version with each release. So the
characters are measured: each is given to its normalizers, and written down if anything becomes of it. Run with
an installed `tokenizers`: ``python tools/normal_form_table.py``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from tokenizers import normalizers
from wordpiece_characters import packed

TARGET = Path(__file__).parents[1] / "plugins/tokbench_subword/pipeline/unicode_9.py"
HANGUL = range(0xAC00, 0xD7A4)  # by arithmetic


def measured() -> Iterator[tuple[str, str, set[int]]]:
    """Name, meaning and code points of each table."""
    points = [point for point in range(1, 0x110000) if point not in HANGUL and not 0xD800 <= point < 0xE000]
    characters = [chr(point) for point in points if chr(point) != "\n"]
    forms = {
        name: dict(zip(characters, _each(getattr(normalizers, name)(), characters), strict=True))
        for name in ("NFC", "NFD", "NFKC", "NFKD")
    }
    changing = {c for form in forms.values() for c, new in form.items() if new != c}
    composed = [parts for c, parts in forms["NFD"].items() if parts != c and forms["NFC"][c] == c]
    changing |= {part for parts in composed for part in parts}
    classes = {c: unicodedata.combining(c) for c in characters}
    changing |= {c for c, combining in classes.items() if combining and _is_reordered(c, combining)}
    strip = normalizers.StripAccents()
    yield "CHANGING", "What normal forms take apart, put in order or compose.", set(map(ord, changing))
    marks = [c for c, left in zip(characters, _each(strip, characters), strict=True) if not left]
    yield "MARKS", "What StripAccents removes.", set(map(ord, marks))


def _each(normalizer: normalizers.Normalizer, characters: list[str]) -> list[str]:
    """What becomes of each character."""
    return normalizer.normalize_str("\n".join(characters)).split("\n")


def _is_reordered(character: str, combining: int) -> bool:
    """Whether `tokenizers` knows the combining class that Python gives a character."""
    low, high = "\u0334", "\u0345"  # of classes 1 and 240
    text = "a" + (character + low if combining > 1 else high + character)
    return normalizers.NFD().normalize_str(text) != "a" + unicodedata.normalize("NFD", text[1]) + text[2]


def main() -> None:
    """Write the module."""
    lines = [
        '"""Characters of Unicode 9.0; written by tools/normal_form_table.py, not to be edited."""',
    ]
    for name, meaning, points in measured():
        text = packed(points)
        lines += ["", f"# {meaning}", f"{name} = ("]
        lines += [f'    "{text[start : start + 100]}"' for start in range(0, len(text), 100)]
        lines += [")"]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
