"""Time and peak memory of each way to train BPE, beside plain BPE and the nearest trainer of `tokenizers`.

    python benchmarks/train_methods.py [--text FILE] [--larger MB] [--languages FOLDER] [--vocab-size 8k]...
                                       [--only NAME]... [--command NAME=COMMAND]...

Each training runs in a fresh process of its own, one thread, text in memory already; kernels are compiled by a
small training first. Seconds are CPU time of the training, memory the peak of the process less what it held
before (by Linux's account). `FILE` is text, a document a line; `FOLDER` holds LANGUAGE.txt, for parity. Without
them: of the folder that TOKBENCH_TEST_DATA names, the English novels, and the parallel lines of PUD.

A command is any other program, measured from its start, with all processes that it starts: in it {text}, {size}
and {out} are the text, the size, and a file to write. Counting for a training, in bounded memory:

    python benchmarks/train_methods.py --larger 1000 --command "count=tokbench count -d text:{text} -o {out}"

`--larger` makes text of so many MB: the lines again and again in another order, and, after the first time, a
word in fifty with two neighbouring letters exchanged, so that the number of distinct words goes on growing.
"""

from __future__ import annotations

import argparse
import gc
import json
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil

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
    from tokbench import TrainingCorpus
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
    gc.collect()
    held = psutil.Process().memory_info().rss
    Path("/proc/self/clear_refs").write_text("5")  # the peak as yet is forgotten
    begun = time.process_time()
    method(given)
    seconds = time.process_time() - begun
    status = Path("/proc/self/status").read_text()
    peak = 1024 * int(status.partition("VmHWM:")[2].split()[0])
    return {"seconds": seconds, "mib": (peak - held) / 2**20}


def follow(command: Sequence[str]) -> dict[str, float]:
    """Seconds and MiB of a program and of all processes that it starts; raises `RuntimeError` if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = 0
    with tempfile.TemporaryFile() as told, subprocess.Popen(command, stdout=told, stderr=told) as running:
        program = psutil.Process(running.pid)
        while running.poll() is None:
            held = 0
            for process in [program, *program.children(recursive=True)]:
                try:
                    held += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            peak = max(peak, held)
            time.sleep(0.02)
        if running.returncode:
            told.seek(0)
            raise RuntimeError(told.read().decode("utf-8", "replace").strip().rpartition("\n")[2])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "mib": peak / 2**20}


def make_larger(text: Path, megabytes: int, path: Path) -> None:
    """Write so many MB of the lines of a text; see above for how they differ from it."""
    rng = np.random.default_rng(0)
    lines = text.read_bytes().splitlines(keepends=True)
    written, again = 0, False
    with path.open("wb") as file:
        while written < megabytes * 10**6:
            data = np.frombuffer(
                b"".join(lines[place] for place in rng.permutation(len(lines))), np.uint8
            ).copy()
            if again:
                letter = (data >= ord("a")) & (data <= ord("z"))
                places = rng.integers(0, len(data) - 1, len(data) // 200)  # a word has four letters, or more
                places = places[letter[places] & letter[places + 1]]
                data[places], data[places + 1] = data[places + 1], data[places]
            written += file.write(data[: megabytes * 10**6 - written].tobytes())
            again = True


def main() -> None:
    """Measure each method in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, default=Path(DATA, "corpora/novels/eng_Latn.txt"))
    parser.add_argument("--languages", type=Path, default=Path(DATA, "corpora/pud"))
    parser.add_argument("--vocab-size", action="append")
    parser.add_argument("--only", action="append", choices=METHODS)
    parser.add_argument("--larger", type=int, metavar="MB")
    parser.add_argument("--command", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--measure", choices=METHODS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sizes = [int(float(size.replace("k", "e3"))) for size in asked.vocab_size or ["8k", "32k"]]
    if not asked.text.is_file() or not asked.languages.is_dir():
        parser.error("name --text FILE and --languages FOLDER, or set TOKBENCH_TEST_DATA")
    if asked.measure:
        print(json.dumps(measure(asked.measure, Given(asked.text, asked.languages, sizes[0]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        if asked.larger:
            larger = Path(folder, "larger.txt")
            make_larger(asked.text, asked.larger, larger)
            asked.text = larger
        compare(asked, sizes, Path(folder))


def compare(asked: argparse.Namespace, sizes: Sequence[int], folder: Path) -> None:
    """Print the table, a row when it is measured."""
    languages = sum(path.stat().st_size for path in asked.languages.glob("???_????.txt"))
    print(f"text: {asked.text.stat().st_size / 1e6:.1f} MB; languages: {languages / 1e6:.1f} MB")
    print("| method | size | seconds of CPU | MiB |\n|---|---:|---:|---:|", flush=True)
    given = ["--text", str(asked.text), "--languages", str(asked.languages)]
    for size in sizes:
        for name in asked.only or ([] if asked.command else METHODS):
            command = [sys.executable, __file__, "--measure", name, "--vocab-size", str(size), *given]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"| {name} | {size:,} | failed: {done.stderr.strip().splitlines()[-1]} | |", flush=True)
            else:
                print_row(name, size, json.loads(done.stdout.splitlines()[-1]))
        for number, text in enumerate(asked.command):
            name, _, command = text.partition("=")
            out = folder / f"{number}-{size}.parquet"
            words = [word.format(text=asked.text, size=size, out=out) for word in shlex.split(command)]
            try:
                print_row(name, size, follow(words))
            except RuntimeError as error:
                print(f"| {name} | {size:,} | failed: {error} | |", flush=True)


def print_row(name: str, size: int, found: dict[str, float]) -> None:
    """A row of the table."""
    print(f"| {name} | {size:,} | {found['seconds']:.2f} | {found['mib']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
