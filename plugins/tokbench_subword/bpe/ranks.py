"""A BPE model of tiktoken's ranks, and the ranks of a model: the merges follow from the ranks.

tiktoken knows no merges. It joins any two neighbours whose bytes together are a token, the lowest rank first.
That is BPE with a merge for *every* way to cut a token in two tokens, ranked by the token: one cut per token is
not enough, since ids would then depend on which one was kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.pipeline.patterns import Pattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def model_of_ranks(
    ranks: Mapping[bytes, int], *, pattern: Pattern, special_tokens: Mapping[str, int] | None = None
) -> BpeModel:
    """The model that encodes as tiktoken does with these ranks, which are also the ids.

    Raises `TokenizerError` where a single byte is missing: tiktoken cannot encode then either.

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
    vocabulary = [b""] * (max(ranks.values()) + 1)
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


def every_split(vocabulary: list[bytes]) -> NDArray[np.int32]:
    """Every way to cut a token into two tokens: int32 ``(n, 3)`` of left, right, token, in order of token."""
    from tokbench_subword.bpe.splits import splits
    from tokbench_subword.bpe.tables import TokenTable

    return splits(TokenTable.of(vocabulary))


def ranks_of(model: BpeModel) -> dict[bytes, int]:
    """The ranks by which tiktoken encodes as a byte-level model does, which are also its ids.

    Raises `TokenizerError` for a model whose ids do not go in the order of its merges: tiktoken would give
    other ids.
    """
    import numpy as np

    if model.level != "byte":
        raise TokenizerError("a .tiktoken file holds byte-level tokens; this model is at character level")
    if not all(bytes([byte]) in model.ids for byte in range(256)):
        raise TokenizerError("a .tiktoken file must hold all 256 bytes; this model's alphabet is smaller")
    order = np.argsort(model.merge_ranks, kind="stable")
    results = model.merges[order, 2]
    if (np.diff(results) < 0).any():
        raise TokenizerError(
            "this model's ids do not go in the order of its merges, as tiktoken's must: use tokenizer.json"
        )
    special = set(model.special_tokens.values())
    ranks = {token: index for token, index in model.ids.items() if index not in special}
    empty = next((index for index, text in model.unreachable.items() if not text), None)
    return ranks if empty is None else ranks | {b"": empty}
