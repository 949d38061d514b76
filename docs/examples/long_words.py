"""A metric with counters of its own: how many tokens the long words of a text begin.

tokbench run --plugin long_words.py -m long_words -m long_words:least=12 -t bytes -d text:my_text.txt
"""

from collections.abc import Iterable, Mapping, Sequence

import tokbench


def count(texts: Sequence[str], options: Mapping[str, int]) -> dict[str, list[int]]:
    """The words of each document that are long."""
    words = [text.split() for text in texts]
    return {"long": [sum(len(word) >= options["least"] for word in each) for each in words]}


METRIC = tokbench.Metric(
    name="long_words",
    unit="tokens/long word",
    better="lower",
    summary="Tokens for each long word of the text.",
    formula=r"\frac{\sum \text{tokens}}{\sum \text{long words}}",
    counters={"long": "words of so many letters or more"},
    options=(tokbench.Option("least", "int", 8, help="letters of a long word, at least"),),
    count=count,
    needs=("long",),
    compute=lambda t: t.tokens / t.long,
)


@tokbench.hookimpl
def tokbench_metrics() -> Iterable[tokbench.Metric]:
    """Offer the metric."""
    return [METRIC]
