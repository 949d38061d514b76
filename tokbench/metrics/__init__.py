"""From tallies to figures, each with its interval or the reason for none. Importing this package is cheap.

```text
tally ─► from_tally   the input of a metric: counts of the text, and on resamples       counts, context
         resampling   bootstrap and jackknife of sums over groups of documents
         computing    a metric of these counts: a number, or why there is none          needs, units
         intervals    from a figure's resamples to its interval, or to a p-value
      ─► measure      every metric in every cell                                        cell, languages
         differences  two tokenizers on the same documents                              correction
                   ─► measurement: a row of the results
```

`metric` defines what a metric is. Those of tokbench are rows in modules named after their subject (`words`,
`fairness` …), and `catalogue` lists them all; `definitions` has them as data, for the manifest of a run. Some
subjects have a second module that does the work without knowing metrics: `entropy`, `gold`, `model`,
`morphemes`, `ngram` with `ngram_table`. `bits` with `lossfile` (the losses of a user's model) and `ngram_bits`
serve commands of their own. `weights` are those of the decision in a report.
"""

from tokbench.metrics.measurement import CellKey, Measurement
from tokbench.metrics.metric import Metric

__all__ = ["CellKey", "Measurement", "Metric"]
