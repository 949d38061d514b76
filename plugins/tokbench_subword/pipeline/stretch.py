"""`Stretch`: text on its way through normalizers and pre-tokenizers, which may know where it came from.

Encoding needs only the text. Offsets need to know, for every character after normalizing, which characters of
the input it stands for; then `origin` holds those spans, and every operation keeps them true.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some text; with `origin`, for each character its (start, end) in the input.

    `first` says that it begins with what the input begins with, which Metaspace's ``prepend_scheme="first"``
    asks: no longer where a normalizer took the first character away.

    Example:
        >>> stretch = Stretch.of("a b", track=True).edited([(1, 2, "__")])
        >>> stretch.text, stretch.origin
        ('a__b', [(0, 1), (1, 2), (1, 2), (2, 3)])
    """

    text: str
    origin: list[Span] | None = None
    first: bool = True

    @classmethod
    def of(cls, text: str, *, start: int = 0, track: bool = False) -> Stretch:
        """A stretch of the input that begins at its character `start`."""
        origin = [(start + i, start + i + 1) for i in range(len(text))] if track else None
        return cls(text, origin, start == 0)

    def part(self, start: int, end: int) -> Stretch:
        """The stretch from character `start` to `end`."""
        origin = None if self.origin is None else self.origin[start:end]
        return Stretch(self.text[start:end], origin, self.first and start == 0)

    def edited(self, edits: Iterable[tuple[int, int, str]]) -> Stretch:
        """With each (start, end, new text), in order and disjoint, put in the place of what was there.

        New characters come from the whole of what they replace; inserted ones from the character they precede.
        """
        texts: list[str] = []
        spans: list[Span] = []
        done, first = 0, self.first
        for start, end, new in edits:
            first = first and (start > 0 or end == 0 or new != "")
            texts += [self.text[done:start], new]
            if self.origin is not None:
                spans += self.origin[done:start]
                spans += [self._span(start, end)] * len(new)
            done = end
        texts.append(self.text[done:])
        if self.origin is None:
            return Stretch("".join(texts), None, first)
        return Stretch("".join(texts), spans + self.origin[done:], first)

    def _span(self, start: int, end: int) -> Span:
        assert self.origin is not None
        if end > start:
            return self.origin[start][0], self.origin[end - 1][1]
        if start < len(self.origin):
            return self.origin[start]
        place = self.origin[-1][1] if self.origin else 0
        return place, place
