"""WordPiece speed: in-house against `tokenizers`, ids compared first.

    python benchmarks/wordpiece.py [--vocab DIR_OR_FILE]... [--corpus FILE]... [--megabytes 2] [--rounds 5]

Without arguments, BERT's vocabularies and the corpora of the folder that TOKBENCH_TEST_DATA names. Documents
are lines, encoded by one thread, in CPU time; rounds are interleaved and their median is shown. The ratios are
of one batch, by a tokenizer that has met the words before (warm) and by one that has not (cold), and of one
call a document, which gives lists. In a batch ours gives ids as one numpy array, `tokenizers`
(`encode_batch_fast`, no offsets) its own encodings.
"""

from __future__ import annotations

import argparse
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import sys
from pathlib import Path
from statistics import median
from typing import Any

from rounds import interleaved

DATA = os.environ.get("TOKBENCH_TEST_DATA")
CORPORA = (
    "novels/eng_Latn",
    "novels/deu_Latn",
    "novels/rus_Cyrl",
    "novels/zho_Hans",
    "novels/jpn_Jpan",
    "pud/arb_Arab",
    "pud/hin_Deva",
    "pud/tha_Thai",
    "pud/kor_Hang",
)


def reference(tokenizer: Any) -> Any:
    """`tokenizers` with the same vocabulary and rules, special tokens as text."""
    import json

    from tokenizers import Tokenizer

    other = Tokenizer.from_str(json.dumps(tokenizer.to_dict()))
    other.encode_special_tokens = True
    return other


def compared(ours: Any, theirs: Any, texts: list[str], rounds: int) -> tuple[str, bool]:
    """The figures for some documents, and whether all ids are equal."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    expected = theirs.encode_batch_fast(texts, add_special_tokens=False)
    pairs = zip(ours.encode_batch(texts), expected, strict=True)
    unequal = sum(ids.tolist() != encoding.ids for ids, encoding in pairs)
    if unequal:
        return f"ids differ in {unequal} of {len(texts)} documents", False

    def cold() -> None:
        ours._prepared.words.forget()
        ours.encode_batch(texts)

    times = interleaved(
        {
            "batch": lambda: ours.encode_batch(texts),
            "cold": cold,
            "single": lambda: [ours.encode(text) for text in texts],
            "theirs": lambda: theirs.encode_batch_fast(texts, add_special_tokens=False),
            "their single": lambda: [theirs.encode(text, add_special_tokens=False).ids for text in texts],
        },
        rounds,
    )
    seconds = {name: median(taken) for name, taken in times.items()}
    ratios = [
        seconds[other] / seconds[own]
        for own, other in (("batch", "theirs"), ("cold", "theirs"), ("single", "their single"))
    ]
    speeds = f"{size:5.2f} {size / seconds['batch']:8.1f} {size / seconds['theirs']:10.2f}"
    return speeds + "".join(f"{ratio:8.1f}×" for ratio in ratios), True


def main() -> int:
    """Print one line for each vocabulary and corpus; 1 where ids differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", action="append", help="what wordpiece: opens; several are compared")
    parser.add_argument("--corpus", action="append", type=Path, help="a text file, a document a line")
    parser.add_argument("--megabytes", type=float, default=2.0, help="how much of each corpus")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    if not DATA and not (arguments.vocab and arguments.corpus):
        parser.error("name --vocab and --corpus, or set TOKBENCH_TEST_DATA")
    vocabularies = arguments.vocab or [
        f"{DATA}/vocabs/bert-base-uncased/vocab.txt",
        f"{DATA}/vocabs/bert-base-multilingual-cased/vocab.txt,lowercase=false",
    ]
    corpora = arguments.corpus or [Path(f"{DATA}/corpora/{name}.txt") for name in CORPORA]

    import tokbench

    differ = False
    heads = "".join(f"{head:>9}" for head in ("warm", "cold", "single"))
    print(f"{'vocabulary':30} {'corpus':10} {'MB':>5} {'MB/s':>8} {'tokenizers':>10}{heads}")
    for vocabulary in vocabularies:
        ours: Any = tokbench.load(f"wordpiece:{vocabulary}")
        theirs = reference(ours)
        name = Path(vocabulary.partition(",")[0])
        for corpus in corpora:
            data = corpus.read_bytes()[: int(arguments.megabytes * 1e6)]
            line, equal = compared(ours, theirs, data.decode("utf-8", "ignore").split("\n"), arguments.rounds)
            differ |= not equal
            print(f"{name.parent.name:30} {corpus.stem:10} {line}", flush=True)
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
