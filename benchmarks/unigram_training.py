"""What Unigram training gives, and what it costs, side by side with sentencepiece.

    python benchmarks/unigram_training.py
    python benchmarks/unigram_training.py --text novel=novel.txt --sizes 8000,32000
    python benchmarks/unigram_training.py --text novel=novel.txt --held web.txt --sizes 8000
    python benchmarks/unigram_training.py --text novel=novel.txt --sizes 8000 --threads 2

Without --text: English, Turkish, Chinese, Japanese, Thai, Russian and 21 languages at once, of the folder that
TOKBENCH_TEST_DATA names, and three texts of another kind than what was trained on. Nine lines of ten are
trained on, and the tenth is held out, unless --held names another text. Both trainers have the same options:
their defaults, and no limit to the length of a line.

*Bits per byte* is what the held-out text costs under a model: the scores of the best path, by the bytes of the
text. A character that neither has costs both the same, 10 nats more than the worst piece of the two.

Each training is one process, which compiles and trains on a few words first. *Time* is CPU time of one thread.
*Memory* is by how much the peak of the process grew, the lines themselves not counted: what Python and numba
take before any text (some 190 MB, where sentencepiece takes 30) is theirs with the least text, too.

With --threads N training is timed in N threads against one instead, by the clock on the wall; the CPU time is
that of all threads together. Beside them: how many times as much is done by N processes that train side by
side, one thread each, as by one of them alone. No more is to be had.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import sentencepiece
from side_by_side import SideBySide, whenever_asked
from tokbench_subword.files.sentencepiece_model import SpmModel, parse, serialize
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.sentencepiece.trainer import TrainingOptions, train_unigram

DATA = os.environ.get("TOKBENCH_TEST_DATA", "")
TRAINERS = ("ours", "sentencepiece")
Text = tuple[str, list[Path], list[Path], list[int]]
"""A name, what is trained on, what is held out (nothing: every tenth line), and the sizes."""


def known_texts() -> list[Text]:
    """The texts of the test data that stand in the table."""
    corpora = Path(DATA or sys.exit("name --text NAME=FILE, or set TOKBENCH_TEST_DATA"), "corpora")
    novels, pud, flores = corpora / "novels", corpora / "pud", corpora / "flores200" / "dev"
    chinese, japanese, russian = (novels / f"{name}.txt" for name in ("zho_Hans", "jpn_Jpan", "rus_Cyrl"))
    return [
        ("English", [novels / "eng_Latn.txt"], [], [8000, 32000]),
        ("Russian", [russian], [], [8000, 32000]),
        ("Chinese", [chinese], [], [8000, 32000]),
        ("Japanese", [japanese], [], [4000, 8000]),
        ("Turkish", [pud / "tur_Latn.txt"], [], [2000, 4000]),
        ("Thai", [pud / "tha_Thai.txt", flores / "tha_Thai.dev"], [], [2000, 4000]),
        ("Chinese of news", [pud / "zho_Hant.txt", flores / "zho_Hans.dev"], [], [4000]),
        ("21 languages", sorted(pud.glob("???_????.txt")), [], [8000, 32000]),
        ("Chinese novel, then FLORES", [chinese], [flores / "zho_Hans.dev"], [8000, 32000]),
        ("Japanese novel, then PUD", [japanese], [pud / "jpn_Jpan.txt"], [4000, 8000]),
        ("Russian novel, then PUD", [russian], [pud / "rus_Cyrl.txt"], [4000, 8000]),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or how threads go."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", action="append", default=[], metavar="NAME=FILE", help="UTF-8 to train on")
    parser.add_argument("--held", type=Path, action="append", default=[], help="UTF-8 to measure on")
    parser.add_argument("--sizes", default="8000,32000", help="vocabulary sizes to train")
    parser.add_argument("--megabytes", type=float, default=10.0, help="read so much of each text")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="train in so many threads, against one")
    parser.add_argument("--trainer", choices=TRAINERS, help=argparse.SUPPRESS)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    sizes = [int(size) for size in asked.sizes.split(",")]
    if asked.trainer or asked.threads:
        lines = lines_of([Path(text.rpartition("=")[2]) for text in asked.text], asked.megabytes)
        if asked.result:
            seen = lines if asked.held else [line for number, line in enumerate(lines) if number % 10]
            train_once(asked.trainer, seen, sizes[0], asked.result)
        elif asked.trainer:
            whenever_asked(lambda: train_unigram(lines, TrainingOptions(vocab_size=sizes[0])))
        for size in sizes if asked.threads else ():
            train_threads(lines, size, asked)
        return 0
    named = [text.rpartition("=") for text in asked.text]
    texts = [(name, [Path(path)], asked.held, sizes) for name, _, path in named] or known_texts()
    print("| text | pieces | bits per byte | sentencepiece | | time | memory, MB | sentencepiece |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for text in texts:
        for size in text[-1]:
            print(row(text, size, asked.megabytes, asked.rounds), flush=True)
    return 0


def lines_of(paths: Sequence[Path], megabytes: float) -> list[str]:
    """The lines of the first so many megabytes of each file."""
    lines: list[str] = []
    for path in paths:
        lines += path.read_bytes()[: int(megabytes * 1e6)].decode("utf-8", "replace").split("\n")
    return lines


def row(text: Text, size: int, megabytes: float, rounds: int) -> str:
    """A row of the table: both trainers in processes of their own, in turn."""
    name, paths, others, _ = text
    held = lines_of(others, megabytes) if others else lines_of(paths, megabytes)[::10]
    models: dict[str, SpmModel] = {}
    costs: dict[str, list[tuple[float, float]]] = {trainer: [] for trainer in TRAINERS}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for trainer in TRAINERS:
                result = Path(folder, "result.model")
                command = [sys.executable, __file__, "--trainer", trainer, "--result", str(result)]
                command += ["--sizes", str(size), "--megabytes", str(megabytes)]
                command += [part for path in paths for part in ("--text", str(path))]
                command += [part for path in others for part in ("--held", str(path))]
                done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
                costs[trainer].append(tuple(json.loads(done.stdout)))
                models[trainer] = parse(result.read_bytes())
    own, other = bits_per_byte([models[trainer] for trainer in TRAINERS], held)
    (time_own, memory_own), (time_other, memory_other) = (
        [statistics.median(column) for column in zip(*costs[trainer], strict=True)] for trainer in TRAINERS
    )
    n_own, n_other = (len(models[trainer].pieces) for trainer in TRAINERS)
    pieces = f"{n_own:,}" + (f" ({n_other:,})" if n_other != n_own else "")
    return (
        f"| {name} | {pieces} | {own:.4f} | {other:.4f} | {own / other - 1:+.1%} | "
        f"{time_other / time_own:.1f} × | {memory_own:.0f} | {memory_other:.0f} |"
    )


def bits_per_byte(models: Sequence[SpmModel], held: Sequence[str]) -> list[float]:
    """What the text costs under each of some models."""
    tokenizers = [SpmTokenizer("held out", model) for model in models]
    scores = [tokenizer.vocabulary.scores.astype(np.float64) for tokenizer in tokenizers]
    unknown = min(float(of_one.min()) for of_one in scores) - 10.0
    n_bytes, bits = sum(len(line.encode()) for line in held), []
    for tokenizer, of_one in zip(tokenizers, scores, strict=True):
        of_one[tokenizer.unk_id] = unknown
        bits.append(-float(of_one[tokenizer.encode_batch(held).ids].sum()) / math.log(2) / n_bytes)
    return bits


def train_once(trainer: str, lines: list[str], size: int, result: Path) -> None:
    """Train, write the model, and print seconds of CPU and megabytes by which the peak of memory grew."""
    few = ["the first call loads what is compiled"] * 9
    model_of(trainer, few, 22)
    begun, held = time.process_time(), peak()
    data = model_of(trainer, lines, size)
    print(json.dumps((time.process_time() - begun, peak() - held)))
    result.write_bytes(data)


def model_of(trainer: str, lines: list[str], size: int) -> bytes:
    """The model file that a trainer makes of some lines."""
    if trainer == "ours":
        return serialize(train_unigram(lines, TrainingOptions(vocab_size=size)))
    buffer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=buffer,
        vocab_size=size,
        model_type="unigram",
        num_threads=1,
        minloglevel=2,
        max_sentence_length=1 << 24,
        hard_vocab_limit=False,
    )
    return buffer.getvalue()


def peak() -> float:
    """The most memory that this process had, in megabytes; of its program alone, as `ru_maxrss` is not."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text("ascii"))
    return int(found[1]) * 1024 / 1e6 if found else math.nan


def train_threads(lines: list[str], size: int, asked: argparse.Namespace) -> None:
    """Time training in so many threads against one: wall clock, minimum and median of the rounds; CPU time."""
    threads = asked.threads
    taken: dict[int, list[float]] = {1: [], threads: []}
    work: dict[int, list[float]] = {1: [], threads: []}
    models: dict[int, SpmModel] = {}
    alone, together = [], []
    train_unigram(["the first call loads what is compiled"] * 9, TrainingOptions(vocab_size=22))
    command = [sys.executable, __file__, "--trainer", "ours", "--sizes", str(size)]
    command += [
        "--megabytes",
        str(asked.megabytes),
        *(part for text in asked.text for part in ("--text", text)),
    ]
    processes = SideBySide(threads, command)
    for _ in range(asked.rounds):
        for count, times in taken.items():
            start, busy = time.perf_counter(), time.process_time()
            models[count] = train_unigram(lines, TrainingOptions(vocab_size=size, threads=count))
            times.append(time.perf_counter() - start)
            work[count].append(time.process_time() - busy)
        alone.append(processes.seconds(1))
        together.append(processes.seconds(threads))
    processes.leave()
    same = "equal" if models[1] == models[threads] else "DIFFERENT"
    print(f"train {size} in 1 and {threads} threads ({same} models):", end="")
    for what, of in (("minimum", min), ("median", statistics.median)):
        one, many, most = of(taken[1]), of(taken[threads]), threads * of(alone) / of(together)
        print(f"  {what} {one:.2f} and {many:.2f} s ({one / many:.2f} x; processes {most:.2f} x)", end="")
    print(f"  CPU: median {statistics.median(work[1]):.2f} and {statistics.median(work[threads]):.2f} s")


if __name__ == "__main__":
    raise SystemExit(main())
