"""Which tokens touch what: tokens against words, numbers, identifiers and the rest, from their places.

The tokens that touch a stretch are those that begin before its end less those that end by its beginning; both
are running sums over the bytes of the batch, so each question is two look-ups for any number of stretches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.tally.places import Places
from tokbench.tally.text import Cuts, Spans, TextBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


class _Touching:
    """Tokens of the aligned documents, ready to be asked what they touch."""

    def __init__(self, batch: TextBatch, places: Places) -> None:
        import numpy as np

        size = len(batch.data)
        self.aligned = places.aligned
        self.n = len(batch)
        begins = np.bincount(places.start, minlength=size + 1)
        ends = np.bincount(places.end, minlength=size + 1)
        self.begin_before: Ints = np.zeros(size + 2, np.int64)
        np.cumsum(begins, out=self.begin_before[1:])
        self.end_by: Ints = np.cumsum(ends)
        # a boundary: some token begins here, and not at the start of the document
        self.boundary: NDArray[np.bool_] = begins > 0
        self.boundary[batch.starts] = False

    def own(self, spans: Spans) -> Spans:
        """The spans that lie in aligned documents."""
        if self.aligned.all():
            return spans
        keep = self.aligned[spans.document]
        return Spans(spans.start[keep], spans.end[keep], spans.document[keep])

    def tokens(self, spans: Spans) -> Ints:
        """How many tokens touch each span."""
        result: Ints = self.begin_before[spans.end] - self.end_by[spans.start]
        return result

    def per_document(self, documents: Ints, values: Ints | None = None) -> Ints:
        """Sums over documents: of `values`, or of how often each is named."""
        import numpy as np

        return np.bincount(documents, weights=values, minlength=self.n).astype(np.int64)

    def against(self, cuts: Cuts, prefix: str) -> dict[str, Ints]:
        """Boundaries made, boundaries that are right, and those that should have been made."""
        keep = self.aligned[cuts.document]
        made = self.boundary[cuts.at] & keep
        return {
            f"{prefix}_cuts": self.per_document(cuts.document[made]),
            f"{prefix}_hits": self.per_document(cuts.document[made & cuts.gold]),
            f"{prefix}_reach": self.per_document(cuts.document[keep & cuts.gold]),
        }


def touch(batch: TextBatch, places: Places) -> tuple[dict[str, Ints], Ints]:
    """Counts by document of all that depends on places, and the tokens that touch each word."""
    import numpy as np

    touching = _Touching(batch, places)
    aligned = places.aligned.astype(np.int64)
    words = touching.own(batch.words)
    per_word = touching.tokens(words)
    boundaries = np.flatnonzero(touching.boundary)
    owner = np.searchsorted(batch.starts, boundaries, side="right") - 1
    continuation = (batch.data[boundaries] & 0xC0) == 0x80
    inside = batch.grapheme_inside[boundaries]
    counts = {
        "aligned_documents": aligned,
        "aligned_bytes": aligned * batch.counts["bytes"],
        "aligned_words": touching.per_document(words.document),
        "word_tokens": touching.per_document(words.document, per_word),
        "continued_words": touching.per_document(words.document[per_word > 1]),
        "boundaries": touching.per_document(owner),
        "cut_chars": touching.per_document(owner[continuation]),
        "cut_graphemes": touching.per_document(owner[inside]),
        "cross_words": _cross_words(batch, places, words, touching),
        "aligned_numbers": np.zeros(len(batch), np.int64),
    }
    for name, spans in {"numbers": batch.numbers, **batch.code}.items():
        counts |= _wholes(touching, name, touching.own(spans))
    counts |= touching.against(batch.digits, "digit")
    if batch.identifier_cuts is not None:
        counts |= touching.against(batch.identifier_cuts, "identifier")
    if batch.syntax is not None:
        counts |= _syntax(touching, batch.syntax, batch.counts["parsed_documents"], boundaries, owner)
    return counts, per_word


def _wholes(touching: _Touching, name: str, spans: Spans) -> dict[str, Ints]:
    """How many spans there are, how many one token covers, and the tokens that touch them."""
    tokens = touching.tokens(spans)
    result = {f"aligned_{name}": touching.per_document(spans.document)}
    if name in ("numbers", "operators"):
        result[f"whole_{name}"] = touching.per_document(spans.document[tokens == 1])
    else:
        result[f"{name.removesuffix('s')}_tokens"] = touching.per_document(spans.document, tokens)
    return result


def _cross_words(batch: TextBatch, places: Places, words: Spans, touching: _Touching) -> Ints:
    """Tokens that touch two or more words."""
    import numpy as np

    size = len(batch.data)
    begins = np.zeros(size + 2, np.int64)
    np.cumsum(np.bincount(words.start, minlength=size + 1), out=begins[1:])
    ends = np.cumsum(np.bincount(words.end, minlength=size + 1))
    many = begins[places.end] - ends[places.start] > 1
    owner = np.searchsorted(batch.starts, places.start[many], side="right") - 1
    return touching.per_document(owner)


def _syntax(touching: _Touching, gaps: Spans, parsed: Ints, boundaries: Ints, owner: Ints) -> dict[str, Ints]:
    """Token boundaries against the gaps between the parser's tokens, in the documents it parsed."""
    import numpy as np

    here = parsed[owner] > 0
    before = np.zeros(len(touching.boundary) + 1, np.int64)
    np.cumsum(touching.boundary, out=before[1:])
    gaps = touching.own(gaps)
    hit = before[gaps.end + 1] > before[gaps.start]
    change = np.zeros(len(touching.boundary) + 1, np.int64)
    np.add.at(change, gaps.start, 1)
    np.add.at(change, gaps.end + 1, -1)
    right = here & (np.cumsum(change)[boundaries] > 0)
    return {
        "syntax_reach": touching.per_document(gaps.document),
        "syntax_hits": touching.per_document(gaps.document[hit]),
        "syntax_cuts": touching.per_document(owner[here]),
        "syntax_right": touching.per_document(owner[right]),
    }
