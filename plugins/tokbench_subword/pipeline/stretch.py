"""`Stretch`: a text on its way through normalizers and pre-tokenizers, with or without the origin of its
characters.

Encoding needs only the text. Offsets need to know which characters of the input each normalized character comes
from; `origin` holds these spans, and every operation keeps them up to date.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some text; with `origin`, for each character its (start, end) in the input.

    `leading` counts the characters at its start that come from the very beginning of the input: from its first
    character, or from a prefix that a normalizer put before that. None means that the stretch begins elsewhere.
    A part that begins among these characters counts as first for Metaspace's ``prepend_scheme="first"``.

    Example:
        >>> stretch = Stretch.of("a b", track=True).edited([(1, 2, "__")])
        >>> stretch.text, stretch.origin
        ('a__b', [(0, 1), (1, 2), (1, 2), (2, 3)])
    """

    text: str
    origin: list[Span] | None = None
    leading: int | None = 1

    @classmethod
    def of(cls, text: str, *, start: int = 0, track: bool = False) -> Stretch:
        """A stretch of the input that begins at its character `start`."""
        origin = [(start + i, start + i + 1) for i in range(len(text))] if track else None
        return cls(text, origin, 1 if start == 0 else None)

    @property
    def first(self) -> bool:
        """Whether it begins where the input begins; false once a normalizer has removed the first character."""
        return bool(self.leading)

    def part(self, start: int, end: int) -> Stretch:
        """The stretch from character `start` to `end`."""
        origin = None if self.origin is None else self.origin[start:end]
        return Stretch(self.text[start:end], origin, max(0, min(self.leading or 0, end) - start) or None)

    def edited(self, edits: Iterable[tuple[int, int, str]], *, as_last: bool = False) -> Stretch:
        """The stretch after edits (start, end, new text), which are in order and disjoint.

        New characters come from all of the text that they replace; inserted ones from the character after them.
        They are `leading` if the first character that they replace or precede was; with `as_last`, if the last
        character that they replace or follow was.
        """
        texts: list[str] = []
        spans: list[Span] = []
        done, leading = 0, self.leading
        for start, end, new in edits:
            if self.leading is not None and leading is not None:
                leading -= max(0, min(self.leading, end) - start)
                leading += len(new) if (end - 1 if as_last else start) < self.leading else 0
            texts += [self.text[done:start], new]
            if self.origin is not None:
                spans += self.origin[done:start]
                spans += [self._span(start, end)] * len(new)
            done = end
        texts.append(self.text[done:])
        if self.origin is None:
            return Stretch("".join(texts), None, leading)
        return Stretch("".join(texts), spans + self.origin[done:], leading)

    def leading_after(self, changes: Iterable[int]) -> int | None:
        """`leading` after an edit described by its `changes`, as `tokenizers` records them.

        There is one change for each new character, in order: 1 if the character was inserted; -n if it replaces
        the next old character and the n old ones after it.
        """
        if self.leading is None:
            return None
        at = count = 0
        for change in changes:
            if (at - 1 if change > 0 else at) >= self.leading:
                break
            count += 1
            at += max(0, 1 - change)
        return count

    def _span(self, start: int, end: int) -> Span:
        assert self.origin is not None
        if end > start:
            return self.origin[start][0], self.origin[end - 1][1]
        if start < len(self.origin):
            return self.origin[start]
        place = self.origin[-1][1] if self.origin else 0
        return place, place
