"""Tokens as markup, with whole characters, visible white space and everything escaped.

Tokens are passed on, also to the page's script, as a list of *spans*: ``[text, ids, bytes in hex, kind]``, one
for each group of tokens that spells whole characters. Nearly every group is one token; a split character has
several.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from markupsafe import Markup

from tokbench.inspection.pieces import TextPiece, visible

Span = tuple[str, list[int], list[str], str]


def spans_of_json(pieces: Iterable[Mapping[str, Any]]) -> list[Span]:
    """The spans of pieces in the form that `tokbench.inspection.pieces.as_json` gives.

    Example:
        >>> spans_of_json([{"id": 7, "bytes": "20", "text": " ", "group": 0, "kind": "token"}])
        [('·', [7], ['20'], '')]
    """
    return [_span(list(group)) for _, group in groupby(pieces, key=itemgetter("group"))]


def spans_of(pieces: Iterable[TextPiece]) -> list[Span]:
    """The spans of pieces as they come from `tokbench.inspection.pieces.pieces`."""
    return spans_of_json(piece.as_json() for piece in pieces)


def _span(tokens: Sequence[Mapping[str, Any]]) -> Span:
    text, kinds = tokens[0]["text"], {each["kind"] for each in tokens}
    kind = "unk" if "unknown" in kinds else "special" if "special" in kinds else "" if text else "empty"
    return shown(text), [each["id"] for each in tokens], [each["bytes"] for each in tokens], kind


def shown(text: str) -> str:
    r"""Text as a view shows it: with marked white space, its line breaks, and a sign for the empty text.

    Example:
        >>> shown("a b\n"), shown("")
        ('a·b↵\n', '∅')
    """
    return visible(text).replace("↵", "↵\n") or "∅"


def spans_at(spans: Iterable[Span], first: int, last: int) -> frozenset[int]:
    """The numbers of the spans that contain any of the tokens `first` to `last` − 1.

    Example:
        >>> sorted(spans_at([("a", [1], ["61"], ""), ("é", [195, 169], ["c3", "a9"], "")], 2, 3))
        [1]
    """
    found, begin = set(), 0
    for number, (_, ids, _, _) in enumerate(spans):
        if begin < last and first < begin + len(ids):
            found.add(number)
        begin += len(ids)
    return frozenset(found)


def markup(
    spans: Iterable[Span],
    label: str,
    ranks: Mapping[int, int] | None = None,
    *,
    differs: Container[int] = (),
) -> Markup:
    """The token view of some spans; `label` names it for screen readers.

    `ranks` are the ranks of ids by frequency, if counted; they are shown with the token's id and bytes. To save
    space, ids and ranks are written as columns with one entry for each span, joined by ``+`` if it has several
    tokens. The spans whose numbers are in `differs` are marked.
    """
    spans = list(spans)
    columns = {"i": " ".join("+".join(map(str, ids)) for _, ids, _, _ in spans)}
    if ranks:
        columns["r"] = " ".join("+".join(str(rank_of(index, ranks)) for index in ids) for _, ids, _, _ in spans)
    told = Markup("").join(Markup(' data-{}="{}"').format(name, column) for name, column in columns.items())
    made = Markup("").join(_marked(span, number in differs) for number, span in enumerate(spans))
    return Markup(
        '<div class="tokens"><div class="text" dir="auto" tabindex="0" role="group" aria-label="{}"{}>{}</div>'
        '<p class="detail" aria-live="polite"></p></div>'
    ).format(label, told, made)


def _marked(span: Span, differs: bool) -> Markup:
    """The markup of one span; its bytes are left out if they are those of the text."""
    text, ids, data, kind = span
    marks = {"many": len(ids) > 1, kind: kind, "differs": differs}
    names = " ".join(name for name, there in marks.items() if there)
    found = {}
    if names:
        found["class"] = names
    if len(ids) > 1 or data[0] != unshown(text).encode("utf-8", "replace").hex():
        found["data-b"] = " ".join(data)
    given = Markup("").join(Markup(' {}="{}"').format(name, value) for name, value in sorted(found.items()))
    return Markup("<span{}>{}</span>").format(given, text)


def rank_of(index: int, ranks: Mapping[int, int]) -> int | None:
    """The rank of an id; ids that did not occur share the last one. None if nothing was counted.

    Example:
        >>> rank_of(7, {7: 1}), rank_of(8, {7: 1}), rank_of(8, {})
        (1, 2, None)
    """
    return ranks.get(index, len(ranks) + 1) if ranks else None


def unshown(text: str) -> str:
    r"""The inverse of `shown`, for texts of which no character was spelled out.

    Example:
        >>> unshown("a·b↵\n")
        'a b\n'
    """
    return text.replace("↵\n", "\n").replace("·", " ")
