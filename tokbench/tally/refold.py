"""Finding a normalising tokenizer's tokens in the text, by the folded forms of both.

`Laid` puts the folded text and the folded tokens of some documents side by side. Where they are equal, each
token lies over the characters whose folded bytes it holds. Around unknown tokens, which hide text, the runs
of tokens between them are found in the folded text; that counts only if the first and the last way to find
them agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tokbench.tally.folding import Folding, lay_out
from tokbench.tally.text import TextBatch
from tokbench.tokenizer import TokenBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Flags = NDArray[np.bool_]


class Laid:
    """The folded text and tokens of some documents; unknown tokens fold to nothing.

    `tokens` are the positions of the documents' tokens in the batch, `text` and `made` the folded bytes, and
    the `_limits` say where each document begins in them.
    """

    def __init__(
        self, folding: Folding, batch: TextBatch, tokens: TokenBatch, documents: Ints, unknown: int | None
    ) -> None:
        import numpy as np

        chosen = np.zeros(len(batch), np.bool_)
        chosen[documents] = True
        counts = tokens.lengths()
        self.documents = documents
        self.tokens: Ints = np.flatnonzero(np.repeat(chosen, counts))
        ids = tokens.ids[self.tokens]
        texts = [batch.texts[i] for i in documents.tolist()]
        self.points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        folding.know(self.points, ids)
        self.unknown: Flags = np.zeros(len(ids), np.bool_) if unknown is None else ids == unknown
        self.text, self.text_begin = folding.characters.lay_out(self.points)
        self.lengths = np.where(self.unknown, 0, folding.tokens.length[ids])
        self.made, self.made_begin = lay_out(folding.tokens.blob, folding.tokens.offset[ids], self.lengths)
        self.char_limits = np.append(0, np.cumsum([len(each) for each in texts]))
        self.token_limits = np.append(0, np.cumsum(counts[documents]))
        self.text_limits = self.text_begin[self.char_limits]
        self.made_limits = self.made_begin[self.token_limits]
        self.refused: Flags = np.zeros(len(documents), np.bool_)
        wrong = np.flatnonzero(folding.tokens.refused[ids] & ~self.unknown)
        self.refused[np.searchsorted(self.token_limits, wrong, side="right") - 1] = True

    def visible(self) -> Ints:
        """How many characters of each document fold to something."""
        import numpy as np

        running = np.append(0, np.cumsum(np.diff(self.text_begin) > 0))
        counts: Ints = np.diff(running[self.char_limits])
        return counts

    def equal(self) -> Flags:
        """Which documents' folded tokens are their folded text, none of them unknown."""
        import numpy as np

        good: Flags = (np.diff(self.text_limits) == np.diff(self.made_limits)) & ~self.refused
        good &= np.diff(np.append(0, np.cumsum(self.unknown))[self.token_limits]) == 0
        there = covered(len(self.text), self.text_limits[:-1][good], self.text_limits[1:][good])
        also = covered(len(self.made), self.made_limits[:-1][good], self.made_limits[1:][good])
        wrong = np.flatnonzero(there)[self.text[there] != self.made[also]]
        good[np.searchsorted(self.text_limits, wrong, side="right") - 1] = False
        return good

    def in_place(self) -> tuple[Ints, Ints]:
        """Where each token begins and ends in the folded text, where the two are equal."""
        import numpy as np

        shift = np.repeat(self.text_limits[:-1] - self.made_limits[:-1], np.diff(self.token_limits))
        return self.made_begin[:-1] + shift, self.made_begin[1:] + shift

    def around_unknown(self, begin: Ints, end: Ints) -> tuple[Flags, Ints]:
        """Correct the places from `in_place` in documents with unknown tokens, which take what lies between.

        Says for which documents that is certain, and how many folded bytes of each are hidden (−1 where the
        known tokens are not in the text at all, or where none is unknown).
        """
        import numpy as np

        certain = np.zeros(len(self.documents), np.bool_)
        hidden = np.full(len(self.documents), -1, np.int64)
        text, made = self.text.tobytes(), self.made.tobytes()
        holes = np.flatnonzero(self.unknown)
        hole_at = self.made_begin[holes].tolist()
        hole_limits = np.searchsorted(holes, self.token_limits).tolist()
        text_limits, made_limits = self.text_limits.tolist(), self.made_limits.tolist()
        token_limits = self.token_limits.tolist()
        for index in np.flatnonzero(~self.refused).tolist():
            first, last = hole_limits[index], hole_limits[index + 1]
            if first == last:
                continue
            whole = text[text_limits[index] : text_limits[index + 1]]
            limits = [made_limits[index], *hole_at[first:last], made_limits[index + 1]]
            pieces = [made[a:b] for a, b in pairwise(limits)]
            forward = leftmost(whole, pieces)
            if forward is None:
                continue
            hidden[index] = len(whole) - (limits[-1] - limits[0])
            ends = [at + len(piece) for at, piece in zip(forward, pieces, strict=True)]
            if any(map(int.__ge__, ends, forward[1:])) or (
                len(pieces) > 2 and forward != rightmost(whole, pieces)
            ):
                continue
            certain[index] = True
            offset = text_limits[index]
            own = slice(token_limits[index], token_limits[index + 1])
            moved = (np.array(forward) - np.array(limits[:-1]) + made_limits[index])[
                np.cumsum(self.unknown[own])
            ]
            begin[own] += moved
            end[own] += moved
            begin[holes[first:last]] = np.array(ends[:-1]) + offset
            end[holes[first:last]] = np.array(forward[1:]) + offset
        return certain, hidden

    def bytes_of(self, batch: TextBatch, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Places in the folded text, none of them empty, as bytes of the batch: those of whole characters."""
        import numpy as np

        sizes = utf8_sizes(self.points)
        ends = np.cumsum(sizes)
        starts = ends - sizes
        first = starts[np.minimum(self.char_limits[:-1], len(starts) - 1)] if len(starts) else starts
        shift = np.repeat(batch.starts[self.documents] - first, np.diff(self.char_limits))
        owner = np.repeat(np.arange(len(self.points)), np.diff(self.text_begin))
        return (starts + shift)[owner[begin]], (ends + shift)[owner[end - 1]]


def leftmost(text: bytes, pieces: Sequence[bytes]) -> list[int] | None:
    """Where each piece lies at the earliest, in order, the first at the start and the last at the end.

    Example:
        >>> leftmost(b"ab??cd?e", [b"ab", b"cd", b"e"])
        [0, 4, 7]
    """
    if len(pieces) == 1:
        return [0] if text == pieces[0] else None
    if not text.startswith(pieces[0]) or not text.endswith(pieces[-1]):
        return None
    places = [0]
    position = len(pieces[0])
    for piece in pieces[1:-1]:
        found = text.find(piece, position)
        if found < 0:
            return None
        places.append(found)
        position = found + len(piece)
    last = len(text) - len(pieces[-1])
    return [*places, last] if last >= position else None


def rightmost(text: bytes, pieces: Sequence[bytes]) -> list[int] | None:
    """Where each piece lies at the latest, under the same conditions."""
    mirrored = leftmost(text[::-1], [piece[::-1] for piece in reversed(pieces)])
    if mirrored is None:
        return None
    return [len(text) - at - len(piece) for at, piece in zip(reversed(mirrored), pieces, strict=True)]


def utf8_sizes(points: NDArray[np.uint32]) -> Ints:
    """Bytes of UTF-8 of each code point."""
    import numpy as np

    sizes: Ints = 1 + (points >= 0x80).astype(np.int64)
    sizes += points >= 0x800
    sizes += points >= 0x10000
    return sizes


def covered(size: int, starts: NDArray[np.integer[Any]], ends: NDArray[np.integer[Any]]) -> Flags:
    """Flags of shape ``(size,)``, true within any of the stretches."""
    import numpy as np

    depth = np.bincount(starts, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
    flags: Flags = np.cumsum(depth)[:size] > 0
    return flags
