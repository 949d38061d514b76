"""What an adapter costs: its `encode_batch` against the fastest call of its own library that returns ids.

For each vocabulary and kind of text every form of call the library has for many texts is timed beside the
adapter, rounds interleaved, in CPU time; the adapter is held against the fastest of them, round by round, and
the median of these ratios is shown. The forms run on one thread, each delivers ids a program can use (lists or
arrays), and letting go of them again is part of the time: it is a tenth of it where ids are Python objects.

    TOKBENCH_TEST_DATA=FOLDER TIKTOKEN_CACHE_DIR=FOLDER/vocabs/tiktoken-cache python benchmarks/adapters.py
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tokbench

LIMIT = 1.1
Call = Callable[[list[str]], Any]


def texts_of(data: Path) -> dict[str, list[str]]:
    """Sentences of several scripts, and paragraphs of about 2,000 characters."""
    languages = ("eng_Latn", "deu_Latn", "rus_Cyrl", "zho_Hant", "hin_Deva", "arb_Arab")
    sentences = [
        line
        for language in languages
        for line in (data / "corpora" / "pud" / f"{language}.txt")
        .read_text(encoding="utf-8")
        .splitlines()[:600]
    ]
    novel = (data / "corpora" / "novels" / "eng_Latn.txt").read_text(encoding="utf-8")[:600_000]
    return {
        "sentences": sentences,
        "paragraphs": [novel[start : start + 2000] for start in range(0, len(novel), 2000)],
    }


def tiktoken_calls(name: str) -> Mapping[str, Call]:
    """The calls of tiktoken."""
    import tiktoken

    encoding = tiktoken.get_encoding(name)
    return {
        "[encode_ordinary]": lambda texts: [encoding.encode_ordinary(text) for text in texts],
        "[encode_to_numpy]": lambda texts: [
            encoding.encode_to_numpy(text, disallowed_special=()) for text in texts
        ],
        "encode_ordinary_batch": lambda texts: encoding.encode_ordinary_batch(texts, num_threads=1),
    }


def sentencepiece_calls(path: str) -> Mapping[str, Call]:
    """The calls of sentencepiece."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=path)
    return {
        "[EncodeAsIds]": lambda texts: [processor.EncodeAsIds(text) for text in texts],
        "EncodeAsIds": lambda texts: processor.EncodeAsIds(texts, num_threads=1),
        "EncodeAsNumpy": lambda texts: processor.EncodeAsNumpy(texts, num_threads=1),
    }


def tokenizers_calls(path: str) -> Mapping[str, Call]:
    """The calls of tokenizers."""
    import tokenizers

    library = tokenizers.Tokenizer.from_file(path)
    library.encode_special_tokens = True

    def batch(name: str) -> Call:
        call = getattr(library, name)
        return lambda texts: [one.ids for one in call(texts, add_special_tokens=False)]

    return {
        "[encode]": lambda texts: [library.encode(text, add_special_tokens=False).ids for text in texts],
        "encode_batch": batch("encode_batch"),
        "encode_batch_fast": batch("encode_batch_fast"),
    }


def gigatoken_calls(path: str) -> Mapping[str, Call]:
    """The calls of gigatoken."""
    import gigatoken

    library = gigatoken.Tokenizer.from_tiktoken(path, "o200k", {})
    return {
        "[encode]": lambda texts: [library.encode(text) for text in texts],
        "encode_batch": lambda texts: library.encode_batch(texts, parallel=False),
        "encode_batch_list": lambda texts: library.encode_batch_list(texts, parallel=False),
    }


def measure(forms: Mapping[str, Call], texts: list[str], rounds: int) -> dict[str, list[float]]:
    """The CPU seconds of each form in each round, rounds interleaved."""
    for form in forms.values():
        form(texts[: len(texts) // 4])  # warm
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    gc.disable()
    for turn in range(rounds):
        order = list(forms) if turn % 2 else list(forms)[::-1]
        for name in order:
            start = time.process_time()
            forms[name](texts)
            seconds[name].append(time.process_time() - start)
    gc.enable()
    return seconds


def subjects(data: Path) -> dict[str, tuple[str, Mapping[str, Call]]]:
    """Spec to the calls of its library."""
    vocabs = data / "vocabs"
    found = {f"tiktoken:{name}": tiktoken_calls(name) for name in ("gpt2", "cl100k_base", "o200k_base")}
    for name in ("llama-2/tokenizer.model", "t5-base/spiece.model"):
        found[f"sentencepiece:{vocabs}/{name}"] = sentencepiece_calls(str(vocabs / name))
    for name in ("gpt2", "bert-base-uncased", "t5-base", "llama-2", "qwen2"):
        path = f"{vocabs}/{name}/hf/tokenizer.json"
        found[f"transformers:{path}"] = tokenizers_calls(path)
    try:
        import gigatoken  # noqa: F401

        from tokbench.registry import build_registry

        registry = build_registry()
        spec = registry.tokenizer_spec("gigatoken:o200k_base")
        files = registry.tokenizers["gigatoken"].files
        if files is not None:
            found[str(spec)] = gigatoken_calls(str(files(spec, registry.context)[0]))
    except ImportError:
        print("gigatoken is not installed: left out", file=sys.stderr)
    return {spec: (spec.replace(f"{vocabs}/", ""), calls) for spec, calls in found.items()}


def main() -> int:
    """Time every subject; exit status 1 where an adapter costs more than the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="specs that contain this")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    data = Path(os.environ["TOKBENCH_TEST_DATA"])
    rows, ratios = [], []
    for spec, (label, calls) in subjects(data).items():
        if options.only not in spec:
            continue
        tokenizer = tokbench.load(spec)
        for kind, texts in texts_of(data).items():
            times = measure({**calls, "adapter": tokenizer.encode_batch}, texts, options.rounds)  # type: ignore[attr-defined]
            own = times.pop("adapter")
            fastest = min(times, key=lambda name: statistics.median(times[name]))
            ratio = statistics.median(ours / theirs for ours, theirs in zip(own, times[fastest], strict=True))
            medians = {name: statistics.median(seconds) for name, seconds in times.items()}
            ratios.append(ratio)
            rows.append({"spec": label, "texts": kind, "fastest": fastest, "ratio": ratio, "seconds": medians})
            print(f"{label:55} {kind:10} {ratio:5.2f} x {fastest}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    return int(any(ratio > LIMIT for ratio in ratios))


if __name__ == "__main__":
    sys.exit(main())
