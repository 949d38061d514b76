"""Why a figure is not defined: what each metric needs, and the sentence for when that is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tokbench.corpora.naming import CODE_LANGUAGES
from tokbench.errors import Undefined
from tokbench.metrics.counts import Counts
from tokbench.tally.counters import COUNTERS
from tokbench.tally.grammar import distribution
from tokbench.wording import percent

if TYPE_CHECKING:
    from tokbench.metrics.metric import Metric

CONDITIONS: dict[str, str] = {
    "parallel": "only on parallel text: in other corpora the languages do not say the same",
    "several": "only for several languages together",
    "vocab_size": "the size of this tokenizer's vocabulary is not known",
    "baseline": "relative to a baseline tokenizer: name one with --baseline",
    "prices": "no price for this tokenizer: supply a price table",
    "context_length": "no context length given",
    "model": "no model given: name one with --model, or describe it in the suite's [model]",
    "audit": "the vocabulary was not audited",
    "morphology": "no gold segmentation of words: a suite has one for a language, as [morphology.LANGUAGE]",
    "code": "only on code",
    "parsed_documents": (
        "no tree-sitter grammar for this language was installed when the text was counted: "
        "pip install tree-sitter and tree-sitter-LANGUAGE"
    ),
    "ngrams": "the sample of text for n-grams is empty",
    "token_bytes": "this tokenizer does not give the bytes of its tokens",
    "unk_places": "the text under some unknown tokens could not be located",
    "isolated_words": "no words to encode on their own",
    "one_word": (
        "words of scripts with spaces, and single characters of scripts without, are different units: "
        "see the single languages"
    ),
}
"""What a metric's `needs` may name beside the counters of a tally, and the reason given without it."""

NEEDS = frozenset({*CONDITIONS, *COUNTERS, *Counts.__annotations__})
"""All that a metric's `needs` may name, but for counters of its own."""

ALIGNED_SHARE = 0.95
"""Figures that need tokens' places are given where at least this share of the text was aligned."""

HIDDEN = 0.01
"""Languages of which unknown tokens hide more than this share are not chosen as the cheapest."""


def missing_need(metric: Metric, counts: Sequence[Counts]) -> str | None:
    """The status of a row whose metric lacks something it needs, or None.

    Example:
        >>> from tokbench.metrics import Metric
        >>> about = {"unit": "tokens/word", "better": "lower", "summary": "", "compute": len}
        >>> missing_need(Metric(name="f", needs=("chars",), **about), [Counts(chars=0)])
        'undefined: no chars (Unicode code points)'
    """
    for each in counts:
        for need in metric.needs:
            try:
                there = _has(each, need)
            except Undefined as why:
                return f"undefined: {why}"
            if not there:
                meaning = {**COUNTERS, **metric.counters}.get(need, "nothing of that was counted")
                reason = CONDITIONS.get(need, f"no {need.replace('_', ' ')} ({meaning})")
                if need == "parsed_documents" and each.language in CODE_LANGUAGES.values():
                    reason = reason.replace("tree-sitter-LANGUAGE", distribution(each.language))
                return f"undefined: {reason}"
            if need.startswith("aligned_") and each.aligned_documents < ALIGNED_SHARE * each.documents:
                known = percent(float(each.aligned_documents / each.documents))
                return (
                    f"undefined: the places of tokens in the text are known for {known} of the documents "
                    f"only (the tokenizer rewrites its input)"
                )
    return None


_TESTS: dict[str, Callable[[Counts], bool]] = {
    "unk_places": lambda counts: not counts.unk_unknown,
    "token_bytes": lambda counts: len(counts.token_bytes) > 0 and int(counts.token_bytes.keys[0]) >= 0,
    "prices": lambda counts: counts.price is not None,
    "ngrams": lambda counts: bool(counts.ngrams.bigrams),
    # checked where languages and tokenizers are compared
    "one_word": lambda counts: not mixed_words(counts),
    **dict.fromkeys(("parallel", "several", "baseline"), lambda counts: True),
}
"""Whether a need other than a counter is met."""


def mixed_words(counts: Counts) -> bool:
    """Whether languages were added up whose words are of two kinds: cut at spaces, and single characters.

    A few words of the other kind, up to a twentieth, are in most texts.
    """
    share = counts.unspaced_words / counts.words if counts.words else 0.0
    return bool(counts.languages > 1 and counts.gold_words < counts.words and MIXED < share < 1 - MIXED)


MIXED = 0.05
"""If more than this share of words is of the other kind, they cannot be counted as one unit."""


def _has(counts: Counts, need: str) -> bool:
    if need in _TESTS:
        return _TESTS[need](counts)
    value = getattr(counts, need, None)
    return value is not None and (not isinstance(value, int) or value > 0)
