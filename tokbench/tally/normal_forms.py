"""Normal forms of text in time near linear, and which marks are diacritics."""

from __future__ import annotations

import unicodedata
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import regex

_LONG_RUN = r"[\p{M}\uff9e\uff9f]{64,}"
"""Marks, and letters that become marks in compatibility forms: the halfwidth sound marks of kana."""


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
