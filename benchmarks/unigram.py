"""How fast the in-house Unigram and sentencepiece-BPE encode, side by side with sentencepiece.

    python benchmarks/unigram.py --model spiece.model --text novel.txt --text other.txt
    python benchmarks/unigram.py --model tokenizer.model --text novel.txt --documents bytes:1000
    python benchmarks/unigram.py --json tokenizer.json --text novel.txt
    python benchmarks/unigram.py --model spiece.model --text novel.txt --nbest 8

A `tokenizer.json` is compared with `tokenizers`, which gives its own encodings. Ids are compared before
anything is timed; a difference ends the run. The segmentations of --nbest are compared by score: where several
have the same, the two may name them in another order, and how many documents that holds for is printed. Rounds
are interleaved, CPU time of one thread, medians; what counts are the ratios. "warm" is a tokenizer that has
seen the text, "cold" one made afresh (kernels are compiled in both cases). Both sides get lists of `str` and
give numpy arrays where the library has them.
"""

from __future__ import annotations

import argparse
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray
from tokbench_subword.files.sentencepiece_model import read_model
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 where ids differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", default=[], type=Path, help="a sentencepiece .model")
    parser.add_argument("--json", action="append", default=[], type=Path, help="a Unigram tokenizer.json")
    parser.add_argument("--text", action="append", default=[], type=Path, help="UTF-8 text to encode")
    parser.add_argument("--megabytes", type=float, default=1.0, help="read so much of each text")
    parser.add_argument("--documents", default="lines", help="lines, whole, or bytes:N")
    parser.add_argument("--nbest", type=int, metavar="N", help="the N best segmentations instead of the best")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args(arguments)
    print(f"sentencepiece {sentencepiece.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}")
    for model in asked.model:
        for text in asked.text:
            texts = documents_of(text, asked.megabytes, asked.documents)
            name = f"{model.parent.name}/{model.name} on {text.name} ({len(texts)} documents)"
            if asked.nbest:
                done = encode_nbest(model, name, texts, asked.nbest, asked.rounds)
            else:
                done = encode(model, name, texts, asked.rounds)
            if not done:
                return 1
    for path in asked.json:
        for text in asked.text:
            if not encode_json(path, text, asked.megabytes, asked.documents, asked.rounds):
                return 1
    return 0


def documents_of(path: Path, megabytes: float, how: str) -> list[str]:
    """The documents of the first so many megabytes of a file."""
    text = path.read_bytes()[: int(megabytes * 1e6)].decode("utf-8", "replace")
    if how == "whole":
        return [text]
    if how.startswith("bytes:"):
        size = int(how.partition(":")[2])
        data = text.encode()
        return [data[at : at + size].decode("utf-8", "replace") for at in range(0, len(data), size)]
    return text.split("\n")


def encode(model: Path, name: str, texts: Sequence[str], rounds: int) -> bool:
    """Verify, then time encoding; whether the ids were equal."""
    n_bytes = sum(len(text.encode()) for text in texts)
    read = read_model(model)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(model))
    ours = SpmTokenizer(model.name, read)
    expected = theirs.encode(texts, num_threads=1)
    differing = [at for at, ids in enumerate(ours.encode_batch(texts)) if ids.tolist() != expected[at]]
    if differing:
        print(f"{name}: ids differ in {len(differing)} documents, first in document {differing[0]}")
        return False
    cold = [SpmTokenizer(model.name, read) for _ in range(rounds)]
    medians = interleaved(
        {
            "batch": lambda: ours.encode_batch(texts),
            "batch, cold": lambda: cold.pop().encode_batch(texts),
            "loop": lambda: [ours.encode(text) for text in texts],
            "sentencepiece batch": lambda: theirs.EncodeAsNumpy(texts, num_threads=1),
            "sentencepiece loop": lambda: [theirs.EncodeAsIds(text) for text in texts],
        },
        rounds,
    )
    print(f"{name}: ids equal")
    for kind in ("batch", "batch, cold", "loop"):
        reference = medians["sentencepiece loop" if kind == "loop" else "sentencepiece batch"]
        ratio = reference / medians[kind]
        print(f"  {kind:12} {n_bytes / 1e6 / medians[kind]:8.1f} MB/s   {ratio:6.2f} x sentencepiece")
    return True


def encode_nbest(model: Path, name: str, texts: Sequence[str], n: int, rounds: int) -> bool:
    """As `encode`, for the `n` best segmentations of each document; whether their scores were equal."""
    read = read_model(model)
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(model))
    ours = SpmTokenizer(model.name, read)
    scores = scores_of(ours)

    def best_scores(segmentations: Sequence[Sequence[int]]) -> list[float]:
        return sorted(float(scores[list(ids)].sum()) for ids in segmentations)

    pairs = [(ours.nbest(text, n), theirs.NBestEncodeAsIds(text, n)) for text in texts]
    unequal = [at for at, (own, other) in enumerate(pairs) if own != other]
    for at in unequal:
        own, other = map(best_scores, pairs[at])
        if len(own) != len(other) or not np.allclose(own, other, rtol=1e-6, atol=0):
            print(f"{name}: scores differ, first in document {at}: {own} against {other}")
            return False
    medians = interleaved(
        {
            "ours": lambda: [ours.nbest(text, n) for text in texts],
            "sentencepiece": lambda: [theirs.NBestEncodeAsIds(text, n) for text in texts],
        },
        rounds,
    )
    speed = sum(len(text.encode()) for text in texts) / 1e6 / medians["ours"]
    print(f"{name}, {n} best: scores equal, other ids of the same score in {len(unequal)}")
    print(f"  {speed:8.1f} MB/s   {medians['sentencepiece'] / medians['ours']:6.2f} x sentencepiece")
    return True


def encode_json(path: Path, text: Path, megabytes: float, how: str, rounds: int) -> bool:
    """As `encode`, for a `tokenizer.json` beside `tokenizers`."""
    from tokenizers import Tokenizer

    texts = documents_of(text, megabytes, how)
    n_bytes = sum(len(one.encode()) for one in texts)
    theirs = Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = True
    theirs.no_padding()
    theirs.no_truncation()
    ours = JsonUnigramTokenizer.from_file(path)
    expected = theirs.encode_batch_fast(texts, add_special_tokens=False)
    pairs = zip(ours.encode_batch(texts), expected, strict=True)
    differing = [at for at, (ids, encoding) in enumerate(pairs) if ids.tolist() != encoding.ids]
    file = f"{path.parent.parent.name}/{path.name}"
    name = f"{file} on {text.name} ({n_bytes / 1e6:.1f} MB, {len(texts)} documents)"
    if differing:
        print(f"{name}: ids differ in {len(differing)} documents, first in document {differing[0]}")
        return False
    medians = interleaved(
        {
            "batch": lambda: ours.encode_batch(texts),
            "loop": lambda: [ours.encode(one) for one in texts],
            "tokenizers batch": lambda: theirs.encode_batch_fast(texts, add_special_tokens=False),
            "tokenizers loop": lambda: [theirs.encode(one, add_special_tokens=False).ids for one in texts],
        },
        rounds,
    )
    print(f"{name}: ids equal")
    for kind in ("batch", "loop"):
        ratio = medians[f"tokenizers {kind}"] / medians[kind]
        print(f"  {kind:12} {n_bytes / 1e6 / medians[kind]:8.1f} MB/s   {ratio:6.2f} x tokenizers")
    return True


def scores_of(tokenizer: SpmTokenizer) -> NDArray[np.float64]:
    """Every id's log probability, that of the unknown token as encoding takes it."""
    scores = tokenizer.vocabulary.scores.astype(np.float64)
    scores[tokenizer.unk_id] = scores.min() - 10.0
    return scores


def interleaved(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median CPU seconds of each call, all of them in turn in every round."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    gc.disable()
    try:
        for _ in range(rounds):
            for name, call in calls.items():
                start = time.process_time()
                call()
                times[name].append(time.process_time() - start)
    finally:
        gc.enable()
    return {name: statistics.median(taken) for name, taken in times.items()}


if __name__ == "__main__":
    raise SystemExit(main())
