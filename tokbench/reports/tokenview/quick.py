"""The spans of a text, as `render.spans_of(pieces(…))` gives them, but fast enough for every keystroke.

A live page shows the same ids again and again. So bytes and text are looked up once per id, and the result for
a text is its distinct spans and their order. If the bytes of the tokens are not the text (normalized text,
UNK), `spans_of` itself is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from tokbench.inspection.pieces import pieces
from tokbench.reports.tokenview.render import Span, shown, spans_of
from tokbench.tokenizer import Tokenizer, checked_ids, special_ids, token_bytes, unk_id


@dataclass(frozen=True, slots=True)
class Shown:
    """A text as tokenized by one tokenizer.

    `spans` are distinct, ``spans[index] for index in sequence`` are those of the text in order; `exact` says
    whether the tokens' bytes are the text's.
    """

    ids: list[int]
    spans: list[Span]
    sequence: list[int]
    exact: bool


@dataclass(slots=True)
class QuickSpans:
    """The spans of texts under one tokenizer; not safe to share between threads without a lock.

    Example:
        >>> import tokbench
        >>> found = QuickSpans(tokbench.load("bytes")).of("néé")
        >>> found.spans, found.sequence
        ([('n', [110], ['6e'], ''), ('é', [195, 169], ['c3', 'a9'], '')], [0, 1, 1])
    """

    tokenizer: Tokenizer
    known: dict[int, bytes] = field(default_factory=dict)
    odd: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        unknown = unk_id(self.tokenizer)
        self.odd = special_ids(self.tokenizer) | ({unknown} if unknown is not None else frozenset())

    def of(self, text: str) -> Shown:
        """The tokens of a text."""
        ids = checked_ids(self.tokenizer, text)
        known = self.known
        for index in set(ids).difference(known):
            known[index] = token_bytes(self.tokenizer, index)
        data, joined = text.encode("utf-8"), b"".join([known[index] for index in ids])
        if joined in (data, b" " + data) and self.odd.isdisjoint(ids):
            spans, sequence = _walk(ids, known)
        else:
            spans, sequence = _distinct(spans_of(pieces(self.tokenizer, text, ids)))
        return Shown(ids, spans, sequence, joined == data)


def _walk(ids: Sequence[int], known: Mapping[int, bytes]) -> tuple[list[Span], list[int]]:
    """Spans of tokens whose bytes are the text; parts of a character are joined until it is whole."""
    spans: list[Span] = []
    sequence: list[int] = []
    places: dict[tuple[int, ...], int] = {}
    waiting: list[int] = []
    for index, following in zip_longest(ids, ids[1:]):
        waiting.append(index)
        if following is not None and b"\x80" <= known[following][:1] < b"\xc0":
            continue
        at = places.setdefault(tuple(waiting), len(spans))
        sequence.append(at)
        if at == len(spans):
            parts = [known[each] for each in waiting]
            spans.append((shown(b"".join(parts).decode("utf-8")), waiting, [part.hex() for part in parts], ""))
        waiting = []
    return spans, sequence


def _distinct(spans: Sequence[Span]) -> tuple[list[Span], list[int]]:
    found: list[Span] = []
    sequence: list[int] = []
    places: dict[tuple[str, tuple[int, ...]], int] = {}
    for span in spans:
        at = places.setdefault((span[0], tuple(span[1])), len(found))
        sequence.append(at)
        if at == len(found):
            found.append(span)
    return found, sequence
