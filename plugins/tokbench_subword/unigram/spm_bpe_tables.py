"""What the kernels of sentencepiece's BPE look up: symbols by number, and which two make a third.

Symbols are numbered: characters from 1 on, then pieces in the order in which merging makes them, the highest
score first, then user-defined symbols, which merge with nothing. 0 is a character of no piece. So a number is
a rank.

Any two neighbours that spell a piece may merge, and yet each piece is made by one pair alone. Whatever stands
beside them, characters that become one piece become it in the same steps as when they are by themselves: of the
merges among them, the best is the next, whenever its turn comes. So the pair is found by merging the characters
of each piece. All others never meet, but where merges are passed over at random. With them in the table, a
first pass of Llama-2 takes 1.12 to 1.2 of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.merging import SHARED
from tokbench_subword.bpe.tables import NONE, PairTable
from tokbench_subword.pipeline.trie import build_trie
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.spm_bpe_kernel import last_merges

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Numbering(NamedTuple):
    """Symbols by number.

    `symbols` int64 ``(n,)`` are those of the vocabulary, -1 for none, and `texts` what they spell; `number_of`
    uint32 is the inverse, without user-defined symbols, those from number `frozen` on. Numbers below `made` are
    single characters.
    """

    symbols: NDArray[np.int64]
    texts: list[str]
    number_of: NDArray[np.uint32]
    made: int
    frozen: int

    @classmethod
    def of(
        cls, symbols: Mapping[bytes, int], defined: Mapping[bytes, int], ranks: NDArray[np.int32], *, where: str
    ) -> Numbering:
        """The numbers of `symbols` by the ranks of their scores, those of `defined` behind.

        Raises `TokenizerError` where there are more than a million.
        """
        texts = {index: text.decode() for text, index in symbols.items()}
        frozen_ids = set(defined.values())
        merging = [index for index in texts if index not in frozen_ids]
        characters = [index for index in merging if len(texts[index]) == 1]
        made = set(merging) - set(characters)
        in_order = sorted(sorted(made), key=ranks.tolist().__getitem__)
        listed = np.array([-1, *characters, *in_order, *defined.values()], np.int64)
        if len(listed) > SHARED:
            raise TokenizerError(f"{where}: {len(listed) - 1:,} symbols; BPE has at most {SHARED - 1:,}")
        frozen, number_of = len(listed) - len(defined), np.zeros(len(ranks), np.uint32)
        number_of[listed[1:frozen]] = np.arange(1, frozen)
        spelled = ["", *map(texts.__getitem__, listed[1:].tolist())]
        return cls(listed, spelled, number_of, 1 + len(characters), frozen)

    def first(self) -> NDArray[np.uint32]:
        """The number of each character, by code point."""
        first = np.zeros(0x110000, np.uint32)
        first[[ord(text) for text in self.texts[1 : self.made]]] = np.arange(1, self.made)
        return first


def merge_tables(
    numbering: Numbering,
    pairs: Mapping[tuple[int, int], int],
    ranks: NDArray[np.int32],
    n_pieces: int,
    settings: NDArray[np.int64],
) -> dict[int, NDArray[Any]]:
    """The arrays of an encoder, by their place, and its `settings` about them.

    `pairs` and `ranks` are as `SpmBpe` has them; symbols from `n_pieces` on are no pieces.
    """
    symbols, frozen = numbering.symbols, numbering.frozen
    spelling = np.array([(*pair, piece) for pair, piece in pairs.items()], np.int64).reshape(-1, 3)
    rows = numbering.number_of[spelling]
    every = _pair_table(rows[(rows != 0).all(1)])
    by_number = ranks[symbols]
    merges = _merges(numbering, every, by_number)
    one_each, results, untied = _sharing(merges, by_number)
    settings[at.MERGE_SHIFT], settings[at.EVERY_SHIFT] = one_each.shift, every.shift
    settings[at.UNTIED], settings[at.N_DEFINED] = untied, len(symbols) - frozen
    defined = {text.encode(): frozen + k for k, text in enumerate(numbering.texts[frozen:])}
    return {
        at.FIRST: numbering.first(),
        at.SYMBOL_IDS: np.where(symbols < n_pieces, symbols, -1).astype(np.int32),
        at.MERGES: one_each.table,
        at.MERGE_BLOOM: one_each.bloom,
        at.RESULTS: results,
        at.EVERY_PAIR: every.table,
        at.EVERY_BLOOM: every.bloom,
        at.RANKS: by_number,
        at.DEFINED: build_trie(defined) if defined else np.zeros(0, np.uint64),
    }


def _merges(numbering: Numbering, every: PairTable, by_number: NDArray[np.int32]) -> NDArray[np.uint32]:
    """The one merge of each piece that merging can make: rows of left, right, and what they make."""
    texts = numbering.texts[numbering.made : numbering.frozen]
    limits = np.append(0, np.cumsum([len(text) for text in texts], dtype=np.int64))
    characters = numbering.first()[np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)]
    rows = np.zeros((len(texts), 3), np.uint32)
    rows[:, 2] = np.arange(numbering.made, numbering.frozen)
    last_merges(characters, limits, every.table, every.bloom, np.uint64(every.shift), by_number, rows)
    return rows[rows[:, 0] != NONE]


def _sharing(
    merges: NDArray[np.uint32], by_number: NDArray[np.int32]
) -> tuple[PairTable, NDArray[np.uint32], int]:
    """The table of `merges`, in order; its results; and the first rank that several share.

    Pieces of equal scores share the number of the first: see `merge_short`. Llama-2 has such, runs of spaces.
    """
    _, first, inverse, counts = np.unique(
        by_number[merges[:, 2]], return_index=True, return_inverse=True, return_counts=True
    )
    ranks, tied = merges[first, 2], counts > 1
    results = np.arange(len(by_number), dtype=np.uint32)
    results[ranks[tied]] = NONE
    shared = merges[tied[inverse]]
    shared[:, 0] |= SHARED
    merges[:, 2] = ranks[inverse]
    untied = int(ranks[tied].min(initial=len(by_number)))
    return _pair_table(np.concatenate((merges, shared))), results, untied


def _pair_table(rows: NDArray[np.uint32]) -> PairTable:
    """The table of rows of left, right, and what they make."""
    signed: NDArray[np.int32] = np.ascontiguousarray(rows).view(np.int32)
    return PairTable.of(signed, np.ascontiguousarray(signed[:, 2]))
