r"""Regular expressions of other libraries read as trees: every text is read here, and nowhere else.

`tokenizers` hands patterns to Oniguruma (Ruby syntax), tiktoken to Rust's fancy-regex. Most of what
vocabularies use is written and means the same in both. What does not:

| written | Oniguruma | Rust |
|---|---|---|
| ``a{1,3}+`` | repeated ``a{1,3}`` | possessive |
| ``a{2}?`` | ``(?:a{2})?`` | ``a{2}``, lazily |
| ``^``, ``$`` | beginning of any line but behind the last, end of any line | beginning and end of the text |
| ``\Z`` | end, or the last newline | end, or newlines up to it |
| ``\pL`` | the letters ``pL`` | a property |
| ``[[:punct:]]`` | such characters | – |
| ``[a--b]`` | a range up to ``-``, and ``b`` | one set without another |
| ``\<``, ``\>`` | these characters | beginning and end of a word |
| ``a(?i)b\|c`` | ``a(?i:b\|c)`` | ``a(?i:b)\|(?i:c)`` |
| ``\w`` | letters, marks, ``\p{Nd}``, connectors and ² ³ ¹ ¼ ½ ¾ | those and the two joiners |

What cannot be read is refused by name rather than guessed.

What ignores case becomes sets of all cases (`ignoring_case`). Rust adds other cases to each set before it is
inverted or put into another. Oniguruma adds them to a set as a whole, and leaves ``\p{Lu}`` outside of brackets
as it is. No library reads patterns for us: `regex` shows no tree, and that of `re` has no Unicode properties.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from tokbench.errors import TokenizerError
from tokbench_subword.pipeline import point_sets
from tokbench_subword.pipeline.class_names import (
    POSIX_CLASSES,
    canonical,
    is_untold,
    property_members,
    word_members,
)
from tokbench_subword.pipeline.ignoring_case import (
    has_cases,
    in_all_cases,
    may_be_one,
    rows_of_set,
    set_in_all_cases,
)
from tokbench_subword.pipeline.pattern_tree import (
    ANYTHING,
    NEVER,
    Around,
    Atomic,
    Edge,
    Either,
    InOrder,
    Node,
    One,
    Repeat,
    all_of,
    character,
    either,
    in_order,
    inverse,
    ranges,
)

Dialect = Literal["oniguruma", "rust"]

_REFUSED = {"g": "subexpression call", "G": "where a search begins", "K": "keep", "R": "line break"}
_REFUSED |= {"X": "grapheme", **dict.fromkeys("0123456789", "back-reference")}
_IN_BRACES = r"\\[xu]\{([0-9A-Fa-f]+)\}"
_FOUR_OR_EIGHT = r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})"
_NUMBERED = {
    "oniguruma": re.compile(rf"{_IN_BRACES}|\\x([0-9A-Fa-f]{{1,2}})|{_FOUR_OR_EIGHT}"),  # U: our own ranges
    "rust": re.compile(rf"{_IN_BRACES}|\\x([0-9A-Fa-f]{{2}})|{_FOUR_OR_EIGHT}"),
}
"""Characters written by their numbers."""
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "e": "\x1b"}
_NO_PROPERTY = re.compile(r"\\([pP])(?!\{)")
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")
_MARKS: dict[str, tuple[int, int | None, str]]
_MARKS = {"?": (0, 1, "mark"), "*": (0, None, "mark"), "+": (1, None, "mark")}
_INTERVAL = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_ONCE = re.compile(r"\{1\}(?![?+*{])")
_NAME = re.compile(r"\?P?<\w+>")
_FLAGS = re.compile(r"\?([^:)]*)([:)])")
_OPERATORS = {"oniguruma": "&", "rust": "-&~"}
"""Characters two of which are an operator between sets."""

_NEWLINE, _NO_NEWLINE, _BEGIN, _END = character("\n"), inverse(character("\n"), "."), Edge(True), Edge(False)
_LINE_BEGINS = Either((InOrder((Around(_NEWLINE, True, True), Around(_END, False, False))), _BEGIN))
_LINE_ENDS = Around(Either((_NEWLINE, _END)), True, False)


@lru_cache(maxsize=256)
def read(source: str, dialect: Dialect) -> Node:
    r"""The tree of an expression, as it is written; raises `TokenizerError` for what cannot be read.

    Example:
        >>> type(read(r"a{2}?", "rust")).__name__, read(r"a{2}?", "oniguruma").high
        ('Repeat', 1)
    """
    try:
        return _Reader(source, dialect).whole()
    except RecursionError as error:
        raise TokenizerError(f"the pattern {source[:40]!r} … nests deeper than can be read") from error


@lru_cache(maxsize=256)
def _set_of(members: str) -> One:
    """The set of `members`, the inside of brackets, whose properties have the names that `regex` gives them."""
    return _Reader(f"[{members}]", "rust", own_names=True).bare_set()


class _Reader:
    """Reads an expression from left to right, each method one level of its grammar."""

    def __init__(self, source: str, dialect: Dialect, *, own_names: bool = False) -> None:
        self._source, self._at = source, 0
        self._dialect, self._ruby, self._own_names = dialect, dialect == "oniguruma", own_names
        self._fold = self._dot_all = False
        self._open: list[str] = []  # how each group that is open began
        self._before = ""  # the letter read last while case is ignored, if but the edge of a group is between

    def whole(self) -> Node:
        """The tree of all of the expression."""
        tree = self._alternatives()
        if self._here():
            raise TokenizerError(f"the pattern {self._source[:200]!r} closes a group it did not open")
        return tree

    def bare_set(self) -> One:
        """The one set that the expression is."""
        self._at += 1
        return self._brackets()[0]

    def _here(self) -> str:
        """The character at hand, or nothing at the end."""
        return self._source[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        """Step over `text`, where it stands here."""
        found = self._source.startswith(text, self._at)
        self._at += len(text) * found
        return found

    def _take_match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over what a pattern matches here."""
        if found := pattern.match(self._source, self._at):
            self._at = found.end()
        return found

    def _alternatives(self) -> Node:
        """``a|b|c``"""
        parts = [self._sequence()]
        while self._take("|"):
            self._before = ""
            parts.append(self._sequence())
        return either(parts)

    def _sequence(self) -> Node:
        parts: list[Node] = []
        letters = ""  # whose case is ignored, side by side
        while self._here() not in ("", "|", ")"):
            letter = self._letter()
            if letter and self._bounds(step=False) is None:
                letters += letter
                continue
            parts += self._spelled(letters)
            letters = ""
            part = self._in_all_cases(letter) if letter else self._part()
            if self._bounds(step=False) is not None:
                self._before = ""
            parts.append(self._repeated(part))
        return in_order(parts + self._spelled(letters))

    def _repeated(self, part: Node) -> Node:
        """A part with the quantifiers behind it: Rust has one, and takes an interval behind it as text."""
        while (bounds := self._bounds()) is not None:
            low, high, form = bounds
            if form == "fixed" and self._ruby:
                part = Repeat(part, low, high)
                if self._take("?"):
                    part = Repeat(part, 0, 1)
                continue
            part = Repeat(part, low, high, lazy=self._take("?"))
            if not self._ruby:
                return Atomic(part) if self._take("+") else part
            if form == "mark" and not part.lazy and self._take("+"):
                part = Atomic(part)
        return part

    def _bounds(self, *, step: bool = True) -> tuple[int, int | None, str] | None:
        """The quantifier at hand: how often at least and at most, and how it is written; None where none is."""
        if found := _MARKS.get(self._here()):
            self._at += step
            return found
        interval = _INTERVAL.match(self._source, self._at)
        if interval is None or not (interval[1] or interval[3] or (interval[2] and not self._ruby)):
            return None
        low, high = int(interval[1] or 0), int(interval[3]) if interval[3] else None
        if step:
            self._at = interval.end()
        if not interval[2]:
            return low, low, "fixed"
        if high is not None and high < low:
            raise self._refused(f"{interval[0]}, of which the second number is the smaller")
        return low, high, "interval"

    def _part(self) -> Node:
        """What quantifiers may stand behind."""
        if self._take("("):
            return self._group()
        self._before = ""
        if self._take("["):
            return self._set_in_all_cases(*self._brackets())
        if self._here() == "\\":
            return self._escape(in_set=False)
        if self._take("."):
            return ANYTHING if self._dot_all else _NO_NEWLINE
        if self._take("^"):
            return _LINE_BEGINS if self._ruby else _BEGIN
        if self._take("$"):
            return _LINE_ENDS if self._ruby else _END
        letter = self._here()
        if letter in "*+?":
            raise self._wrong(f"there is nothing that {letter!r} could repeat")
        self._at += 1
        return character(letter)

    def _group(self) -> Node:
        """What stands between brackets, the opening one of which has been read."""
        around = (self._fold, self._dot_all)
        head = next((one for one in ("?:", "?=", "?!", "?<=", "?<!", "?>") if self._take(one)), "")
        if not head and not self._take_match(_NAME) and self._here() == "?":
            head = self._flags()
            if head == "?)":  # for the rest of the group around it
                return self._alternatives() if self._ruby else InOrder(())
        if head != "?:":
            self._before = ""
        self._open.append(head)
        inner = self._alternatives()
        if not self._take(")"):
            raise self._wrong("a group is not closed")
        self._open.pop()
        self._fold, self._dot_all = around
        if head == "?>":
            return Atomic(inner)
        if head in ("", "?:"):
            return inner
        return Around(inner, wanted="!" not in head, behind="<" in head)

    def _flags(self) -> str:
        """Take account of the flags at hand; returns what they end with, behind a question mark."""
        found = self._take_match(_FLAGS)
        flags, ended = found.groups() if found else (self._source[self._at + 1 : self._at + 9], "")
        on, _, off = flags.partition("-")
        wrong = "".join(sorted(set(on + off) - set("i" if self._ruby else "is")))
        if wrong or not ended:
            raise self._refused(f"the flags {wrong!r}" if wrong.isalpha() else f"a group (?{flags}")
        if ended == ")" and not self._ruby and self._open and self._open[-1] != "?:":
            raise self._refused("flags for the rest of such a group")  # fancy-regex has them go on behind it
        self._fold = ("i" in on or self._fold) and "i" not in off
        self._dot_all = ("s" in on or self._dot_all) and "s" not in off
        return f"?{ended}"

    def _letter(self) -> str:
        """The character at hand, however it is written, if case is ignored and it has cases, stepped over."""
        if not self._fold:
            return ""
        letter, end = self._numbered() or (self._here(), self._at + 1)
        if self._ruby and (name := _NO_PROPERTY.match(self._source, self._at)):
            letter, end = name[1], name.end()
        if not has_cases(letter):
            return ""
        self._at = end
        self._take_match(_ONCE)  # once is no repetition
        return letter

    def _spelled(self, letters: str) -> list[Node]:
        """Letters in all cases; those that Oniguruma takes for one across the edge of a group are refused."""
        if not letters:
            return []
        first = letters[0]
        if self._ruby and self._before and may_be_one(self._before + first):
            raise self._refused(f"{self._before!r} and {first!r}, ignoring case, in different groups")
        self._before = letters[-1]
        return [self._in_all_cases(letters)]

    def _in_all_cases(self, letters: str) -> Node:
        return self._not_behind(in_all_cases(letters, rows=self._ruby))

    def _set_in_all_cases(self, one: One, inverted: bool) -> Node:
        """A set outside of other brackets, with what is of it but for its case where that is ignored."""
        if not self._fold:
            return inverse(one) if inverted else one
        whole = set_in_all_cases(one)
        if inverted or not self._ruby:
            return inverse(whole) if inverted else whole
        low, high, _ = self._bounds(step=False) or (1, 1, "")
        rows = rows_of_set(one, repeated=high is None and low < 2)
        return self._not_behind(either([whole, *rows]))

    def _not_behind(self, node: Node) -> Node:
        """A node that only Oniguruma's look-behind reads otherwise, where it has alternatives."""
        if {"?<=", "?<!"} & {*self._open} and any(isinstance(one, Either) for one in all_of(node)):
            raise self._refused("letters in a look-behind that are one in another case")
        return node

    def _brackets(self) -> tuple[One, bool]:
        """The set in square brackets, the opening one of which has been read; and whether it is inverted."""
        inverted = self._take("^")
        sides: list[list[One]] = [[]]  # of operators
        operators = ""
        while not self._ruby and self._take("-"):  # no operator yet
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
        """One member of a set in brackets: a character, a range, a class, or a set of its own."""
        if self._source.startswith("[:", self._at):
            name = self._take_match(_POSIX) if self._ruby else None
            if name is None or name[2] not in POSIX_CLASSES:
                raise self._refused("a POSIX class")
            one = _set_of(POSIX_CLASSES[name[2]])
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
            raise self._wrong(f"{first.written}-{last.written} in brackets is no range of characters")
        return One(point_sets.of_range(begin, end), f"{first.written}-{last.written}")

    def _single(self) -> One:
        """A character or a class inside brackets."""
        if self._here() == "\\":
            one = self._escape(in_set=True)
            assert isinstance(one, One)
            return one
        self._at += 1
        return character(self._source[self._at - 1])

    def _numbered(self) -> tuple[str, int] | None:
        """The character that is written at hand by its number, and where that ends; None where none is."""
        number = _NUMBERED[self._dialect].match(self._source, self._at)
        if number is None:
            return None
        point = int(number[number.lastindex or 0], 16)
        if point > 0x10FFFF:
            raise self._refused(f"{number[0]}, which is no character")
        return chr(point), number.end()

    def _escape(self, *, in_set: bool) -> Node:
        """What a backslash and what follows it stand for: inside brackets a `One`."""
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
            raise self._refused(f"\\{letter} without a number behind it")
        if letter in _REFUSED:
            raise self._refused(f"\\{letter} ({_REFUSED[letter]})")
        if not in_set and (found := self._place(letter)) is not None:
            return found
        one = self._class(letter, in_set=in_set)
        if one is None and letter.isascii() and letter.isalpha():
            raise self._refused(f"\\{letter}{' in brackets' * in_set}")
        return one or character(letter)

    def _place(self, letter: str) -> Node | None:
        """What a letter behind a backslash asks of its place, or None where it stands for characters."""
        if letter in "Az":
            return _BEGIN if letter == "A" else _END
        if letter == "Z":
            return Around(InOrder((Repeat(_NEWLINE, 0, 1 if self._ruby else None), _END)), True, False)
        if letter not in ("bB" if self._ruby else "bB<>"):
            return None
        if letter in "bB" and not self._ruby and self._here() == "{":
            raise self._refused(f"\\{letter}{{…}}")
        word = _set_of(word_members(self._dialect, in_class=False))
        ends = InOrder((Around(word, True, True), Around(word, False, False)))
        begins = InOrder((Around(word, False, True), Around(word, True, False)))
        if letter in "<>":
            return begins if letter == "<" else ends
        return Either((ends, begins)) if letter == "b" else Around(Either((ends, begins)), False, False)

    def _class(self, letter: str, *, in_set: bool) -> One | None:
        """The characters that a letter behind a backslash stands for, or None where it is no such letter."""
        if letter in _CONTROLS:
            return character(_CONTROLS[letter])
        if letter == "b" and in_set:
            return character("\b")
        if letter in "NO" and not in_set:
            return inverse(_NEWLINE) if letter == "N" else ANYTHING
        if letter in "pPN" and self._ruby:
            return character(letter)
        members = {
            "d": r"\p{Nd}",
            "h": "0-9a-fA-F",
            "s": r"\s",
            "w": word_members(self._dialect, in_class=in_set),
        }.get(letter.lower())
        if members is None:
            return None
        one = One(point_sets.spaces(), r"\s") if letter in "sS" else _set_of(members)
        return inverse(one) if letter.isupper() else one

    def _property(self, inverted: bool, *, in_set: bool) -> One:
        """What a property stands for, whose name is at hand: in braces, or a single letter."""
        end = self._source.find("}", self._at) if self._here() == "{" else self._at
        if end < 0:
            raise self._wrong("a name of a property does not end")
        name = self._source[self._at + 1 : end] if self._here() == "{" else self._here()
        self._at = end + 1
        inverted, name = inverted != name.startswith("^"), canonical(name.removeprefix("^"))
        if not self._own_names and is_untold(name, self._dialect):
            raise self._refused(f"the property {name!r}, whose characters in Unicode 16.0 are not known here")
        members = None if self._own_names else property_members(name, self._dialect, in_class=in_set)
        one = self._named(name) if members is None else _set_of(members)
        if self._fold and not self._ruby:
            one = set_in_all_cases(one)
        return inverse(one) if inverted else one

    def _named(self, name: str) -> One:
        import regex

        try:
            return One(point_sets.of_property(name), f"\\p{{{name}}}")
        except regex.error as error:
            raise self._wrong(f"no property is called {name!r}") from error

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
    """The set that holds what some hold."""
    points = point_sets.union(one.points for one in members)
    return One(points, f"[{''.join(one.written for one in members)}]") if points else NEVER


def _combined(sets: list[One], operators: str) -> One:
    """Sets with operators between them, from left to right."""
    points = sets[0].points
    for operator, side in zip(operators, sets[1:], strict=True):
        common = points & side.points
        points = {"&": common, "-": points & ~side.points, "~": (points | side.points) & ~common}[operator]
    if points and set(operators) <= {"&"}:  # which all libraries write so
        return One(points, f"[{'&&'.join(one.written for one in sets)}]" if operators else sets[0].written)
    return ranges(points)
