"""Where two tokenizations of one text first differ, and the cause, one of `CAUSES`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import attrgetter
from typing import Any

from tokbench.inspection.pieces import TextPiece
from tokbench.inspection.recent import is_recent
from tokbench.tokenizer import first_difference, whole_text
from tokbench.wording import in_utf8

CAUSES = {
    "special tokens": "one side has a special token there, or the text spells one",
    "numbering": "the same tokens, under other ids",
    "white space": "the tokens differ only in the white space they carry, or they part within or behind it",
    "unknown": "one side covers with UNK what the other spells",
    "normalisation": "the tokens of the two sides spell different texts",
    "Unicode class": "the same text, cut differently beside a character that Unicode classified lately",
    "digits": "the same text, its digits grouped differently",
    "ties": "the same text in as many tokens, cut elsewhere",
    "segmentation": "the same text, in more tokens on one side",
}
"""The causes of a difference, in the order in which they are tried."""
CONTEXT = 2  # equal tokens shown on either side of a divergence
MOST_SHOWN = 24  # tokens of a divergence that are kept
_SPECIAL = re.compile(r"<\|[^|<>\s]+\|>|</?[a-z_]{1,16}\d*>|\[(?:CLS|SEP|PAD|UNK|MASK)\]")


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first place in a document where two tokenizers differ.

    `document` names the document; `position` is the index of the first token that differs. `start` and `end`
    are the characters until the two agree again, and `text` those characters. `a` and `b` are the tokens there,
    after `lead` equal tokens (up to two); `n_a` and `n_b` of them differ. At most `MOST_SHOWN` tokens are kept.
    """

    document: str
    position: int
    start: int
    end: int
    text: str
    cause: str
    a: tuple[TextPiece, ...]
    b: tuple[TextPiece, ...]
    n_a: int
    n_b: int
    lead: int

    def as_json(self) -> dict[str, Any]:
        """The divergence in JSON's types."""
        return {
            "document": self.document,
            "position": self.position,
            "start": self.start,
            "end": self.end,
            "text": in_utf8(self.text),
            "cause": self.cause,
            "n_tokens": [self.n_a, self.n_b],
            "lead": self.lead,
            "a": [piece.as_json() for piece in self.a],
            "b": [piece.as_json() for piece in self.b],
        }


def first_divergence(
    document: str,
    text: str,
    a: Sequence[TextPiece],
    b: Sequence[TextPiece],
    key: Callable[[TextPiece], object] = attrgetter("id"),
) -> Divergence | None:
    """The first place where `a` and `b`, two tokenizations of `text`, differ in `key`, or None."""
    position = first_difference([*map(key, a)], [*map(key, b)])
    if position == len(a) == len(b):
        return None
    end_a, end_b = _resync(a, b, position, key)
    part_a, part_b = a[position:end_a], b[position:end_b]
    spans = [(piece.start, piece.end) for piece in (*part_a, *part_b)]
    start, end = min((low for low, _ in spans), default=0), max((high for _, high in spans), default=0)
    before = max(0, position - CONTEXT)
    return Divergence(
        document=document,
        position=position,
        start=start,
        end=end,
        text=text[start:end],
        cause=cause(part_a, part_b, text, start, end),
        a=tuple(a[before : min(end_a + CONTEXT, position + MOST_SHOWN)]),
        b=tuple(b[before : min(end_b + CONTEXT, position + MOST_SHOWN)]),
        n_a=len(part_a),
        n_b=len(part_b),
        lead=position - before,
    )


def _resync(
    a: Sequence[TextPiece], b: Sequence[TextPiece], position: int, key: Callable[[TextPiece], object]
) -> tuple[int, int]:
    """The ends of the part that differs: where both have the same token at the same character again."""
    i = j = position
    while i < len(a) and j < len(b):
        if a[i].start == b[j].start and (i, j) != (position, position) and key(a[i]) == key(b[j]):
            return i, j
        if a[i].end <= b[j].end:
            i += 1
        else:
            j += 1
    return len(a), len(b)


def cause(a: Sequence[TextPiece], b: Sequence[TextPiece], text: str, start: int, end: int) -> str:
    """The kind of difference between two tokenizations of ``text[start:end]``, one of `CAUSES`."""
    part = text[start:end]
    if "special" in {piece.kind for piece in (*a, *b)} or _SPECIAL.search(part):
        return "special tokens"
    bytes_a, bytes_b = [piece.bytes for piece in a], [piece.bytes for piece in b]
    if bytes_a == bytes_b:
        return "numbering"
    if part.isspace() or _without(rb"\s", bytes_a) == _without(rb"\s", bytes_b):
        return "white space"
    unknown_a, unknown_b = (any(piece.kind == "unknown" for piece in side) for side in (a, b))
    if unknown_a != unknown_b:
        return "unknown"
    spelled_a, spelled_b = b"".join(bytes_a), b"".join(bytes_b)
    if _without(rb"\s", [spelled_a]) != _without(rb"\s", [spelled_b]):
        return "normalisation"
    if any(map(is_recent, text[max(0, start - 1) : end + 1])):  # a neighbour counts, too
        return "Unicode class"
    if spelled_a != spelled_b:
        return "white space"
    if any(char.isnumeric() for char in part) and _without(rb"\D", bytes_a) != _without(rb"\D", bytes_b):
        return "digits"
    if _parts_in_spaces(bytes_a, bytes_b):
        return "white space"
    return "ties" if len(a) == len(b) else "segmentation"


def _parts_in_spaces(a: Sequence[bytes], b: Sequence[bytes]) -> bool:
    """Whether the first cut that only one of two spellings of the same bytes has follows a space."""
    spelled, cuts = b"".join(a), (set(accumulate(map(len, a))), set(accumulate(map(len, b))))
    before = spelled[: min(cuts[0] ^ cuts[1], default=0)]
    return (whole_text(before) or "")[-1:].isspace()  # not within a character


def _without(pattern: bytes, parts: Sequence[bytes]) -> list[bytes]:
    """What remains of each part without the matches; parts with nothing left are dropped."""
    return [rest for part in parts if (rest := re.sub(pattern, b"", part))]
