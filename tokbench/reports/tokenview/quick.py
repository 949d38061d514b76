"""Spans at typing speed: the same as `render.spans_of(pieces(…))`, from what is known of each id already.

A live page shows the same ids again and again, so bytes, text and kind are looked up once per id. Where tokens'
bytes do not make up the text (normalised text, UNK), the careful way takes over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tokbench.inspection.pieces import pieces
from tokbench.reports.tokenview.render import Span, shown, spans_of
from tokbench.tokenizer import Tokenizer, special_ids, token_bytes, unk_id


class Known(NamedTuple):
    """What one id stands for; `text` is None where its bytes are no whole characters."""

    data: bytes
    hex: str
    text: str | None


@dataclass(slots=True)
class QuickSpans:
    """The spans of texts under one tokenizer; not safe to share between threads without a lock.

    Example:
        >>> import tokbench
        >>> QuickSpans(tokbench.load("bytes")).of("né")[1]
        [('n', [110], ['6e'], ''), ('é', [195, 169], ['c3', 'a9'], '')]
    """

    tokenizer: Tokenizer
    known: dict[int, Known] = field(default_factory=dict)
    odd: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        unknown = unk_id(self.tokenizer)
        self.odd = special_ids(self.tokenizer) | ({unknown} if unknown is not None else frozenset())

    def of(self, text: str) -> tuple[list[int], list[Span], bool]:
        """Ids, spans, and whether the tokens' bytes make up the text exactly."""
        ids = [int(index) for index in self.tokenizer.encode(text)]
        known = self.known
        for index in set(ids).difference(known):
            known[index] = _look_up(self.tokenizer, index)
        data = text.encode("utf-8")
        exact = b"".join([known[index].data for index in ids]) == data
        if exact and self.odd.isdisjoint(ids):
            return ids, _walk(ids, known), True
        return ids, spans_of(pieces(self.tokenizer, text, ids)), exact


def _look_up(tokenizer: Tokenizer, index: int) -> Known:
    data = token_bytes(tokenizer, index)
    try:
        text = shown(data.decode("utf-8"))
    except UnicodeDecodeError:
        text = None
    return Known(data, data.hex(), text)


def _walk(ids: list[int], known: dict[int, Known]) -> list[Span]:
    """Spans of tokens whose bytes are the text: those that break a character wait until it is whole."""
    spans: list[Span] = []
    open_ids: list[int] = []
    for place, index in enumerate(ids):
        if not open_ids and known[index].text is not None:
            spans.append((known[index].text or "", [index], [known[index].hex], ""))
            continue
        open_ids.append(index)
        following = known[ids[place + 1]].data[:1] if place + 1 < len(ids) else b""
        if following and 0x80 <= following[0] < 0xC0:
            continue
        data = b"".join([known[each].data for each in open_ids])
        spans.append((shown(data.decode("utf-8")), open_ids, [known[each].hex for each in open_ids], ""))
        open_ids = []
    return spans
