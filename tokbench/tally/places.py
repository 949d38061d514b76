"""Where each token lies in the text, for all that is counted of tokens against words, numbers and code.

Four ways, tried in this order for each document. *Exact*: the tokens' bytes, one after another, are the
document's bytes, or a space and then those, where the tokenizer puts one before a text. *Folded*: they are
equal after folding both (see `tokbench.tally.folding`), for tokenizers that normalise. *Around unknowns*: the
folded tokens between unknown tokens are found in the folded text, in one way only. *Offsets*: the tokenizer's
own `offsets`, where characters that tokens share are divided between them. A document for which none of the
four works is not aligned, and counts nothing that needs places.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.capabilities import EncoderWithOffsets, OffsetEncoder
from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import frozen
from tokbench.tally.folding import Degree, folding_of
from tokbench.tally.folding_kernels import Aligned, align_folded, count_hidden, part_characters
from tokbench.tally.marks import no_boundaries
from tokbench.tally.match import MATCHED, Matched, Tokens, lay_out, match
from tokbench.tally.text import DocumentSpans, TextBatch
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import Tokenizer, encode_batch, offsets_batch

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints, Words
    from tokbench.tally.text import Flags, Offsets


@dataclass(frozen=True, eq=False)
class Places:
    """Where the tokens of a batch lie, as far as that is known.

    By document: whether all its tokens' places are known (`aligned`); whether the tokens' bytes are its bytes
    (`exact`), with a space before them (`leads`); how many tokens are no whole characters (`split`), are the
    unknown token (`unknown`) or have no bytes (`empty`); how many characters unknown tokens cover (`hidden`, −1
    where that cannot be told). `boundary` has the bits of exact documents, see `tokbench.tally.marks`.
    """

    spans: Callable[[], DocumentSpans]
    aligned: Flags
    exact: Flags
    leads: Flags
    hidden: Ints
    split: Ints
    unknown: Ints
    empty: Ints
    boundary: Words

    @cached_property
    def tokens(self) -> DocumentSpans:
        """Where each token of the aligned documents begins and ends, in bytes of the batch.

        Tokens without extent (special tokens, white space that a normaliser takes out) are not among them.
        """
        # where all is exact, boundaries tell most of what is asked: laying out the tokens of every batch makes
        # counting novels in six languages with in-house BPE take 1.1 times as long
        return self.spans()


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

    __slots__ = ("_degrees", "_offsets", "_table", "_tokenizer", "_unknown", "seen")

    def __init__(self, tokenizer: Tokenizer, table: TokenTable) -> None:
        self._tokenizer = tokenizer
        self._table = table
        self.seen: Ints = np.zeros(table.size, np.int64)
        self._unknown = -1 if table.unk is None else table.unk
        self._degrees: tuple[Degree, ...] | None = None
        # asked once: isinstance of a protocol is slow to ask of every document
        self._offsets = tokenizer if isinstance(tokenizer, OffsetEncoder) else None

    def align(self, batch: TextBatch, tokens: TokenBatch, spans: Ints | None = None) -> Places:
        """The places of `tokens` in `batch`; each token is counted in `seen`.

        `spans` are the offsets of `tokens`, ``(total, 2)``, where they are known already.
        """
        table, n = self._table, len(tokens.ids)
        given = _given(tokens)
        exact, leads = np.empty((2, len(batch)), np.bool_)
        counts = np.zeros((len(MATCHED), len(batch)), np.int64)
        found = Matched(exact, leads, counts, no_boundaries(len(batch.data)))
        table.know(tokens.ids)
        match(batch.arrays, given, table.arrays, self.seen, found)

        def laid_out() -> tuple[Offsets, Offsets]:
            place = batch.words.start.dtype
            start, end = np.empty(n, place), np.empty(n, place)
            lay_out(batch.arrays, given, table.length, found, start, end)
            return start, end

        split, unknown, empty = counts
        boundary = found.boundary
        hidden = np.zeros(len(batch), np.int64)
        if exact.all():

            def spans_of_all() -> DocumentSpans:
                start, end = laid_out()
                return _with_extent(start, end, end > start, tokens)

            return Places(spans_of_all, exact, exact, leads, hidden, split, unknown, empty, boundary)
        start, end = laid_out()
        hidden[unknown > 0] = -1
        rest = Aligned(start, end, exact.copy(), hidden)
        self._align_rest(batch, tokens, spans, unknown > 0, rest)
        keep = (end > start) & np.repeat(rest.done, tokens.lengths())
        places = _with_extent(start, end, keep, tokens)
        return Places(lambda: places, rest.done, exact, leads, hidden, split, unknown, empty, boundary)

    def _align_rest(
        self, batch: TextBatch, tokens: TokenBatch, spans: Ints | None, unknown: Flags, found: Aligned
    ) -> None:
        """Align whichever documents are not aligned yet and can be by something else than their bytes."""
        given = _given(tokens)
        if self._degrees is None:
            self._degrees = DEGREES if keeps_letters(self._tokenizer) else DEGREES[1:]
        for degree in self._degrees:
            rest = np.flatnonzero(~found.done & ~(unknown & (found.hidden >= 0)))
            if len(rest):
                self._folded(batch, tokens, rest, degree, found)
        if self._offsets is not None and not found.done.all():
            told = self._by_offsets(batch, tokens, spans, found)
            part_characters(told, batch.data, given, self._table.arrays, found)
            found.done[told] = True
            found.hidden[told] = 0  # counted below
        if unknown.any():
            documents = np.flatnonzero(found.done & unknown)
            count_hidden(documents, batch.arrays, given, self._unknown, found)

    def _folded(
        self, batch: TextBatch, tokens: TokenBatch, documents: Ints, degree: Degree, found: Aligned
    ) -> None:
        """Align by folded forms whichever of `documents` can be."""
        folding = folding_of(self._table, degree)
        longest = int((batch.ends - batch.starts)[documents].max())
        most = int(tokens.lengths()[documents].max())
        while not align_folded(
            documents,
            batch.arrays,
            _given(tokens),
            self._unknown,
            folding.characters.arrays,
            folding.tokens.arrays,
            longest * folding.characters.growth,
            most,
            found,
        ):
            folding.know(batch.texts, tokens.ids)

    def _by_offsets(self, batch: TextBatch, tokens: TokenBatch, spans: Ints | None, found: Aligned) -> Ints:
        """Place by the tokenizer's own offsets what is not done; gives the documents whose tokens they fit."""
        assert self._offsets is not None
        documents = np.flatnonzero(~found.done)
        if spans is None:
            spans, limits = offsets_batch(self._offsets, [batch.text(i) for i in documents.tolist()])
        else:
            spans = spans[np.repeat(~found.done, tokens.lengths())]
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
        found.begin[into], found.stop[into] = first_bytes[own[:, 0]], first_bytes[own[:, 1]]
        told: Ints = documents[fit]
        return told


def _given(tokens: TokenBatch) -> Tokens:
    """Tokens as kernels take them."""
    return Tokens(frozen(tokens.ids), frozen(tokens.offsets))


def _with_extent(start: Offsets, end: Offsets, keep: Flags, tokens: TokenBatch) -> DocumentSpans:
    """The spans of the tokens to `keep`, and where those of each document begin."""
    limits = frozen(np.append(0, np.cumsum(keep))[tokens.offsets])
    return DocumentSpans(start[keep], end[keep], limits)


# --- offsets asked for together with the ids ----------------------------------------------------------------

PROBES = 8
"""Documents that are encoded on trial, spread over the batch."""
WORTH_IT = 16
"""Batches with fewer documents for each probe are not probed."""
UNKNOWN_SHARE, UNKNOWN_EACH = 1 / 3, 8
"""If a third of all tokens are unknown, and so many a document, most documents are placed by offsets.

Measured on 21 languages with the vocabularies of T5 and ALBERT. Languages with that share but fewer a document,
as Chinese, are placed around the unknown tokens; those with as many but a smaller share, by their letters.
"""
UNKNOWN_MANY = 16
"""So many a document are enough, whatever their share: as in Russian, of which T5 makes many tokens."""


def encoded_with_offsets(
    tokenizer: Tokenizer, table: TokenTable, batch: TextBatch
) -> tuple[TokenBatch, Ints] | None:
    """The ids and spans of all documents where most will need spans, else None.

    If spans are asked for only after the ids, they cost a second encoding. So eight documents are encoded
    first, and their unknown tokens decide how to encode the batch. A wrong guess costs time and changes no
    figure. Without guessing, counting 21 languages with the vocabulary of ALBERT takes 1.17 times as long.
    """
    unknown = table.unk
    if unknown is None or not table.flags[unknown]:  # no text so far had it
        return None
    if len(batch) < WORTH_IT * PROBES or not isinstance(tokenizer, EncoderWithOffsets):
        return None
    if batch.surrogates.any():  # left to `encode_batch`: the tokenizer may refuse them
        return None
    probes = [batch.text(index) for index in range(0, len(batch), -(-len(batch) // PROBES))]
    ids = encode_batch(tokenizer, probes).ids
    each = int((ids == unknown).sum()) / len(probes)
    if each < UNKNOWN_MANY and (each < UNKNOWN_EACH or each < UNKNOWN_SHARE * len(ids) / len(probes)):
        return None
    tokens, spans = tokenizer.encode_with_offsets(batch.texts)
    if spans.shape != (len(tokens.ids), 2):
        raise TokenizerError(
            f"{tokenizer.name}: encode_with_offsets returned spans of shape {spans.shape} "
            f"for {len(tokens.ids)} ids; it must be ({len(tokens.ids)}, 2)"
        )
    return tokens, spans
