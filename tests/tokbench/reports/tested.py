"""Made-up runs, with the p-values that a test wants or losses of text; what a page in a browser shows."""

from __future__ import annotations

from typing import Any

import pandas as pd

from tokbench.spec import Spec

HOSTILE = str(Spec("bpe", "<img src=x onerror='window.hurt=1'>{{7*7}}\u202e.json"))
SPECS = [
    "tiktoken:o200k_base",
    "bytes",
    HOSTILE,
    "unigram:vocab_size=8000",
    "wordpiece:vocab_size=8000",
    "chars",
]


def three(a: float, b: float, c: float, half: float = 0.001) -> dict[str, tuple[float, float]]:
    """The figures of three tokenizers, each with half an interval, for the fixture `small`."""
    return {name: (value, half) for name, value in zip(("bytes", "chars", "words"), (a, b, c), strict=True)}


def chances(run: Any, *pairs: tuple[str, str, float]) -> None:
    """Let these pairs of the run, and no others, have been tested, with these p-values."""
    rows = [
        {"tokenizer": one, "baseline": other, "dataset": "bundled:parallel", "language": "all",
         "metric": "compression_ratio", "value": 1.0, "ci_low": 0.5, "ci_high": 1.5, "p_adjusted": p}
        for one, other, p in pairs
    ]  # fmt: skip
    run.comparisons = pd.DataFrame(rows, columns=list(run.comparisons.columns.union(rows[0], sort=False)))


def lossy_run(made_up_run) -> Any:
    """wordpiece and bytes lower-case, chars loses a little text, the others nothing."""
    run = made_up_run(2, 5)
    frame = run.frame[~run.frame["metric"].isin(["round_trip", "unk_rate"])]
    first = frame[(frame["metric"] == "compression_ratio") & (frame["language"] == "all")]
    rows = [first.assign(metric="unk_rate", value=0.0)]
    for metric, values in {
        "round_trip": {"wordpiece": 0.5, "bytes": 0.6, "unigram": 0.99},
        "lost_form": {"wordpiece": 0.5, "bytes": 0.4},
        "lost_spaces": {"unigram": 0.0},
        "lost_text": {"unigram": 0.01},
    }.items():
        fine = 1.0 if metric == "round_trip" else 0.0
        families = first["tokenizer"].str.partition(":")[0]
        rows.append(first.assign(metric=metric, value=families.map(values).fillna(fine)))
    run.frame = pd.concat([frame, *rows])
    return run


def add_metric(run: Any, metric: str, of: str = "compression_ratio", **columns: Any) -> None:
    """Let the run have another metric: the rows of one that it has, with these columns in place of theirs."""
    rows = run.frame[run.frame["metric"] == of]
    run.frame = pd.concat([run.frame, rows.assign(metric=metric, **columns)])


def column(page: Any, block: str, number: int) -> list[str]:
    """What the rows that are seen have in a column of a table."""
    cells = page.locator(f"{block} tbody tr:visible > :nth-child({number})")
    return [text.splitlines()[0] for text in cells.all_inner_texts()]
