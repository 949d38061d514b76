"""Time and peak memory of each way to train BPE, beside plain BPE and the nearest trainer of `tokenizers`.

    python benchmarks/train_methods.py [--text FILE] [--languages FOLDER] [--vocab-size 8k]... [--only NAME]...

Each training runs in a fresh process of its own, one thread, text in memory already; kernels are compiled by a
small training first. Seconds are CPU time of the training, memory the peak of the process less what it held
before. `FILE` is text, a document a line; `FOLDER` holds LANGUAGE.txt, for parity. Without them: of the folder
that TOKBENCH_TEST_DATA names, the English novels, and the parallel lines of PUD.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

DATA = os.environ.get("TOKBENCH_TEST_DATA", "")


class Given:
    """The text of a training, and its size."""

    def __init__(self, text: Path, folder: Path, size: int) -> None:
        self.lines = text.read_text("utf-8").split("\n")
        self.folder, self.size = folder, size

    def small(self) -> Given:
        """The same with little text, to compile what is needed."""
        other = object.__new__(Given)
        other.lines, other.folder, other.size = self.lines[:200], self.folder, 400
        return other

    @property
    def languages(self) -> dict[str, list[str]]:
        """The lines of each language."""
        few = len(self.lines) if self.size != 400 else 50
        return {
            path.stem: path.read_text("utf-8").splitlines()[:few]
            for path in sorted(self.folder.glob("???_????.txt"))
        }


def family(given: Given, texts: Sequence[str], name: str = "bpe", **options: object) -> None:
    """Train in-house."""
    from tokbench.corpus import TrainingCorpus
    from tokbench.registry import build_registry
    from tokbench.spec import with_defaults

    asked: dict[str, Any] = {"vocab_size": given.size, "threads": 1, **options}
    trained = build_registry().tokenizers[name]
    assert trained.train is not None
    trained.train(TrainingCorpus.of_texts(list(texts)), with_defaults(trained.options, asked), lambda *_: None)


def other(name: str, **options: object) -> Callable[[Given], None]:
    """A family of its own."""
    return lambda given: family(given, given.lines, name, **options)


def plain(given: Given) -> None:
    """BPE."""
    family(given, given.lines)


def superwords(given: Given) -> None:
    """SuperBPE, the transition at four fifths."""
    family(given, given.lines, transition=max(300, given.size * 4 // 5))


def continued(given: Given) -> None:
    """BPE of half the size, then the rest after it, from its file."""
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.bpe.trainer import train_bpe

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "base.json")
        BpeTokenizer.of_model(train_bpe(given.lines, vocab_size=max(260, given.size // 2))).save(path)
        family(given, given.lines, base=str(path))


def parity(given: Given) -> None:
    """Parity-aware BPE of all languages of the folder, by their training text."""
    from tokbench_subword.bpe.parity import Fairness, learn_fairly
    from tokbench_subword.pipeline.patterns import Pattern
    from tokbench_subword.training.counting import count_pretokens

    pattern = Pattern.of("gpt2")
    words = {name: count_pretokens(texts, pattern) for name, texts in given.languages.items()}
    learn_fairly(words, n_wanted=given.size, how=Fairness())


def their_plain(given: Given) -> None:
    """`tokenizers`' BPE."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=given.size, show_progress=False, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(given.lines, trainer)


def their_parity(given: Given) -> None:
    """`tokenizers`' parity-aware BPE."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    merges = given.size - len(alphabet)
    trainer = trainers.ParityBpeTrainer(num_merges=merges, show_progress=False, initial_alphabet=alphabet)
    trainer.train_from_iterator(tokenizer, [iter(texts) for texts in given.languages.values()])


METHODS: dict[str, Callable[[Given], None]] = {
    "plain": plain,
    "superwords": superwords,
    "continued": continued,
    "parity": parity,
    "greedtok": other("greedtok"),
    "pickybpe, ios 0.9": other("pickybpe", ios=0.9),
    "pathpiece": other("pathpiece"),
    "tokenizers plain": their_plain,
    "tokenizers parity": their_parity,
}


def measure(name: str, given: Given) -> dict[str, float]:
    """Seconds and MiB of a training, in this process."""
    method = METHODS[name]
    method(given.small())
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    method(given)
    seconds = time.process_time() - begun
    return {"seconds": seconds, "mib": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) / 1024}


def main() -> None:
    """Measure each method in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, default=Path(DATA, "corpora/novels/eng_Latn.txt"))
    parser.add_argument("--languages", type=Path, default=Path(DATA, "corpora/pud"))
    parser.add_argument("--vocab-size", action="append")
    parser.add_argument("--only", action="append", choices=METHODS)
    parser.add_argument("--measure", choices=METHODS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sizes = [int(float(size.replace("k", "e3"))) for size in asked.vocab_size or ["8k", "32k"]]
    if not asked.text.is_file() or not asked.languages.is_dir():
        parser.error("name --text FILE and --languages FOLDER, or set TOKBENCH_TEST_DATA")
    if asked.measure:
        print(json.dumps(measure(asked.measure, Given(asked.text, asked.languages, sizes[0]))))
        return
    languages = sum(path.stat().st_size for path in asked.languages.glob("???_????.txt"))
    print(f"text: {asked.text.stat().st_size / 1e6:.1f} MB; languages: {languages / 1e6:.1f} MB")
    print("| method | size | seconds of CPU | MiB |\n|---|---:|---:|---:|")
    for size in sizes:
        for name in asked.only or METHODS:
            command = [sys.executable, __file__, "--measure", name, "--vocab-size", str(size)]
            command += ["--text", str(asked.text), "--languages", str(asked.languages)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"| {name} | {size:,} | failed: {done.stderr.strip().splitlines()[-1]} | |")
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            print(f"| {name} | {size:,} | {found['seconds']:.2f} | {found['mib']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
