"""What bits per byte of an n-gram model cost beside encoding: CPU time of both, in one process.

    python benchmarks/ngram_cost.py [--text FILE] [--megabytes 8] [--vocab-size 8k] [--rounds 5]

BPE is trained on the text; the model is trained on the ids of its even lines, and reads those of its odd ones.
Rounds of encoding (warm) and of the model are taken in turn; told is the least of each.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rounds import interleaved
from tokbench_subword.methods import train_bpe

from tokbench.batch import TokenBatch
from tokbench.metrics.ngram import NgramModel

TEXT = Path(os.environ.get("TOKBENCH_TEST_DATA", ""), "corpora/novels/eng_Latn.txt")


def main() -> None:
    """Measure, and print a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, default=TEXT)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--vocab-size", default="8k")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    if not asked.text.is_file():
        parser.error("name --text FILE, or set TOKBENCH_TEST_DATA")
    lines = [line for line in asked.text.read_text("utf-8")[: int(asked.megabytes * 1e6)].split("\n") if line]
    tokenizer = train_bpe(lines, int(float(asked.vocab_size.replace("k", "e3"))))
    even, odd = lines[::2], lines[1::2]
    batches: list[TokenBatch] = []

    def encode() -> None:
        batches[:] = [tokenizer.encode_batch(even), tokenizer.encode_batch(odd)]

    def model() -> None:
        NgramModel.fit(batches[:1], tokenizer.vocab_size).bits(batches[1])

    encode()
    model()  # compiled, and the words met
    encoding, modelling = map(min, interleaved({"encode": encode, "model": model}, asked.rounds).values())
    tokens = sum(len(batch.ids) for batch in batches)
    times = modelling / encoding
    print(f"{tokens:,} tokens: encoding {encoding:.3f} s, n-gram model {modelling:.3f} s, {times:.1f} times")


if __name__ == "__main__":
    main()
