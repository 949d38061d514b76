r"""sentencepiece's BPE, exactly, as Llama-2 has it: `SpmBpe` is the algorithm behind an `SpmTokenizer`.

Unlike BPE by ranks, it has no list of merges and no pre-tokenizer. Any two neighbours in the whole text that
spell a piece may merge, even if the trainer never merged them. The pair whose merged piece has the highest
*score* goes first, the leftmost among equals. User-defined symbols are matched before that, longest first, and
take part in no merge. A remaining character that is no piece becomes its bytes (byte fallback) or the unknown
token.

Merging is local: two characters that are adjacent in no piece (`words.parts`) cannot merge, so the text is cut
between them, and short parts are cached. `merge` below is the plain form, against which the kernels are tested.
It also serves models with pieces of the type *unused*: these take part in merging, and at the end are split
again by a rule that considers the whole text.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.copies import cached_property
from tokbench.kernels.pointers import padded
from tokbench.kernels.utf8 import plain_width_of
from tokbench_subword.files.sentencepiece_model import NORMAL, UNUSED, USER_DEFINED
from tokbench_subword.sentencepiece.spm_bpe_encoding import MERGED, merge_all
from tokbench_subword.sentencepiece.spm_bpe_tables import merge_tables
from tokbench_subword.unigram.encoder import PathEncoder
from tokbench_subword.unigram.paths import UNKNOWN_PIECE, Node

if TYPE_CHECKING:
    from tokbench_subword.sentencepiece.vocabulary import SpmVocabulary

_FROZEN, _GONE = -1, -2  # symbols that cannot merge: one that never could, and one already merged into another


class SpmBpe:
    """The pieces of a BPE model as pairs that merge, ready to segment.

    `plain` says that the kernel cannot serve and `path` must (see `merge`). A *symbol* is a piece or a
    character that occurs in one; symbols are numbered like pieces, then on.
    """

    name = "BPE (sentencepiece: by score, over the whole text)"

    def __init__(self, vocabulary: SpmVocabulary) -> None:
        pieces = vocabulary.in_text((NORMAL, USER_DEFINED, UNUSED))
        self.vocabulary = vocabulary
        self.symbols = dict(pieces)
        for character in dict.fromkeys("".join(piece.decode() for piece in pieces)):
            if character.encode() not in pieces:
                self.symbols[character.encode()] = len(vocabulary) + len(self.symbols) - len(pieces)
        self.defined = {
            text: index for text, index in pieces.items() if vocabulary.types[index] == USER_DEFINED
        }
        self.plain = bool((vocabulary.types == UNUSED).any())
        self.ranks = self._ranks()
        self.pairs = self._pairs(pieces)
        self.normalizer = vocabulary.normalizer()
        self._tables = merge_tables(self, pieces)

    def _ranks(self) -> NDArray[np.int32]:
        """The rank of each piece in merging: equal scores share a rank, and -0.0 counts below 0.0."""
        scores = self.vocabulary.scores
        keys = np.where(np.signbit(scores) & (scores == 0), np.nextafter(np.float32(0), np.float32(-1)), scores)
        return np.unique(-keys, return_inverse=True)[1].astype(np.int32)

    def _pairs(self, pieces: dict[bytes, int]) -> dict[tuple[int, int], int]:
        """Every pair of symbols whose concatenation is a piece, with that piece."""
        symbols, pairs = self.symbols, {}
        for piece, index in pieces.items():
            for cut in range(1, len(piece)):
                left = symbols.get(piece[:cut])
                if left is not None and (right := symbols.get(piece[cut:])) is not None:
                    pairs[left, right] = index
        return pairs

    def encoder(self, *, threads: int, cache: int) -> PathEncoder:
        """The encoder for whole documents."""
        return PathEncoder(MERGED, self._tables, threads=threads, cache=cache)

    @cached_property
    def _merger(self) -> PathEncoder:
        """The encoder for sampling, which merges texts as a whole, not in parts."""
        return self.encoder(threads=1, cache=0)

    def path(self, data: bytes) -> list[Node]:
        """The segmentation of internal text `data`, by the plain form."""
        return merge(self, data)

    def sample_rows(self, data: bytes, rng: np.random.Generator, alpha: float) -> NDArray[np.int64]:
        """A segmentation in which each possible merge is skipped with probability `alpha`.

        BPE-dropout (Provilkov et al. 2020), in sentencepiece's form.
        """
        if self.plain:
            return np.array(merge(self, data, rng=rng, dropout=alpha), np.int64).reshape(-1, 3)
        rows = np.empty((len(data) + 1, 3), np.int64)
        with self._merger.space(len(data)) as block:
            return rows[: merge_all(block, padded(data), rng.random(4 * len(data) + 4), float(alpha), rows)]

    def best(self, data: bytes, n: int) -> tuple[NDArray[np.int32], list[int], list[float]]:
        """Not defined for BPE."""
        raise TokenizerError(f"{self.vocabulary.where}: n-best needs a unigram model, this is BPE")


def merge(
    algorithm: SpmBpe,
    data: bytes,
    *,
    rng: np.random.Generator | None = None,
    dropout: float = 0.0,
    record: list[tuple[list[Node], int, int]] | None = None,
) -> list[Node]:
    """The segmentation of internal text `data`, by the definition: all pairs in one queue, best first.

    Pieces of the type unused are split again into the two parts that last formed them, anywhere in the text.
    Each merge is added to `record`: the tokens after it, the index of the merged token, and its piece.
    """
    vocabulary, ranks, pairs = algorithm.vocabulary, algorithm.ranks, algorithm.pairs
    starts, symbols, ids = _characters(algorithm, data)
    count = len(starts)
    following, before = [*range(1, count), -1], list(range(-1, count - 1))
    queue: list[tuple[int, int, int, int, int]] = []
    made_of: dict[int, tuple[int, int]] = {}

    def offer(left: int, right: int) -> None:
        if left < 0 or right < 0:
            return
        piece = pairs.get((symbols[left], symbols[right]))
        if piece is not None:
            heapq.heappush(queue, (int(ranks[piece]), left, piece, symbols[left], symbols[right]))
            if vocabulary.types[piece] == UNUSED:
                made_of[piece] = (symbols[left], symbols[right])

    for left in range(count - 1):
        offer(left, left + 1)
    while queue:
        _, left, piece, one, other = heapq.heappop(queue)
        right = following[left]
        if right < 0 or symbols[left] != one or symbols[right] != other:
            continue
        if rng is not None and dropout > 0.0 and rng.random() < dropout:
            continue
        symbols[left] = ids[left] = piece
        symbols[right] = _GONE
        following[left] = following[right]
        if following[right] >= 0:
            before[following[right]] = left
        if record is not None:
            record.append((*_state(starts, ids, following, left, len(data)), piece))
        offer(before[left], left)
        offer(left, following[left])

    nodes: list[Node] = []
    lengths = {index: len(text) for text, index in algorithm.symbols.items()}

    def write(start: int, end: int, symbol: int) -> None:
        if symbol in made_of:
            one, other = made_of[symbol]
            write(start, start + lengths[one], one)
            write(start + lengths[one], end, other)
        else:
            known = 0 <= symbol < len(vocabulary) and vocabulary.types[symbol] != UNUSED
            nodes.append(Node(start, end, symbol if known else UNKNOWN_PIECE))

    for node in _state(starts, ids, following, 0, len(data))[0]:
        write(*node)
    return nodes


def _state(
    starts: list[int], ids: list[int], following: list[int], made: int, size: int
) -> tuple[list[Node], int]:
    """The current tokens, and the index of the one that begins at symbol `made`."""
    nodes: list[Node] = []
    index, changed = 0 if starts else -1, 0
    while index >= 0:
        if index == made:
            changed = len(nodes)
        end = starts[following[index]] if following[index] >= 0 else size
        nodes.append(Node(starts[index], end, ids[index]))
        index = following[index]
    return nodes, changed


def _characters(algorithm: SpmBpe, data: bytes) -> tuple[list[int], list[int], list[int]]:
    """The initial parts for merging: the start, the symbol (negative: cannot merge) and the id of each."""
    starts, symbols, ids = [], [], []
    longest = max(map(len, algorithm.defined), default=0)
    position = 0
    while position < len(data):
        size = next((n for n in range(longest, 0, -1) if data[position : position + n] in algorithm.defined), 0)
        if size:
            symbol, index = _FROZEN, algorithm.defined[data[position : position + size]]
        else:
            size = plain_width_of(data[position])
            symbol = index = algorithm.symbols.get(data[position : position + size], _FROZEN)
        starts.append(position)
        symbols.append(symbol)
        ids.append(index)
        position += size
    return starts, symbols, ids
