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

    `leading` counts the characters at its beginning that stand where the input begins: the first one, what a
    normalizer put in front of it, and all that it was taken apart into. None says that the stretch was cut from
    elsewhere. Each part that begins among them is a first one to Metaspace's ``prepend_scheme="first"``.

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
        """Whether it begins where the input begins: no longer if a normalizer took the first character away."""
        return bool(self.leading)

    def part(self, start: int, end: int) -> Stretch:
        """The stretch from character `start` to `end`."""
        origin = None if self.origin is None else self.origin[start:end]
        return Stretch(self.text[start:end], origin, max(0, min(self.leading or 0, end) - start) or None)

    def edited(self, edits: Iterable[tuple[int, int, str]], *, as_last: bool = False) -> Stretch:
        """With each (start, end, new text), in order and disjoint, put in the place of what was there.

        New characters come from the whole of what they replace; inserted ones from the character they precede.
        They are `leading` if the first one that they replace or precede was; or, `as_last`, if the last one was
        that they replace or follow.
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
        """`leading` after an edit that is known by its `changes`, as `tokenizers` keeps account of them.

        There is one for each new character, in order: 1 where it was put in behind the one before it; -n where
        it stands for the next old character, and n more old ones behind that are gone.
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
