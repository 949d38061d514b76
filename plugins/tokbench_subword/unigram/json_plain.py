"""The plain path of a Unigram `tokenizer.json`: any normalizer and pre-tokenizer, word by word, with places.

Offsets go this way where `pipeline.origins` cannot; traces, which ask for each step, always.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tokbench_subword.pipeline.preparation import Preparation
from tokbench_subword.unigram.json_vocabulary import JsonVocabulary
from tokbench_subword.unigram.unigram_algorithm import Node, Unigram


class PlainPath:
    """The rules of `preparation` around one algorithm."""

    def __init__(self, preparation: Preparation, vocabulary: JsonVocabulary, algorithm: Unigram) -> None:
        self.preparation, self.vocabulary, self.algorithm = preparation, vocabulary, algorithm

    def path_ids(self, data: bytes, path: Iterable[Node]) -> list[tuple[int, Node]]:
        """The ids of a path with where they lie, unknown characters as bytes or fused.

        The text of the unknown token itself, in the vocabulary like any piece, is fused with what is beside it.
        """
        found: list[tuple[int, Node]] = []
        byte_ids, unk_id = self.algorithm.lexicon.byte_ids, self.vocabulary.unk_id
        for unknown, group in groupby(path, lambda node: node.piece in (-1, unk_id)):
            nodes = list(group)
            if not unknown or (len(nodes) == 1 and nodes[0].piece >= 0):
                found += [(node.piece, node) for node in nodes]
            elif len(byte_ids):
                found += [(int(byte_ids[byte]), node) for node in nodes for byte in data[node.start : node.end]]
            else:
                run = Node(nodes[0].start, nodes[-1].end, -1)
                found.append((-1 if unk_id is None else unk_id, run))
        return found

    def offsets(self, text: str) -> NDArray[np.int64]:
        """(start, end) of each token of `text` in its code points: int64 ``(tokens, 2)``."""
        rows: list[tuple[int, int]] = []
        place = 0
        for part in self.preparation.words(text, track=True):
            if part.token is not None:
                rows.append(part.span)
                place = rows[-1][1]
                continue
            data, origin = part.stretch.text.encode(), part.stretch.origin or []
            begun = np.cumsum((np.frombuffer(data, np.uint8) & 0xC0) != 0x80)
            before = [0, *begun.tolist()]  # characters before each byte that one begins with
            for _, node in self.path_ids(data, self.algorithm.path(data)):
                spans = origin[before[node.start] : before[node.end]]
                start = max(place, spans[0][0]) if spans else place
                rows.append((start, max(start, spans[-1][1]) if spans else start))
        return np.maximum.accumulate(np.array(rows, np.int64).reshape(-1, 2), axis=0)

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> list[int]:
        """A segmentation of each word, drawn at random."""
        ids: list[int] = []
        for part in self.preparation.words(text):
            if part.token is not None:
                ids.append(part.token.id)
                continue
            data = part.stretch.text.encode()
            ids += [index for index, _ in self.path_ids(data, self.algorithm.sample_path(data, rng, alpha))]
        return ids
