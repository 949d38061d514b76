"""The steps that `tokbench trace` shows of Unigram: the lattice place by place, and the best path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tokbench.capabilities import Step
from tokbench.kernels.utf8 import plain_width_of
from tokbench_subword.unigram.lattice import edges_from
from tokbench_subword.unigram.path_tokens import counted, tokens_of_path

if TYPE_CHECKING:
    from tokbench_subword.unigram.unigram_algorithm import Unigram


def word_steps(
    algorithm: Unigram, data: bytes, done: Sequence[bytes], names: Mapping[int, str]
) -> Iterator[Step]:
    """Viterbi over one stretch of text: for each place the pieces that end there, and the best path up to it.

    `done` are the tokens before it, `names` what the vocabulary writes for each id.
    """
    mark = "\u2581" if algorithm.escaped else " "
    arriving: dict[int, list[dict[str, Any]]] = {0: []}
    best: dict[int, tuple[float, int]] = {0: (0.0, 0)}
    position = 0
    while position < len(data):
        if position:
            yield _arrival(data, position, best, arriving[position], done)
        for end, piece in edges_from(data, position, algorithm.units):
            score = float(algorithm.scores[piece]) if piece >= 0 else algorithm.unknown
            total = best[position][0] + score
            arriving.setdefault(end, []).append(
                {
                    "piece": data[position:end].decode().replace(" ", mark),
                    "id": piece if piece >= 0 else None,
                    "score": round(score, 6),
                    "total": round(total, 6),
                }
            )
            if end not in best or total > best[end][0]:
                best[end] = (total, position)
        position += plain_width_of(data[position])
    if data:
        yield _arrival(data, len(data), best, arriving[len(data)], done)
    path = algorithm.path(data)
    tokens = tokens_of_path(algorithm, data, path)
    detail = {
        "pieces": [names[node.piece] if node.piece >= 0 else None for node in path],
        "score": round(algorithm.score(path), 6),
    }
    texts = (token.text for token in tokens)
    yield Step("best", (*done, *texts), None, f"the best path; {counted(tokens, algorithm)}", detail)


def _arrival(
    data: bytes,
    position: int,
    best: Mapping[int, tuple[float, int]],
    candidates: Sequence[Mapping[str, Any]],
    done: Sequence[bytes],
) -> Step:
    ends, here = [position], position
    while here:
        here = best[here][1]
        ends.append(here)
    ends.reverse()
    tokens = [data[start:end] for start, end in pairwise(ends)]
    rest = characters_of(data[position:])
    changed = len(done) + len(tokens) - 1
    note = f"{len(candidates)} way{'s' if len(candidates) != 1 else ''} to arrive here"
    detail = {"candidates": list(candidates), "total": round(best[position][0], 6)}
    return Step("lattice", (*done, *tokens, *rest), changed, note, detail)


def characters_of(data: bytes) -> tuple[bytes, ...]:
    """The characters of `data`, each as UTF-8."""
    return tuple(character.encode() for character in data.decode())
