r"""Parses regular expressions of other libraries to trees; `set_parsing` parses what matches one character.

`tokenizers` runs patterns with Oniguruma (Ruby syntax), tiktoken with Rust's fancy-regex. Most of the syntax
that vocabularies use means the same in both. The differences:

| written | Oniguruma | Rust |
|---|---|---|
| ``a{1,3}+`` | repeated ``a{1,3}`` | possessive |
| ``a{2}?`` | ``(?:a{2})?`` | ``a{2}``, lazily |
| ``^``, ``$`` | begin of any line but after a final newline, end of any line | begin and end of the text |
| ``\Z`` | end, or the last newline | end, or newlines up to it |
| ``\xE9`` | a byte: refused | the character |
| ``\pL`` | the letters ``pL`` | a property |
| ``[[:punct:]]`` | such characters | – |
| ``[a--b]`` | a range up to ``-``, and ``b`` | one set without another |
| ``\<``, ``\>`` | these characters | beginning and end of a word |
| ``a(?i)b\|c`` | ``a(?i:b\|c)`` | ``a(?i:b)\|(?i:c)`` |
| ``\w`` | letters, marks, ``\p{Nd}``, connectors and ² ³ ¹ ¼ ½ ¾ | those and the two joiners |

Unsupported syntax raises an error that names it, rather than being guessed. So does the repetition of a part
that tries an empty match before others, as ``(?:b*|a)*``: libraries differ on what follows an empty repetition.

Parts that ignore case become sets of all cases (`ignoring_case`). Rust adds other cases to each set before it
is inverted or nested in another. Oniguruma adds them to a set as a whole, and leaves ``\p{Lu}`` outside of
brackets as it is. No library parses patterns for us: `regex` shows no tree, and `re` has no Unicode properties.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tokbench.errors import TokenizerError
from tokbench_subword.pipeline.patterns import ignoring_case
from tokbench_subword.pipeline.patterns.class_names import Dialect, word_members
from tokbench_subword.pipeline.patterns.set_parsing import SetReader, set_of
from tokbench_subword.pipeline.patterns.tree import (
    ANYTHING,
    BEGIN,
    END,
    Around,
    Atomic,
    Either,
    InOrder,
    Node,
    One,
    Repeat,
    all_of,
    character,
    either,
    empty_at_last,
    in_order,
    inverse,
    may_be_empty,
    reads,
)

_NO_PROPERTY = re.compile(r"\\([pP])(?!\{)")
_MARKS: dict[str, tuple[int, int | None, str]]
_MARKS = {"?": (0, 1, "mark"), "*": (0, None, "mark"), "+": (1, None, "mark")}
_INTERVAL = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
MOST_TIMES = 999_999_999
"""The highest number of repetitions; no text is as long."""
_ONCE = re.compile(r"\{1\}(?![?+*{])")
_NAME = re.compile(r"\?P?<\w+>")
_FLAGS = re.compile(r"\?([^:)]*)([:)])")
_NEWLINE, _NO_NEWLINE = character("\n"), inverse(character("\n"), ".")
_LINE_BEGINS = Either((InOrder((Around(_NEWLINE, True, True), Around(END, False, False))), BEGIN))
_LINE_ENDS = Around(Either((_NEWLINE, END)), True, False)


@lru_cache(maxsize=256)
def read(source: str, dialect: Dialect) -> Node:
    r"""The tree of an expression, not simplified; raises `TokenizerError` if it cannot be parsed.

    Example:
        >>> type(read(r"a{2}?", "rust")).__name__, read(r"a{2}?", "oniguruma").high
        ('Repeat', 1)
    """
    try:
        return _Reader(source, dialect).whole()
    except RecursionError as error:
        raise TokenizerError(f"the pattern {source[:40]!r} … is nested too deeply") from error


class _Reader(SetReader):
    """Parses an expression from left to right; each method parses one level of the grammar."""

    def __init__(self, source: str, dialect: Dialect) -> None:
        super().__init__(source, dialect)
        self._dot_all = False
        self._open: list[str] = []  # how each open group began
        self._before = ""  # the last letter whose case is ignored, if at most the edge of a group is in between

    def whole(self) -> Node:
        """The tree of the whole expression."""
        tree = self._alternatives()
        if self._here():
            raise TokenizerError(f"the pattern {self._source[:200]!r} closes a group it did not open")
        return tree

    def _alternatives(self) -> Node:
        """``a|b|c``"""
        parts = [self._sequence()]
        while self._take("|"):
            self._before = ""
            parts.append(self._sequence())
        return either(parts)

    def _sequence(self) -> Node:
        parts: list[Node] = []
        letters = ""  # letters side by side whose case is ignored
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
        """A part with the quantifiers after it; in Rust, an interval after the first quantifier is text."""
        while (bounds := self._bounds()) is not None:
            low, high, form = bounds
            if high != 1 and may_be_empty(part) and reads(part) and not empty_at_last(part):
                raise self._refused("a repetition of a part that tries an empty match before others")
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
        """The quantifier at this place: the least and most repetitions, and its form; None if there is none."""
        if found := _MARKS.get(self._here()):
            self._at += step
            return found
        interval = _INTERVAL.match(self._source, self._at)
        if interval is None or not (interval[1] or interval[3] or (interval[2] and not self._ruby)):
            return None
        if any(len(one.lstrip("0")) > len(str(MOST_TIMES)) for one in interval.group(1, 3)):
            raise self._refused(f"{interval[0]:.40}, a repetition of more than {MOST_TIMES:,} times")
        low, high = int(interval[1] or 0), int(interval[3]) if interval[3] else None
        if step:
            self._at = interval.end()
        if not interval[2]:
            return low, low, "fixed"
        if high is not None and high < low:
            raise self._refused(f"{interval[0]}, whose second number is smaller than the first")
        return low, high, "interval"

    def _part(self) -> Node:
        """A part that a quantifier may follow."""
        if self._take("("):
            return self._group()
        self._before = ""
        if self._take("["):
            return self._set_in_all_cases(*self._brackets())
        if self._here() == "\\":
            return self._place() or self._escaped(in_set=False)
        if self._take("."):
            return ANYTHING if self._dot_all else _NO_NEWLINE
        if self._take("^"):
            return _LINE_BEGINS if self._ruby else BEGIN
        if self._take("$"):
            return _LINE_ENDS if self._ruby else END
        letter = self._here()
        if letter in "*+?":
            raise self._wrong(f"there is nothing for {letter!r} to repeat")
        self._at += 1
        return character(letter)

    def _group(self) -> Node:
        """A group, whose opening parenthesis has been read."""
        around = (self._fold, self._dot_all)
        head = next((one for one in ("?:", "?=", "?!", "?<=", "?<!", "?>") if self._take(one)), "")
        if not head and not self._take_match(_NAME) and self._here() == "?":
            head = self._flags()
            if head == "?)":  # flags for the rest of the surrounding group
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
        """Apply the flags at this place; returns a question mark and the character that ends them."""
        found = self._take_match(_FLAGS)
        flags, ended = found.groups() if found else (self._source[self._at + 1 : self._at + 9], "")
        on, _, off = flags.partition("-")
        wrong = "".join(sorted(set(on + off) - set("i" if self._ruby else "is")))
        if wrong or not ended:
            raise self._refused(f"the flags {wrong!r}" if wrong.isalpha() else f"a group (?{flags}")
        if ended == ")" and not self._ruby and self._open and self._open[-1] != "?:":
            raise self._refused("flags for the rest of such a group")  # in fancy-regex they go on after it
        self._fold = ("i" in on or self._fold) and "i" not in off
        self._dot_all = ("s" in on or self._dot_all) and "s" not in off
        return f"?{ended}"

    def _letter(self) -> str:
        """Step over the character here if case is ignored and it has cases; returns it, else ``""``."""
        if not self._fold:
            return ""
        letter, end = self._numbered() or (self._here(), self._at + 1)
        if self._ruby and (name := _NO_PROPERTY.match(self._source, self._at)):
            letter, end = name[1], name.end()
        if not ignoring_case.has_cases(letter):
            return ""
        self._at = end
        self._take_match(_ONCE)  # {1} does not repeat anything
        return letter

    def _spelled(self, letters: str) -> list[Node]:
        """Letters in all cases; refuses those that Oniguruma matches as one across the edge of a group."""
        if not letters:
            return []
        first = letters[0]
        if self._ruby and self._before and ignoring_case.may_be_one(self._before + first):
            raise self._refused(f"{self._before!r} and {first!r}, ignoring case, in different groups")
        self._before = letters[-1]
        return [self._in_all_cases(letters)]

    def _in_all_cases(self, letters: str) -> Node:
        return self._not_behind(ignoring_case.in_all_cases(letters, rows=self._ruby))

    def _set_in_all_cases(self, one: One, inverted: bool) -> Node:
        """A set outside of other brackets, extended by other cases if case is ignored."""
        if not self._fold:
            return inverse(one) if inverted else one
        whole = ignoring_case.set_in_all_cases(one)
        if inverted or not self._ruby:
            return inverse(whole) if inverted else whole
        low, high, _ = self._bounds(step=False) or (1, 1, "")
        rows = ignoring_case.rows_of_set(one, repeated=high is None and low < 2)
        return self._not_behind(either([whole, *rows]))

    def _not_behind(self, node: Node) -> Node:
        """The `node`; refuses alternatives within a look-behind, which Oniguruma reads differently."""
        if {"?<=", "?<!"} & {*self._open} and any(isinstance(one, Either) for one in all_of(node)):
            raise self._refused("letters in a look-behind that are one in another case")
        return node

    def _place(self) -> Node | None:
        """The condition that a backslash and a letter set for their place; None if they mean characters."""
        letter = self._source[self._at + 1 : self._at + 2]
        if not letter or letter not in ("AzZbB" if self._ruby else "AzZbB<>"):
            return None
        self._at += 2
        if letter in "Az":
            return BEGIN if letter == "A" else END
        if letter == "Z":
            return Around(InOrder((Repeat(_NEWLINE, 0, 1 if self._ruby else None), END)), True, False)
        if letter in "bB" and not self._ruby and self._here() == "{":
            raise self._refused(f"\\{letter}{{…}}")
        word = set_of(word_members(self._dialect, in_class=False))
        ends = InOrder((Around(word, True, True), Around(word, False, False)))
        begins = InOrder((Around(word, False, True), Around(word, True, False)))
        if letter in "<>":
            return begins if letter == "<" else ends
        return Either((ends, begins)) if letter == "b" else Around(Either((ends, begins)), False, False)
