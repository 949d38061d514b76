"""Write `plugins/tokbench_subword/pipeline/unicode_9.py`: what `tokenizers` knows of normal forms and marks.

It took its normal forms and accents from Unicode 9.0, and Python has another version with each release. So they
are measured: each code point is given to its normalizers, and what becomes of it is written down. Run with an
installed `tokenizers`: ``python tools/normal_form_table.py``.
"""

from __future__ import annotations

import unicodedata
import zlib
from base64 import b85encode
from collections.abc import Iterator
from pathlib import Path

from tokenizers import normalizers

TARGET = Path(__file__).parents[1] / "plugins/tokbench_subword/pipeline/unicode_9.py"
HANGUL = range(0xAC00, 0xD7A4)  # by arithmetic


def measured() -> Iterator[tuple[str, str, list[str]]]:
    """Name, meaning and entries of each table."""
    points = [point for point in range(1, 0x110000) if point not in HANGUL and not 0xD800 <= point < 0xE000]
    characters = [chr(point) for point in points if chr(point) != "\n"]
    forms = {
        name: dict(zip(characters, _each(getattr(normalizers, name)(), characters), strict=True))
        for name in ("NFC", "NFD", "NFKC", "NFKD")
    }
    canonical = {c: parts for c, parts in forms["NFD"].items() if parts != c}
    compatible = {c: parts for c, parts in forms["NFKD"].items() if parts != forms["NFD"][c]}
    nfc = normalizers.NFC()
    pairs = [
        nfc.normalize_str(parts[:-1]) + parts[-1] + c
        for c, parts in canonical.items()
        if forms["NFC"][c] == c and len(parts) > 1
    ]
    assert all(len(pair) == 3 and nfc.normalize_str(pair[:2]) == pair[2] for pair in pairs)
    classes: dict[int, str] = {}
    for character in characters:
        combining = unicodedata.combining(character)
        if combining and _is_reordered(character, combining):
            classes[combining] = classes.get(combining, "") + character
    strip = normalizers.StripAccents()
    marks = [c for c, left in zip(characters, _each(strip, characters), strict=True) if not left]
    yield "CANONICAL", "Characters, each with the parts that NFD takes it apart into.", _entries(canonical)
    yield "COMPATIBLE", "Characters of which NFKD makes something else, each with that.", _entries(compatible)
    yield "PAIRS", "Two characters and what NFC makes of them.", pairs
    yield (
        "CLASSES",
        "Canonical combining classes, each with its characters.",
        [chr(number) + members for number, members in sorted(classes.items())],
    )
    yield "MARKS", "What StripAccents removes.", ["".join(marks)]


def _each(normalizer: normalizers.Normalizer, characters: list[str]) -> list[str]:
    """What becomes of each character."""
    return normalizer.normalize_str("\n".join(characters)).split("\n")


def _is_reordered(character: str, combining: int) -> bool:
    """Whether `tokenizers` knows the combining class that Python gives a character."""
    low, high = "\u0334", "\u0345"  # of classes 1 and 240
    text = "a" + (character + low if combining > 1 else high + character)
    return normalizers.NFD().normalize_str(text) != "a" + unicodedata.normalize("NFD", text[1]) + text[2]


def _entries(parts: dict[str, str]) -> list[str]:
    return [character + of_it for character, of_it in parts.items()]


def main() -> None:
    """Write the module."""
    lines = [
        '"""Normal forms and marks of Unicode 9.0; written by tools/normal_form_table.py, not to be edited."""',
        "",
        "# Each table: entries with NUL between them, as UTF-8, deflated, in base 85. A character comes first.",
    ]
    for name, meaning, entries in measured():
        text = b85encode(zlib.compress("\0".join(entries).encode(), 9)).decode()
        lines += ["", f"# {meaning}", f"{name} = ("]
        lines += [f'    "{text[start : start + 100]}"' for start in range(0, len(text), 100)]
        lines += [")"]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
