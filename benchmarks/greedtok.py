"""Tokens a word of GreedTok at several sizes, from words and their counts, and the time of its training.

    python benchmarks/greedtok.py WORDS COUNTS [--sizes 1000,2000,3000,4000,5000]

WORDS has distinct words between spaces, COUNTS how often each was seen, a line each: as the authors' repository
(github.com/ncduy0303/pcatt, cpp_inputs) has them for the UN corpus, of which its notebook tells 1.607, 1.374,
1.268, 1.205 and 1.163 tokens a word. Seconds are CPU time of one thread, substrings found included.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from tokbench_subword.optimal.covering import CoverModel
from tokbench_subword.optimal.greedtok import chosen_tokens
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.words.encoder import WordEncoder

from tokbench.counts import WordCounts
from tokbench.kernels.pointers import PADDING


def main() -> None:
    """Train once, for the largest size, and spell all words at each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", type=Path)
    parser.add_argument("counts", type=Path)
    parser.add_argument("--sizes", default="1000,2000,3000,4000,5000")
    asked = parser.parse_args()
    sizes = sorted(int(size) for size in asked.sizes.split(","))
    counts = [int(line) for line in asked.counts.read_text("utf-8").split()]
    words = WordCounts.of_pairs(asked.words.read_bytes().split(b" "), counts)
    chosen_tokens(WordCounts.of({"abab": 1}), 1, longest=8)  # compiled before it is timed
    longest = int(np.diff(words.starts).max())
    begun = time.process_time()
    tokens = chosen_tokens(words, sizes[-1], longest=longest)
    print(f"{len(words):,} words, {sizes[-1]:,} tokens: {time.process_time() - begun:.2f} s")
    data = np.concatenate((words.data, np.zeros(PADDING, np.uint8)))
    spans = np.stack([words.starts[:-1], words.starts[1:]], axis=1)
    for size in sizes:
        alphabet = [bytes([byte]) for byte in range(256)]
        model = CoverModel(vocabulary=(*alphabet, *tokens[:size]), pattern=Pattern("none"))
        batch = WordEncoder(model.search, model.shared(), cutters=()).encode_pretokens(data, spans)
        a_word = float((np.diff(batch.offsets) * words.counts).sum() / sum(counts))
        print(f"{size:>7,} tokens: {a_word:.3f} a word")


if __name__ == "__main__":
    main()
