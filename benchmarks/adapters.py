"""What an adapter costs: its `encode_batch` against the fastest call of its own library that returns ids.

For each vocabulary and kind of text every form of call the library has for many texts is timed beside the
adapter, rounds interleaved, in CPU time; the adapter is held against the fastest of them, round by round, and
the median of these ratios is shown. The forms run on one thread, each delivers ids a program can use (lists or
arrays), and letting go of them again is part of the time: it is a tenth of it where ids are Python objects.

    TOKBENCH_TEST_DATA=FOLDER TIKTOKEN_CACHE_DIR=FOLDER/vocabs/tiktoken-cache python benchmarks/adapters.py
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rounds import interleaved

import tokbench

LIMIT = 1.1
Call = Callable[[list[str]], Any]


def texts_of(data: Path) -> dict[str, list[str]]:
    """Sentences of several scripts, their beginnings, and paragraphs of 2,000 characters."""
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
        "phrases": [line[:24] for line in sentences],
        "sentences": sentences,
        "paragraphs": [novel[start : start + 2000] for start in range(0, len(novel), 2000)],
    }


def tiktoken_calls(encoding: Any) -> Mapping[str, Call]:
    """The calls of tiktoken."""
    return {
        "[encode_ordinary]": lambda texts: [encoding.encode_ordinary(text) for text in texts],
        "[encode_to_numpy]": lambda texts: [
            encoding.encode_to_numpy(text, disallowed_special=()) for text in texts
        ],
        "encode_ordinary_batch": lambda texts: encoding.encode_ordinary_batch(texts, num_threads=1),
    }


def sentencepiece_calls(processor: Any) -> Mapping[str, Call]:
    """The calls of sentencepiece."""
    return {
        "[EncodeAsIds]": lambda texts: [processor.EncodeAsIds(text) for text in texts],
        "EncodeAsIds": lambda texts: processor.EncodeAsIds(texts, num_threads=1),
        "EncodeAsNumpy": lambda texts: processor.EncodeAsNumpy(texts, num_threads=1),
    }


def tokenizers_calls(library: Any) -> Mapping[str, Call]:
    """The calls of tokenizers."""

    def batch(name: str) -> Call:
        call = getattr(library, name)
        return lambda texts: [one.ids for one in call(texts, add_special_tokens=False)]

    return {
        "[encode]": lambda texts: [library.encode(text, add_special_tokens=False).ids for text in texts],
        "encode_batch": batch("encode_batch"),
        "encode_batch_fast": batch("encode_batch_fast"),
    }


def gigatoken_calls(library: Any) -> Mapping[str, Call]:
    """The calls of gigatoken."""
    return {
        "[encode]": lambda texts: [library.encode(text) for text in texts],
        "encode_batch": lambda texts: library.encode_batch(texts, parallel=False),
        "encode_batch_list": lambda texts: library.encode_batch_list(texts, parallel=False),
    }


def snaptokens_calls(library: Any) -> Mapping[str, Call]:
    """The calls of snaptokens."""
    return {
        "[encode]": lambda texts: [library.encode(text).ids for text in texts],
        "encode_batch_flat": library.encode_batch_flat,
    }


def quicktok_calls(library: Any) -> Mapping[str, Call]:
    """The calls of quicktok."""
    return {
        "[encode_ordinary]": lambda texts: [library.encode_ordinary(text) for text in texts],
        "encode_batch": lambda texts: library.encode_batch(texts, 1, False),
    }


def wordchipper_calls(library: Any) -> Mapping[str, Call]:
    """The calls of wordchipper."""
    from wordchipper import SpecialFilter

    ordinary = SpecialFilter.include_none()
    return {
        "[encode]": lambda texts: [library.encode(text, ordinary) for text in texts],
        "encode_batch": lambda texts: library.encode_batch(texts, ordinary),
    }


def mistral_calls(library: Any) -> Mapping[str, Call]:
    """The calls of mistral-common."""
    return {"[encode]": lambda texts: [library.encode(text, bos=False, eos=False) for text in texts]}


def calls_of(tokenizer: Any) -> Mapping[str, Call]:
    """The calls of the very object the adapter holds: two copies of a vocabulary would compete for cache."""
    family = tokenizer.name.partition(":")[0]
    held, calls = {
        "tiktoken": ("encoding", tiktoken_calls),
        "sentencepiece": ("processor", sentencepiece_calls),
        "transformers": ("tokenizer", tokenizers_calls),
        "gigatoken": ("tokenizer", gigatoken_calls),
        "snaptokens": ("tokenizer", snaptokens_calls),
        "quicktok": ("tokenizer", quicktok_calls),
        "wordchipper": ("tokenizer", wordchipper_calls),
        "mistral": ("tokenizer", mistral_calls),
    }[family]
    return calls(getattr(tokenizer, held))


def specs_of(vocabs: Path) -> list[str]:
    """What is timed."""
    return [
        *(f"tiktoken:{name}" for name in ("gpt2", "cl100k_base", "o200k_base")),
        *(f"sentencepiece:{vocabs}/{name}" for name in ("llama-2/tokenizer.model", "t5-base/spiece.model")),
        *(
            f"transformers:{vocabs}/{name}/hf/tokenizer.json"
            for name in ("gpt2", "bert-base-uncased", "t5-base", "llama-2", "qwen2")
        ),
        *(f"snaptokens:{vocabs}/{name}/hf/tokenizer.json" for name in ("gpt2", "qwen2")),
        *(f"{library}:o200k_base" for library in ("gigatoken", "quicktok", "wordchipper")),
        *(f"mistral:{name}" for name in ("tekken_240911", "v3")),
    ]


def main() -> int:
    """Time every adapter; exit status 1 where an adapter costs more than the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="specs that contain this")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    data = Path(os.environ["TOKBENCH_TEST_DATA"])
    rows, ratios = [], []
    vocabs = data / "vocabs"
    for spec in specs_of(vocabs):
        if options.only not in spec:
            continue
        label = spec.replace(f"{vocabs}/", "")
        try:
            tokenizer: Any = tokbench.load(spec)
        except tokbench.TokenizerError as error:
            print(f"{label}: left out: {error}", file=sys.stderr)
            continue
        for kind, texts in texts_of(data).items():
            forms = {**calls_of(tokenizer), "adapter": tokenizer.encode_batch}
            times = interleaved({name: partial(form, texts) for name, form in forms.items()}, options.rounds)
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
