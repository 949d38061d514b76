"""Pruning: removes the least used leaves of the merges until the vocabulary has the wanted size.

A leaf is a token that is not a side of any merge. So the remaining merges still have the same results, and text
without a removed token is encoded as before (the method of Purason et al. 2025).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.pipeline.document import TokenizerJson, steps_of


def dropped_leaves(
    model: BpeModel, counts: Sequence[int], n_dropped: int, *, kept: Collection[int] = ()
) -> list[int]:
    """The ids of `n_dropped` tokens in the order of their removal, without the ones to be `kept`.

    `counts` is how often each id was used. When a token is removed, its count is added to the two sides of its
    first merge. Of equally used leaves the one with the highest id is removed first. Returns fewer ids if no
    leaf remains.

    Example:
        >>> merges = np.array([[0, 1, 3], [3, 2, 4], [2, 2, 5]], np.int32)
        >>> model = BpeModel(vocabulary=(b"a", b"b", b"c", b"ab", b"abc", b"cc"), merges=merges)
        >>> dropped_leaves(model, [0, 0, 0, 1, 3, 2], 3)
        [5, 4, 3]
    """
    uses = list(counts)
    first: dict[int, tuple[int, int]] = {}
    parents = [0] * len(model.vocabulary)  # in how many merges each token is a side
    parts: dict[int, list[int]] = {}
    for left, right, new in model.merges[np.argsort(model.merge_ranks, kind="stable")].tolist():
        first.setdefault(new, (left, right))
        parts.setdefault(new, []).extend({left, right})
        for part in {left, right}:
            parents[part] += 1
    leaves = [(uses[token], -token) for token in parts if not parents[token] and token not in kept]
    heapify(leaves)
    gone: list[int] = []
    while len(gone) < n_dropped and leaves:
        count, token = heappop(leaves)
        if count != uses[-token]:  # stale: the count grew when a token made from this one was removed
            heappush(leaves, (uses[-token], token))
            continue
        token = -token
        gone.append(token)
        for part in first[token]:
            uses[part] += count
        for part in parts[token]:
            parents[part] -= 1
            if not parents[part] and part in parts and part not in kept:
                heappush(leaves, (uses[part], -part))
    return gone


def pruned(
    model: BpeModel, document: TokenizerJson, counts: Sequence[int], vocab_size: int, *, name: str
) -> tuple[BpeModel, TokenizerJson, NDArray[np.int64]]:
    """The model and document pruned to `vocab_size` tokens, and the new id of each old token, or -1.

    Raises `TokenizerError`, beginning with `name`, if that size is not possible.
    """
    size = max(len(model), 1 + max((token.id for token in document.added_tokens), default=-1))
    if not 0 < vocab_size <= size:
        raise TokenizerError(f"{name}: it has {size} tokens, so it cannot be pruned to {vocab_size}")
    unk = model.unk
    kept = {*model.special_tokens.values(), *(token.id for token in document.added_tokens)}
    kept |= {*_put_around(document.post_processor), *(() if unk is None else (unk,))}
    if max(kept, default=-1) >= size:
        raise TokenizerError(f"{name}: its post-processor adds the token {max(kept)}, which does not exist")
    gone = dropped_leaves(model, counts, size - vocab_size, kept=kept)
    if len(gone) < size - vocab_size:
        raise TokenizerError(
            f"{name}: cannot be pruned to {vocab_size} tokens: {size - len(gone)} are bytes, characters, "
            "special or added tokens, the unknown token, tokens of the post-processor, or not made by a merge"
        )
    new_ids = np.full(size, -1, np.int64)
    left = np.setdiff1d(np.arange(size), gone)
    new_ids[left] = np.arange(len(left))
    n_own = len(model.vocabulary)
    stays = new_ids[model.merges[:, 2]] >= 0
    smaller = replace(
        model,
        vocabulary=tuple(model.vocabulary[index] for index in left.tolist() if index < n_own),
        merges=new_ids[model.merges[stays]].astype(np.int32),
        ranks=None if model.ranks is None else model.ranks[stays],
        unreachable={int(new_ids[index]): text for index, text in model.unreachable.items()},
        special_tokens={text: int(new_ids[index]) for text, index in model.special_tokens.items()},
        unk=None if unk is None else int(new_ids[unk]),
    )
    around = replace(
        document,
        added_tokens=tuple(replace(t, id=int(new_ids[t.id])) for t in document.added_tokens),
        post_processor=_renumbered(document.post_processor, new_ids),
    )
    return smaller, around, new_ids


def _put_around(post_processor: Mapping[str, Any] | None) -> Iterator[int]:
    """The ids of the tokens that a post-processor adds to texts."""
    for step in steps_of(post_processor, "processors"):
        if step["type"] == "TemplateProcessing":
            for token in step["special_tokens"].values():
                yield from token["ids"]
        for name in ("sep", "cls"):
            if isinstance(step.get(name), Sequence):
                yield step[name][1]


def _renumbered(step: Any, new_ids: NDArray[np.int64]) -> Any:
    """A post-processor with the new ids of the tokens that it adds to texts."""
    if not isinstance(step, Mapping):
        return step
    found = dict(step)
    if found.get("type") == "Sequence":
        found["processors"] = [_renumbered(each, new_ids) for each in found["processors"]]
    if found.get("type") == "TemplateProcessing":
        found["special_tokens"] = {
            name: {**token, "ids": [int(new_ids[index]) for index in token["ids"]]}
            for name, token in found["special_tokens"].items()
        }
    for name in ("sep", "cls"):
        if isinstance(found.get(name), Sequence):
            text, index = found[name]
            found[name] = [text, int(new_ids[index])]
    return found
