"""The unigram model as an algorithm behind a tokenizer: encoding, paths with places, sampling, n-best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Bytes, Int, Ints, Words, keep, padded, pointer
from tokbench_subword.pipeline.trie import build_trie
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.encoder import PathEncoder
from tokbench_subword.unigram.lattice import best_paths, draw_paths
from tokbench_subword.unigram.path_tokens import UnknownRules
from tokbench_subword.unigram.paths import Node, write_rows
from tokbench_subword.unigram.searching import SINGLE
from tokbench_subword.unigram.viterbi import Lattice, search
from tokbench_subword.words.safe_cuts import find_cuts


def piece_tables(pieces: Mapping[bytes, int], size: int, rules: UnknownRules) -> dict[int, NDArray[Any]]:
    """The arrays of a `PathEncoder` that every model with pieces in internal form has, by their place.

    `size` is the number of ids.
    """
    lengths, settings = np.zeros(size, np.int32), np.zeros(at.N_SETTINGS, np.int64)
    lengths[list(pieces.values())] = [len(piece) for piece in pieces]
    settings[at.UNK_ID] = -1 if rules.unk_id is None else rules.unk_id
    settings[at.FALLBACK], settings[at.ESCAPED] = len(rules.byte_ids) > 0, rules.escaped
    cuts = dict(enumerate(find_cuts(pieces).arrays, at.CHARACTERS))
    return {at.LENGTHS: lengths, at.BYTE_IDS: rules.byte_ids, at.SETTINGS: settings, **cuts}


UNKNOWN_PENALTY = 10.0
"""How much worse an unknown character is than the worst piece."""


class Unigram:
    """A unigram model, ready to segment text in internal form: UTF-8, with a space for U+2581 if `escaped`.

    `pieces` are in internal form, with their ids; `scores`, float32 or float64 by id, give all sums their
    precision; `unknown` is the score of an unknown character, `threshold` the sum at which scores are set back
    to zero; `byte_ids` are int32 of ``(256,)``, or of ``(0,)`` without byte fallback;
    `nominal`, float64, are the scores for sampling and n-best where they differ from the encoder's.
    """

    name = "Unigram"
    plain = False

    def __init__(
        self,
        pieces: Mapping[bytes, int],
        scores: NDArray[np.floating[Any]],
        *,
        unknown: float,
        threshold: float,
        byte_ids: NDArray[np.int32],
        unk_id: int | None,
        escaped: bool = False,
        nominal: NDArray[np.float64] | None = None,
    ) -> None:
        self.scores, self.unknown, self.byte_ids, self.unk_id = scores, unknown, byte_ids, unk_id
        self.escaped = escaped
        self._nominal = scores.astype(np.float64) if nominal is None else nominal
        self.units = build_trie(pieces, nul=True)
        largest, ulp = max(float(np.abs(scores).max()), abs(unknown)), float(np.finfo(scores.dtype).eps)
        self.tables: dict[int, NDArray[Any]] = {
            **piece_tables(pieces, len(scores), self),
            at.UNITS: self.units,
            at.SCORES: np.append(scores.dtype.type(-np.inf), scores),
            at.PARAMETERS: np.array([unknown, threshold, largest, ulp], scores.dtype),
        }
        """The arrays of a `PathEncoder`, by their place."""

    def encoder(self, *, threads: int, cache: int) -> PathEncoder:
        """The encoder for whole documents."""
        return PathEncoder(SINGLE, self.tables, threads=threads, cache=cache)

    def path(self, data: bytes) -> list[Node]:
        """The best path through internal text `data`: the one that encoding takes."""
        nodes, tables = np.empty((len(data) + 1, 3), np.int64), self.tables
        count = _path(padded(data), tables[at.UNITS], tables[at.SCORES], tables[at.PARAMETERS], nodes)
        return [Node(*row) for row in nodes[:count].tolist()]

    def sample_rows(
        self, data: bytes, rng: np.random.Generator, alpha: float, bounds: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """A path through each stretch ``data[bounds[i]:bounds[i + 1]]``, or all: (start, end, piece) in rows.

        They are drawn with probability proportional to ``P(path) ** alpha`` (Kudo 2018).
        """
        bounds = np.array([0, len(data)]) if bounds is None else bounds
        nodes, tables = np.empty((len(data) + 1, 3), np.int64), (self.units, self._nominal, float(self.unknown))
        return nodes[: draw_paths(padded(data), bounds, *tables, float(alpha), rng.random(len(data)), nodes)]

    def best(self, data: bytes, n: int) -> tuple[NDArray[np.int32], list[int], list[float]]:
        """The `n` best paths as `best_paths` gives them."""
        return best_paths(data, self.units, self._nominal, self.unknown, n)

    def score(self, path: Sequence[Node]) -> float:
        """The sum of a path's scores, in float64."""
        return sum(float(self.scores[node.piece]) if node.piece >= 0 else self.unknown for node in path)


@kernel
def _path(source: Bytes, units: Words, scores: Any, parameters: Any, nodes: Ints) -> Int:
    """Fill `nodes` with (start, end, piece) of the best path; how many there are."""
    size = np.int64(len(source))
    best, links = np.empty(size + 2, scores.dtype), np.empty(size + 2, np.int64)
    lattice = Lattice(pointer(units), pointer(scores), pointer(parameters), pointer(best), pointer(links))
    search(lattice, pointer(source), np.int64(0), size, parameters[0] - parameters[0])
    count = write_rows(pointer(links), size, nodes)
    keep(best)
    keep(links)
    return count
