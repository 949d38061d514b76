"""The tables for the kernels of sentencepiece's BPE: symbols by number, and the pairs that merge.

Symbols are numbered: characters from 1 on, then pieces in the order of merging (the highest score first), then
user-defined symbols, which never merge. 0 is a character of no piece. So the number of a piece gives its rank.
Pieces of equal scores share the rank of the first (see `merge_short`), such as runs of spaces in Llama-2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench_subword.bpe.merging import SHARED
from tokbench_subword.bpe.tables import NONE, PairTable
from tokbench_subword.pipeline.trie import build_trie
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.unigram_algorithm import piece_tables

if TYPE_CHECKING:
    from tokbench_subword.sentencepiece.spm_bpe import SpmBpe


def merge_tables(algorithm: SpmBpe, pieces: dict[bytes, int]) -> dict[int, NDArray[Any]]:
    """The arrays of an encoder, by their place, from all pieces that take part in merging, with their ids.

    Raises `TokenizerError` for a model of more than a million symbols.
    """
    symbols, defined = algorithm.symbols, algorithm.defined
    rank_of = algorithm.ranks.tolist()
    texts = {symbol: text.decode() for text, symbol in symbols.items() if text not in defined}
    single = [symbol for symbol, text in texts.items() if len(text) == 1]
    made = sorted(texts.keys() - single, key=lambda symbol: (rank_of[symbol], symbol))
    begin, end = 1 + len(single), 1 + len(single) + len(made)  # the numbers of those that merging makes
    by_number = np.array([-1, *single, *made, *defined.values()], np.int64)
    if len(by_number) > SHARED:
        where, most = algorithm.vocabulary.where, SHARED - 1
        raise TokenizerError(f"{where}: {len(by_number) - 1:,} symbols; BPE has at most {most:,}")
    number_of = np.zeros(by_number.max() + 2, np.uint32)
    number_of[by_number[1:end]] = np.arange(1, end)
    first = np.zeros(N_CODE_POINTS, np.uint32)
    first[[ord(texts[symbol]) for symbol in single]] = np.arange(1, begin)
    spelling = np.array([(*pair, piece) for pair, piece in algorithm.pairs.items()], np.int64).reshape(-1, 3)
    rows = number_of[spelling].view(np.int32)
    rows = rows[(rows != 0).all(1)]
    merges, results, untied = _sharing(rows, begin, algorithm.ranks[made])
    frozen = {text: number for number, text in enumerate(defined, end)}
    arrays: dict[int, NDArray[Any]] = {
        **piece_tables(pieces, len(algorithm.vocabulary), algorithm.vocabulary),
        at.FIRST: first,
        at.SYMBOL_IDS: np.where(by_number < len(algorithm.vocabulary), by_number, -1).astype(np.int32),
        **dict(enumerate(merges, at.MERGES)),
        at.RESULTS: results,
        at.DEFINED: build_trie(frozen) if frozen else np.zeros(0, np.uint64),
    }
    arrays[at.SETTINGS][[at.FIRST_TIED, at.N_DEFINED]] = untied, len(defined)
    return arrays


def _sharing(
    merges: NDArray[np.int32], begin: int, ranks: NDArray[np.int32]
) -> tuple[PairTable, NDArray[np.uint32], int]:
    """The table of `merges`, the result of each rank, and the first rank that several pieces share.

    `ranks` are those of the scores of the pieces, numbered from `begin` on. See `merge_short`.
    """
    _, firsts, which, counts = np.unique(ranks, return_index=True, return_inverse=True, return_counts=True)
    ties, piece = counts > 1, merges[:, 2] - begin
    results = np.arange(begin + len(ranks), dtype=np.uint32)
    results[begin + firsts[ties]] = NONE
    shared = merges[ties[which][piece]]
    shared[:, 0] |= SHARED
    first = (begin + firsts[which[piece]]).astype(np.int32)
    table = PairTable.of(np.concatenate((merges, shared)), np.concatenate((first, shared[:, 2])))
    return table, results, int(begin + firsts[ties].min(initial=len(ranks)))
