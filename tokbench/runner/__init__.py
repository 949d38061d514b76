"""The runner: from a suite to a run folder. Importing this package is cheap.

```text
suite ─► plan         all that it names, resolved and checked    entries, chosen_metrics, opening, prices, shown
         candidates   tokenizers trained and loaded              training_stage, training, recipe, fingerprint
         quality      tasks handed out, tallies added up         cells, dispatch, engines, tasks
         counting     in a worker: a task's tallies              loaded, reading, cache
         inspecting   what no tally tells                        diffs, leakage, picking
         figures      measurements and comparisons               unmeasured
         speed/       some of the text timed
      ─► manifest     run.json, after every stage
         reporting    reports and plots
```

`run` takes these steps, and `progress` tells of them. `suite` reads a suite, whose keys are in `suite_keys`.
`pretokens` is the work of `tokbench count`.
"""
