r"""Regular expressions read as trees of `pattern_tree`.

Read are expressions in the syntax of `regex` (version 1), to which `translating` brings those of other
libraries. Not every expression can become an automaton over single characters: back-references, for one, and
lookarounds within lookarounds. These raise `NotExpressible`, and the pattern is left to `regex`. No library
reads them for us: `regex` shows no tree, and that of `re` is private and has no Unicode properties.
"""

from __future__ import annotations

from tokbench_subword.pipeline import point_sets
from tokbench_subword.pipeline.pattern_groups import atomic, lookaround, possessive
from tokbench_subword.pipeline.pattern_tree import (
    Either,
    InOrder,
    Look,
    Node,
    NotExpressible,
    One,
    Repeat,
    may_be_empty,
)
from tokbench_subword.pipeline.point_sets import Points

_LONGEST_REPEAT, _LONGEST_SOURCE = 256, 10_000


def tree_of(expression: str, *, nested_sets: bool = True) -> Node:
    r"""The tree of an expression in the syntax of `regex`; raises `NotExpressible`.

    `nested_sets` says that a bracket inside brackets is a set of its own (`regex` version 1).

    Example:
        >>> tree = tree_of(r"a(?!\d)|b+")
        >>> type(tree).__name__, len(tree.parts)
        ('Either', 2)
    """
    if len(expression) > _LONGEST_SOURCE:
        raise NotExpressible(f"more than {_LONGEST_SOURCE:,} characters")
    reader = _Reader(expression, nested_sets)
    try:
        tree = reader.alternatives()
    except RecursionError as error:
        raise NotExpressible("groups nested too deep") from error
    if reader.here():
        raise NotExpressible(f"an unexpected {reader.here()!r}")
    return tree


def set_of(brackets: str) -> Points:
    """The set that is written in brackets; raises `NotExpressible`."""
    tree = tree_of(brackets)
    if not isinstance(tree, One):
        raise NotExpressible("more than a set")
    return tree.points


def _of_property(name: str) -> Points:
    import regex

    try:
        return point_sets.of_property(name)
    except regex.error as error:
        raise NotExpressible(f"the property {name!r}") from error


_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
_HEXADECIMAL = {"x": 2, "u": 4, "U": 8}


class _Reader:
    """Reads an expression from left to right, each method one level of its grammar."""

    def __init__(self, expression: str, nested_sets: bool) -> None:
        self._text = expression
        self._at = 0
        self._nested = nested_sets
        self._fold = False
        self._dot_all = False

    def here(self) -> str:
        """The character at hand, or nothing at the end."""
        return self._text[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        """Step over `text`, where it stands here."""
        found = self._text.startswith(text, self._at)
        self._at += len(text) * found
        return found

    def alternatives(self) -> Node:
        """``a|b|c``"""
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self.here() not in ("", "|", ")"):
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else InOrder(tuple(parts))

    def _repeated(self) -> Node:
        """A part and the quantifiers behind it."""
        part = self._part()
        while True:
            bounds = self._bounds()
            if bounds is None:
                return part
            low, high = bounds
            if may_be_empty(part) and not isinstance(part, InOrder | Either | Repeat):
                raise NotExpressible("a repeated lookaround")
            if max(low, high or 0) > _LONGEST_REPEAT:
                raise NotExpressible(f"more than {_LONGEST_REPEAT} repetitions")
            gives_nothing_back = self._take("+")
            part = (
                possessive(part, low, high) if gives_nothing_back else Repeat(part, low, high, self._take("?"))
            )

    def _bounds(self) -> tuple[int, int | None] | None:
        for mark, bounds in (("?", (0, 1)), ("*", (0, None)), ("+", (1, None))):
            if self._take(mark):
                return bounds
        end = self._text.find("}", self._at)
        if self.here() != "{" or end < 0:
            return None
        low, comma, high = self._text[self._at + 1 : end].partition(",")
        if (
            not (low + high).isdigit()
            or not (low or comma)
            or not all(map(str.isdigit, filter(None, (low, high))))
        ):
            return None
        self._at = end + 1
        return int(low or 0), int(high) if high else (None if comma else int(low))

    def _part(self) -> Node:
        if self._take("("):
            return self._group()
        if self._take("["):
            return One(self._set())
        if self._take("."):
            return One(~point_sets.NOTHING if self._dot_all else ~point_sets.of_text("\n"))
        if self._take("\\"):
            if self._take("A"):
                return Look(point_sets.NOTHING, True, True)
            if self._take("Z"):
                return Look(point_sets.NOTHING, True, False)
            return One(self._escape())
        letter = self.here()
        if letter in "^$*+?":
            raise NotExpressible(f"{letter!r} here")
        self._at += 1
        return One(self._folded(point_sets.of_text(letter)))

    def _folded(self, points: Points) -> Points:
        return point_sets.folded(points) if self._fold else points

    def _group(self) -> Node:
        """What stands between brackets, the opening one of which has been read."""
        fold, dot_all = self._fold, self._dot_all
        head = next((one for one in ("?=", "?!", "?<=", "?<!", "?>") if self._take(one)), None)
        if head is None and self._take("?") and not self._take(":"):
            flags, ended = "", ""
            while self.here() and self.here() not in ":)":
                flags += self.here()
                self._at += 1
            ended = self.here()
            if not ended or set(flags) - set("is"):
                raise NotExpressible(f"the group (?{flags}")
            self._at += 1
            self._fold, self._dot_all = self._fold or "i" in flags, self._dot_all or "s" in flags
            if ended == ")":  # "(?i)": for the rest of the group around it
                return InOrder(())
        inner = self.alternatives()
        if not self._take(")"):
            raise NotExpressible("a bracket that is not closed")
        self._fold, self._dot_all = fold, dot_all
        if head is None:
            return inner
        if head == "?>":
            return atomic(inner)
        return lookaround(inner, wanted="!" not in head, behind="<" in head)

    def _escape(self) -> Points:
        """The set of what follows a backslash."""
        letter = self.here()
        self._at += 1
        if letter in "pP":
            end = self._text.find("}", self._at) if self.here() == "{" else self._at
            name = self._text[self._at + 1 : end] if self.here() == "{" else self.here()
            self._at = end + 1
            inverted = (letter == "P") != name.startswith("^")
            points = self._folded(_of_property(name.removeprefix("^")))
            return ~points if inverted else points
        if letter in "sS":
            return point_sets.spaces() if letter == "s" else ~point_sets.spaces()
        if letter in "dD":
            digits = point_sets.of_property("Nd")
            return digits if letter == "d" else ~digits
        if letter in _HEXADECIMAL:
            end = self._at + _HEXADECIMAL[letter]
            code = self._text[self._at : end]
            self._at = end
            try:
                return point_sets.of_text(chr(int(code, 16)))
            except (ValueError, OverflowError) as error:
                raise NotExpressible(f"\\{letter}{code}") from error
        if letter in _ESCAPES:
            return point_sets.of_text(_ESCAPES[letter])
        if not letter or letter.isalnum():
            raise NotExpressible(f"\\{letter}")
        return point_sets.of_text(letter)

    def _set(self) -> Points:
        """The set in square brackets, the opening one of which has been read."""
        inverted = self._take("^")
        points, first = point_sets.NOTHING, True
        while first or self.here() != "]":
            first = False
            if not self.here():
                raise NotExpressible("a set that is not closed")
            if self._text.startswith(("--", "&&", "||", "~~"), self._at) and self._nested:
                operator, rest = self._text[self._at : self._at + 2], self._operand()
                if operator == "~~":
                    raise NotExpressible("~~ in a set")
                points = {"--": points & ~rest, "&&": points & rest, "||": points | rest}[operator]
                break
            points |= self._member()
        if not self._take("]"):
            raise NotExpressible("a set that is not closed")
        return ~self._folded(points) if inverted else self._folded(points)

    def _operand(self) -> Points:
        """What stands behind an operator between sets: the rest of the brackets, which must be one set."""
        self._at += 2
        points = self._member()
        if self.here() != "]":
            raise NotExpressible("several members behind an operator between sets")
        return points

    def _member(self) -> Points:
        """One member of a set in brackets: a character, a range, a class, or a set of its own."""
        if self.here() == "[" and self._nested:
            self._at += 1
            return self._set()
        first = self._single()
        if self.here() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", "-", ""):
            self._at += 1
            begin, end = first.only(), self._single().only()
            if begin is None or end is None:
                raise NotExpressible("a range whose ends are no characters")
            return point_sets.of_range(begin, end)
        return first

    def _single(self) -> Points:
        if self._take("\\"):
            if self._take("b"):
                return point_sets.of_text("\b")
            return self._escape()
        self._at += 1
        return point_sets.of_text(self._text[self._at - 1])
