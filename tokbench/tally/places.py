"""Where each token lies in the text, for all that is counted of tokens against words, numbers and code.

Four ways, tried in this order for each document. *Exact*: the tokens' bytes, one after another, are the
document's bytes, or a space and then those, where the tokenizer puts one before a text. *Folded*: they are
equal after folding both (see `tokbench.tally.folding`), for tokenizers that normalise. *Around unknowns*: the
folded tokens between unknown tokens are found in the folded text, in one way only. *Offsets*: the tokenizer's
own `offsets`, with the characters parted that several tokens share. A document for which none of them holds is
not aligned, and counts nothing that needs places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokbench.batch import TokenBatch
from tokbench.tally.folding import Degree, folding_of
from tokbench.tally.rows import TokenRows
from tokbench.tally.text import TextBatch
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import OffsetEncoder, Tokenizer, offsets_batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Offsets = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Places:
    """The tokens of a batch's aligned documents: (start, end) in bytes of the batch.

    Tokens without extent (special tokens, white space that a normaliser takes out) are not among them; those of
    document i are ``limits[i]`` to ``limits[i + 1]``. `aligned` says which documents are, `exact` of which the
    tokens' bytes are the document's bytes, in those that `leads` marks after a space before the text; `hidden`
    the characters under unknown tokens, by document, −1 where that cannot be told. By document there are also
    the tokens that are no whole characters (`split`), that are the unknown token (`unknown`) and that have no
    bytes (`empty`); `boundary` has the bits (see `tokbench.tally.boundaries`) that `tokbench.tally.walk.match`
    sets.
    """

    spans: Callable[[], tuple[Offsets, Offsets, Ints]]
    aligned: Flags
    exact: Flags
    leads: Flags
    hidden: Ints
    split: Ints
    unknown: Ints
    empty: Ints
    boundary: NDArray[np.uint64]

    @cached_property
    def _spans(self) -> tuple[Offsets, Offsets, Ints]:
        return self.spans()  # where all is exact, boundaries tell most of what is asked, and take no room

    @property
    def start(self) -> Offsets:
        """Where each token begins."""
        return self._spans[0]

    @property
    def end(self) -> Offsets:
        """Where each token ends."""
        return self._spans[1]

    @property
    def limits(self) -> Ints:
        """Where the tokens of each document begin, and after the last of them."""
        return self._spans[2]


AHEAD = 4
"""Documents in which tokens are looked up where one is not known; each further time in a batch so many more."""
DEGREES: tuple[Degree, ...] = ("spaces", "marks", "bare")
_PROBE = "Aé"


def keeps_letters(tokenizer: Tokenizer) -> bool:
    """Whether capitals and accents come back: else it is no use to look for tokens as they are."""
    try:
        return tokenizer.decode(list(tokenizer.encode(_PROBE))).strip() == _PROBE
    except Exception:  # not every tokenizer takes every text, and this one is ours
        return False


class Aligner:
    """Finds places for one tokenizer; how often each token was seen is told by its `rows`."""

    __slots__ = ("_degrees", "_offsets", "_scratch", "_table", "_tokenizer", "_unknown", "rows")

    def __init__(self, tokenizer: Tokenizer, table: TokenTable) -> None:
        import numpy as np

        self._tokenizer = tokenizer
        self._table = table
        self.rows = TokenRows(table)
        self._scratch = np.zeros((2, 0), np.uint8)
        self._unknown = -1 if table.unk is None else table.unk
        self._degrees: tuple[Degree, ...] | None = None
        # asked once: isinstance of a protocol is slow to ask of every document
        self._offsets = tokenizer if isinstance(tokenizer, OffsetEncoder) else None

    def align(self, batch: TextBatch, tokens: TokenBatch, spans: Ints | None = None) -> Places:
        """The places of `tokens` in `batch`; each token is counted in `rows`.

        `spans` are the offsets of `tokens`, ``(total, 2)``, where they are known already.
        """
        import numpy as np

        from tokbench.kernels.pointers import PADDING, frozen
        from tokbench.tally.boundaries import no_boundaries
        from tokbench.tally.walk import MATCHED, lay_out, match

        table, rows, n = self._table, self.rows.rows.reshape(-1), len(tokens.ids)
        ids, offsets = frozen(tokens.ids), frozen(tokens.offsets)
        exact, leads = np.empty((2, len(batch)), np.bool_)
        counts = np.zeros((len(MATCHED), len(batch)), np.int64)
        boundary = no_boundaries(len(batch.data))
        room = int(batch.counts["bytes"].max(initial=0)) + 2 * PADDING
        if self._scratch.shape[1] < room:
            self._scratch = np.zeros((2, room), np.uint8)
        spelled, begins = self._scratch
        matched, ahead = 0, AHEAD
        while (
            matched := match(
                ids,
                offsets,
                batch.data,
                batch.starts,
                batch.ends,
                rows,
                rows.view(np.uint8),
                table.offset,
                table.blob,
                spelled,
                begins,
                boundary,
                exact,
                leads,
                counts,
                matched,
            )
        ) < len(batch):
            self.rows.know(tokens.ids[tokens.offsets[matched] : tokens.offsets[matched + 1 :][:ahead][-1]])
            ahead *= AHEAD

        def laid_out() -> tuple[Offsets, Offsets]:
            place = batch.words.start.dtype
            start, end = np.empty(n, place), np.empty(n, place)
            lay_out(ids, offsets, batch.starts, table.length, exact, leads, start, end)
            return start, end

        split, unknown, empty = counts
        hidden = np.zeros(len(batch), np.int64)
        if exact.all():

            def spans_of_all() -> tuple[Offsets, Offsets, Ints]:
                start, end = laid_out()
                return _with_extent(start, end, end > start, tokens)

            return Places(spans_of_all, exact, exact, leads, hidden, split, unknown, empty, boundary)
        start, end = laid_out()
        aligned = exact.copy()
        hidden[unknown > 0] = -1
        self._align_rest(batch, tokens, spans, unknown > 0, start, end, aligned, hidden)
        keep = (end > start) & np.repeat(aligned, tokens.lengths())
        found = _with_extent(start, end, keep, tokens)
        return Places(lambda: found, aligned, exact, leads, hidden, split, unknown, empty, boundary)

    def _align_rest(
        self,
        batch: TextBatch,
        tokens: TokenBatch,
        spans: Ints | None,
        unknown: Flags,
        start: Offsets,
        end: Offsets,
        aligned: Flags,
        hidden: Ints,
    ) -> None:
        """Align whichever documents are not `aligned` yet and can be by something else than their bytes."""
        import numpy as np

        if self._degrees is None:
            self._degrees = DEGREES if keeps_letters(self._tokenizer) else DEGREES[1:]
        for degree in self._degrees:
            rest = np.flatnonzero(~aligned & ~(unknown & (hidden >= 0)))
            if len(rest):
                self._folded(batch, tokens, rest, degree, start, end, aligned, hidden)
        if self._offsets is not None and not aligned.all():
            told = self._by_offsets(batch, tokens, spans, ~aligned, start, end)
            self._part_characters(batch, tokens, told, start, end)
            aligned[told] = True
            hidden[told] = 0  # counted below
        if unknown.any():
            self._count_hidden(batch, tokens, start, end, aligned & unknown, hidden)

    def _folded(
        self,
        batch: TextBatch,
        tokens: TokenBatch,
        documents: Ints,
        degree: Degree,
        start: Offsets,
        end: Offsets,
        aligned: Flags,
        hidden: Ints,
    ) -> None:
        """Align by folded forms whichever of `documents` can be."""
        from tokbench.kernels.pointers import frozen
        from tokbench.tally.refold import align_folded

        folding = folding_of(self._table, degree)
        characters, pieces = folding.characters, folding.tokens
        longest = int((batch.ends - batch.starts)[documents].max())
        while not align_folded(
            documents,
            batch.data,
            batch.starts,
            batch.ends,
            frozen(tokens.ids),
            frozen(tokens.offsets),
            self._unknown,
            characters.entries,
            frozen(characters.blob),
            pieces.entries,
            frozen(pieces.blob),
            longest * characters.growth,
            int(tokens.lengths()[documents].max()),
            start,
            end,
            aligned,
            hidden,
        ):
            folding.know(batch.texts, tokens.ids)

    def _part_characters(
        self, batch: TextBatch, tokens: TokenBatch, documents: Ints, start: Offsets, end: Offsets
    ) -> None:
        """Place tokens that are parts of a character inside it, where offsets gave each of them all of it."""
        from tokbench.kernels.pointers import frozen
        from tokbench.tally.refold import part_characters

        table = self._table
        part_characters(
            documents,
            batch.data,
            frozen(tokens.ids),
            frozen(tokens.offsets),
            frozen(table.offset),
            frozen(table.length),
            frozen(table.blob),
            start,
            end,
        )

    def _count_hidden(
        self, batch: TextBatch, tokens: TokenBatch, start: Offsets, end: Offsets, documents: Flags, hidden: Ints
    ) -> None:
        """The code points under the unknown tokens of aligned documents."""
        import numpy as np

        from tokbench.kernels.pointers import frozen
        from tokbench.tally.refold import count_hidden

        count_hidden(
            np.flatnonzero(documents),
            batch.data,
            batch.starts,
            batch.ends,
            frozen(tokens.ids),
            frozen(tokens.offsets),
            self._unknown,
            start,
            end,
            hidden,
        )

    def _by_offsets(
        self,
        batch: TextBatch,
        tokens: TokenBatch,
        spans: Ints | None,
        rest: Flags,
        start: Offsets,
        end: Offsets,
    ) -> Ints:
        """Align the documents of `rest` by the tokenizer's own offsets; those whose tokens the offsets fit."""
        import numpy as np

        assert self._offsets is not None
        documents = np.flatnonzero(rest)
        if spans is None:
            spans, limits = offsets_batch(self._offsets, [batch.text(i) for i in documents.tolist()])
        else:
            spans = spans[np.repeat(rest, tokens.lengths())]
            limits = np.append(0, np.cumsum(tokens.lengths()[documents]))
        first_bytes = np.flatnonzero((batch.data & 0xC0) != 0x80)  # of characters, line feeds in between
        first = np.searchsorted(first_bytes, batch.starts[documents])
        size = np.searchsorted(first_bytes, batch.ends[documents]) - first
        counts = np.diff(limits)
        outside = ((spans < 0) | (spans > np.repeat(size, counts)[:, None])).any(axis=1)
        wrong = np.diff(np.append(0, np.cumsum(outside))[limits])
        fit = (counts == tokens.lengths()[documents]) & (wrong == 0)
        chosen = np.zeros(len(batch), np.bool_)
        chosen[documents[fit]] = True
        into = np.repeat(chosen, tokens.lengths())
        own = (spans + np.repeat(first, counts)[:, None])[np.repeat(fit, counts)]
        start[into], end[into] = first_bytes[own[:, 0]], first_bytes[own[:, 1]]
        aligned: Ints = documents[fit]
        return aligned


def _with_extent(
    start: Offsets, end: Offsets, keep: Flags, tokens: TokenBatch
) -> tuple[Offsets, Offsets, Ints]:
    """The spans of the tokens to `keep`, and where those of each document begin."""
    import numpy as np

    from tokbench.kernels.pointers import frozen

    limits = frozen(np.append(0, np.cumsum(keep))[tokens.offsets])
    return start[keep], end[keep], limits
