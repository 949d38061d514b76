"""Write `plugins/tokbench_subword/pipeline/unicode_tables.py`: characters as `tokenizers` sees them.

For BERT it took its general categories from Unicode 8.0, and its normal forms and accents from 9.0; Python has
another version with each release. So characters are measured: each is given to a normalizer or pre-tokenizer,
and what becomes of it is written down, packed as tools/unicode_table.py says. Run with an installed
`tokenizers`: ``python tools/character_tables.py``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

from tokenizers import normalizers, pre_tokenizers
from unicode_table import packed

TARGET = Path(__file__).parents[1] / "plugins/tokbench_subword/pipeline/unicode_tables.py"
OFF = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False, "lowercase": False}
HANGUL = range(0xAC00, 0xD7A4)  # by arithmetic


def of_bert() -> Iterator[tuple[str, str, set[int]]]:
    """Name, meaning and code points of each class that BERT's normalizer goes by: those of Unicode 8.0."""
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    accents = normalizers.BertNormalizer(**{**OFF, "strip_accents": True})
    clean = normalizers.BertNormalizer(**{**OFF, "clean_text": True})
    yield (
        "BERT_MARKS",
        "Mn: what strip_accents removes after NFD.",
        {point for point in points if accents.normalize_str(chr(point)) == ""},
    )
    yield (
        "BERT_CONTROLS",
        "NUL, U+FFFD, Cc, Cf and Co but tab and line ends: what clean_text removes.",
        {point for point in points if clean.normalize_str(chr(point)) == ""},
    )


def of_normal_forms() -> Iterator[tuple[str, str, set[int]]]:
    """Name, meaning and code points of what has a normal form, or is an accent: those of Unicode 9.0."""
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


def of_pre_tokenizers() -> Iterator[tuple[str, str, set[int]]]:
    """Name, meaning and code points of what pre-tokenizers cut at."""
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    text = "".join(f"a{chr(point)}" for point in points) + "a"
    for name, meaning, cut in (
        (
            "PUNCTUATION",
            "What Punctuation and BertPreTokenizer cut at.",
            pre_tokenizers.Punctuation("isolated"),
        ),
        ("DIGITS", "What Digits cuts at.", pre_tokenizers.Digits(individual_digits=True)),
    ):
        pieces = cut.pre_tokenize_str(text)
        yield name, meaning, {ord(piece) for piece, (start, end) in pieces if end == start + 1 and start % 2}


def scripts() -> list[int]:
    """The script of every code point as UnicodeScripts has it, numbered as they come; 0 for what goes with any.

    It cuts where the script changes, and Hiragana and Katakana count as Han.
    """
    cut = pre_tokenizers.UnicodeScripts().pre_tokenize_str
    points = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    has_one: set[int] = set()
    for before, behind in ("αя", "яα"):  # what goes with any is not cut off from either
        text = "".join(f"{before}{chr(point)}{behind}" for point in points)
        has_one.update(points[start // 3] for _, (start, _) in cut(text) if start % 3 == 1)
    numbers, firsts = [0] * 0x110000, list[str]()
    for run, _ in cut("".join(map(chr, sorted(has_one)))):
        number = next((k for k, first in enumerate(firsts, 1) if len(cut(first + run[0])) == 1), 0)
        if not number:
            firsts.append(run[0])
        for character in run:
            numbers[ord(character)] = number or len(firsts)
    return numbers


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
        '"""Classes of characters as `tokenizers` has them; by tools/character_tables.py, not to be edited."""'
    ]
    classes = (*of_bert(), *of_normal_forms(), *of_pre_tokenizers())
    tables = [(name, what, [point in points for point in range(0x110000)]) for name, what, points in classes]
    for name, what, numbers in (*tables, ("SCRIPTS", "The script of each code point, 0 for none.", scripts())):
        text = packed(numbers)
        lines += ["", f"# {what}", f"{name} = ("]
        lines += [f'    "{text[start : start + 100]}"' for start in range(0, len(text), 100)]
        lines += [")"]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
