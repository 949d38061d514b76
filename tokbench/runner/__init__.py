"""The runner: from a suite to a run folder. Importing this package is cheap.

```text
suite ─► planning/     all that it names, resolved and checked    suite, suite_keys, plan
         training/     tokenizers trained and loaded              stage, train, candidates
         counting/     cells counted by workers, added up         quality, tasks, count
         inspecting/   what no tally tells                        stage, diffs, leakage
         figures       measurements and comparisons               unmeasured
         speed/        some of the text timed                     stage, turns, stopwatch
      ─► manifest      run.json, after every stage
         reporting     reports and plots
```

`run` takes these steps, and `progress` tells of them. Several of them use `recipe` (what a process builds a
tokenizer or dataset from, and holds), `fingerprint` (all that it depends on), `picking` (some of the text) and
`cache`. `tokbench count` is `training.pretokens`.
"""
