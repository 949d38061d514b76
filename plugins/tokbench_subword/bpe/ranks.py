"""`.tiktoken` files: one token and its rank a line, base64; the merges follow from the ranks.

tiktoken knows no merges. It joins any two neighbours whose bytes together are a token, the lowest rank first.
That is BPE with a merge for *every* way to cut a token in two tokens, ranked by the token: one cut per token is
not enough, since ids would then depend on which one was kept.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.errors import TokenizerError
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.patterns import Pattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def read_ranks(path: str | os.PathLike[str]) -> dict[bytes, int]:
    """The tokens and ranks of a `.tiktoken` file; raises `TokenizerError` naming the line that is wrong."""
    ranks: dict[bytes, int] = {}
    taken: set[int] = set()
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        raise TokenizerError(f"{path}: cannot be read: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            text, rank_text = line.split()
            token, rank = base64.b64decode(text, validate=True), int(rank_text)
        except (ValueError, binascii.Error) as error:
            raise TokenizerError(
                f"{path}, line {number}: expected a token in base64 and its rank, found {line[:60]!r}"
            ) from error
        if not token or token in ranks or rank in taken or rank < 0:
            raise TokenizerError(f"{path}, line {number}: token or rank is empty, negative or given twice")
        ranks[token] = rank
        taken.add(rank)
    if not ranks:
        raise TokenizerError(f"{path} holds no tokens")
    return ranks


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
    merges = every_split(vocabulary)
    return BpeModel(
        vocabulary=tuple(vocabulary),
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


def write_ranks(model: BpeModel, path: str | os.PathLike[str]) -> None:
    """Write a byte-level model as a `.tiktoken` file whose ids are the model's.

    tiktoken's ranks are its ids, so this works where ids go in the order of ranks; any other model raises
    `TokenizerError`, since tiktoken would give other ids.
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
    lines = [
        b"%s %d\n" % (base64.b64encode(token), index)
        for index, token in enumerate(model.vocabulary)
        if token and index not in special
    ]
    Path(path).write_bytes(b"".join(lines))
