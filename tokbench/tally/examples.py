"""Examples of documents that decoding did not give back: which are kept, the same in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

EXAMPLES = 32
"""Losses that are kept, the same whatever the order of the documents: those of the smallest keys."""


@dataclass(frozen=True, slots=True, order=True)
class Loss:
    """A document that decode(encode(x)) did not give back, of which there are so many `copies`.

    `text` and `decoded` are excerpts around the first difference; `edits` is the Levenshtein distance over the
    first `chars` code points of the document.
    """

    key: int
    chars: int
    edits: int
    text: str
    decoded: str
    copies: int = 1


def kept_examples(losses: Iterable[Loss]) -> tuple[Loss, ...]:
    """The `EXAMPLES` different losses of smallest key, copies added up: the same for any order."""
    copies: Counter[Loss] = Counter()
    for loss in losses:
        copies[replace(loss, copies=1)] += loss.copies
    return tuple(replace(loss, copies=copies[loss]) for loss in sorted(copies)[:EXAMPLES])
