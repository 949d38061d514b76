"""The nodes of a regular expression as a tree.

`parsing` creates the tree, and `writing` writes it as an expression for other libraries. `simplifying` replaces
`Atomic`, and each `Around` that depends on a single character, so that `automaton` can build states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tokbench_subword.pipeline.patterns.point_sets import NOTHING, Points, of_range, of_text


class NotExpressible(Exception):
    """The expression has no automaton; the message names the part that prevents it."""


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """One character of the set `points`; `written` is its syntax in patterns for `regex` and Oniguruma."""

    points: Points
    written: str


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """A lookaround: a match of `part` begins here or, if `behind`, ends here; if not `wanted`, none does.

    After `simplifying`, it is tested only if there is a character on that side. See `lookarounds`.
    """

    part: Node
    wanted: bool
    behind: bool


@dataclass(frozen=True, slots=True, eq=False)
class Atomic:
    """An atomic group: a part that keeps its first match, without backtracking."""

    part: Node


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A condition: the next or, if `behind`, last character is in `points`; with `edge`, it may be missing."""

    points: Points
    edge: bool
    behind: bool


@dataclass(frozen=True, slots=True, eq=False)
class InOrder:
    """One part after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """The first of the parts that leads to a match."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """A part `low` to `high` times (None: without end), as often as possible unless `lazy`."""

    part: Node
    low: int
    high: int | None
    lazy: bool = False


Node = One | InOrder | Either | Repeat | Around | Atomic | Look
_CONTROLS = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
NEVER = One(NOTHING, "[^\\u0000-\U0010ffff]")
"""No character at all; ``[^\\s\\S]`` would match any character in `regex`."""
ANYTHING = One(~NOTHING, r"[\s\S]")
BEGIN, END = Look(NOTHING, True, True), Look(NOTHING, True, False)
"""The conditions that the text begins here, and that it ends here."""


def quoted(text: str) -> str:
    r"""An expression that matches `text` and nothing else, in any dialect.

    Example:
        >>> print(quoted("a.b"))
        a\.b
    """
    return "".join(map(_quoted, text))


def _quoted(letter: str) -> str:
    if letter in r"\.^$*+?{}[]|()-#&~":
        return f"\\{letter}"
    if letter.isprintable() or letter > "\uffff":
        return letter
    return _CONTROLS.get(letter) or f"\\u{ord(letter):04X}"


@lru_cache(maxsize=4096)
def character(letter: str) -> One:
    """The set of a single character."""
    return One(of_text(letter), quoted(letter))


def characters(letters: str) -> One:
    """The set of some characters."""
    return One(of_text(letters), f"[{quoted(letters)}]")


def ranges(points: Points) -> One:
    """A set written as ranges of characters, without surrogates, which do not occur in text.

    Example:
        >>> ranges(of_text("abcx")).written
        '[a-cx-x]'
    """
    runs = (points & ~of_range(0xD800, 0xDFFF)).bounds.reshape(-1, 2).tolist()
    inside = "".join(f"{quoted(chr(first))}-{quoted(chr(end - 1))}" for first, end in runs)
    return One(points, f"[{inside}]") if inside else NEVER


def inverse(one: One, written: str = "") -> One:
    r"""The set of all other characters.

    Example:
        >>> inverse(characters("ab")).written, inverse(inverse(characters("ab"))).written
        ('[^ab]', '[^[^ab]]')
    """
    if one.written.startswith((r"\p", r"\s")):
        written = written or one.written.replace(r"\p", r"\P").replace(r"\s", r"\S")
    members = one.written[1:] if one.written.startswith("[") and one.written[1] != "^" else f"{one.written}]"
    points = ~one.points
    if not points or not one.points:
        return NEVER if one.points else ANYTHING
    return One(points, written or f"[^{members}")


def in_order(parts: Sequence[Node]) -> Node:
    """A node for parts one after the other."""
    return parts[0] if len(parts) == 1 else InOrder(tuple(parts))


def either(parts: Sequence[Node]) -> Node:
    """A node for the first of some parts that leads to a match."""
    return parts[0] if len(parts) == 1 else Either(tuple(parts))


def when_empty(node: Node) -> Node | None:
    """The conditions under which a part matches without reading a character; None if it never does."""
    match node:
        case One():
            return None
        case InOrder(parts):
            every = [when_empty(part) for part in parts]
            return None if None in every else InOrder(tuple(one for one in every if one is not None))
        case Either(parts):
            some = tuple(one for part in parts if (one := when_empty(part)) is not None)
            return Either(some) if some else None
        case Repeat(part, low):
            return when_empty(part) if low else InOrder(())
        case Atomic(part):
            return when_empty(part)
    return node


def may_be_empty(node: Node) -> bool:
    """Whether a part can match without reading a character."""
    return when_empty(node) is not None


def empty_at_last(node: Node) -> bool:
    """Whether a part never matches without reading, or can do so anywhere, but only as the last choice."""
    match node:
        case InOrder(parts):
            return not may_be_empty(node) or all(map(empty_at_last, parts))
        case Either(parts):
            return not any(map(may_be_empty, parts[:-1])) and empty_at_last(parts[-1])
        case Repeat(part, low, _, lazy):
            return not may_be_empty(node) or (empty_at_last(part) and not (lazy and not low))
    return not may_be_empty(node)


def reads(node: Node) -> bool:
    """Whether a part can read a character."""
    return isinstance(node, One) or (not isinstance(node, Around) and any(map(reads, parts_of(node))))


def may_read(node: Node, points: Sequence[int]) -> bool:
    """Whether a part may read one of some characters, or contains a lookaround."""
    if isinstance(node, One):
        return bool(node.points.holds(points).any())
    return isinstance(node, Around | Look) or any(may_read(part, points) for part in parts_of(node))


def turned(node: Node) -> Node:
    """The pattern that matches the same texts read backwards."""
    match node:
        case Look(points, edge, behind):
            return Look(points, edge, not behind)
        case InOrder(parts):
            return InOrder(tuple(map(turned, reversed(parts))))
    return with_parts(node, turned)


def all_of(node: Node) -> Iterator[Node]:
    """A node and all its descendants."""
    yield node
    for part in parts_of(node):
        yield from all_of(part)


def with_parts(node: Node, change: Callable[[Node], Node]) -> Node:
    """A sequence, alternatives or a repetition with `change` applied to each part; other nodes are returned."""
    match node:
        case InOrder(parts):
            return InOrder(tuple(map(change, parts)))
        case Either(parts):
            return Either(tuple(map(change, parts)))
        case Repeat(part, low, high, lazy):
            return Repeat(change(part), low, high, lazy)
    return node


def parts_of(node: Node) -> Sequence[Node]:
    """The direct parts of a node."""
    if isinstance(node, InOrder | Either):
        return node.parts
    return (node.part,) if isinstance(node, Repeat | Around | Atomic) else ()
