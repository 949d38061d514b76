"""From tallies to figures, each with its interval or the reason for none. Importing this package is cheap.

```text
tally ─► from_tally   what a metric is given: counts as they are, and on resamples      counts, context
         resampling   bootstrap and jackknife of sums over groups of documents
         computing    a metric on them: a number, or why there is none                  needs, units
         intervals    from a figure's resamples to its interval, or to a p-value
      ─► measure      every metric in every cell                                        cell, languages
         differences  two tokenizers on the same documents                              correction
                   ─► measurement: a row of the results
```

What a metric is stands in `metric`. Those of tokbench are rows in modules named after their subject (`words`,
`fairness` …), and `catalogue` lists them all; `definitions` has them as data, for the manifest of a run. Some
subjects have a second module that does the work, and knows no metric: `entropy`, `gold`, `model`, `morphemes`,
`ngram` with `ngram_table`. For commands of their own there are `bits` with `lossfile` (the losses of a user's
model) and `ngram_bits`. `weights` is what the decision of a report goes by.
"""

from tokbench.metrics.measurement import CellKey, Measurement
from tokbench.metrics.metric import Metric

__all__ = ["CellKey", "Measurement", "Metric"]
