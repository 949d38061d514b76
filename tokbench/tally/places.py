"""Where each token lies in the text: from the bytes of the tokens, in context.

Four ways, tried in this order for each document. *Exact*: the tokens' bytes, one after another, are the
document's bytes. *Folded*: they are equal after folding both (see `tokbench.tally.folding`), for tokenizers
that normalise. *Around unknowns*: the folded tokens between unknown tokens are found in the folded text, and only
one way of finding them exists. *Offsets*: the tokenizer's own `offsets`. A document for which none of them holds is
not aligned, and counts nothing that needs places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tokbench.tally.folding import Folding, lay_out
from tokbench.tally.text import TextBatch
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import OffsetEncoder, TokenBatch, Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The tokens of a batch's aligned documents: (start, end) in bytes of the batch, and the token's index.

    Tokens without extent (special tokens, white space that a normaliser takes out) are not among them.
    `aligned` says which documents are; `hidden` the characters under unknown tokens, by document, −1 where
    that cannot be told.
    """

    start: Ints
    end: Ints
    token: Ints
    aligned: NDArray[np.bool_]
    hidden: Ints


class Aligner:
    """Finds places for one tokenizer."""

    __slots__ = ("_foldings", "_table", "_tokenizer")

    def __init__(self, tokenizer: Tokenizer, table: TokenTable) -> None:
        self._tokenizer = tokenizer
        self._table = table
        self._foldings: dict[bool, Folding] = {}

    def align(self, batch: TextBatch, tokens: TokenBatch) -> Places:
        """The places of `tokens` in `batch`."""
        import numpy as np

        n = len(tokens.ids)
        start = np.zeros(n, np.int64)
        end = np.zeros(n, np.int64)
        unknown = self._has_unk(tokens)
        aligned = self._exact(batch, tokens, ~unknown, start, end)
        for marks in (True, False):
            rest = np.flatnonzero(~aligned & ~unknown)
            if len(rest):
                self._folded(batch, tokens, rest, marks, start, end, aligned)
        hidden = np.zeros(len(batch), np.int64)
        for document in np.flatnonzero(unknown).tolist():
            self._around(batch, tokens, document, start, end, aligned, hidden)
        if not aligned.all() and isinstance(self._tokenizer, OffsetEncoder):
            for document in np.flatnonzero(~aligned).tolist():
                aligned[document] = self._offsets(batch, tokens, document, start, end)
                if aligned[document] and unknown[document]:
                    hidden[document] = self._hidden(batch, tokens, document, start, end)
        keep = end > start
        if not aligned.all():
            keep &= np.repeat(aligned, tokens.lengths())
        token = np.flatnonzero(keep)
        if len(token) == n:
            return Places(start, end, token, aligned, hidden)
        return Places(start[token], end[token], token, aligned, hidden)

    def _has_unk(self, tokens: TokenBatch) -> NDArray[np.bool_]:
        import numpy as np

        has = np.zeros(len(tokens), np.bool_)
        if self._table.unk is not None:
            where = np.flatnonzero(tokens.ids == self._table.unk)
            has[np.searchsorted(tokens.offsets, where, side="right") - 1] = True
        return has

    def _exact(
        self, batch: TextBatch, tokens: TokenBatch, among: NDArray[np.bool_], start: Ints, end: Ints
    ) -> NDArray[np.bool_]:
        """Align whichever of the documents `among` are their tokens' bytes; says which."""
        import numpy as np

        lengths = self._table.length[tokens.ids]
        running = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=running[1:])
        counts = tokens.lengths()
        first = running[tokens.offsets[:-1]]
        sizes = running[tokens.offsets[1:]] - first
        hopeful = among & (sizes == batch.ends - batch.starts)
        if not hopeful.any():
            return hopeful
        chosen = slice(None) if hopeful.all() else np.repeat(hopeful, counts)
        ids = tokens.ids[chosen]
        built, _ = lay_out(self._table.blob, self._table.offset[ids], lengths[chosen])
        there = np.zeros(len(batch.data), np.bool_)
        _fill(there, batch.starts[hopeful], batch.ends[hopeful])
        wrong = np.flatnonzero(there)[built != batch.data[there]] if len(built) else np.zeros(0, np.int64)
        if len(wrong):
            hopeful[np.searchsorted(batch.starts, wrong, side="right") - 1] = False
            chosen = np.repeat(hopeful, counts)
        begin = running[:-1] + np.repeat(batch.starts - first, counts)
        start[chosen] = begin[chosen]
        end[chosen] = (begin + lengths)[chosen]
        return hopeful

    def _folded(
        self,
        batch: TextBatch,
        tokens: TokenBatch,
        documents: Ints,
        marks: bool,
        start: Ints,
        end: Ints,
        aligned: NDArray[np.bool_],
    ) -> None:
        """Align by folded forms whichever of `documents` can be."""
        import numpy as np

        folding = self._folding(marks)
        chosen = np.zeros(len(batch), np.bool_)
        chosen[documents] = True
        which = np.flatnonzero(np.repeat(chosen, tokens.lengths()))
        ids = tokens.ids[which]
        texts = [batch.texts[i] for i in documents.tolist()]
        points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        folding.know(points, ids)

        text, text_begin = folding.characters.lay_out(points)
        made, made_begin = folding.tokens.lay_out(ids)
        char_limits = np.append(0, np.cumsum([len(each) for each in texts]))
        token_limits = np.append(0, np.cumsum(tokens.lengths()[documents]))
        text_limits, made_limits = text_begin[char_limits], made_begin[token_limits]
        good = np.diff(text_limits) == np.diff(made_limits)
        refused = folding.tokens.refused[ids]
        if refused.any():
            good[np.searchsorted(token_limits, np.flatnonzero(refused), side="right") - 1] = False
        if not good.any():
            return
        # compare the documents of equal length byte by byte
        there = np.zeros(len(text), np.bool_)
        _fill(there, text_limits[:-1][good], text_limits[1:][good])
        also = np.zeros(len(made), np.bool_)
        _fill(also, made_limits[:-1][good], made_limits[1:][good])
        wrong = np.flatnonzero(there)[text[there] != made[also]]
        if len(wrong):
            good[np.searchsorted(text_limits, wrong, side="right") - 1] = False
        # the characters that own each token's first and last folded byte
        sizes = _utf8_sizes(points)
        char_start = np.zeros(len(points) + 1, np.int64)
        np.cumsum(sizes, out=char_start[1:])
        char_start[:-1] += np.repeat(
            batch.starts[documents] - char_start[char_limits[:-1]], np.diff(char_limits)
        )
        char_end = char_start[:-1] + sizes
        owner = np.repeat(np.arange(len(points)), np.diff(text_begin))
        shift = np.repeat(text_limits[:-1] - made_limits[:-1], np.diff(token_limits))
        use = np.flatnonzero(np.repeat(good, np.diff(token_limits)) & (np.diff(made_begin) > 0))
        start[which[use]] = char_start[owner[made_begin[use] + shift[use]]]
        end[which[use]] = char_end[owner[made_begin[use + 1] - 1 + shift[use]]]
        aligned[documents[good]] = True

    def _folding(self, marks: bool) -> Folding:
        if marks not in self._foldings:
            self._foldings[marks] = Folding(self._table, marks=marks)
        return self._foldings[marks]

    def _around(
        self,
        batch: TextBatch,
        tokens: TokenBatch,
        document: int,
        start: Ints,
        end: Ints,
        aligned: NDArray[np.bool_],
        hidden: Ints,
    ) -> None:
        """Place the tokens of one document that has unknown tokens, where that can be done in one way only."""
        import numpy as np

        first, last = int(tokens.offsets[document]), int(tokens.offsets[document + 1])
        ids = tokens.ids[first:last]
        unknown = ids == self._table.unk
        points = np.frombuffer(batch.texts[document].encode("utf-32-le", "surrogatepass"), np.uint32)
        hidden[document] = -1
        for marks in (True, False):
            folding = self._folding(marks)
            folding.know(points, ids)
            if folding.tokens.refused[ids[~unknown]].any():
                continue
            text, text_begin = folding.characters.lay_out(points)
            lengths = np.where(unknown, 0, folding.tokens.length[ids])
            made, made_begin = lay_out(folding.tokens.blob, folding.tokens.offset[ids], lengths)
            whole, limits = text.tobytes(), [0, *made_begin[:-1][unknown].tolist(), len(made)]
            pieces = [made[a:b].tobytes() for a, b in pairwise(limits)]
            forward, backward = leftmost(whole, pieces), rightmost(whole, pieces)
            if forward is None or backward is None:
                continue
            # what is left over is under the unknown tokens, wherever that is
            left = len(whole) - len(made)
            hidden[document] = round(len(points) * left / max(1, len(whole)))
            between = [b - (a + len(piece)) for a, b, piece in zip(forward, forward[1:], pieces, strict=False)]
            if forward != backward or not all(between):
                continue
            owner = np.repeat(np.arange(len(points)), np.diff(text_begin))
            run = np.cumsum(unknown)
            shift = np.array(forward) - np.array(limits[:-1])
            begin = made_begin[:-1] + shift[run]
            stop = begin + lengths
            begin[unknown] = [at + len(piece) for at, piece in zip(forward[:-1], pieces[:-1], strict=True)]
            stop[unknown] = forward[1:]
            byte_of = np.append(0, np.cumsum(_utf8_sizes(points))) + int(batch.starts[document])
            use = np.flatnonzero(stop > begin)
            start[first:last] = end[first:last] = 0
            start[first + use] = byte_of[owner[begin[use]]]
            end[first + use] = byte_of[owner[stop[use] - 1] + 1]
            aligned[document] = True
            hidden[document] = self._hidden(batch, tokens, document, start, end)
            return

    def _hidden(self, batch: TextBatch, tokens: TokenBatch, document: int, start: Ints, end: Ints) -> int:
        """The code points under the unknown tokens of an aligned document."""
        import numpy as np

        first, last = int(tokens.offsets[document]), int(tokens.offsets[document + 1])
        where = first + np.flatnonzero(tokens.ids[first:last] == self._table.unk)
        begins = int(batch.starts[document])
        covered = np.zeros(int(batch.ends[document]) - begins, np.bool_)
        _fill(covered, start[where] - begins, end[where] - begins)
        data = batch.data[begins : int(batch.ends[document])]
        return int(((data & 0xC0) != 0x80)[covered].sum())

    def _offsets(self, batch: TextBatch, tokens: TokenBatch, document: int, start: Ints, end: Ints) -> bool:
        """Align one document by the tokenizer's own offsets; false where they do not fit its tokens."""
        import numpy as np

        assert isinstance(self._tokenizer, OffsetEncoder)
        first, last = int(tokens.offsets[document]), int(tokens.offsets[document + 1])
        text = batch.texts[document]
        spans = np.asarray(self._tokenizer.offsets(text), np.int64).reshape(-1, 2)
        if len(spans) != last - first or (len(spans) and (spans.min() < 0 or spans.max() > len(text))):
            return False
        begins = int(batch.starts[document])
        data = batch.data[begins : int(batch.ends[document])]
        byte_of = np.append(np.flatnonzero((data & 0xC0) != 0x80), len(data)) + begins
        start[first:last] = byte_of[spans[:, 0]]
        end[first:last] = byte_of[spans[:, 1]]
        return True


def leftmost(text: bytes, pieces: Sequence[bytes]) -> list[int] | None:
    """Where each piece lies at the earliest, in order, the first at the start and the last at the end.

    Example:
        >>> leftmost(b"ab??cd?e", [b"ab", b"cd", b"e"])
        [0, 4, 7]
    """
    places: list[int] = []
    position = 0
    for index, piece in enumerate(pieces):
        if index == 0:
            found = 0 if text.startswith(piece) else -1
        elif index == len(pieces) - 1:
            found = len(text) - len(piece) if text.endswith(piece) else -1
        else:
            found = text.find(piece, position)
        if found < position:
            return None
        places.append(found)
        position = found + len(piece)
    return places


def rightmost(text: bytes, pieces: Sequence[bytes]) -> list[int] | None:
    """Where each piece lies at the latest, under the same conditions."""
    mirrored = leftmost(text[::-1], [piece[::-1] for piece in reversed(pieces)])
    if mirrored is None:
        return None
    return [len(text) - at - len(piece) for at, piece in zip(reversed(mirrored), pieces, strict=True)]


def _utf8_sizes(points: NDArray[np.uint32]) -> Ints:
    """Bytes of UTF-8 of each code point."""
    import numpy as np

    sizes = 1 + (points >= 0x80).astype(np.int64)
    sizes += points >= 0x800
    sizes += points >= 0x10000
    return sizes


def _fill(flags: NDArray[np.bool_], starts: Ints, ends: Ints) -> None:
    """Set ``flags[start:end]`` for every pair."""
    import numpy as np

    change = np.zeros(len(flags) + 1, np.int32)
    np.add.at(change, starts, 1)
    np.add.at(change, ends, -1)
    np.cumsum(change[:-1], out=change[:-1])
    flags[:] = change[:-1] > 0
