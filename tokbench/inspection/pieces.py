"""The tokens of a text, ready to be shown in the terminal, the report and the live page.

Tokens of byte-level vocabularies may be parts of a character. Such tokens form a group, which is shown as the
whole characters that it spells; every token belongs to one group, and most groups have one token.

The place of a token in the text is found from the bytes of the tokens if together they are the text (perhaps
with a space added before it), else from the tokenizer's own offsets, else by searching for the text of each
token.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any, Literal

from tokbench.capabilities import OffsetEncoder
from tokbench.tokenizer import Tokenizer, checked_ids, special_ids, token_bytes, token_text, unk_id, whole_text
from tokbench.wording import in_utf8

Kind = Literal["token", "special", "unknown"]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """One token in its text.

    `bytes` are the token's bytes, empty for special tokens and UNK. `text` is how to show it: its own text, or,
    if its bytes are not whole characters, the whole characters that they belong to. `start` and `end` are its
    span in code points of the text, equal if it covers none. Tokens of the same `group` share a character;
    `whole` says that the token shares none.
    """

    id: int
    bytes: bytes
    text: str
    start: int
    end: int
    whole: bool
    group: int
    kind: Kind = "token"

    def as_json(self) -> dict[str, Any]:
        """The piece in JSON's types; `bytes` in hex.

        Example:
            >>> TextPiece(5, b"hi", "hi", 0, 2, True, 0).as_json()["bytes"]
            '6869'
        """
        told = {name: getattr(self, name) for name in self.__slots__}  # `asdict` takes three times as long
        return {**told, "bytes": self.bytes.hex(), "text": in_utf8(self.text)}


@dataclass(frozen=True, slots=True)
class Group:
    """Tokens shown as one: `text` is whole characters, `start` and `end` their span."""

    text: str
    start: int
    end: int
    pieces: tuple[TextPiece, ...]


def pieces(tokenizer: Tokenizer, text: str, ids: Sequence[int] | None = None) -> list[TextPiece]:
    """The tokens of `text`, in order; `ids` if the text is encoded already.

    Example:
        >>> import tokbench
        >>> [(piece.text, piece.group, piece.whole) for piece in pieces(tokbench.load("bytes"), "né")]
        [('n', 0, True), ('é', 1, False), ('é', 1, False)]
    """
    found = checked_ids(tokenizer, text) if ids is None else list(map(int, ids))
    known = {index: token_bytes(tokenizer, index) for index in set(found)}
    parts = [known[index] for index in found]
    spans, shared = _locate(tokenizer, text, found, parts)
    unknown, special = unk_id(tokenizer), special_ids(tokenizer)
    numbers = [max(begun - 1, 0) for begun in accumulate(not joined for joined in shared)]
    sizes, bounds = Counter(numbers), _group_spans(spans, numbers)
    result = []
    for index, part, (start, end), number in zip(found, parts, spans, numbers, strict=True):
        kind: Kind = "unknown" if index == unknown else "special" if index in special else "token"
        alone = sizes[number] == 1
        low, high = bounds[number]
        shown = whole_text(part, "surrogatepass") if alone else text[low:high]
        if shown is None or (kind != "token" and not shown):
            shown = text[start:end] or token_text(tokenizer, index)
        result.append(TextPiece(index, part, shown, start, end, alone, number, kind))
    return result


def groups(found: Sequence[TextPiece]) -> Iterator[Group]:
    """The pieces by group, each with its whole characters.

    Example:
        >>> import tokbench
        >>> [group.text for group in groups(pieces(tokbench.load("bytes"), "né"))]
        ['n', 'é']
    """
    for _, members in groupby(found, key=lambda piece: piece.group):
        part = tuple(members)
        start, end = min(piece.start for piece in part), max(piece.end for piece in part)
        yield Group(part[0].text, start, end, part)


def as_json(tokenizer: Tokenizer, text: str, ids: Sequence[int] | None = None) -> dict[str, Any]:
    """A text and its tokens in JSON's types, for the report and the live page."""
    found = pieces(tokenizer, text, ids)
    return {
        "tokenizer": tokenizer.name,
        "text": in_utf8(text),
        "n_tokens": len(found),
        "n_bytes": len(text.encode("utf-8", "surrogatepass")),
        "n_chars": len(text),
        "pieces": [piece.as_json() for piece in found],
    }


JOINER = "\u200d"
_MARKS = {" ": "·", "\t": "→", "\n": "↵", "\r": "␍", "\u00a0": "⍽", "\u3000": "□"}


def visible(text: str) -> str:
    r"""`text` with white space marked and invisible characters spelled out.

    Example:
        >>> visible(" a\tb\n\x00\u200b")
        '·a→b↵\\x00\\u200b'
    """
    base = "◌" if text and (text[0] == JOINER or unicodedata.category(text[0]).startswith("M")) else ""
    if text.isprintable():  # the space is the only printable white space
        return base + text.replace(" ", _MARKS[" "])
    return base + "".join(_visible(char) for char in text)


def _visible(char: str) -> str:
    if char in _MARKS:
        return _MARKS[char]
    if char.isprintable() or char == JOINER:  # it holds emoji together: spelled out, it would split them
        return char
    return char.encode("unicode_escape").decode()


# --- where the tokens stand ----------------------------------------------------------------------------

Spans = list[tuple[int, int]]


def _locate(
    tokenizer: Tokenizer, text: str, ids: Sequence[int], parts: Sequence[bytes]
) -> tuple[Spans, list[bool]]:
    """The span of each token, and whether it shares a character with the token before it."""
    data = text.encode("utf-8", "surrogatepass")
    joined = b"".join(parts)
    if joined == data:
        return _by_bytes(data, parts, lead=0)
    if joined == b" " + data:
        return _by_bytes(data, parts, lead=1)
    if isinstance(tokenizer, OffsetEncoder) and list(tokenizer.encode(text)) == list(ids):
        spans = [(int(start), int(end)) for start, end in tokenizer.offsets(text)]
        return spans, _overlaps(spans)
    return _by_search(text, parts), [False] * len(parts)


def _by_bytes(data: bytes, parts: Sequence[bytes], lead: int) -> tuple[Spans, list[bool]]:
    """Spans from byte lengths; `lead` bytes before the text belong to none of its characters."""
    is_start = [byte & 0xC0 != 0x80 for byte in data]
    chars = list(accumulate(is_start, initial=0))  # characters begun before each byte
    spans, shared, position = [], [], -lead
    for part in parts:
        low, high = max(position, 0), max(position + len(part), 0)
        inside = low < len(data) and low > 0 and not is_start[low]
        shared.append(inside and bool(part))
        first = chars[low] - 1 if inside else chars[low]
        spans.append((first, chars[high]) if part else (first, first))
        position += len(part)
    return spans, shared


def _overlaps(spans: Spans) -> list[bool]:
    reach, shared = 0, []
    for start, end in spans:
        shared.append(start < reach and start < end)
        reach = max(reach, end)
    return shared


def _by_search(text: str, parts: Sequence[bytes]) -> Spans:
    """Spans by searching for each token's text after the last one's end, ignoring case."""
    folded = text.casefold() if len(text.casefold()) == len(text) else text
    spans, position = [], 0
    for part in parts:
        own = part.decode("utf-8", "replace").strip().casefold()
        at = folded.find(own, position) if own else -1
        if at < 0:
            spans.append((position, position))
            continue
        spans.append((at, at + len(own)))
        position = at + len(own)
    return spans


def _group_spans(spans: Spans, numbers: Sequence[int]) -> dict[int, tuple[int, int]]:
    bounds: dict[int, tuple[int, int]] = {}
    for (start, end), number in zip(spans, numbers, strict=True):
        low, high = bounds.get(number, (start, end))
        bounds[number] = (min(low, start), max(high, end))
    return bounds
