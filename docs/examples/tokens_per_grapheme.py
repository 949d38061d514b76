"""A metric: tokens for each user-perceived character (extended grapheme cluster of UAX #29).

tokbench run --plugin docs/examples/tokens_per_grapheme.py -t bytes -d bundled:tricky -m tokens_per_grapheme
"""

from __future__ import annotations

from collections.abc import Iterable

import tokbench
from tokbench import Metric


@tokbench.hookimpl
def tokbench_metrics() -> Iterable[Metric]:
    """Offer `tokens_per_grapheme`; plain arithmetic on counts gets its interval for free."""
    return [
        Metric(
            name="tokens_per_grapheme",
            unit="tokens/grapheme",
            better="lower",
            summary="Tokens for each user-perceived character.",
            formula=r"\frac{\sum \text{tokens}}{\sum \text{graphemes}}",
            source="graphemes: Unicode Standard Annex #29",
            caveat="One emoji family is one grapheme of 25 bytes.",
            compute=lambda counts: counts.tokens / counts.graphemes,
        )
    ]
