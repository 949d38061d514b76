"""Compares vocabularies: how much they share, and what one has that another lacks.

Tokens are compared by their bytes, so that vocabularies of different libraries are comparable: ``Ġthe``,
``▁the`` and ``b" the"`` are the same token. Special tokens have no bytes and do not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.inspection.audit import VocabularyAudit
from tokbench.inspection.scripts import PARTIAL, script_of
from tokbench.tokenizer import whole_text


@dataclass(frozen=True, slots=True)
class Surplus:
    """The tokens that `a` has and `b` lacks, longest first, and their number by script and length."""

    a: str
    b: str
    tokens: tuple[bytes, ...]
    by_script: dict[str, int]
    by_length: dict[int, int]

    def as_json(self, limit: int = 50) -> dict[str, Any]:
        """The surplus in JSON's types, the first `limit` tokens as text (parts of characters as U+FFFD)."""
        return {
            "a": self.a,
            "b": self.b,
            "n": len(self.tokens),
            "tokens": [token.decode("utf-8", "replace") for token in self.tokens[:limit]],
            "by_script": self.by_script,
            "by_length": {str(length): count for length, count in self.by_length.items()},
        }


def jaccard(a: frozenset[bytes], b: frozenset[bytes]) -> float:
    """Size of the intersection over size of the union; NaN if both are empty.

    Example:
        >>> jaccard(frozenset({b"a", b"b"}), frozenset({b"b", b"c"}))
        0.3333333333333333
    """
    union = len(a | b)
    return len(a & b) / union if union else float("nan")


def weighted_jaccard(a: Mapping[bytes, int], b: Mapping[bytes, int]) -> float:
    """The overlap weighted by use: Σ min over Σ max of each token's share of all tokens (Růžička's similarity).

    `a` and `b` are how often each byte string occurred; NaN if none did.

    Example:
        >>> weighted_jaccard({b"a": 3, b"b": 1}, {b"a": 1, b"c": 1})  # 1/2 over 3/4 + 1/4 + 1/2
        0.3333333333333333
    """
    all_a, all_b = sum(a.values()), sum(b.values())
    if not all_a or not all_b:
        return float("nan")
    pairs = [(a.get(token, 0) / all_a, b.get(token, 0) / all_b) for token in {*a, *b}]
    return sum(min(pair) for pair in pairs) / sum(max(pair) for pair in pairs)


def used_tokens(audit: VocabularyAudit, counts: NDArray[np.int64]) -> dict[bytes, int]:
    """How often each byte string occurred, from the counts of ids; without special tokens."""
    found: Counter[bytes] = Counter()
    for index in counts.nonzero()[0].tolist():
        if audit.tokens[index]:
            found[audit.tokens[index]] += int(counts[index])
    return dict(found)


def overlap_matrix(audits: Sequence[VocabularyAudit]) -> NDArray[np.float64]:
    """Jaccard of every pair, float64 of shape ``(n, n)``, symmetric, ones on the diagonal."""
    sets = [audit.byte_strings() for audit in audits]
    matrix = np.ones((len(sets), len(sets)))
    for row, a in enumerate(sets):
        for column in range(row):
            matrix[row, column] = matrix[column, row] = jaccard(a, sets[column])
    return matrix


def lacking_matrix(audits: Sequence[VocabularyAudit]) -> NDArray[np.int64]:
    """How many tokens each vocabulary (row) has that another (column) lacks: int64 of shape ``(n, n)``."""
    sets = [audit.byte_strings() for audit in audits]
    return np.array([[len(a) - len(a & b) for b in sets] for a in sets], np.int64)


SAME = 0.95
"""Two vocabularies with at least this overlap count as the same: releases add a few tokens, ports lose some."""


def same_vocabulary(a: VocabularyAudit, b: VocabularyAudit) -> bool:
    """Whether nearly all tokens of each have the bytes of a token of the other."""
    sizes = sorted(len(audit.tokens) for audit in (a, b))
    if sizes[0] < SAME * SAME * sizes[1]:  # special tokens and gaps aside, they cannot overlap enough
        return False
    return jaccard(a.byte_strings(), b.byte_strings()) >= SAME


def same_numbering(a: VocabularyAudit, b: VocabularyAudit) -> bool:
    """Whether most tokens that two vocabularies share have the same id in both."""
    alike = sum(one == other != b"" for one, other in zip(a.tokens, b.tokens, strict=False))
    return 2 * alike > len(a.byte_strings() & b.byte_strings())


def surplus(a: VocabularyAudit, b: VocabularyAudit) -> Surplus:
    """The tokens that `a` has and `b` lacks."""
    tokens = sorted(a.byte_strings() - b.byte_strings(), key=lambda token: (-len(token), token))
    scripts = Counter(_script(token) for token in tokens)
    lengths = Counter(map(len, tokens))
    return Surplus(
        a.tokenizer, b.tokenizer, tuple(tokens), dict(scripts.most_common()), dict(sorted(lengths.items()))
    )


def _script(token: bytes) -> str:
    text = whole_text(token)
    return PARTIAL if text is None else script_of(text)
