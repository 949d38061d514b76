"""What the pre-tokenizer `Split` makes of a text, from where a pattern matches and what becomes of matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Spans = Callable[[str], Iterator[tuple[int, int]]]
"""What finds the matches of a pattern in a text: where each begins and ends."""


def split_spans(spans: Spans, behavior: str, invert: bool, text: str) -> list[tuple[int, int]]:
    """(start, end) of the pieces that `Split` makes of a text, at the matches that `spans` finds in it."""
    found: list[tuple[int, int, bool]] = []
    done = 0
    for start, end in spans(text):
        if start > done:
            found.append((done, start, invert))
        found.append((start, end, not invert))
        done = end
    if done < len(text):
        found.append((done, len(text), invert))
    return [(start, end) for start, end in _arranged(found, behavior) if end > start]


def _arranged(found: list[tuple[int, int, bool]], behavior: str) -> list[tuple[int, int]]:
    if behavior == "Removed":
        return [(start, end) for start, end, match in found if not match]
    if behavior == "Isolated":
        return [(start, end) for start, end, _ in found]
    contiguous, backwards = behavior == "Contiguous", behavior == "MergedWithNext"
    pieces: list[tuple[int, int]] = []
    before = False
    for start, end, match in reversed(found) if backwards else found:
        if pieces and (match == before if contiguous else match and not before):
            first, last = pieces.pop()
            start, end = min(start, first), max(end, last)
        pieces.append((start, end))
        before = match
    return pieces[::-1] if backwards else pieces
