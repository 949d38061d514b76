"""What figures for many languages and tokenizers cost beside encoding the text, in CPU time.

    python benchmarks/many_languages.py [--languages N] [--lines N] [--tokenizer SPEC]…

Parallel text of the size of FLORES-200 (1,000 lines a language; 40 languages unless told, since the cost
grows with their number: 200 make the whole of it), each language encoded line by line by each tokenizer and
then counted, in turn in one process, so that both meet the same state of the machine. At the end every metric
is measured, premiums, Gini coefficients and intervals among them. The text is that of the parallel corpora in
the folder that TOKBENCH_TEST_DATA names; there are fewer languages than asked for, so they are taken again with
their lines in another order. Exit status 1 where counting and measuring together cost more than half again the
encoding.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

LIMIT = 1.5


def main() -> int:
    """Count and measure, print what each cost, and say by the exit status whether it holds."""
    import tokbench
    from tokbench.metrics import CellKey
    from tokbench.metrics.catalogue import CATALOGUE
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.measure import measure
    from tokbench.tally.collect import collect, get_ready
    from tokbench.tally.counters import CorpusFacts
    from tokbench.tally.prepare import prepare

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--languages", type=int, default=40)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--tokenizer", action="append", help="a tokenizer spec")
    options = parser.parse_args()
    folder = Path(os.environ.get("TOKBENCH_TEST_DATA") or sys.exit("set TOKBENCH_TEST_DATA"))
    specs = options.tokenizer or default_specs(folder / "vocabs")
    tokenizers = {spec: tokbench.load(spec) for spec in specs}
    get_ready()  # compiles what counts, or reads it from disk, as a run does before it counts
    for tokenizer in tokenizers.values():
        collect(tokenizer, [tokbench.Document("warm")])
    clock = time.process_time
    spent = {"encode": 0.0, "count": 0.0, "measure": 0.0}
    cells = {}
    facts = CorpusFacts(parallel=True)
    n_bytes = 0
    for language, lines in texts(folder / "corpora" / "pud", options.languages, options.lines):
        n_bytes += sum(len(line.encode()) for line in lines)
        documents = [tokbench.Document(line, line=number) for number, line in enumerate(lines)]
        for tokenizer in tokenizers.values():
            begun = clock()
            for line in lines:
                tokenizer.encode(line)
            spent["encode"] += clock() - begun
        begun = clock()
        batches = list(prepare(documents, facts=facts))
        tallies = [collect(tokenizer, batches, facts=facts) for tokenizer in tokenizers.values()]
        spent["count"] += clock() - begun
        for spec, tally in zip(specs, tallies, strict=True):
            cells[CellKey(spec, "parallel", language)] = tally
    begun = clock()
    sizes = {spec: tokenizer.vocab_size for spec, tokenizer in tokenizers.items()}
    context = MeasureContext(vocab_sizes=sizes, parallel={"parallel": True}, baseline=specs[0])
    rows = measure(cells, CATALOGUE, context=context)
    spent["measure"] = clock() - begun
    ratio = (spent["count"] + spent["measure"]) / spent["encode"]
    premiums = sum(row.metric == "premium" and row.value is not None for row in rows)
    print(
        f"{len(cells)} cells, {options.languages} languages of {n_bytes / 1e6:.1f} MB, {len(specs)} tokenizers"
    )
    print(", ".join(f"{name} {seconds:.1f} s CPU" for name, seconds in spent.items()))
    print(f"{len(rows):,} rows, {premiums} premiums; ratio {ratio:.2f} (at most {LIMIT})")
    return int(ratio > LIMIT)


def default_specs(vocabs: Path) -> list[str]:
    """Ten tokenizers of four libraries."""
    fast = [
        f"transformers:{vocabs / name}/hf/tokenizer.json" for name in ("gpt2", "qwen2", "llama-2", "t5-base")
    ]
    pieces = [
        f"sentencepiece:{vocabs / name}"
        for name in ("t5-base/spiece.model", "llama-2/tokenizer.model", "albert-base-v1/spiece.model")
    ]
    return [*fast, *pieces, "tiktoken:gpt2", "tiktoken:cl100k_base", "tiktoken:o200k_base"]


def texts(folder: Path, languages: int, lines: int) -> list[tuple[str, list[str]]]:
    """As many languages as asked for, of `lines` lines each."""
    paths = sorted(path for path in folder.glob("*_*.txt") if path.name != "sent_ids.txt")
    found = []
    for index in range(languages):
        path, again = paths[index % len(paths)], index // len(paths)
        own = path.read_text("utf-8").split("\n")[:-1][:lines]
        found.append((f"{path.stem}-{again}" if again else path.stem, own[again:] + own[:again]))
    return found


if __name__ == "__main__":
    sys.exit(main())
