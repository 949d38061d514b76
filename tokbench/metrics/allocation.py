"""How a vocabulary is divided between languages: the ids each uses, and the languages that use an id."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from tokbench.errors import Undefined
from tokbench.metrics.information import DISTINCT
from tokbench.metrics.metric import catalogued

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints

_LIMISIEWICZ = (
    "Limisiewicz, Balhar and Mareček, Tokenization Impacts Multilingual Language Modeling: Assessing "
    "Vocabulary Allocation and Overlap Across Languages, Findings of ACL 2023"
)


def token_rank(counts: Ints) -> float:
    """The mean rank of a token by the frequency of its id, the most frequent being 1.

    Example:
        >>> import numpy as np
        >>> token_rank(np.array([1, 2, 1]))
        1.75
    """
    import numpy as np

    ordered = np.sort(counts)[::-1]
    return float(ordered @ np.arange(1, len(ordered) + 1) / ordered.sum())


def languages_per_token(used: Sequence[Ints]) -> float:
    """The mean number of languages that use an id; `used` are the distinct ids of each language.

    Example:
        >>> import numpy as np
        >>> languages_per_token([np.array([1, 2, 3]), np.array([3])])
        1.3333333333333333
    """
    import numpy as np

    return sum(map(len, used)) / len(np.unique(np.concatenate(used)))


def utilization_spread(used: Sequence[tuple[int, int | None]]) -> float:
    """Highest minus lowest share of the vocabulary, from the distinct ids of each language and the size.

    Example:
        >>> utilization_spread([(5, 10), (2, 10)])
        0.3
    """
    if any(not size for _, size in used):
        raise Undefined("the size of this tokenizer's vocabulary is not known")
    shares = [ids / size for ids, size in used if size]
    return max(shares) - min(shares)


_of_ids = partial(catalogued, no_interval=DISTINCT, group="information")

METRICS = (
    _of_ids(
        "token_rank", "rank", "higher",
        "Average rank of a token's id by its frequency in this text.",
        r"\frac{\sum_r r\, n_{(r)}}{\sum_i n_i}", lambda t: token_rank(t.ids.counts),
        needs=("tokens",), source=_LIMISIEWICZ,
        caveat="Rises with the amount of text; compare languages only on parallel text.",
    ),
    _of_ids(
        "languages_per_token", "languages", "none",
        "Average number of languages whose text uses an id, over all ids that are used.",
        r"\frac{\sum_i |\{\ell : n_{i,\ell} > 0\}|}{|\{i : \sum_\ell n_{i,\ell} > 0\}|}",
        lambda g: languages_per_token([cell.counts.ids.keys for cell in g.cells]),
        level="languages", needs=("several",),
        caveat=(
            "Near 1 if each language has its own tokens; near the number of languages if all are spelled with "
            "the same few bytes. Rises with the amount of text."
        ),
    ),
    _of_ids(
        "utilization_spread", "share of ids", "lower",
        "Highest minus lowest share of the vocabulary that a language uses.",
        r"\max_\ell u_\ell - \min_\ell u_\ell,\ u_\ell = \frac{|\{i : n_{i,\ell} > 0\}|}{V}",
        lambda g: utilization_spread([(len(c.counts.ids), c.counts.vocab_size) for c in g.cells]),
        level="languages", needs=("parallel",),
        caveat="Only measured on parallel text. Rises with the amount of text.",
    ),
)  # fmt: skip
