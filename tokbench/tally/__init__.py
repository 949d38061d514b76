"""Counts documents for the metrics: a tally has every count that a metric may ask for; tallies add up.

```text
documents ─► prepare    batches of a megabyte, counted whatever the tokenizer       text, code, grouping
             scan       words, clusters, numbers, characters in one pass            plain, segments, characters
ids       ─► places     where each token lies: the text byte for byte, by folded    match, folding, offsets,
                        forms, around unknown tokens, by offsets                    vocabulary, marks
             touch      which tokens touch which words, numbers, identifiers        marks
             roundtrip  what comes back, and what the rest lose                     lost, loss_kinds, edits,

Examples
             ngrams     pairs and triples of ids, in a sample
          ─► tally      sums by bootstrap group, histograms, examples               counters, histogram, packing
```

`tokbench.tally.collect.collect` takes these steps. Reading a tally takes none of them: `tally` and what it is
made of (the last line) compile no kernels, and import numpy only when they compute.
"""
