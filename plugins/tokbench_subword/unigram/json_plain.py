"""The plain path of a Unigram `tokenizer.json`: any normalizer and pre-tokenizer, word by word, with places.

Offsets go this way where `word_path` cannot; traces, which ask for each step, always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.utf8 import repaired
from tokbench_subword.files.tokenizer_json import Document
from tokbench_subword.pipeline.added_tokens import AddedToken, AddedTokens
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.pre_tokenizers import pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.unigram.json_vocabulary import JsonVocabulary
from tokbench_subword.unigram.unigram_algorithm import Node, Unigram

Span = tuple[int, int]


class PlainPath:
    """A document's rules around one algorithm; raises `TokenizerError` for a component that is not known."""

    def __init__(
        self,
        document: Document,
        vocabulary: JsonVocabulary,
        algorithm: Unigram,
        *,
        match_special: bool = False,
    ) -> None:
        self.vocabulary, self.algorithm, self.match_special = vocabulary, algorithm, match_special
        self.pre_tokenize = pre_tokenizer_of(document.pre_tokenizer, spell=True)
        self._normalize = normalize = normalizer_of(document.normalizer)
        added = document.added_tokens
        self.raw = AddedTokens(token for token in added if not token.normalized)
        self.normal = AddedTokens(
            (token for token in added if token.normalized),
            normalize=(lambda text: normalize(Stretch(text)).text) if normalize else None,
        )

    def normalized(self, text: str) -> str:
        """`text` after the normalizer."""
        return self._normalize(Stretch(repaired(text))).text if self._normalize else repaired(text)

    def parts(self, text: str) -> Iterator[AddedToken | Stretch]:
        """`text` as added tokens and normalized stretches, in order."""
        for part, _ in self._located(repaired(text), track=False):
            yield part

    def _located(self, text: str, *, track: bool) -> Iterator[tuple[AddedToken | Stretch, Span]]:
        for piece in self.raw.split(text, match_special=self.match_special):
            if piece.token is not None:
                yield piece.token, (piece.start, piece.end)
                continue
            stretch = Stretch.of(text[piece.start : piece.end], start=piece.start, track=track)
            if self._normalize is not None:
                stretch = self._normalize(stretch)
            for inner in self.normal.split(stretch.text, match_special=self.match_special):
                part = stretch.part(inner.start, inner.end)
                span = (piece.start, piece.end)
                if part.origin:
                    span = part.origin[0][0], part.origin[-1][1]
                yield (part if inner.token is None else inner.token), span

    def paths(self, text: str) -> Iterator[tuple[Stretch, list[Node]] | tuple[AddedToken, Span]]:
        """Words with their best paths, and added tokens with their spans."""
        for part, span in self._located(repaired(text), track=True):
            if isinstance(part, AddedToken):
                yield part, span
                continue
            for word in self.pre_tokenize(part):
                if word.text:
                    yield word, self.algorithm.path(word.text.encode())

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
        for part, rest in self.paths(text):
            if isinstance(part, AddedToken):
                rows.append(rest)  # type: ignore[arg-type]
                place = rows[-1][1]
                continue
            data, origin = part.text.encode(), part.origin or []
            begun = np.cumsum((np.frombuffer(data, np.uint8) & 0xC0) != 0x80)
            before = [0, *begun.tolist()]  # characters before each byte that one begins with
            for _, node in self.path_ids(data, rest):  # type: ignore[arg-type]
                spans = origin[before[node.start] : before[node.end]]
                start = max(place, spans[0][0]) if spans else place
                rows.append((start, max(start, spans[-1][1]) if spans else start))
        return np.maximum.accumulate(np.array(rows, np.int64).reshape(-1, 2), axis=0)

    def sample(self, text: str, rng: np.random.Generator, alpha: float) -> list[int]:
        """A segmentation of each word, drawn at random."""
        ids: list[int] = []
        for part in self.parts(text):
            if isinstance(part, AddedToken):
                ids.append(part.id)
                continue
            for word in self.pre_tokenize(part):
                data = word.text.encode()
                ids += [index for index, _ in self.path_ids(data, self.algorithm.sample_path(data, rng, alpha))]
        return ids
