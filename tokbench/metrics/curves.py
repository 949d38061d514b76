"""Curves and histograms of a tally, as plots and reports draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tokbench.tally import Tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Curve(NamedTuple):
    """Points of a curve: float64 arrays of equal length."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


def rank_frequencies(tally: Tally) -> NDArray[np.int64]:
    """How often each id that occurs does, most frequent first: int64, ``(distinct ids,)``."""
    import numpy as np

    return np.sort(tally.ids.counts)[::-1]


def zipf_curve(tally: Tally, *, points: int = 400) -> Curve:
    """Relative frequency against rank, at up to `points` ranks evenly spaced on a logarithmic axis."""
    import numpy as np

    counts = rank_frequencies(tally)
    if not len(counts):
        return Curve(np.zeros(0), np.zeros(0))
    ranks = np.unique(np.geomspace(1, len(counts), points).round().astype(np.int64))
    return Curve(ranks.astype(np.float64), counts[ranks - 1] / counts.sum())


def token_lengths(tally: Tally) -> NDArray[np.int64]:
    """How many tokens of the text have each length in bytes: index is the length; empty where not known."""
    import numpy as np

    lengths = tally.token_bytes
    dense = np.zeros(int(lengths.keys[-1]) + 1 if len(lengths) else 0, np.int64)
    if len(lengths) and lengths.keys[0] >= 0:
        dense[lengths.keys] = lengths.counts
        return dense
    return np.zeros(0, np.int64)


def tokens_per_word(tally: Tally) -> NDArray[np.int64]:
    """How many words are touched by each number of tokens: index is the number."""
    import numpy as np

    words = tally.word_tokens
    dense = np.zeros(int(words.keys[-1]) + 1 if len(words) else 0, np.int64)
    dense[words.keys] = words.counts
    return dense


def length_curve(tally: Tally) -> Curve:
    """Bytes per token against length of document: x the mean bytes of the documents of a class, y their ratio.

    Documents are classed by powers of two of their length in bytes.
    """
    import numpy as np

    documents, n_bytes, tokens = tally.lengths.T.astype(np.float64)
    some = (documents > 0) & (tokens > 0)
    return Curve(n_bytes[some] / documents[some], n_bytes[some] / tokens[some])


def rank_percentiles(tally: Tally, shares: tuple[float, ...] = (0.5, 0.9, 0.95, 0.99)) -> dict[float, int]:
    """How many of the most frequent ids make up each share of all tokens; empty without tokens.

    Example:
        >>> rank_percentiles(Tally.empty())
        {}
    """
    import numpy as np

    counts = rank_frequencies(tally)
    if not len(counts):
        return {}
    running = np.cumsum(counts)
    return {share: int(np.searchsorted(running, share * running[-1])) + 1 for share in shares}
