"""Small models of bytes, for tests of what merges give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.pipeline.patterns import Pattern

BYTES = [bytes([byte]) for byte in range(256)]


def model_of(
    merges: Sequence[tuple[bytes, bytes]], *, tokens: Iterable[bytes] = (), whole: bool = False
) -> BpeModel:
    """All bytes, some `tokens`, and what merges make of these, in order of rank; nothing is cut."""
    vocabulary = list(dict.fromkeys([*BYTES, *tokens, *(left + right for left, right in merges)]))
    ids = {token: index for index, token in enumerate(vocabulary)}
    rows = [[ids[left], ids[right], ids[left + right]] for left, right in merges]
    return BpeModel(
        vocabulary=tuple(vocabulary),
        merges=np.array(rows, np.int32).reshape(-1, 3),
        pattern=Pattern("none"),
        whole_tokens=whole,
    )
