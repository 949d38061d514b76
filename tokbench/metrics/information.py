"""How evenly a vocabulary is used: entropies of the distribution of token ids, and its shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tokbench.errors import Undefined
from tokbench.metrics.counts import Counts
from tokbench.metrics.entropy import Spectrum, chao_shen, miller_madow, renyi_entropy
from tokbench.metrics.metric import Metric, catalogued

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Ints

_ZOUHAR = (
    "Zouhar, Meister, Gastaldi, Du, Sachan and Cotterell, Tokenization and the Noiseless Channel, ACL 2023"
)
_SHANNON = "Shannon, A Mathematical Theory of Communication, 1948"
_MILLER = "Miller, Note on the bias of information estimates, 1955"
_CHAO = (
    "Chao and Shen, Nonparametric estimation of Shannon's index of diversity when there are unseen species in "
    "sample, Environmental and Ecological Statistics 10, 2003"
)
_SAMPLED = (
    "Of cells with more than 512 KiB of text, only a fixed sample of documents is counted, the same for every "
    "tokenizer; the unit then says so. Compare tokenizers on the same text, not texts of different size."
)
_BY_TEXT = (
    "Ids are counted over the whole text, not by document, and the tokens of a text are not independent, so "
    "that an interval for independent tokens would be too narrow."
)
DISTINCT = (
    "Resampled documents contain fewer distinct ids than as much new text would, so that resampling misses "
    "the figure."
)


def efficiency(counts: Ints | Spectrum, alpha: float, size: int) -> float:
    """Rényi entropy over the most that `size` ids could have, log₂ size."""
    if size < 2:
        raise Undefined("a vocabulary of fewer than two ids has no entropy")
    return renyi_entropy(counts, alpha) / math.log2(size)


def percentile_frequency(counts: Ints, *, start: float, end: float) -> float:
    """Share of the tokens whose id ranks between two fractions of the used ids, most frequent first.

    Example:
        >>> import numpy as np
        >>> percentile_frequency(np.array([6, 2, 1, 1]), start=0.25, end=0.75)
        0.3
    """
    import numpy as np

    ordered = np.sort(counts)[::-1]
    within = ordered[int(len(ordered) * start) : int(len(ordered) * end)]
    if not len(within):
        raise Undefined("too few distinct ids")
    return float(within.sum() / ordered.sum())


def zipf_slope(counts: Ints) -> float:
    """Slope of log frequency on log rank, least squares over geometrically spaced ranks.

    Ranks are spaced evenly on the logarithmic axis so that the many rare ids do not decide alone.

    Example:
        >>> import numpy as np
        >>> round(zipf_slope((1e9 / np.arange(1, 1001)).astype(np.int64)), 3)
        -1.0
    """
    import numpy as np

    ordered = np.sort(counts)[::-1]
    if len(ordered) < 10:
        raise Undefined("fewer than ten distinct ids")
    ranks = np.unique(np.geomspace(1, len(ordered), 200).round().astype(np.int64))
    x, y = np.log(ranks), np.log(ordered[ranks - 1])
    x = x - x.mean()
    return float(x @ (y - y.mean()) / (x @ x))


_of_ids = partial(catalogued, no_interval=_BY_TEXT, needs=("tokens",), group="information")


def renyi_metric(alpha: float, *, name: str | None = None) -> Metric:
    """Rényi efficiency at an order of one's own, for example for `MeasureContext.renyi_alphas`."""
    usual, order = alpha == 2.5, f"{alpha:g}".replace("+", "")
    return _of_ids(
        name or f"renyi_efficiency_{order}", "ratio to declared vocabulary", "higher",
        f"Rényi entropy of order {order} of the ids, over log₂ of the declared vocabulary size.",
        rf"\frac{{1}}{{1-\alpha}}\log_2 \sum_i p_i^\alpha \Big/ \log_2 V,\ \alpha={order}",
        lambda t: efficiency(t.id_spectrum, alpha, t.vocab_size),
        needs=("tokens", "vocab_size"), source=_ZOUHAR,
        shown=("headline", "terminal") if usual else (), order=70, heading="Rényi efficiency" if usual else "",
        caveat=(
            "Correlated with downstream quality in the paper, but Cognetta, Zouhar, Moon and Okazaki (Two "
            "Counterexamples to Tokenization and the Noiseless Channel, 2024) raise it while quality falls."
        ),
    )  # fmt: skip


_entropy = partial(_of_ids, source=_SHANNON)
_of_ngrams = partial(_entropy, needs=("tokens", "ngrams"))


def _of_sample(order: str, entropy: Callable[[Spectrum], float], t: Counts) -> float:
    """The entropy of the n-grams of a text's sample."""
    spectrum = t.ngram_spectra[order]
    if not len(spectrum.sizes):
        raise Undefined("no document has that many tokens in a row")
    return entropy(spectrum)


_NGRAMS = tuple(
    metric
    for order, many, index in (
        ("bigram", "pairs of consecutive ids", "ij"),
        ("trigram", "triples of consecutive ids", "ijk"),
    )
    for metric in (
        _of_ngrams(
            f"{order}_entropy", "bits", "none",
            f"Shannon entropy of the distribution of {many}.",
            rf"-\sum_{{{index}}} p_{{{index}}} \log_2 p_{{{index}}}",
            partial(_of_sample, order, partial(renyi_entropy, alpha=1)),
            caveat=(
                "Computed from the counts, so too low, and the lower the less text there is: by half a bit or "
                f"more each time an English text is halved. {order}_entropy_chao_shen corrects for what was "
                f"not seen. {_SAMPLED}"
            ),
        ),
        _of_ngrams(
            f"{order}_entropy_chao_shen", "bits", "none",
            f"Shannon entropy of the distribution of {many}, corrected for those not seen.",
            (
                rf"-\sum_{{{index}}} \frac{{C p_{{{index}}} \log_2 (C p_{{{index}}})}}"
                rf"{{1 - (1 - C p_{{{index}}})^N}},\ C = 1 - \frac{{f_1}}{{N}}"
            ),
            partial(_of_sample, order, chao_shen),
            source=_CHAO,
            caveat=(
                "Of the N counted, f₁ occur once; if all do, C is 1 / N. The correction assumes independent "
                "draws, which n-grams of a text are not, so the figure still grows with the text, but less. "
                f"{_SAMPLED}"
            ),
        ),
    )
)  # fmt: skip

METRICS = (
    _of_ids(
        "vocab_efficiency", "ratio", "higher",
        "Distinct ids divided by tokens produced (type–token ratio).",
        r"\frac{|\{i : n_i > 0\}|}{\sum_i n_i}", lambda t: len(t.ids) / t.tokens,
        no_interval=DISTINCT,
        caveat="Falls as the text grows: compare figures only on the same text. N is the number of tokens.",
    ),
    _of_ids(
        "vocab_utilization", "share of ids", "higher",
        "Share of the vocabulary's ids that occur in the text.",
        r"\frac{|\{i : n_i > 0\}|}{V}", lambda t: len(t.ids) / t.vocab_size,
        needs=("tokens", "vocab_size"), shown=("headline", "terminal"), order=80, heading="vocab used",
        no_interval=DISTINCT,
        caveat="Rises with the amount of text, and a small text cannot use a large vocabulary, so state N.",
    ),
    renyi_metric(2.5, name="renyi_efficiency"),
    _of_ids(
        "renyi_efficiency_observed", "ratio", "higher",
        "Rényi entropy of order 2.5 of the ids, over log₂ of the number of ids that occur.",
        r"\frac{1}{1-\alpha}\log_2 \sum_i p_i^\alpha \Big/ \log_2 |\{i : n_i > 0\}|,\ \alpha=2.5",
        lambda t: efficiency(t.id_spectrum, 2.5, len(t.ids)),
        source=_ZOUHAR,
        caveat="As the package tokenization-scorer computes it; ids that never occur do not count against it.",
    ),
    _entropy(
        "shannon_entropy", "bits", "none",
        "Shannon entropy of the distribution of ids.",
        r"-\sum_i p_i \log_2 p_i", lambda t: renyi_entropy(t.id_spectrum, 1),
        caveat="Computed from the counts, so too low for small texts: see shannon_entropy_miller_madow.",
    ),
    _entropy(
        "shannon_entropy_miller_madow", "bits", "none",
        "Shannon entropy of the distribution of ids, corrected for the size of the text.",
        r"-\sum_i p_i \log_2 p_i + \frac{|\{i : n_i > 0\}| - 1}{2 N \ln 2}",
        lambda t: miller_madow(t.id_spectrum),
        source=_MILLER,
        caveat="The correction assumes N independent draws and many of each id; it is small if N is large.",
    ),
    _of_ids(
        "shannon_efficiency", "ratio", "higher",
        "Shannon entropy of the ids, over log₂ of the declared vocabulary size.",
        r"-\sum_i p_i \log_2 p_i \Big/ \log_2 V", lambda t: efficiency(t.id_spectrum, 1, t.vocab_size),
        needs=("tokens", "vocab_size"), source=_ZOUHAR,
        caveat="The limit of Rényi efficiency as α goes to 1.",
    ),
    *_NGRAMS,
    _of_ids(
        "percentile_frequency", "share of tokens", "higher",
        "Share of the tokens whose id ranks between 3 % and 83 % of the ids that occur.",
        r"\sum_{\lfloor 0.03\,|I| \rfloor \leq r(i) < \lfloor 0.83\,|I| \rfloor} p_i",
        lambda t: percentile_frequency(t.ids.counts, start=0.03, end=0.83),
        source=_ZOUHAR,
        caveat=(
            "The percentiles are those the paper found to correlate best on its data. Ranks r count from 0, as "
            "in the authors' tokenization-scorer."
        ),
    ),
    _of_ids(
        "zipf_slope", "slope", "none",
        "Slope of the logarithm of an id's frequency over the logarithm of its rank.",
        r"\log n_{(r)} \approx a + b \log r", lambda t: zipf_slope(t.ids.counts),
        source="Zipf, Human Behavior and the Principle of Least Effort, 1949",
        caveat=(
            "By least squares over up to 200 geometrically spaced ranks; words of natural text are near −1. "
            "Empty below ten distinct ids."
        ),
    ),
)  # fmt: skip
