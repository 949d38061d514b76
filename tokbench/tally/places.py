"""Where each token lies in the text, for all that is counted of tokens against words, numbers and code.

Four ways, tried in this order for each document. *Exact*: the tokens' bytes, one after another, are the
document's bytes, or a space and then those, where the tokenizer puts one before a text. *Folded*: they are
equal after folding both (see `tokbench.tally.folding`), for tokenizers that normalise. *Around unknowns*: the
folded tokens between unknown tokens are found in the folded text, in one way only. *Offsets*: the tokenizer's
own `offsets`, where characters that tokens share are divided between them. A document for which none of the
four works is not aligned, and counts nothing that needs places.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.capabilities import OffsetEncoder
from tokbench.kernels.pointers import frozen
from tokbench.tally.folding import Degree, folded_characters, folded_tokens
from tokbench.tally.folding_kernels import Aligned, align_folded
from tokbench.tally.marks import no_boundaries
from tokbench.tally.match import Matched, Tokens, lay_out, match
from tokbench.tally.offsets import place_by_offsets
from tokbench.tally.text import Flags, Spans, TextBatch
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ids, Ints


class Places:
    """Where the tokens of a batch lie, as far as that is known.

    By document: what `Matched` says (`exact`, `leads`, `split`, `unknown`, `empty`); whether all its tokens'
    places are known (`aligned`); how many characters unknown tokens cover (`hidden`, −1 where that cannot be
    told). `boundary` has the bits of exact documents, see `tokbench.tally.marks`.
    """

    def __init__(self, batch: TextBatch, tokens: Tokens, lengths: Ids, matched: Matched) -> None:
        self.exact, self.leads, self.split, self.unknown, self.empty, self.boundary = matched
        self.aligned: Flags = self.exact.copy()
        self.hidden: Ints = -(self.unknown > 0).astype(np.int64)
        self._batch, self._tokens, self._lengths, self._matched = batch, tokens, lengths, matched

    @cached_property
    def every(self) -> Aligned:
        """Every token's place, of which those in exact documents are known from the beginning."""
        # where all is exact, boundaries tell most of what is asked: laying out the tokens of every batch makes
        # counting novels in six languages with in-house BPE take 1.1 times as long
        begin, stop = np.empty((2, len(self._tokens.ids)), self._batch.words.start.dtype)
        lay_out(self._batch.arrays, self._tokens, self._lengths, self._matched, begin, stop)
        return Aligned(begin, stop, self.aligned, self.hidden)

    @cached_property
    def tokens(self) -> Spans:
        """Where each token of the aligned documents begins and ends, in bytes of the batch.

        Tokens without extent (special tokens, white space that a normaliser takes out) are not among them.
        """
        every = Spans(self.every.begin, self.every.stop, self._tokens.offsets)
        return every.some((every.end > every.start) & np.repeat(self.aligned, every.counts))


DEGREES: tuple[Degree, ...] = ("spaces", "marks", "bare")
_PROBE = "Aé"


def keeps_letters(tokenizer: Tokenizer) -> bool:
    """Whether capitals and accents come back: else it is no use to look for tokens as they are."""
    try:
        return tokenizer.decode(list(tokenizer.encode(_PROBE))).strip() == _PROBE
    except Exception:  # a tokenizer may refuse a text, and no user gave this one
        return False


class Aligner:
    """Finds places for one tokenizer; `seen` counts how often each token was met."""

    def __init__(self, tokenizer: Tokenizer, table: TokenTable) -> None:
        self._tokenizer = tokenizer
        self._table = table
        self.seen: Ints = np.zeros(table.size, np.int64)
        self._unknown = -1 if table.unk is None else table.unk
        # asked once: isinstance of a protocol is slow to ask of every document
        self._offsets = tokenizer if isinstance(tokenizer, OffsetEncoder) else None

    @cached_property
    def _degrees(self) -> tuple[Degree, ...]:
        return DEGREES if keeps_letters(self._tokenizer) else DEGREES[1:]

    def align(self, batch: TextBatch, tokens: TokenBatch, spans: Ints | None = None) -> Places:
        """The places of `tokens` in `batch`; each token is counted in `seen`.

        `spans` are the offsets of `tokens`, ``(total, 2)``, where they are known already.
        """
        table, given = self._table, Tokens(frozen(tokens.ids), frozen(tokens.offsets))
        table.know(tokens.ids)
        exact, leads = np.empty((2, len(batch)), np.bool_)
        split, unknown, empty = np.zeros((3, len(batch)), np.int64)
        matched = Matched(exact, leads, split, unknown, empty, no_boundaries(len(batch.data)))
        match(batch.arrays, given, table.arrays, self.seen, matched)
        places = Places(batch, given, table.length, matched)
        if not exact.all():
            self._align_rest(batch, given, spans, unknown > 0, places.every)
        return places

    def _align_rest(
        self, batch: TextBatch, tokens: Tokens, spans: Ints | None, unknown: Flags, found: Aligned
    ) -> None:
        """Align whichever documents are not aligned yet and can be by something else than their bytes."""
        for degree in self._degrees:
            rest = np.flatnonzero(~found.done & ~(unknown & (found.hidden >= 0)))
            if len(rest):
                self._folded(batch, tokens, rest, degree, found)
        if self._offsets is not None and not found.done.all():
            place_by_offsets(self._offsets, self._table, batch, tokens, spans, found)
        if unknown.any():
            self._count_hidden(batch, tokens, found.done & unknown, found)

    def _count_hidden(self, batch: TextBatch, tokens: Tokens, documents: Flags, found: Aligned) -> None:
        """The characters under the unknown tokens of aligned `documents`, each once."""
        own = (tokens.ids == self._unknown) & np.repeat(documents, tokens.lengths)
        depth = np.zeros(len(batch.data) + 1, np.int64)  # unknown tokens over a byte, less those before
        np.add.at(depth, found.begin[own], 1)
        np.add.at(depth, found.stop[own], -1)
        hidden = (np.cumsum(depth)[:-1] > 0) & ((batch.data & 0xC0) != 0x80)
        before = np.append(0, np.cumsum(hidden))
        found.hidden[documents] = (before[batch.ends] - before[batch.starts])[documents]

    def _folded(
        self, batch: TextBatch, tokens: Tokens, documents: Ints, degree: Degree, found: Aligned
    ) -> None:
        """Align by folded forms whichever of `documents` can be."""
        characters, pieces = folded_characters(degree), folded_tokens(self._table, degree)
        longest = int((batch.ends - batch.starts)[documents].max())
        most = int(tokens.lengths[documents].max())
        while not align_folded(
            documents,
            batch.arrays,
            tokens,
            self._unknown,
            characters.arrays,
            pieces.arrays,
            longest * characters.growth,
            most,
            found,
        ):
            characters.know(batch.texts)
            pieces.know(tokens.ids)
