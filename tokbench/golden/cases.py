"""Chooses the texts of a golden pack: one for every rule, script and kind of character, and for every token."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tokbench.corpus import in_batches
from tokbench.family import Progress
from tokbench.inspection.audit import VocabularyAudit
from tokbench.lint.samples import ROUND_TRIPS
from tokbench.testing.texts import EDGE_CASES, RULE_TEXTS
from tokbench.tokenizer import Tokenizer, encode_batch

_MIXED = 160
PARTS = (
    *("a", "b", "The", "word", "WORD", "Mixed", "x", "é", "E\u0301", "ß", "ſ", "I", "中", "文字", "カ", "한"),
    *("ก", "ا", "א", "д", "1", "12", "123", "4567", "٣", "½", "²", "'s", "'S", "'re", "'LL", "’s", "'", '"'),
    *(" ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2003", "\x0b", "\x85", ".", ","),
    *("...", "!?", "-", "--", "_", "/", "(", ")", "#", "$", "€", "+", "=", "😀", "\u200d", "\u200b", "\ufeff"),
    *("\u00ad", "\x00", "\x1f", "▁", "##", "Ġ"),
    *("ﬁ", "Ａ", "①", "\u0301", "\u0378", "\ue000", "\ufffd"),
)  # fmt: skip
_A_ROW = 24
_CHARACTERS = 20_000


class Case(NamedTuple):
    """A text, and the rule that it is there for."""

    rule: str
    text: str


def detailed(added: Sequence[str]) -> list[Case]:
    """The texts that are given with ids, bytes, places and stages. `added` are strings matched whole."""
    cases = [Case(rule, text) for rule, texts in RULE_TEXTS.items() for text in texts]
    cases += [Case("languages and round trips", text) for text in ROUND_TRIPS]
    cases += [Case("hostile text", text) for text in EDGE_CASES]
    for one in added:
        cases += [
            Case("added tokens", form.format(one)) for form in ("{0}", "a{0}b", "a {0} b", " {0}{0} ", "{0}\n")
        ]
        cases += [Case("added tokens", one.upper()), Case("added tokens", one[:-1])]
    drawn = random.Random(0)
    for number in range(_MIXED):
        parts = drawn.choices(PARTS, k=3 + number % 9)
        cases.append(Case("rules side by side", "".join(parts)))
    known: dict[str, Case] = {}
    for case in cases:
        known.setdefault(case.text, case)
    return list(known.values())


def rows(tokenizer: Tokenizer, audit: VocabularyAudit, seen: set[int], tell: Progress) -> Iterator[str]:
    """Texts that together give every token that can be had, some tokens each; adds what they give to `seen`.

    A token is tried on a line of its own: its text alone, that text after a space, and the text in which the
    audit found it. Tokens that are parts of characters are looked for in characters of all scripts.
    """
    texts = [(index, text) for index, text in audit.texts() if index not in audit.reencoded]
    spaced = [(index, " " + text) for index, text in texts]
    found = [(index, audit.in_context.get(index, text)) for index, text in texts]
    for number, tried in enumerate((texts, spaced, found)):
        tell(0.2 + 0.2 * number, "covering the vocabulary")
        for between, most in (("\n", _A_ROW), (" ", _A_ROW), ("", 1)):
            pieces = [text for index, text in tried if index not in seen]
            yield from _useful(tokenizer, [between.join(part) for part in in_batches(pieces, most=most)], seen)
    tell(0.9, "covering characters")
    yield from _useful(tokenizer, list(_characters()), seen)


def _useful(tokenizer: Tokenizer, texts: Sequence[str], seen: set[int]) -> Iterator[str]:
    """Those of the texts that give tokens not seen before."""
    for text, ids in zip(texts, encode_batch(tokenizer, texts).to_lists(), strict=True):
        if not seen.issuperset(ids):
            seen.update(ids)
            yield text


def _characters() -> Iterator[str]:
    """Assigned characters of all planes, spread evenly, some to a text."""
    every = [
        chr(point)
        for point in range(0x80, 0x32000)
        if not 0xD800 <= point < 0xE000 and unicodedata.category(chr(point)) not in ("Cn", "Co")
    ]
    yield "\U00040000 \U00080000 \U000e0041 \U0010fffd"  # every byte that begins a character
    step = max(1, len(every) // _CHARACTERS)
    yield from map("".join, in_batches(every[::step], most=16))
