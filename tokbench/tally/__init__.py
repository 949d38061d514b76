"""Counting: documents in, tallies out; a tally is everything a metric may ask, and tallies add up.

```text
documents ─► prepare    batches of a megabyte, counted whatever the tokenizer       text, words, code
             scan       words, clusters, numbers, characters in one pass            plain, segments, characters
ids       ─► match      are a document's tokens its text, byte for byte?            vocabulary, marks
             places     else by folded forms, around unknown tokens, by offsets     folding, foresight
             touch      which tokens touch which words, numbers, identifiers        marks
             roundtrip  what comes back, and how the rest differs                   loss
             ngrams     pairs and triples of ids, in a sample
          ─► tally      sums by bootstrap group, histograms, examples               groups, histogram, layout
```

`collect` goes this way. What ends in ``_kernels`` belongs to the module of that name, and stands apart since to
read a tally nothing need be compiled.
"""

from tokbench.tally.collect import Collector, collect, collect_many, get_ready
from tokbench.tally.prepare import prepare
from tokbench.tally.tally import TALLY_VERSION, Tally
from tokbench.tally.text import CorpusFacts, TextBatch

__all__ = [
    "TALLY_VERSION",
    "Collector",
    "CorpusFacts",
    "Tally",
    "TextBatch",
    "collect",
    "collect_many",
    "get_ready",
    "prepare",
]
