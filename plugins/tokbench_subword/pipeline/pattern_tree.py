"""A regular expression as a tree, which `pattern_reading` reads: what `automaton` builds its states from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokbench_subword.pipeline.point_sets import Points


class NotExpressible(Exception):
    """The expression has no automaton here; the message names the part that has none."""


@dataclass(frozen=True, slots=True, eq=False)
class One:
    """One character of a set."""

    points: Points


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The character before or behind this place is one of `points`, or, with `edge`, there is none."""

    points: Points
    edge: bool
    behind: bool


@dataclass(frozen=True, slots=True, eq=False)
class Far:
    """Text that `part` matches ends here (`behind`) or begins here, or, where it is not `wanted`, none does.

    It is asked only where there is a character on that side. See `lookarounds`.
    """

    part: Node
    wanted: bool
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


Node = One | Look | Far | InOrder | Either | Repeat


def when_empty(node: Node) -> Node | None:
    """The conditions under which a part matches without reading a character; None where it never does."""
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
    return node


def may_be_empty(node: Node) -> bool:
    """Whether a part can match without reading a character."""
    return when_empty(node) is not None


def all_of(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    for part in parts_of(node):
        yield from all_of(part)


def parts_of(node: Node) -> Sequence[Node]:
    """The parts right below a node."""
    if isinstance(node, InOrder | Either):
        return node.parts
    return (node.part,) if isinstance(node, Repeat | Far) else ()
