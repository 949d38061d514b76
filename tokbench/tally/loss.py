"""What a tokenizer loses: documents that decoding did not give back, and what it changed in them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import regex

EDITS_SAMPLE = 32
"""Losses kept, the same whatever the order of the documents: those of the smallest keys."""
_SPACES = re.compile(r"\s+")
_LONG_RUN = r"[\p{M}\uff9e\uff9f]{64,}"
"""Marks, and letters that become marks in compatibility forms: the halfwidth sound marks of kana."""


@dataclass(frozen=True, slots=True, order=True)
class Loss:
    """A document that decode(encode(x)) did not give back, of which there are so many `copies`.

    `text` and `decoded` are excerpts around the first difference; `edits` is the Levenshtein distance over the
    first `chars` code points of the document.
    """

    key: int
    chars: int
    edits: int
    text: str
    decoded: str
    copies: int = 1


def kinds_of_loss(text: str, decoded: str, *, unknown: bool = False) -> tuple[str, ...]:
    """The rewritings that make `text` and `decoded` equal and cannot be left out; ``("other",)`` for none.

    Example:
        >>> kinds_of_loss("Café  au lait", "cafe au lait")
        ('case', 'accents', 'white space')
        >>> kinds_of_loss("ﬁn", "fin")
        ('normal form',)
    """
    found = ["unknown token"] if unknown else []
    if "\ufffd" in decoded and "\ufffd" not in text:
        found.append("replacement character")
    if found:  # text is gone, so there is nothing to compare it with
        return tuple(found)
    if not _equal(text, decoded, list(_REWRITES)):
        return ("other",)
    needed = [
        kind for kind in _REWRITES if not _equal(text, decoded, [each for each in _REWRITES if each != kind])
    ]
    # composed against decomposed: either of two rewritings would do, so neither is needed
    alone = (kind for kind in _REWRITES if _equal(text, decoded, [kind]))
    return tuple(needed) or (next(alone, "other"),)


def _equal(text: str, decoded: str, kinds: list[str]) -> bool:
    """Whether the two are equal after the named rewritings."""
    for kind in kinds:
        text, decoded = _REWRITES[kind](text), _REWRITES[kind](decoded)
    return text == decoded


def is_diacritic(character: str) -> bool:
    """Whether a combining mark is one of letters such as é: vowel signs and points elsewhere are text."""
    return (
        "\u0300" <= character <= "\u036f"
        or "\u1ab0" <= character <= "\u1aff"
        or "\u1dc0" <= character <= "\u1dff"
    )


def normal_form(form: Literal["NFD", "NFKC", "NFKD"], text: str) -> str:
    """What `unicodedata.normalize` gives, in time near linear.

    Python puts marks in order by insertion, in time that grows with the square of a run's length; so long runs
    are taken apart and put in canonical order (UAX #15) first, which alters no normal form.
    """
    import regex

    apart_form: Literal["NFD", "NFKD"] = "NFD" if form == "NFD" else "NFKD"

    def in_order(run: regex.Match[str]) -> str:
        apart = "".join([unicodedata.normalize(apart_form, each) for each in run[0]])
        classes = [unicodedata.combining(each) for each in apart]
        starters = accumulate(not each for each in classes)  # none of which a mark passes
        ordered = sorted(zip(starters, classes, apart, strict=True), key=itemgetter(0, 1))
        return "".join(each for _, _, each in ordered)

    return unicodedata.normalize(form, regex.sub(_LONG_RUN, in_order, text))


def _without_diacritics(text: str) -> str:
    return "".join(c for c in normal_form("NFD", text) if not is_diacritic(c))


def _without_controls(text: str) -> str:
    return "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf"))


_REWRITES: dict[str, Callable[[str], str]] = {
    "control characters": _without_controls,
    "normal form": partial(normal_form, "NFKC"),
    "case": str.casefold,
    "accents": _without_diacritics,
    "white space": lambda text: _SPACES.sub("", text),
}


def same_white_space(text: str, decoded: str) -> bool:
    """Whether both have the same runs of white space, in order, wherever the words between them went.

    Example:
        >>> same_white_space("A  b", "a  b"), same_white_space("A  b", "a b")
        (True, False)
    """
    if text.count(" ") != decoded.count(" "):  # the usual case, and quick
        return False
    if all(each.isprintable() and "  " not in each for each in (text, decoded)):
        return True  # the space is the only white space that is printable, and here each stands alone
    return _SPACES.findall(text) == _SPACES.findall(decoded)


def fewest(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """The `EDITS_SAMPLE` different losses of smallest key, copies added up: the same for any order."""
    copies: Counter[Loss] = Counter()
    for loss in losses:
        copies[replace(loss, copies=1)] += loss.copies
    return tuple(replace(loss, copies=copies[loss]) for loss in sorted(copies)[:EDITS_SAMPLE])
