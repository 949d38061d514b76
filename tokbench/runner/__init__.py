"""The runner: from a suite to a run folder. Importing this package is cheap.

```text
suite ─► planning/     everything it names, resolved and checked  suite, suite_keys, plan
         training/     trains and loads tokenizers                stage, train, candidates
         counting/     workers count cells, which are added up    quality, tasks, count
         inspecting/   facts that no tally has                    stage, diffs, leakage
         figures       measurements and comparisons               unmeasured
         speed/        times some of the text                     stage, turns, stopwatch
      ─► manifest      run.json, after every stage
         reporting     reports and plots
```

`run` takes these steps, and `progress` reports them. Several of them use `recipe` (from which a process builds
a tokenizer or dataset), `fingerprint` (a digest of all that a result depends on), `picking` (selects some of
the text) and `cache`. `tokbench count` is `training.pretokens`.
"""
