"""How figures change with the size of the sample: each metric on parts of a text, relative to the whole of it.

``python benchmarks/sample_size.py SPEC FILE`` prints the table of docs/trust.md for a tokenizer and a text of
one document a line: the mean over random samples of n documents, as a deviation from the figure of all of them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import tokbench
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.measure import measure
from tokbench.tally.collect import collect

SIZES, SAMPLES = (10, 30, 100, 300), 20
SHOWN = (
    "compression_ratio", "tokens_per_line", "fertility", "continued_words", "fertility_isolated",
    "vocab_utilization", "vocab_efficiency", "renyi_efficiency", "shannon_entropy",
    "shannon_entropy_miller_madow", "bigram_entropy", "bigram_entropy_chao_shen", "zipf_slope",
    "percentile_frequency", "token_length", "split_characters",
)  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", metavar="SPEC")
    parser.add_argument("path", metavar="FILE", type=Path)
    asked = parser.parse_args()
    tokenizer, lines = tokbench.load(asked.spec), asked.path.read_text("utf-8").splitlines()
    metrics = [metric for metric in CATALOGUE if metric.name in SHOWN]
    context = MeasureContext(vocab_sizes={"t": tokenizer.vocab_size}, replicates=0)

    def figures(chosen: list[str]) -> dict[str, float]:
        cells = {CellKey("t", "d", "x"): collect(tokenizer, map(Document, chosen))}
        rows = measure(cells, metrics, context=context)
        return {row.metric: row.value for row in rows if row.language == "x" and row.value is not None}

    rng, whole = np.random.default_rng(0), figures(lines)
    print(f"| metric | {' | '.join(f'n = {n}' for n in SIZES)} | all {len(lines)} |")
    print("|---" * (len(SIZES) + 2) + "|")
    found = {n: [figures(list(rng.choice(lines, n, replace=False))) for _ in range(SAMPLES)] for n in SIZES}
    for name in whole:
        apart = [np.mean([each.get(name, np.nan) for each in found[n]]) / whole[name] - 1 for n in SIZES]
        print(f"| `{name}` | {' | '.join(f'{100 * share:+.1f} %' for share in apart)} | {whole[name]:.4g} |")


if __name__ == "__main__":
    main()
