"""The option `special_tokens`: which texts are special tokens, and with which ids."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from tokbench.errors import SpecError
from tokbench_subword.files.opening import read_text


def stated_tokens(given: str, *, where: str) -> dict[str, int | None]:
    """The special tokens that a spec states, separated by spaces: ``text=id``, or a text alone.

    A name that ends in ``.json`` is a file of {text: id}. Raises `SpecError` for what is neither, and for a
    text or an id that is given twice.

    Example:
        >>> stated_tokens("<s>=7 </s>", where="demo")
        {'<s>': 7, '</s>': None}
    """
    if given.endswith(".json"):
        return _of_file(Path(given).expanduser(), where)
    found: dict[str, int | None] = {}
    for part in given.split():
        text, equals, index = part.rpartition("=")
        named = bool(equals and text) and index.isascii() and index.isdigit()
        text, number = (text, int(index)) if named else (part, None)
        if text in found or (number is not None and number in found.values()):
            raise SpecError(f"{where}: special_tokens gives the text or the id of {part!r} twice")
        found[text] = number
    return found


def _of_file(path: Path, where: str) -> dict[str, int | None]:
    try:
        content = json.loads(read_text(path))
    except ValueError as error:
        raise SpecError(f"{where}: special_tokens: {path} is not JSON ({error})") from error
    if not isinstance(content, dict) or not all(
        text and type(index) is int and index >= 0 for text, index in content.items()
    ):
        raise SpecError(f"{where}: special_tokens: {path} must hold an object {{text: id}}")
    return dict(content)


def numbered_tokens(given: str, *, taken: Collection[int], where: str) -> dict[str, int]:
    """The special tokens that a spec states, those without an id numbered on behind the highest.

    `taken` are the ids of ordinary tokens, of which raises `SpecError` where a special token is given one.
    """
    found = stated_tokens(given, where=where)
    for text, index in found.items():
        if index is not None and index in taken:
            raise SpecError(f"{where}: the special token {text!r} takes the id {index} of an ordinary token")
    highest = max([*taken, *(index for index in found.values() if index is not None)], default=-1)
    numbered = {}
    for text, index in found.items():
        if index is None:
            highest = index = highest + 1
        numbered[text] = index
    return numbered


def names_to_train(given: str, *, where: str) -> list[str]:
    """The texts of special tokens that training gives their ids; raises `SpecError` for a stated id."""
    for text, index in stated_tokens(given, where=where).items():
        if index is not None:
            raise SpecError(
                f"{where}: special_tokens={text}={index} states an id, which training gives: write {text} alone"
            )
    return given.split()
