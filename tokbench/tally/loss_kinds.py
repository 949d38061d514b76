"""By which rewritings a text became what it decodes to: another case, normal form, white space."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial

from tokbench.tally.normal_forms import is_diacritic, normal_form

_SPACES = re.compile(r"\s+")


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
