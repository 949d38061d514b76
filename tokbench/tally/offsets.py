"""Places by the tokenizer's own offsets, for documents whose tokens cannot be found in the text otherwise.

Offsets are asked for after the ids, of the documents that need them; or together with the ids, where most
documents will. Characters that tokens share are divided between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.capabilities import EncoderWithOffsets, OffsetEncoder
from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Bytes, Int, Ints
from tokbench.tally.text import TextBatch
from tokbench.tally.vocabulary import TokenArrays, TokenTable
from tokbench.tokenizer import Tokenizer, encode_batch, offsets_batch

if TYPE_CHECKING:
    from tokbench.tally.folding_kernels import Aligned
    from tokbench.tally.match import Tokens

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


def place_by_offsets(
    tokenizer: OffsetEncoder,
    table: TokenTable,
    batch: TextBatch,
    tokens: Tokens,
    spans: Ints | None,
    found: Aligned,
) -> None:
    """Place the documents that are not done and whose tokens the offsets fit.

    `spans` are the offsets of all tokens, ``(total, 2)``, where they are known already.
    """
    documents = np.flatnonzero(~found.done)
    if spans is None:
        spans, limits = offsets_batch(tokenizer, [batch.text(i) for i in documents.tolist()])
    else:
        spans = spans[np.repeat(~found.done, tokens.lengths)]
        limits = np.append(0, np.cumsum(tokens.lengths[documents]))
    first_bytes = np.flatnonzero((batch.data & 0xC0) != 0x80)  # of characters, line feeds in between
    first = np.searchsorted(first_bytes, batch.starts[documents])
    size = np.searchsorted(first_bytes, batch.ends[documents]) - first
    counts = np.diff(limits)
    outside = ((spans < 0) | (spans > np.repeat(size, counts)[:, None])).any(axis=1)
    outside |= spans[:, 0] > spans[:, 1]
    wrong = np.diff(np.append(0, np.cumsum(outside))[limits])
    fit = (counts == tokens.lengths[documents]) & (wrong == 0)
    told = documents[fit]
    chosen = np.zeros(len(batch), np.bool_)
    chosen[told] = True
    into = np.repeat(chosen, tokens.lengths)
    own = (spans + np.repeat(first, counts)[:, None])[np.repeat(fit, counts)]
    found.begin[into], found.stop[into] = first_bytes[own[:, 0]], first_bytes[own[:, 1]]
    part_characters(told, batch.data, tokens, table.arrays, found)
    found.done[told] = True
    found.hidden[told] = 0  # counted later


@kernel
def part_characters(documents: Ints, data: Bytes, tokens: Tokens, table: TokenArrays, found: Aligned) -> None:
    """Divide characters that tokens share, where offsets gave the whole one to each of them, or to the last.

    Where the tokens before hold n bytes of a character, the next token begins at the nth continuation byte of
    the text that the character was made from: at its own first byte, if normalising left the character as it
    is. Where that text has too few continuation bytes, nothing is moved.
    """
    begin, stop = found.begin, found.stop
    for document in documents:
        last = tokens.offsets[document + 1]
        held: Int = 0  # bytes of a character that is not whole yet
        for index in range(tokens.offsets[document], last):
            size, at = table.length[tokens.ids[index]], table.offset[tokens.ids[index]]
            if size <= 0:
                held = 0
                continue
            if held > 0 and table.blob[at] & 0xC0 == 0x80:
                told = index  # sentencepiece gives the character to the token of its last byte
                while told + 1 < min(last, index + 3) and stop[told] == begin[told]:
                    told += 1
                low, high = begin[told], stop[told]
                place, left = low, held
                while left > 0 and place + 1 < high:
                    place += 1
                    left -= data[place] & 0xC0 == 0x80
                if left == 0:
                    begin[index], stop[index] = place, high
                    if stop[index - 1] == begin[index - 1]:
                        begin[index - 1] = low
                        stop[index - 1] = place
                    stop[index - 1] = min(stop[index - 1], place)
            for byte in range(at, at + size):
                if table.blob[byte] & 0xC0 == 0x80:
                    held += held > 0
                else:
                    held = np.int64(table.blob[byte] >= 0xC0)
