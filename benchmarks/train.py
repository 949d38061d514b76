"""Training speed and memory: in-house BPE against `tokenizers` (and `gigatoken`, where installed), merges
compared.

    python benchmarks/train.py [--corpus NAME=FILE]... [--vocab-size 32k]... [--rounds 3] [--no-memory]
                               [--threads 2 [--phases]]

Without --corpus: from the folder that TOKBENCH_TEST_DATA names, English novels; novels and parallel lines in
other languages; the parallel lines alone (PUD and FLORES-200); and the Python standard library as code.
Documents are lines (files, for code). One thread, CPU time, interleaved rounds, medians; text is in memory
already. Byte-level, GPT-2's pattern, ties as `tokenizers` breaks them. Memory is the peak of a fresh process
less what it held before training. Exit status 1 where merges differ.

With --threads N, in-house training is timed in N threads against one, by the clock on the wall, in turn in
every round; minimum and median of the rounds are given, since others may be busy on the machine. Beside them:
the CPU time of all threads together; and how many times as much is done by N processes that train side by side,
one thread each, as by one of them alone. They have nothing in common but the machine: no more is to be had.
With --phases as well: how long each phase of training takes, by the clock on the wall, medians of the rounds,
in one thread and in so many.
"""

from __future__ import annotations

import argparse
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import contextlib
import gc
import importlib.util
import json
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

from side_by_side import SideBySide, whenever_asked

_TRAIN_WHEN_ASKED = "--train-when-asked"
DATA = os.environ.get("TOKBENCH_TEST_DATA")


def default_corpora() -> dict[str, list[str]]:
    """English, everything else, and code: name to documents."""
    found: dict[str, list[str]] = {}
    if DATA:
        novels = sorted(
            path for path in Path(DATA, "corpora/novels").glob("*.txt") if path.name != "SOURCE.txt"
        )
        parallel = sorted(Path(DATA, "corpora/pud").glob("???_????.txt"))
        found["english"] = lines_of([path for path in novels if path.stem == "eng_Latn"])
        flores = sorted(Path(DATA, "corpora/flores200/dev").glob("*.dev"))
        found["multilingual"] = lines_of([path for path in (*novels, *parallel) if path.stem != "eng_Latn"])
        found["parallel"] = lines_of([*parallel, *flores])
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    found["code"] = [path.read_text("utf-8", errors="replace") for path in files]
    return found


def lines_of(paths: list[Path]) -> list[str]:
    """The lines of some files."""
    return [line for path in paths for line in path.read_text("utf-8").split("\n")]


def ours(texts: list[str], vocab_size: int, threads: int = 1) -> Any:
    """Train in-house."""
    from tokbench_subword.bpe.trainer import train_bpe

    return train_bpe(texts, vocab_size=vocab_size, workers=threads)


def theirs(texts: list[str], vocab_size: int) -> Any:
    """Train with `tokenizers`."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def gigatoken(path: str, vocab_size: int) -> Any:
    """Train with `gigatoken`, which reads a file itself, lines being documents."""
    import gigatoken as library

    return library.train_bpe(library.TextFileSource([path], separator="\n"), vocab_size, [])


def merges_of_ours(model: Any) -> list[list[bytes]]:
    """Pairs of byte strings."""
    return [[model.vocabulary[left], model.vocabulary[right]] for left, right, _ in model.merges.tolist()]


def merges_of_theirs(tokenizer: Any) -> list[list[bytes]]:
    """Pairs of byte strings, from the characters that stand for bytes."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in printable]
    byte_of = {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(rest)}
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [[bytes(byte_of[character] for character in part) for part in merge] for merge in merges]


@contextlib.contextmanager
def silence() -> Any:
    """Nothing on stdout and stderr, from native code either."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        saved = [os.dup(1), os.dup(2)]
        try:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
            yield
        finally:
            os.dup2(saved[0], 1)
            os.dup2(saved[1], 2)


def memory(trainer: str, path: str, vocab_size: int) -> float:
    """MB that training adds to the peak of a fresh process."""
    command = [sys.executable, __file__, "--measure", trainer, path, str(vocab_size)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def measure(trainer: str, path: str, vocab_size: int) -> None:
    """Print that figure, in the fresh process."""
    calls: dict[str, Callable[..., Any]] = {"ours": ours, "tokenizers": theirs}
    calls[trainer](["some text to load what is loaded once"], 300)
    texts = json.loads(Path(path).read_text(encoding="utf-8"))
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = peak_memory()
    calls[trainer](texts, vocab_size)
    print(peak_memory() - before)


def peak_memory() -> float:
    """The peak of this process in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def compare(name: str, texts: list[str], vocab_size: int, rounds: int, with_memory: bool) -> bool:
    """Print one line; whether merges are equal."""
    size = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6
    ours(["warm up"], 257)
    equal = merges_of_ours(ours(texts, vocab_size)) == merges_of_theirs(theirs(texts, vocab_size))
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "texts.json")
        listed.write_text(json.dumps(texts), encoding="utf-8")
        plain = Path(folder, "texts.txt")
        plain.write_text("\n".join(texts), encoding="utf-8", errors="replace")
        calls: dict[str, Callable[[], object]] = {
            "ours": lambda: ours(texts, vocab_size),
            "tokenizers": lambda: theirs(texts, vocab_size),
        }
        if importlib.util.find_spec("gigatoken"):
            calls["gigatoken"] = lambda: gigatoken(str(plain), vocab_size)
        taken: dict[str, list[float]] = {trainer: [] for trainer in calls}
        for _round in range(rounds):
            for trainer, call in calls.items():
                with silence():
                    start = time.process_time()
                    call()
                    taken[trainer].append(time.process_time() - start)
        seconds = {trainer: statistics.median(times) for trainer, times in taken.items()}
        cells = [f"{name:13} {size:6.1f} {vocab_size:6} {'equal' if equal else 'DIFFER':7}"]
        for trainer, second in seconds.items():
            ratio = "" if trainer == "ours" else f" ({second / seconds['ours']:4.1f}×)"
            cells.append(f"{trainer} {second:6.2f} s{ratio}")
        if with_memory:
            both = {trainer: memory(trainer, str(listed), vocab_size) for trainer in ("ours", "tokenizers")}
            cells.append(f"memory {both['ours']:.0f} MB against {both['tokenizers']:.0f} MB")
    print("  ".join(cells), flush=True)
    return equal


def train_when_asked(path: str, vocab_size: str) -> None:
    """Train in one thread, whenever a process that times it wants that."""
    texts = json.loads(Path(path).read_text(encoding="utf-8"))
    whenever_asked(lambda: ours(texts, int(vocab_size)))


def compare_threads(name: str, texts: list[str], vocab_size: int, rounds: int, threads: int) -> bool:
    """Print one line on so many threads against one; whether merges are equal."""
    models = {count: ours(texts, vocab_size, count) for count in (1, threads)}
    equal = merges_of_ours(models[1]) == merges_of_ours(models[threads])
    walls: dict[int, list[float]] = {count: [] for count in models}
    work: dict[int, list[float]] = {count: [] for count in models}
    alone, together = [], []
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "texts.json")
        listed.write_text(json.dumps(texts), encoding="utf-8")
        processes = SideBySide(
            threads, [sys.executable, __file__, _TRAIN_WHEN_ASKED, str(listed), str(vocab_size)]
        )
        for _round in range(rounds):
            for count in models:
                start, busy = time.perf_counter(), time.process_time()
                ours(texts, vocab_size, count)
                walls[count].append(time.perf_counter() - start)
                work[count].append(time.process_time() - busy)
            alone.append(processes.seconds(1))
            together.append(processes.seconds(threads))
        processes.leave()
    cells = [f"{name:13} {vocab_size:6} {'equal' if equal else 'DIFFER':7} wall, 1 and {threads} threads:"]
    for what, of in (("minimum", min), ("median", statistics.median)):
        one, many = of(walls[1]), of(walls[threads])
        cells.append(f"{what} {one:.2f} and {many:.2f} s ({one / many:.2f}×)")
    cpu = {count: statistics.median(times) for count, times in work.items()}
    cells.append(f"CPU: median {cpu[1]:.2f} and {cpu[threads]:.2f} s")
    most = [threads * of(alone) / of(together) for of in (min, statistics.median)]
    cells.append(f"{threads} processes: of minima {most[0]:.2f}×, of medians {most[1]:.2f}×")
    print("  ".join(cells), flush=True)
    return equal


def phases(name: str, texts: list[str], vocab_size: int, rounds: int, threads: int) -> None:
    """Print one line for each phase of training, in one thread and in so many."""
    from tokbench_subword.bpe import trainer
    from tokbench_subword.training import alphabet, counting, session, spelling

    places: list[tuple[str, Any, str]] = [
        ("counting words", counting, "count_pretokens"),
        ("  of it, joining the threads' words", counting, "_joined"),
        ("first symbols", alphabet, "byte_symbols"),
        ("first pairs", session.MergeSession, "__init__"),
        ("merging", session.MergeSession, "run"),
        ("spelling", spelling, "spelled"),
        ("all", trainer, "train_bpe"),
    ]
    taken: dict[tuple[str, int], list[float]] = {}

    def timed(phase: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timing(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            result = call(*arguments, **options)
            taken.setdefault((phase, count), []).append(time.perf_counter() - start)
            return result

        return timing

    with contextlib.ExitStack() as patches:
        for phase, place, attribute in places:
            call = getattr(place, attribute)
            patches.enter_context(mock.patch.object(place, attribute, timed(phase, call)))
        for _round in range(rounds):
            for count in (1, threads):
                ours(texts, vocab_size, count)
    for phase in dict.fromkeys(phase for phase, _, _ in places):
        one, many = (1000 * statistics.median(taken[phase, count]) for count in (1, threads))
        print(
            f"{name:13} {vocab_size:6} {phase:36} {one:7.1f} and {many:7.1f} ms ({one / many:.2f}×)", flush=True
        )


def main() -> int:
    """Compare on each corpus and vocabulary size."""
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return 0
    if sys.argv[1:2] == [_TRAIN_WHEN_ASKED]:
        train_when_asked(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", action="append", metavar="NAME=FILE", help="a text file, a document a line")
    parser.add_argument("--vocab-size", action="append", default=[], metavar="N")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", help="names of corpora")
    parser.add_argument("--no-memory", action="store_true")
    parser.add_argument("--threads", type=int, help="only this many in-house threads against one")
    parser.add_argument("--phases", action="store_true", help="with --threads: the phases of training")
    arguments = parser.parse_args()
    if arguments.phases and not arguments.threads:
        parser.error("--phases compares threads: give --threads as well")
    if arguments.corpus:
        pairs = (entry.partition("=") for entry in arguments.corpus)
        corpora = {name: lines_of([Path(file)]) for name, _, file in pairs}
    else:
        corpora = default_corpora()
    sizes = [int(size.replace("k", "000")) for size in arguments.vocab_size or ["8k", "32k"]]
    equal = True
    for name, texts in corpora.items():
        if arguments.only and name not in arguments.only:
            continue
        for vocab_size in sizes:
            if arguments.phases:
                phases(name, texts, vocab_size, arguments.rounds, arguments.threads)
            elif arguments.threads:
                equal &= compare_threads(name, texts, vocab_size, arguments.rounds, arguments.threads)
            else:
                equal &= compare(name, texts, vocab_size, arguments.rounds, not arguments.no_memory)
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
