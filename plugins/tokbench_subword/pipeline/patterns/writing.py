r"""Writes trees of patterns as expressions: for `regex`, and for Oniguruma, which `tokenizers` uses."""

from __future__ import annotations

from tokbench_subword.pipeline.patterns.parsing import read
from tokbench_subword.pipeline.patterns.tree import Around, Atomic, Either, InOrder, Look, Node, One, Repeat

_MARKS = {(0, 1): "?", (0, None): "*", (1, None): "+"}


def written(node: Node, *, end: str = r"\Z") -> str:
    r"""The expression of a tree that is not simplified; `end` is the syntax for the end of the text.

    Example:
        >>> written(read("a{1,3}+|$", "oniguruma"))
        '(?:a{1,3})+|(?=\\n|\\Z)'
    """
    match node:
        case One():
            return node.written
        case Look(points, True, behind) if not points:  # the beginning of the text, or its end
            return r"\A" if behind else end
        case InOrder(parts):
            return "".join(_grouped(part, end, Either) for part in parts)
        case Either(parts):
            return "|".join(written(part, end=end) for part in parts)
        case Repeat(part, low, high, lazy):
            to = f",{high or ''}" if high != low else ""
            mark = _MARKS.get((low, high)) or f"{{{low}{to}}}"
            return _grouped(part, end, Either, InOrder, Repeat, Look) + mark + "?" * (lazy and low != high)
        case Atomic(part):
            return f"(?>{written(part, end=end)})"
        case Around(part, wanted, behind):
            return f"(?{'<' * behind}{'=' if wanted else '!'}{written(part, end=end)})"
    raise TypeError(f"{node} does not occur in a tree that is not simplified")


def _grouped(node: Node, end: str, *kinds: type) -> str:
    text = written(node, end=end)
    return f"(?:{text})" if isinstance(node, kinds) else text


def in_ruby(source: str) -> str:
    r"""Translates a pattern for tiktoken (Rust) to Oniguruma, which `tokenizers` uses.

    Syntax with another meaning there is written out: a possessive ``{1,3}+`` becomes ``(?>…{1,3})``, ``^`` and
    ``$`` become the ends of the text, ``\w`` and ``\b`` the characters that Rust counts as words. Raises
    `TokenizerError` if the pattern cannot be parsed.

    Example:
        >>> in_ruby(r"\p{N}{1,3}+|\S+$")
        '(?>\\p{N}{1,3})|\\S+\\z'
    """
    return written(read(source, "rust"), end=r"\z")
