"""How evenly languages are served, on text that says the same in each of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tokbench.errors import Undefined
from tokbench.metrics.metric import catalogued

if TYPE_CHECKING:
    from tokbench.kernels.pointers import Floats
    from tokbench.metrics.languages import Languages

_PETROV = (
    "Petrov, La Malfa, Torr and Bibi, Language Model Tokenizers Introduce Unfairness Between Languages, "
    "NeurIPS 2023"
)
_PARITY = (
    "Foroutan, Meister, Paul, Niklaus, Ahmadi, Bosselut and Sennrich, Parity-Aware Byte-Pair Encoding, 2025"
)
_PARALLEL = "Only measured on parallel text, in which every language has the same lines."
_LINES = (
    "The interval is over lines; the languages are fixed. If they cost nearly the same, chance can only make "
    "the figure larger, and the interval may lie above the truth. Languages that look cheap only because of "
    "unknown tokens count, too: read it together with unk_rate."
)


def gini(costs: Floats) -> Any:
    """The Gini coefficient of costs along the first axis; 0 where all are equal.

    Sorted ascending, Σᵢ Σⱼ |cᵢ − cⱼ| is 2 Σᵢ (2i − n − 1) cᵢ with i from 1.

    Example:
        >>> import numpy as np
        >>> float(gini(np.array([1.0, 1.0, 4.0]))), float(gini(np.array([2.0, 2.0])))
        (0.3333333333333333, 0.0)
    """
    import numpy as np

    n = len(costs)
    ordered = np.sort(costs, axis=0)
    weights = (2 * np.arange(1, n + 1) - n - 1).astype(np.float64)
    return np.tensordot(weights, ordered, axes=1) / (n * ordered.sum(axis=0))


def _premium(languages: Languages) -> Floats:
    if languages.reference < 0:
        raise Undefined("the reference language is not in this dataset")
    premiums: Floats = languages.tokens / languages.tokens[languages.reference]
    return premiums


def _grouped(by: str, languages: Languages) -> Any:
    """The Gini coefficient of the mean cost of each script or family."""
    import numpy as np

    from tokbench.languages import lookup

    groups: dict[str, list[int]] = {}
    for index, name in enumerate(languages.names):
        known = lookup(name)
        if known is not None:
            groups.setdefault(getattr(known, by), []).append(index)
    if len(groups) < 2:
        raise Undefined(f"the languages here are not of two or more {_PLURAL[by]}")
    costs = languages.tokens / languages.lines
    return gini(np.array([costs[indices].mean(axis=0) for indices in groups.values()]))


_PLURAL = {"script": "scripts", "family": "language families"}


_of_languages = partial(catalogued, level="languages", needs=("parallel",), group="fairness")
"""A figure of languages of parallel text."""

METRICS = (
    _of_languages(
        "premium", "ratio", "parity",
        "Tokens of a language divided by tokens of the reference language for the same content.",
        r"\frac{\mathrm{tokens}(\ell)}{\mathrm{tokens}(\mathrm{reference})}", _premium,
        per_language=True, source=_PETROV, shown=("languages",), order=35,
        caveat=(
            f"{_PARALLEL} Unless another is chosen, the reference is the cheapest language of which at most "
            "1 % is hidden by unknown tokens. If other languages cost nearly as little, chance decides which "
            "one it is, and intervals contain the truth in only 60 to 90 % of cases: choose one by name."
        ),
    ),
    _of_languages(
        "gini", "0..1", "lower",
        "Gini coefficient of tokens per line over the languages: 0 if all cost the same.",
        r"\frac{\sum_i \sum_j |c_i - c_j|}{2 n^2 \mu}", lambda g: gini(g.tokens / g.lines),
        source=_PARITY, shown=("headline", "terminal"), order=28, heading="Gini",
        caveat=f"{_PARALLEL} Ranks tokenizers differently than gini_bytes does. {_LINES}",
    ),
    _of_languages(
        "gini_bytes", "0..1", "lower",
        "Gini coefficient of tokens per byte over the languages.",
        r"\frac{\sum_i \sum_j |c_i - c_j|}{2 n^2 \mu},\ c = \mathrm{tokens}/\mathrm{bytes}",
        lambda g: gini(g.tokens / g.bytes),
        caveat=(
            f"{_PARALLEL} Scripts whose characters take more bytes look cheaper here than they are; UTF-8 "
            f"bytes as tokens give exactly 0. {_LINES}"
        ),
    ),
    _of_languages(
        "cost_ratio", "ratio", "parity",
        "Tokens of the most expensive language divided by tokens of the cheapest for the same content.",
        r"\frac{\max_\ell \mathrm{tokens}(\ell)}{\min_\ell \mathrm{tokens}(\ell)}",
        lambda g: g.tokens.max(axis=0) / g.tokens.min(axis=0),
        source=_PETROV,
        caveat=f"{_PARALLEL} It depends on two languages only. {_LINES}",
    ),
    _of_languages(
        "cost_variation", "ratio", "lower",
        "Coefficient of variation of tokens per line over the languages.",
        r"\sigma(c) / \mu(c)", lambda g: (g.tokens / g.lines).std(axis=0) / (g.tokens / g.lines).mean(axis=0),
        caveat=f"{_PARALLEL} {_LINES}",
    ),
    *(
        _of_languages(
            f"gini_{_PLURAL[by].split()[-1]}", "0..1", "lower",
            f"Gini coefficient of the mean tokens per line of each {by} of the languages.",
            r"\frac{\sum_i \sum_j |\bar c_i - \bar c_j|}{2 n^2 \mu}", partial(_grouped, by),
            caveat=f"{_PARALLEL} Languages whose {by} is not known are left out. {_LINES}",
        )
        for by in ("script", "family")
    ),
)  # fmt: skip
