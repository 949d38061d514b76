"""The words of a corpus under BERT's text rules, with their counts: streamed, as `bpe.counting` does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tokbench.counts import WordCounts
from tokbench.kernels.compiling import announce, kernel
from tokbench.kernels.pointers import PADDING, pointer
from tokbench.kernels.utf8 import code_point
from tokbench_subword.bpe.counting import Block, Fill, count_blocks, filler
from tokbench_subword.bpe.word_table import (
    DOCUMENT,
    POSITION,
    STORE_PADDING,
    WordTable,
    note_word,
    table_shift,
)
from tokbench_subword.wordpiece.normalizer import BertRules, words
from tokbench_subword.wordpiece.table import (
    ALONE,
    DROPPED,
    LETTER,
    LETTER_MAPPED,
    ORDERED,
    SPACE,
    character_table,
)

_COUNTED, _FULL, _REORDER = range(3)
_MOST_BYTES = 3
"""Bytes of normalized text for each byte of input."""


@kernel
def count_bert_words(  # type: ignore[no-untyped-def]
    data, ends, block, kinds, ascii_bytes, slots, mapped, word, rows_, kept_, state
):
    """Count the words of the documents ``data[:ends[0]], data[ends[0]:ends[1]], …``, from where `state` says.

    The tables are those of a `CharacterTable`, `word` is scratch for the longest document. Stops, with `state`
    at the beginning of a word that is not counted yet, where the word table is full or where the rest of the
    document needs canonical reordering.
    """
    text, kind_of, ascii_of = pointer(data), pointer(kinds), pointer(ascii_bytes)
    slot_of, replacements, buffer = pointer(slots), pointer(mapped), pointer(word)
    table, kept = pointer(rows_), pointer(kept_)
    n_rows = np.int64(len(rows_) // 4)
    shift = table_shift(n_rows)
    room = len(kept_) - STORE_PADDING
    at = state[POSITION]
    for document in range(state[DOCUMENT], len(ends)):
        end = ends[document]
        length = np.int64(0)
        begin = at
        ordered_end = np.int64(-1)
        while at < end:
            byte = text[at]
            if byte < 0x80:
                point, width = np.int64(byte), np.int64(1)
            else:
                point, width = code_point(text, at)
            kind = kind_of[point]
            if kind == LETTER:
                if byte < 0x80:
                    buffer[length] = ascii_of[byte]
                else:
                    for index in range(width):
                        buffer[length + index] = text[at + index]
                length += width
            elif LETTER_MAPPED <= kind <= ORDERED:
                if kind == ORDERED and ordered_end == length:
                    state[DOCUMENT], state[POSITION] = document, begin
                    return _REORDER
                slot = np.int64(slot_of[point])
                size = np.int64(replacements[slot])
                for index in range(size):
                    buffer[length + index] = replacements[slot + 1 + index]
                length += size
                if kind == ORDERED:
                    ordered_end = length
            elif kind != DROPPED:
                if length > 0:
                    if not note_word(
                        buffer, 0, length, block + begin, 1, table, n_rows, shift, kept, room, state
                    ):
                        state[DOCUMENT], state[POSITION] = document, begin
                        return _FULL
                    length = np.int64(0)
                if kind != SPACE:
                    size = width
                    if kind == ALONE:
                        for index in range(width):
                            buffer[index] = text[at + index]
                    else:
                        slot = np.int64(slot_of[point])
                        size = np.int64(replacements[slot])
                        for index in range(size):
                            buffer[index] = replacements[slot + 1 + index]
                    if not note_word(buffer, 0, size, block + at, 1, table, n_rows, shift, kept, room, state):
                        state[DOCUMENT], state[POSITION] = document, at
                        return _FULL
                begin = at + width
            at += width
        if length > 0 and not note_word(
            buffer, 0, length, block + begin, 1, table, n_rows, shift, kept, room, state
        ):
            state[DOCUMENT], state[POSITION] = document, begin
            return _FULL
        at = end
    return _COUNTED


def count_bert_pretokens(
    texts: Iterable[str],
    rules: BertRules,
    *,
    workers: int = 1,
    progress: Callable[[int], None] = lambda n_bytes: None,
) -> WordCounts:
    """Normalize, cut and count `texts`; `progress` is told how many bytes are done.

    Example:
        >>> [(word.decode(), count) for word, count in count_bert_pretokens(["Hé, he!"], BertRules())]
        [('he', 2), (',', 1), ('!', 1)]
    """
    announce(count_bert_words)
    return count_blocks(texts, _bert_filler(rules), workers=workers, progress=progress)


def _bert_filler(rules: BertRules) -> Fill:
    table = character_table(rules)
    note_whole = filler(())

    def fill(counted: WordTable, block: Block) -> None:
        data, ends = block.data, block.ends
        longest = int(np.diff(ends, prepend=0).max(initial=0))
        word = np.empty(_MOST_BYTES * longest + PADDING, np.uint8)
        state = counted.state
        state[DOCUMENT] = state[POSITION] = 0
        while True:
            reason = count_bert_words(
                data,
                ends,
                block.start,
                table.kinds,
                table.ascii,
                table.slots,
                table.mapped,
                word,
                counted.rows,
                counted.kept,
                state,
            )
            if reason == _COUNTED:
                return
            document, at = int(state[DOCUMENT]), int(state[POSITION])
            if reason == _FULL:
                counted.grow(_MOST_BYTES * int(ends[document] - at))
                continue
            rest = data[at : int(ends[document])].tobytes().decode()
            note_whole(counted, _block_of([found.text for found in words(rest, rules)], block.start + at))
            state[DOCUMENT], state[POSITION] = document + 1, ends[document]

    return fill


def _block_of(pieces: list[str], start: int) -> Block:
    """Words that are cut already, each as a document."""
    encoded = [piece.encode() for piece in pieces]
    ends = np.cumsum([len(piece) for piece in encoded], dtype=np.int64)
    return Block(np.frombuffer(b"".join([*encoded, bytes(PADDING)]), np.uint8), ends, start)
