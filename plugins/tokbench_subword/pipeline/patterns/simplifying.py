"""Simplifies the tree of a pattern, so that an automaton can read a text character by character.

A lookaround that depends on a single character becomes a condition on it (`Look`); others stay. A possessive
repetition or an atomic group becomes an ordinary one that can match in only one way. A pattern without such a
form, such as a lookaround within another, raises `NotExpressible`, and `regex` runs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tokbench_subword.pipeline.patterns.class_names import Dialect
from tokbench_subword.pipeline.patterns.parsing import read
from tokbench_subword.pipeline.patterns.point_sets import NOTHING, Points, union
from tokbench_subword.pipeline.patterns.tree import (
    BEGIN,
    END,
    Around,
    Atomic,
    Either,
    InOrder,
    Look,
    Node,
    NotExpressible,
    One,
    Repeat,
    all_of,
    when_empty,
    with_parts,
)

_LONGEST_REPEAT = 256


def tree_of(source: str, dialect: Dialect = "rust") -> Node:
    r"""The simplified tree of an expression in some dialect, for `automaton_of`.

    Raises `NotExpressible` if there is none, `TokenizerError` if the expression cannot be parsed.

    Example:
        >>> tree = tree_of(r"a(?!\d)|b+")
        >>> type(tree).__name__, len(tree.parts)
        ('Either', 2)
    """
    return _by_characters(read(source, dialect))


def _by_characters(node: Node) -> Node:
    match node:
        case Repeat(_, low, high) if max(low, high or 0) > _LONGEST_REPEAT:
            raise NotExpressible(f"more than {_LONGEST_REPEAT} repetitions")
        case Around(part, wanted, behind):
            return lookaround(_by_characters(part), wanted=wanted, behind=behind)
        case Atomic(part):
            return atomic(_by_characters(part))
    return with_parts(node, _by_characters)


def possessive(part: Node, low: int, high: int | None) -> Node:
    """A possessive repetition of a set: a repetition after which no character of the set follows."""
    if not isinstance(part, One):
        raise NotExpressible("a possessive group")
    no_more = Look(~part.points, True, False)
    if high is None:
        return InOrder((Repeat(part, low, None), no_more))
    if high == low:
        return Repeat(part, low, high)
    return Either((Repeat(part, high, high), InOrder((Repeat(part, low, high - 1), no_more))))


def atomic(node: Node) -> Node:
    """An atomic group as a node that can match in only one way, or that ends in a possessive repetition."""
    match node:
        case One():
            return node
        case Repeat(One(), low, high, lazy) if not lazy:
            return possessive(node.part, low, high)
        case Either(parts) if all(_apart(a, b) for number, a in enumerate(parts) for b in parts[:number]):
            return Either(tuple(map(atomic, parts)))
        case InOrder(parts) if all(_leaves_no_choice(a, b) for a, b in pairwise(parts)):
            return InOrder((*parts[:-1], *map(atomic, parts[-1:])))
    raise NotExpressible("an atomic group with several ways to match")


def _leaves_no_choice(part: Node, following: Node) -> bool:
    """Whether a part can match in only one way if `following` matches after it."""
    if isinstance(part, One):
        return True
    after = following.part if isinstance(following, Repeat) and following.low else following
    characters = isinstance(part, Repeat) and isinstance(part.part, One) and isinstance(after, One)
    return characters and not part.part.points & after.points  # type: ignore[union-attr]


def _apart(one: Node, other: Node) -> bool:
    """Whether no text begins with a match of both parts, since they need different characters at some place."""
    return any(not a & b for a, b in zip(_first_characters(one), _first_characters(other), strict=False))


def _first_characters(node: Node) -> Iterator[Points]:
    """The sets of the first characters of a part, as far as their positions are certain."""
    for part in node.parts if isinstance(node, InOrder) else (node,):
        if isinstance(part, Repeat) and isinstance(part.part, One) and part.low:
            yield part.part.points
        elif isinstance(part, Repeat) and isinstance(part.part, One) and isinstance(node, InOrder):
            following = node.parts[node.parts.index(part) + 1 :]
            first = next(_first_characters(InOrder(following)), None) if following else None
            if first is not None:
                yield part.part.points | first
        if not isinstance(part, One):
            return
        yield part.points


def lookaround(part: Node, *, wanted: bool, behind: bool) -> Node:
    """A lookaround, as a condition on one character if possible."""
    neighbour = _neighbour(part, behind=behind)
    if neighbour is not None:
        points, edge = neighbour
        return Look(points, edge, behind) if wanted else Look(~points, not edge, behind)
    if any(isinstance(one, Around) for one in all_of(part)):
        raise NotExpressible("a lookaround within another, of more than one character")
    around, empty = Around(part, wanted, behind), when_empty(part)
    if wanted:
        return around if empty is None else Either((empty, around))
    nothing_there = BEGIN if behind else END
    return Either((nothing_there if empty is None else InOrder((nothing_there, _denied(empty))), around))


def _denied(node: Node) -> Node:
    """The negation of conditions."""
    match node:
        case Look(points, edge, behind):
            return Look(~points, not edge, behind)
        case InOrder(parts):
            return Either(tuple(map(_denied, parts))) if parts else Look(NOTHING, False, False)
        case Either(parts):
            return InOrder(tuple(map(_denied, parts)))
    raise NotExpressible("a lookaround of this kind")


def _neighbour(node: Node, *, behind: bool) -> tuple[Points, bool] | None:
    """The condition of a lookaround on the character beside it: the characters allowed, and whether there may
    be none; None if it depends on more than that.
    """
    if isinstance(node, One):
        return node.points, False
    if isinstance(node, Look) and node.behind == behind:
        return node.points, node.edge
    if isinstance(node, Either):
        both = [_neighbour(part, behind=behind) for part in node.parts]
        known = [one for one in both if one is not None]
        if len(known) == len(both):
            return union(points for points, _ in known), any(edge for _, edge in known)
    return None
