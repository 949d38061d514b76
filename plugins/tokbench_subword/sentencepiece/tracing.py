"""The steps that `tokbench trace` shows: the normalized text, then either the lattice or the merges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tokbench.capabilities import Step
from tokbench_subword.sentencepiece.spm_bpe import SpmBpe, merge
from tokbench_subword.unigram.path_tokens import counted, tokens_of_path
from tokbench_subword.unigram.tracing import characters_of, word_steps

if TYPE_CHECKING:
    from tokbench_subword.sentencepiece.algorithms import Algorithm
    from tokbench_subword.sentencepiece.vocabulary import SpmVocabulary
    from tokbench_subword.unigram.paths import Node


def steps(vocabulary: SpmVocabulary, algorithm: Algorithm, data: bytes) -> Iterator[Step]:
    """The steps for internal text `data` of a sentencepiece model."""
    yield Step("normalize", characters_of(data), None, "the normalized text, character by character")
    names = dict(enumerate(vocabulary.pieces))
    if isinstance(algorithm, SpmBpe):
        yield from _merge_steps(algorithm, data, names)
    else:
        yield from word_steps(algorithm, data, (), names)


def _merge_steps(algorithm: SpmBpe, data: bytes, names: Mapping[int, str]) -> Iterator[Step]:
    """The merges of sentencepiece's BPE, one by one."""
    recorded: list[tuple[list[Node], int, int]] = []
    final = merge(algorithm, data, record=recorded)
    for nodes, changed, piece in recorded:
        tokens = tuple(data[node.start : node.end] for node in nodes)
        score = float(algorithm.vocabulary.scores[piece])
        detail = {"piece": names[piece], "id": piece, "score": score, "rank": int(algorithm.ranks[piece])}
        yield Step("merge", tokens, changed, f"{names[piece]} (score {score:g})", detail)
    reached = tokens_of_path(algorithm.vocabulary, data, final)
    tokens = tuple(token.text for token in reached)
    yield Step("best", tokens, None, f"nothing more merges; {counted(reached, algorithm.vocabulary)}")
