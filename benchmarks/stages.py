"""What each stage of the compiled pipeline costs, on its own, for an in-house tokenizer and a text.

    python benchmarks/stages.py SPEC TEXT [--megabytes 2] [--rounds 3]

    python benchmarks/stages.py bpe:gpt2/tokenizer.json novel.txt

CPU time of one thread, medians, in MB/s of the text; documents are lines, and go through all stages some at a
time, as in a batch. `cutting` is the automata as passes of their own; in the encoder they run group by group
with the word cache. Where four parts of a text are cut at once, a second line cuts it character by character.
`model, cold` and `warm` are all that comes behind the other stages, with an empty word cache and with the words
of the text in it. The first line is how much memory a batch of all documents takes beside its ids, from its
texts on (by Linux's account).
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tokbench_subword.pipeline.patterns.cutters import MachineCutter, units_of
from tokbench_subword.pipeline.patterns.machine import HAS_STEPS
from tokbench_subword.pipeline.preparation import CompiledPipeline
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.words.prepared import TEXT_RUN, PreparedEncoder

import tokbench
from tokbench.kernels.text import utf8_of


def main() -> None:
    """Print one line a stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer", help="a spec of bpe:, wordpiece: or unigram:")
    parser.add_argument("text", type=Path)
    parser.add_argument("--megabytes", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    raw = asked.text.read_bytes()[: int(asked.megabytes * 1e6)]
    texts = raw.decode("utf-8", "ignore").splitlines()
    tokenizer = tokbench.load(asked.tokenizer)
    prepared = prepared_of(tokenizer)
    tokenizer.encode_batch(["compiled before the clock runs"])
    before = forget_peak()
    batch = tokenizer.encode_batch(texts)
    held = (batch.ids.nbytes + batch.offsets.nbytes) / 2**20
    print(f"{'memory beside the ids':28} {peak() - before - held:9.0f} MiB {held:10.0f} MiB of ids and offsets")
    del batch
    runs = [stages_of(prepared, run) for run in runs_of(texts)]
    stages = {name: lambda name=name: [run[name]() for run in runs] for name in runs[0]}
    encode = stages.pop("model")
    stages |= {"model, cold": lambda: (prepared.words.forget(), encode()), "model, warm": encode}
    stages |= {"whole, warm": lambda: tokenizer.encode_batch(texts)}
    size = sum(len(text.encode()) for text in texts) / 1e6
    for name, stage in stages.items():
        stage()  # not the first time, for which kernels are compiled
        seconds = statistics.median(taken(stage) for _ in range(asked.rounds))
        print(f"{name:28} {size / seconds:9.1f} MB/s {1e3 * seconds:9.1f} ms", flush=True)


def prepared_of(tokenizer: Any) -> PreparedEncoder:
    """What encodes batches in a tokenizer of any family."""
    owner = tokenizer if hasattr(tokenizer, "_prepared_encoder") else getattr(tokenizer, "_encoder", None)
    prepared = owner._prepared_encoder() if owner is tokenizer else getattr(owner, "_prepared", None)
    if prepared is None:
        raise SystemExit(f"{tokenizer.name}: there is no compiled form of this pipeline")
    return prepared


def runs_of(texts: list[str]) -> list[list[str]]:
    """The texts as a batch takes them through all stages: some at a time."""
    limits = np.cumsum([len(text.encode()) for text in texts]) // TEXT_RUN
    return [[texts[index] for index in np.flatnonzero(limits == run)] for run in np.unique(limits)]


def stages_of(prepared: PreparedEncoder, texts: list[str]) -> dict[str, Callable[[], Any]]:
    """Each stage as a call, on what the stages before it have made of the texts."""
    stages: dict[str, Callable[[], Any]] = {"UTF-8": lambda: Segments(*utf8_of(texts))}
    at, compiled = Segments(*utf8_of(texts)), prepared.before

    def add(name: str, stage: Callable[[Segments], Any]) -> None:
        nonlocal at
        stages[name] = lambda given=at: stage(given)
        at = stage(at)

    if not isinstance(compiled, CompiledPipeline):
        add("normalizer", compiled.segments)
        return stages | {"model": lambda: prepared.words.encode_utf8(at.data, at.offsets)}
    for number, stage in enumerate(compiled.stages, 1):
        add(f"{number}. {type(stage).__name__}", CompiledPipeline((stage,), ()).segments)
    units = units_of(at.offsets)
    for number, cutter in enumerate(compiled.cutters):
        stages[f"cutting, {number + 1}"] = lambda cutter=cutter, units=units: cutter.cut(at.data, units)
        if isinstance(cutter, MachineCutter) and cutter.machine.settings[HAS_STEPS]:
            one = one_by_one(cutter)
            stages[f"cutting, {number + 1}, one by one"] = lambda cutter=one, units=units: cutter.cut(
                at.data, units
            )
        units, _ = cutter.cut(at.data, units)
    return stages | {"model": lambda: prepared.words.encode_utf8(at.data, at.offsets)}


def one_by_one(cutter: MachineCutter) -> MachineCutter:
    """The same, reading character by character instead of four parts of a text at once."""
    settings = cutter.machine.settings.copy()
    settings[HAS_STEPS] = 0
    return MachineCutter(replace(cutter.machine, settings=settings))


def forget_peak() -> float:
    """Let the peak of this process's memory begin anew; what it holds, in MiB."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> float:
    """The peak of this process's memory, in MiB."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024


def taken(call: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


if __name__ == "__main__":
    main()
