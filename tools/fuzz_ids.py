"""Random tokenizers on random text: do the in-house ids equal those of the libraries?

    python tools/fuzz_ids.py [--seconds N | --cases N] [--seed N] [--family bpe]… [--keep FOLDER]

Each case makes up a small `tokenizer.json` (`bpe`, `wordpiece`, `unigram`), a sentencepiece model (`model`) or
a `.tiktoken` file (`ranks`) and compares ids, decoded text, offsets and what is saved with `tokenizers`,
sentencepiece or tiktoken. A difference, or an error other than `TokenizerError`, is printed with what repeats
it, and the exit status is 1. What tokbench refuses by a clear error, and what a library cannot open or encode,
is counted apart.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from pathlib import Path

_SHOWN = 2  # differences of one kind in one case
_LONG = 1500  # characters of a value


def main() -> int:
    """Run cases until the time or the number is used up; 1 where anything differed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, all families together")
    parser.add_argument("--cases", type=int, help="how many cases of each family, instead of a time")
    parser.add_argument("--seed", type=int, default=0, help="the first case's; the next have the next")
    parser.add_argument("--family", action="append", choices=("bpe", "wordpiece", "unigram", "model", "ranks"))
    parser.add_argument("--keep", type=Path, help="a folder for the files of cases that differ")
    asked = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ["RUST_BACKTRACE"] = "0"
    from fuzzing.comparison import run_case
    from fuzzing.models import MAKERS

    families = asked.family or list(MAKERS)
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
    counts: dict[str, Counter[str]] = {family: Counter() for family in families}
    end, done, differing = time.monotonic() + asked.seconds, 0, 0
    while done < asked.cases if asked.cases is not None else time.monotonic() < end:
        for family in families:
            outcome = run_case(family, asked.seed + done, keep=asked.keep)
            counts[family]["cases"] += 1
            counts[family] += outcome.counts
            if outcome.differences:
                differing += 1
                print(f"\n{family}, --seed {asked.seed + done} --cases 1: {outcome.description}")
                _show(outcome.differences)
        done += 1
    for family, found in counts.items():
        print(f"\n{family}, seeds {asked.seed} to {asked.seed + done - 1}:")
        for what, count in found.most_common():
            print(f"  {count:>9,}  {what}")
    print(f"\n{differing} cases differ")
    return int(differing > 0)


def _show(differences: list) -> None:
    shown: Counter[str] = Counter()
    for one in sorted(differences, key=lambda one: len(one.text)):
        shown[one.what] += 1
        if shown[one.what] <= _SHOWN:
            print(f"  {one.what}: {one.text!a}")
            expected, found = (
                value if isinstance(value, str) else ascii(value) for value in (one.expected, one.found)
            )
            print(f"    expected {ascii(expected)[:_LONG]}\n    found    {found[:_LONG]}")
    for what, count in shown.items():
        if count > _SHOWN:
            print(f"  {what}: {count} in all")


if __name__ == "__main__":
    raise SystemExit(main())
