"""Tries which control strings in plain text become control ids, in many spellings.

A control string that a user types should be text. It is encoded through up to three entries: `encode` as
tokbench calls it (content only), `encode` with special tokens matched (the default of most libraries), and the
chat template with the string as a user's message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from tokbench.errors import TokbenchError
from tokbench.lint.chat import render
from tokbench.lint.subject import Subject

ENCODE, MATCHING, CHAT = "encode", "encode, specials matched", "chat template"


def _split(mark: str, text: str) -> str:
    middle = len(text) // 2
    return text[:middle] + mark + text[middle:]


def _wide(text: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


VARIANTS: Mapping[str, Callable[[str], str]] = {
    "exact": lambda text: text,
    "inside a word": lambda text: f"a{text}b",
    "after a line's end": lambda text: f"Hello.\n{text}\n",
    "split by a space": partial(_split, " "),
    "split by a line's end": partial(_split, "\n"),
    "split by ZERO WIDTH SPACE": partial(_split, "\u200b"),
    "split by ZERO WIDTH JOINER": partial(_split, "\u200d"),
    "split by SOFT HYPHEN": partial(_split, "\u00ad"),
    "split by BYTE ORDER MARK": partial(_split, "\ufeff"),
    "split by a control character": partial(_split, "\x01"),
    "upper case": str.upper,
    "lower case": str.lower,
    "full width (NFKC gives it back)": _wide,
    "with an accent in the middle": partial(_split, "\u0301"),
    "without its last character": lambda text: text[:-1],
}
"""How a control string is written, by name."""


@dataclass(frozen=True, slots=True)
class Injection:
    """One control string, written in one way and encoded through one entry.

    `became` are the control ids among its ids, empty if it stayed text; `refused` says why an entry gave no
    ids.
    """

    control: str
    id: int
    variant: str
    entry: str
    became: tuple[int, ...]
    refused: str = ""


_tried: WeakKeyDictionary[Subject, list[Injection]] = WeakKeyDictionary()


def injections(subject: Subject) -> list[Injection]:
    """Every control string in every variant through every entry, computed once for each subject.

    Left out are variants that do not change a string (``[SEP]`` in upper case), and entries that the tokenizer
    lacks.
    """
    if subject not in _tried:
        _tried[subject] = list(_injections(subject))
    return _tried[subject]


def _injections(subject: Subject) -> Iterator[Injection]:
    content = subject.tokenizer.encode
    entries: dict[str, Callable[[str], list[int]]] = {ENCODE: lambda text: list(content(text))}
    if subject.matching is not None:
        matching = subject.matching
        entries[MATCHING] = lambda text: list(matching.encode(text))
        if subject.chat_template is not None:
            entries[CHAT] = partial(_by_template, subject)
    for control, index in subject.controls.items():
        for variant, write in VARIANTS.items():
            text = write(control)
            if not text or (variant != "exact" and text == control):
                continue
            for entry, encode in entries.items():
                try:
                    became = tuple(int(one) for one in encode(text) if int(one) in subject.special_ids)
                    refused = ""
                except TokbenchError as error:
                    became, refused = (), str(error)
                became = tuple(one for one in became if one != getattr(subject.tokenizer, "unk_id", None))
                yield Injection(control, index, variant, entry, became, refused)


def summary(found: Sequence[Injection]) -> list[dict[str, Any]]:
    """A row for each entry, ready for JSON: how many control strings, and which gave control ids.

    `exact` are those that did so as they are, `within` inside other text, `altered` in any other writing;
    `refused` how many strings the entry gave no ids for at all.
    """
    rows = []
    for entry in dict.fromkeys(one.entry for one in found):
        own = [one for one in found if one.entry == entry]
        tried, refused = {one.control for one in own}, {one.control for one in own if one.refused}
        became: dict[str, dict[str, None]] = {"exact": {}, "within": {}, "altered": {}}
        for one in own:
            if one.became:
                became[AS_IT_IS.get(one.variant, "altered")][one.control] = None
        given = {kind: list(controls) for kind, controls in became.items()}
        rows.append({"entry": entry, "controls": len(tried), "refused": len(refused), **given})
    return rows


AS_IT_IS = {"exact": "exact", "inside a word": "within", "after a line's end": "within"}
"""The variants that hold the string as it is; all others alter it."""


def _by_template(subject: Subject, text: str) -> list[int]:
    """The ids that a user's message adds to those of a conversation around it."""
    assert subject.matching is not None
    with_text, without = (
        list(map(int, subject.matching.encode(render(subject, [{"role": "user", "content": content}]))))
        for content in (text, "")
    )
    for index in without:  # each control id of the template itself is taken out once
        if index in with_text:
            with_text.remove(index)
    return with_text
