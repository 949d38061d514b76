"""What `tokenizers` notes of characters that a normal form takes apart, puts in another order, and composes.

The text of a normal form is the standard's. Which of its characters count as standing where the input begins
(see `Stretch.leading`) is the affair of `tokenizers`: each part notes whether it is the first of its character,
keeps the note where it is put elsewhere, and the notes are then read in the order that came out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Literal, cast

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
Noted = tuple[str, int]
"""A character and its change, as `Stretch.leading_after` has them."""


def changes(text: str, form: Form) -> Iterator[int]:
    r"""The change of each character of the normal form of `text`.

    Example:
        >>> list(changes("\u00e9e\u0301", "NFD")), list(changes("\u00e9e\u0301", "NFC"))
        ([0, 1, 0, 0], [0, -1])
    """
    parts = _decomposed(text, "NFKD" if form in ("NFKC", "NFKD") else "NFD")
    return (change for _, change in (_composed(parts) if form in ("NFC", "NFKC") else parts))


def _decomposed(text: str, form: Form) -> Iterator[Noted]:
    """The parts of the characters, runs of combining ones sorted by class."""
    run: list[Noted] = []
    for character in text:
        for index, part in enumerate(unicodedata.normalize(form, character)):
            noted = part, int(index > 0)
            if unicodedata.combining(part):
                run.append(noted)
                continue
            yield from sorted(run, key=_class)
            run.clear()
            yield noted
    yield from sorted(run, key=_class)


def _composed(parts: Iterator[Noted]) -> Iterator[Noted]:
    """The parts with each starter and the characters behind it composed, where there is one for both."""
    starter: Noted | None = None
    waiting: list[Noted] = []  # behind the starter, and not composed with it
    for noted in parts:
        combining = _class(noted)
        if starter is None:
            if combining:
                yield noted
            else:
                starter = noted
            continue
        blocked = bool(waiting) and _class(waiting[-1]) >= combining
        whole = "" if blocked else unicodedata.normalize("NFC", starter[0] + noted[0])
        if len(whole) == 1:
            starter = whole, starter[1] + noted[1] - 1
        elif combining:
            waiting.append(noted)
        else:
            yield from (starter, *waiting)
            starter, waiting = noted, []
    if starter is not None:
        yield from (starter, *waiting)


def _class(noted: Noted) -> int:
    return unicodedata.combining(noted[0])


def leading_by_library(text: str, form: Form, leading: int) -> int:
    """How many characters of the normal form stand for the first `leading` ones of `text`.

    For text on which versions of Unicode differ: what `tokenizers` itself notes.
    """
    from tokenizers import PreTokenizedString, Regex, normalizers

    whole = PreTokenizedString(text)
    whole.normalize(getattr(normalizers, form)().normalize)
    whole.split(lambda _, part: part.split(Regex(r"[\s\S]"), "isolated"))
    places = cast("list[tuple[str, tuple[int, int], object]]", whole.get_splits("original", "char"))
    return sum(start < leading for _, (start, _), _ in places)
