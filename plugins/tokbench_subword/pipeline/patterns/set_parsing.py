r"""Parses sets of characters in patterns: characters by number, classes, properties, and bracket expressions.

This is the part of `parsing` for whatever matches one character; `class_names` has the meaning of names.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tokbench.errors import TokenizerError
from tokbench_subword.pipeline.patterns import class_names, point_sets
from tokbench_subword.pipeline.patterns.class_names import Dialect
from tokbench_subword.pipeline.patterns.ignoring_case import set_in_all_cases
from tokbench_subword.pipeline.patterns.tree import ANYTHING, NEVER, One, character, inverse, ranges

_REFUSED = {"g": "subexpression call", "G": "where a search begins", "K": "keep", "R": "line break"}
_REFUSED |= {"X": "grapheme", **dict.fromkeys("0123456789", "back-reference")}
_IN_BRACES = r"\\[xu]\{([0-9A-Fa-f]+)\}"
_FOUR_OR_EIGHT = r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})"
_NUMBERED = {
    "oniguruma": re.compile(rf"{_IN_BRACES}|\\x([0-9A-Fa-f]{{1,2}})|{_FOUR_OR_EIGHT}"),  # U: our own ranges
    "rust": re.compile(rf"{_IN_BRACES}|\\x([0-9A-Fa-f]{{2}})|{_FOUR_OR_EIGHT}"),
}
"""Characters written as code point numbers."""
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")
_OPERATORS = {"oniguruma": "&", "rust": "-&~"}
"""Characters that, doubled, are an operator between sets."""


@lru_cache(maxsize=256)
def set_of(members: str) -> One:
    """The set of `members`, the inside of brackets; names of properties have the meaning of `regex`."""
    return SetReader(f"[{members}]", "rust", own_names=True).bare_set()


class SetReader:
    """Parses one set, or one character, at the current place in an expression."""

    def __init__(self, source: str, dialect: Dialect, *, own_names: bool = False) -> None:
        self._source, self._at = source, 0
        self._dialect, self._ruby, self._own_names = dialect, dialect == "oniguruma", own_names
        self._fold = False

    def bare_set(self) -> One:
        """The set that the whole expression consists of."""
        self._at += 1
        return self._brackets()[0]

    def _here(self) -> str:
        """The character at the current place, ``""`` at the end."""
        return self._source[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        """Step over `text` if it is here; returns whether it is."""
        found = self._source.startswith(text, self._at)
        self._at += len(text) * found
        return found

    def _take_match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over the match of a pattern here; returns the match, or None."""
        if found := pattern.match(self._source, self._at):
            self._at = found.end()
        return found

    def _brackets(self) -> tuple[One, bool]:
        """The set in square brackets, whose opening bracket has been read, and whether it is inverted."""
        inverted = self._take("^")
        sides: list[list[One]] = [[]]  # the operands of the operators
        operators = ""
        while not self._ruby and self._take("-"):  # here it is not an operator
            sides[-1].append(character("-"))
        if not sides[-1] and self._take("]"):
            sides[-1].append(character("]"))
        while not self._take("]"):
            here = self._here()
            if not here:
                raise TokenizerError(f"the pattern {self._source[:200]!r} has an unclosed bracket")
            if here in _OPERATORS[self._dialect] and self._take(here * 2):
                operators += here
                sides.append([])
            else:
                sides[-1].append(self._member())
        sets = [_joined(side) for side in sides]
        if operators and self._fold and not self._ruby:
            sets = [set_in_all_cases(side) for side in sets]
        return _combined(sets, operators), inverted

    def _member(self) -> One:
        """One member of a set in brackets: a character, a range, a class, or a nested set."""
        if self._source.startswith("[:", self._at):
            name = self._take_match(_POSIX) if self._ruby else None
            if name is None or name[2] not in class_names.POSIX_CLASSES:
                raise self._refused("a POSIX class")
            one = set_of(class_names.POSIX_CLASSES[name[2]])
            return inverse(one) if name[1] else one
        if self._take("["):
            one, inverted = self._brackets()
            if self._fold and not self._ruby:
                one = set_in_all_cases(one)
            return inverse(one) if inverted else one
        first = self._single()
        follows = self._source[self._at + 1 : self._at + 2]
        if self._here() != "-" or follows in ("]", "") or (follows == "-" and not self._ruby):
            return first
        self._at += 1
        last = self._single() if follows != "[" else ANYTHING
        begin, end = first.points.only(), last.points.only()
        if begin is None or end is None or end < begin:
            raise self._wrong(f"{first.written}-{last.written} in brackets is not a range of characters")
        return One(point_sets.of_range(begin, end), f"{first.written}-{last.written}")

    def _single(self) -> One:
        """A character or a class inside brackets."""
        if self._here() == "\\":
            return self._escaped(in_set=True)
        self._at += 1
        return character(self._source[self._at - 1])

    def _numbered(self) -> tuple[str, int] | None:
        """The character written here as a number, and the end of the number; None if there is none."""
        number = _NUMBERED[self._dialect].match(self._source, self._at)
        if number is None:
            return None
        point = int(number[number.lastindex or 0], 16)
        if self._ruby and number[2] and point > 0x7F:
            brackets = f"\\x{{{number[2]}}}"
            raise self._refused(f"{number[0]}, in Oniguruma a byte (write {brackets} for the character)")
        if point > 0x10FFFF:
            raise self._refused(f"{number[0]}, which is not a character")
        return chr(point), number.end()

    def _escaped(self, *, in_set: bool) -> One:
        """The characters that a backslash and the text after it mean."""
        if numbered := self._numbered():
            letter, self._at = numbered
            return character(letter)
        letter = self._source[self._at + 1 : self._at + 2]
        self._at += 2
        if not letter:
            raise self._wrong("it ends with a backslash")
        if letter in "pP" and (self._here() == "{" or not self._ruby):
            return self._property(letter == "P", in_set=in_set)
        if letter in "xuU":
            raise self._refused(f"\\{letter} without a number after it")
        if letter in _REFUSED:
            raise self._refused(f"\\{letter} ({_REFUSED[letter]})")
        one = self._class(letter, in_set=in_set)
        if one is None and letter.isascii() and letter.isalpha():
            raise self._refused(f"\\{letter}{' in brackets' * in_set}")
        return one or character(letter)

    def _class(self, letter: str, *, in_set: bool) -> One | None:
        """The characters that a letter after a backslash means, or None if it has no special meaning."""
        if letter in _CONTROLS:
            return character(_CONTROLS[letter])
        if letter == "b" and in_set:
            return character("\b")
        if letter in "NO" and not in_set:
            return inverse(character("\n")) if letter == "N" else ANYTHING
        if letter in "pPN" and self._ruby:
            return character(letter)
        members = {
            "d": r"\p{Nd}",
            "h": "0-9a-fA-F",
            "s": r"\s",
            "w": class_names.word_members(self._dialect, in_class=in_set),
        }.get(letter.lower())
        if members is None:
            return None
        one = One(point_sets.spaces(), r"\s") if letter in "sS" else set_of(members)
        return inverse(one) if letter.isupper() else one

    def _property(self, inverted: bool, *, in_set: bool) -> One:
        """The characters of the property whose name is here: in braces, or a single letter."""
        end = self._source.find("}", self._at) if self._here() == "{" else self._at
        if end < 0:
            raise self._wrong("the name of a property is not closed")
        name = self._source[self._at + 1 : end] if self._here() == "{" else self._here()
        self._at = end + 1
        inverted, name = inverted != name.startswith("^"), class_names.canonical(name.removeprefix("^"))
        own = self._own_names
        if not own and class_names.is_unknown(name, self._dialect):
            raise self._refused(f"the property {name!r}, whose characters in Unicode 16.0 are unknown here")
        members = None if own else class_names.property_members(name, self._dialect, in_class=in_set)
        one = self._named(name) if members is None else set_of(members)
        if self._fold and not self._ruby:
            one = set_in_all_cases(one)
        return inverse(one) if inverted else one

    def _named(self, name: str) -> One:
        try:
            points = point_sets.of_property(name)
        except LookupError as error:
            raise self._wrong(f"there is no property {name!r}") from error
        unknown = "=" in name or name.lower().startswith("is")  # in Oniguruma, as sc=Thai and isGreek
        return ranges(points) if unknown else One(points, f"\\p{{{name}}}")

    def _wrong(self, what: str) -> TokenizerError:
        return TokenizerError(
            f"the pattern {self._source[:200]!r} is not a regular expression that can be run here: {what}"
        )

    def _refused(self, what: str) -> TokenizerError:
        other = "transformers" if self._ruby else "tiktoken"
        return TokenizerError(
            f"the pattern {self._source[:200]!r} uses {what}, which this plugin does not translate; "
            f"load the tokenizer with the `{other}` family instead"
        )


def _joined(members: list[One]) -> One:
    """The union of some sets."""
    points = point_sets.union(one.points for one in members)
    return One(points, f"[{''.join(one.written for one in members)}]") if points else NEVER


def _combined(sets: list[One], operators: str) -> One:
    """The result of operators between sets, from left to right."""
    points = sets[0].points
    for operator, side in zip(operators, sets[1:], strict=True):
        common = points & side.points
        points = {"&": common, "-": points & ~side.points, "~": (points | side.points) & ~common}[operator]
    if points and set(operators) <= {"&"}:  # all libraries have the same syntax for this
        return One(points, f"[{'&&'.join(one.written for one in sets)}]" if operators else sets[0].written)
    return ranges(points)
