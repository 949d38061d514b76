"""Converts tiktoken's ranks to a BPE model, and a model to ranks.

tiktoken has no list of merges. It joins any two neighbours whose bytes together are a token, lowest rank first.
That is BPE with a merge for *every* split of a token into two tokens, ranked by the token. One split per token
is not enough, since ids would then depend on which split was kept.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import kernel
from tokbench.kernels.pointers import Bytes, Ids, Ints, Words, pointer
from tokbench_subword.bpe.model import BpeModel, check_size
from tokbench_subword.bpe.tables import NONE, TokenBytes, token_id
from tokbench_subword.pipeline.patterns import Pattern


def model_of_ranks(
    ranks: Mapping[bytes, int], *, pattern: Pattern, special_tokens: Mapping[str, int] | None = None
) -> BpeModel:
    """The model that encodes as tiktoken does with these ranks, which are also the ids.

    Raises `TokenizerError` if a single byte is missing; tiktoken cannot encode then either.

    Example:
        >>> ranks = {bytes([b]): b for b in range(256)} | {b"ab": 256}
        >>> model_of_ranks(ranks, pattern=Pattern("gpt2")).merges.tolist()
        [[97, 98, 256]]
    """
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise TokenizerError(
            f"the ranks lack {len(missing)} single bytes, the first {missing[0]:#04x}: text with it has no ids"
        )
    size = max(ranks.values()) + 1
    check_size(size)
    vocabulary = [b""] * size
    for token, rank in ranks.items():
        vocabulary[rank] = token
    unreachable = {ranks[b""]: ""} if b"" in ranks else {}
    merges = every_split(vocabulary)
    return BpeModel(
        vocabulary=tuple(vocabulary),
        unreachable=unreachable,
        merges=merges,
        ranks=merges[:, 2].copy(),
        pattern=pattern,
        special_tokens=dict(special_tokens or {}),
        whole_tokens=True,
    )


@kernel
def _splits(table: Words, blob: Bytes, starts: Ints, out: Ids) -> int:
    """Write the splits to `out`, or only count them if `out` has no rows; return their number."""
    mask = len(table) - 1
    tokens, data, begins = pointer(table), pointer(blob), pointer(starts)
    count = 0
    for token in range(len(starts) - 1):
        begin, end = starts[token], starts[token + 1]
        for at in range(begin + 1, end):
            left = token_id(tokens, mask, data, begins, data, begin, at - begin)
            if left == NONE:
                continue
            right = token_id(tokens, mask, data, begins, data, at, end - at)
            if right == NONE:
                continue
            if len(out):
                out[count, 0] = left
                out[count, 1] = right
                out[count, 2] = token
            count += 1
    return count


def every_split(vocabulary: list[bytes]) -> NDArray[np.int32]:
    """Every split of a token into two tokens: int32 ``(n, 3)`` of left, right, token.

    Sorted by token, then by the place of the split.
    """
    tokens, none = TokenBytes.of(vocabulary), np.empty((0, 3), np.int32)
    table, _ = tokens.table_of(np.ones(len(vocabulary), np.bool_))
    found = np.empty((_splits(table, *tokens, none), 3), np.int32)
    _splits(table, *tokens, found)
    return found


def ranks_of(model: BpeModel) -> dict[bytes, int]:
    """The ranks with which tiktoken encodes as a byte-level model does; they are also its ids.

    Raises `TokenizerError` if the model's ids are not in the order of its merges: tiktoken would return other
    ids.
    """
    if model.level != "byte":
        raise TokenizerError(
            "ranks need byte-level tokens, and this model is at character level: use tokenizer.json"
        )
    if (model.byte_ids < 0).any():
        raise TokenizerError("ranks must contain all 256 bytes, and this model has fewer: use tokenizer.json")
    order = np.argsort(model.merge_ranks, kind="stable")
    results = model.merges[order, 2]
    if (np.diff(results) < 0).any():
        raise TokenizerError(
            "this model's ids are not in the order of its merges, as tiktoken requires: use tokenizer.json"
        )
    special = set(model.special_tokens.values())
    ranks = {token: index for token, index in model.ids.items() if index not in special}
    empty = next((index for index, text in model.unreachable.items() if not text), None)
    return ranks if empty is None else ranks | {b"": empty}
