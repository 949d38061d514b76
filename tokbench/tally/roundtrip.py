"""Which documents come back, decode(encode(x)) = x, decoding no more of them than it takes to know.

A document counts as come back without being decoded where all of this holds: the tokenizer declares
`decode_joins_bytes`; the bytes of the document's tokens, none of them special or without bytes, are the
document's bytes, compared one by one; those bytes are valid UTF-8, so that the text they make is the document
and no other. Or the tokenizer declares `decode_drops_space`, and the bytes are a space and then the document's.
Of such documents a sixty-fourth of every batch, and eight at least, are decoded all the same. If one of them
does not come back, the declaration is false: the whole batch is decoded, and every later one.
All other documents, and all documents of all other tokenizers, are decoded and compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokbench.batch import TokenBatch
from tokbench.tally.places import Places
from tokbench.tally.text import TextBatch
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import TokenByter, Tokenizer, decode_batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]

CHECKED_SHARE = 64
CHECKED_AT_LEAST = 8


class RoundTrips:
    """Compares the documents of one tokenizer, batch by batch."""

    __slots__ = ("_believed", "_drops_space", "_table", "_tokenizer")

    def __init__(self, tokenizer: Tokenizer, table: TokenTable) -> None:
        self._tokenizer = tokenizer
        self._table = table
        joins = bool(getattr(tokenizer, "decode_joins_bytes", False))
        self._drops_space = not joins and bool(getattr(tokenizer, "decode_drops_space", False))
        self._believed = isinstance(tokenizer, TokenByter) and (joins or self._drops_space)

    def lost(self, batch: TextBatch, tokens: TokenBatch, places: Places) -> dict[int, str]:
        """The documents of `batch` that do not come back, and what they come back as."""
        import numpy as np

        if not self._believed:
            return self._decoded(batch, tokens, np.ones(len(batch), np.bool_))
        established = self._after_space(batch, tokens) if self._drops_space else places.exact
        established = established & (places.empty == 0) & ~batch.surrogates
        checked = established & _sample(batch.keys, established)
        lost = self._decoded(batch, tokens, checked | ~established)
        if any(checked[document] for document in lost):
            self._believed = False
            lost |= self._decoded(batch, tokens, established & ~checked)
        return lost

    def _after_space(self, batch: TextBatch, tokens: TokenBatch) -> Flags:
        """Whose tokens spell a space and then the document."""
        import numpy as np

        from tokbench.tally.compiling import frozen
        from tokbench.tally.joining import spell_after_space

        table, spelled = self._table, np.zeros(len(batch), np.bool_)
        spell_after_space(
            batch.data,
            batch.starts,
            batch.ends,
            frozen(tokens.ids),
            frozen(tokens.offsets),
            table.length,
            table.offset,
            table.blob,
            spelled,
        )
        return spelled

    def _decoded(self, batch: TextBatch, tokens: TokenBatch, documents: Flags) -> dict[int, str]:
        """Which of `documents` decode to another text, and to which."""
        import numpy as np

        texts = decode_batch(self._tokenizer, tokens if documents.all() else tokens.some(documents))
        where = np.flatnonzero(documents).tolist()
        return {i: text for i, text in zip(where, texts, strict=True) if text != batch.text(i)}


def _sample(keys: NDArray[np.uint32], among: Flags) -> Flags:
    """The documents `among` with the smallest keys: a hash of each, so the same ones in any order."""
    import numpy as np

    wanted = max(CHECKED_AT_LEAST, -(-int(among.sum()) // CHECKED_SHARE))
    own = np.sort(keys[among])
    chosen: Flags = among.copy() if len(own) <= wanted else among & (keys <= own[wanted - 1])
    return chosen
