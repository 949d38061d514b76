"""What the kernels of sentencepiece's BPE look up: which two symbols make a third, and how early.

Any two neighbours that spell a piece may merge, and yet each piece is made by one pair alone. Whatever stands
beside them, characters that become one piece become it in the same steps as when they are by themselves: of the
merges among them, the best is the next, whenever its turn comes. So the pair is found by merging the characters
of each piece. All others never meet, but where merges are passed over at random. With them in the table, a
first pass of Llama-2 takes 1.12 to 1.2 of the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.merging import SHARED
from tokbench_subword.bpe.tables import NONE, PairTable
from tokbench_subword.pipeline.trie import build_trie
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.spm_bpe_kernel import last_merges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tokbench_subword.unigram.spm_bpe import SpmBpe


def merge_tables(algorithm: SpmBpe) -> dict[int, NDArray[Any]]:
    """The arrays of an encoder about merges, by their place.

    Raises `TokenizerError` for a model of more than a million symbols.
    """
    symbols, defined, ranks = algorithm.symbols, algorithm.defined, algorithm.ranks
    unknown = max(symbols.values(), default=0) + 1  # the symbol of a character of no piece
    if unknown >= SHARED:
        raise TokenizerError(
            f"{algorithm.vocabulary.where}: {unknown:,} symbols; BPE has at most {SHARED - 1:,}"
        )
    texts = {symbol: text.decode() for text, symbol in symbols.items() if text not in defined}
    first = np.full(0x110000, unknown, np.uint32)
    for symbol, text in texts.items():
        if len(text) == 1:
            first[ord(text)] = symbol
    rows = np.array([(*pair, piece) for pair, piece in algorithm.pairs.items()], np.int32).reshape(-1, 3)
    rows = rows[~np.isin(rows[:, :2], list(defined.values())).any(1)]  # user-defined symbols merge with nothing
    every = PairTable.of(rows, np.ascontiguousarray(rows[:, 2]))
    made = [symbol for symbol, text in texts.items() if len(text) > 1]
    merges = _merges(made, [texts[symbol] for symbol in made], first, every, ranks)
    one_each, results = _sharing(merges, ranks[merges[:, 2]])
    return {
        at.FIRST: first,
        **dict(enumerate(one_each, at.MERGES)),
        at.RESULTS: results,
        **dict(enumerate(every, at.EVERY_PAIR)),
        at.RANKS: ranks,
        at.DEFINED: build_trie(defined) if defined else np.zeros(0, np.uint64),
    }


def _merges(
    made: list[int], texts: list[str], first: NDArray[np.uint32], every: PairTable, ranks: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The one merge of each piece that merging can make of its text: rows of left, right, and the piece."""
    limits = np.append(0, np.cumsum([len(text) for text in texts], dtype=np.int64))
    characters = first[np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)]
    rows = np.zeros((len(made), 3), np.uint32)
    rows[:, 2] = made
    last_merges(characters, limits, *every, ranks, rows)
    return rows[rows[:, 0] != NONE].view(np.int32)


def _sharing(merges: NDArray[np.int32], ranks: NDArray[np.int32]) -> tuple[PairTable, NDArray[np.uint32]]:
    """The table of `merges` and the piece that each rank makes.

    Where several pieces share one, of equal scores, see `merge_short`. Llama-2 has such, runs of spaces.
    """
    counts = np.bincount(ranks)
    results = np.full(len(counts), NONE, np.uint32)
    results[ranks] = merges[:, 2]
    results[counts > 1] = NONE
    shared = merges[counts[ranks] > 1]
    shared[:, 0] |= SHARED
    return PairTable.of(np.concatenate((merges, shared)), np.concatenate((ranks, shared[:, 2]))), results
