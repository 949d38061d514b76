"""Offsets and decoding: the in-house families beside tokenizers, tiktoken and sentencepiece; equal ones only.

    python benchmarks/offsets.py --vocabulary tokenizer.json --vocabulary spiece.model --text novel.txt
    python benchmarks/offsets.py --vocabulary tiktoken:o200k_base --text novel.txt
    TOKBENCH_TEST_DATA=… python benchmarks/offsets.py            the vocabularies and corpora found there
    TOKBENCH_TEST_DATA=… python benchmarks/offsets.py --variants  those of `vocabulary_variants`, offsets

A `tokenizer.json` is compared with `tokenizers`, a `.model` with sentencepiece, `tiktoken:NAME` with tiktoken.
Documents are lines. Spans are of code points: ours come as one array, theirs as their library gives them, with
the ids; tiktoken's are where each token begins, from the ids that it encodes first. Decoding begins with ids
ready, as arrays for ours, as lists for theirs. A document for which ids, spans or decoded text differ is left
out of both sides and counted. Times are CPU time of one thread, the least of interleaved rounds; what counts
are the ratios.
"""

from __future__ import annotations

import argparse
import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rounds import interleaved
from vocabulary_variants import variants

import tokbench
from tokbench.tokenizer import decode_batch, encode_batch, offsets_batch

VOCABULARIES = (
    "vocabs/gpt2/hf/tokenizer.json",
    "vocabs/qwen2/hf/tokenizer.json",
    "vocabs/llama-2/hf/tokenizer.json",
    "tiktoken:cl100k_base",
    "tiktoken:o200k_base",
    "vocabs/bert-base-uncased/hf/tokenizer.json",
    "vocabs/t5-base/hf/tokenizer.json",
    "vocabs/albert-base-v1/hf/tokenizer.json",
    "vocabs/t5-base/spiece.model",
    "vocabs/albert-base-v1/spiece.model",
    "vocabs/llama-2/tokenizer.model",
)
CORPORA = ("corpora/novels/eng_Latn.txt", "corpora/novels/rus_Cyrl.txt", "corpora/novels/zho_Hans.txt")
FAMILIES = {"BPE": "bpe", "WordPiece": "wordpiece", "Unigram": "unigram"}

SPIKES = "<mask>  <unused_7>\u2d30 "
"""Added tokens of some variants, and a letter that few vocabularies have."""

Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Reference:
    """A library: `offsets` and `decode` are what is timed, and `offsets_of_one` and `decode_one` document by
    document; `found` makes ids and spans of what `offsets` gives.

    Spans may be of the beginnings alone, as ``(start, start)``.
    """

    name: str
    offsets: Callable[[list[str]], Any]
    offsets_of_one: Callable[[str], Any]
    found: Callable[[Any], list[tuple[list[int], Spans]]]
    decode: Callable[[list[list[int]]], list[str]]
    decode_one: Callable[[list[int]], str]
    starts_only: bool = False


def pair(vocabulary: str) -> tuple[Any, Reference]:
    """The in-house tokenizer of a vocabulary, and the library that it is compared with."""
    if vocabulary.startswith("tiktoken:"):
        return of_tiktoken(vocabulary.removeprefix("tiktoken:"))
    if vocabulary.endswith(".model"):
        return of_sentencepiece(vocabulary)
    kind = json.loads(Path(vocabulary).read_text("utf-8"))["model"]["type"]
    return tokbench.load(f"{FAMILIES[kind]}:{vocabulary}"), of_tokenizers(vocabulary)


def of_tokenizers(path: str) -> Reference:
    """`tokenizers` with a `tokenizer.json`, special tokens as text."""
    from tokenizers import Tokenizer

    theirs = Tokenizer.from_file(path)
    theirs.encode_special_tokens = True
    theirs.no_padding()
    theirs.no_truncation()
    return Reference(
        "tokenizers",
        lambda texts: theirs.encode_batch(texts, add_special_tokens=False),
        lambda text: theirs.encode(text, add_special_tokens=False),
        lambda encodings: [(one.ids, one.offsets) for one in encodings],
        lambda ids: theirs.decode_batch(ids, skip_special_tokens=False),
        lambda ids: theirs.decode(ids, skip_special_tokens=False),
    )


def of_sentencepiece(path: str) -> tuple[Any, Reference]:
    """The library sentencepiece with a `.model`, Unigram or BPE, and the in-house tokenizer of it."""
    import sentencepiece
    from tokbench_subword.files.sentencepiece_model import read_model

    theirs = sentencepiece.SentencePieceProcessor(model_file=path)
    ours = tokbench.load(f"{read_model(path).trainer.model_type}:{path}")
    return ours, Reference(
        "sentencepiece",
        theirs.EncodeAsOffsetMapping,
        theirs.EncodeAsOffsetMapping,
        lambda mappings: [(one["ids"], one["offsets"]) for one in mappings],
        theirs.Decode,
        theirs.Decode,
    )


def of_tiktoken(name: str) -> tuple[Any, Reference]:
    """An encoding of tiktoken, and the in-house BPE around the same ranks."""
    import tiktoken
    from tokbench_subword.bpe.ranks import model_of_ranks
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.pipeline.patterns import Pattern

    theirs = tiktoken.get_encoding(name)
    pattern = Pattern.of(theirs._pat_str, dialect="rust", keep_gaps=False)
    ours = BpeTokenizer.of_model(model_of_ranks(theirs._mergeable_ranks, pattern=pattern))

    def offsets(text: str) -> tuple[list[int], list[int]]:
        ids = theirs.encode_ordinary(text)
        return ids, theirs.decode_with_offsets(ids)[1]

    return ours, Reference(
        "tiktoken",
        lambda texts: [offsets(text) for text in texts],
        offsets,
        lambda pairs: [(ids, [(start, start) for start in starts]) for ids, starts in pairs],
        lambda ids: [theirs.decode(one) for one in ids],
        theirs.decode,
        starts_only=True,
    )


def agreed(ours: Any, theirs: Reference, texts: list[str]) -> list[str]:
    """The documents for which both sides give the same ids, spans and decoded text."""
    batch = encode_batch(ours, texts)
    spans, limits = offsets_batch(ours, texts)
    if theirs.starts_only:
        spans[:, 1] = spans[:, 0]
    placed = by_document(spans, limits)
    found = theirs.found(theirs.offsets(texts))
    decoded = decode_batch(ours, batch)
    expected = theirs.decode([ids for ids, _ in found])
    kept = []
    for index, text in enumerate(texts):
        ids, their_spans = found[index]
        own = [tuple(span) for span in placed[index].tolist()]
        if batch[index].tolist() == ids and own == list(their_spans) and decoded[index] == expected[index]:
            kept.append(text)
    return kept


def measure(name: str, ours: Any, theirs: Reference, texts: list[str], rounds: int) -> None:
    """Print how fast both sides are with the documents that they agree on, in a batch and one by one."""
    kept = agreed(ours, theirs, texts)
    line = f"{name}, {len(texts)} documents"
    if len(kept) < len(texts):
        line += f", {len(texts) - len(kept)} of them left out"
    size = sum(len(text.encode()) for text in kept) / 1e6
    if not size:
        print(f"{line}: nothing is the same")
        return
    batch = encode_batch(ours, kept)
    lists = [ids.tolist() for ids in batch]
    assert [ours.offsets(text).tolist() for text in kept] == [
        spans.tolist() for spans in by_document(*offsets_batch(ours, kept))
    ]
    assert [ours.decode(ids) for ids in lists] == decode_batch(ours, batch)
    calls: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        f"{line}; offsets": (lambda: offsets_batch(ours, kept), lambda: theirs.offsets(kept)),
        "; decoding": (lambda: decode_batch(ours, batch), lambda: theirs.decode(lists)),
        "\n    one by one: offsets": (
            lambda: [ours.offsets(text) for text in kept],
            lambda: [theirs.offsets_of_one(text) for text in kept],
        ),
        "; decoding ": (
            lambda: [ours.decode(ids) for ids in lists],
            lambda: [theirs.decode_one(ids) for ids in lists],
        ),
    }
    for label, both in calls.items():
        taken = interleaved(dict(zip(("mine", "other"), both, strict=True)), rounds)
        mine, other = (size / min(seconds) for seconds in taken.values())
        print(f"{label.rstrip()} {mine:.1f} MB/s, {theirs.name} {other:.1f} (x{mine / other:.1f})", end="")
    print(flush=True)


def measure_variants(folder: Path, texts: dict[str, list[str]], rounds: int) -> None:
    """Print how many times as fast as `tokenizers` offsets are under each variant, for each kind of text."""
    ratios = []
    for variant in variants(folder):
        with tempfile.TemporaryDirectory() as temporary:
            path = Path(temporary) / "tokenizer.json"
            path.write_text(json.dumps(variant.content), "utf-8")
            ours, theirs = pair(str(path))
        row = []
        for kind, documents in texts.items():
            kept = agreed(ours, theirs, documents)
            both = {"mine": partial(offsets_batch, ours, kept), "other": partial(theirs.offsets, kept)}
            taken = interleaved(both, rounds)
            row.append(min(taken["other"]) / min(taken["mine"]))
            print(f"{variant.name}, {kind}, {len(kept)} of {len(documents)} alike: x{row[-1]:.1f}", flush=True)
        ratios += row
    print(f"least x{min(ratios):.1f}, geometric mean x{np.exp(np.mean(np.log(ratios))):.1f}")


def by_document(spans: NDArray[np.int64], limits: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The spans of each document."""
    return [spans[start:end] for start, end in pairwise(limits.tolist())]


def main() -> int:
    """Print the speeds for each vocabulary and corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--vocabulary", action="append", help="tokenizer.json, a .model, or tiktoken:NAME; several are measured"
    )
    parser.add_argument("--text", action="append", type=Path, help="a text file, a document a line")
    parser.add_argument("--megabytes", type=float, default=1.0, help="of each text (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--variants", action="store_true", help="offsets under the variants of vocabularies")
    given = parser.parse_args()
    root = Path(os.environ.get("TOKBENCH_TEST_DATA", ""))
    if not os.environ.get("TOKBENCH_TEST_DATA") and not (given.vocabulary and given.text):
        parser.error("name --vocabulary and --text, or set TOKBENCH_TEST_DATA")
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(root / "vocabs/tiktoken-cache"))
    if given.variants:
        texts = {path.stem: lines_of(path, given.megabytes) for path in given.text or [root / CORPORA[0]]}
        spiked = {
            f"{kind}, a fifth of lines with {SPIKES}": with_spikes(lines) for kind, lines in texts.items()
        }
        measure_variants(root / "vocabs", texts | spiked, given.rounds)
        return 0
    found = [name if ":" in name else str(root / name) for name in VOCABULARIES]
    for vocabulary in given.vocabulary or found:
        ours, theirs = pair(vocabulary)
        parts = [part for part in Path(vocabulary).parts if part not in ("hf", "tokenizer.json")]
        for path in given.text or [root / name for name in CORPORA]:
            measure(f"{parts[-1]}, {path.stem}", ours, theirs, lines_of(path, given.megabytes), given.rounds)
    return 0


def lines_of(path: Path, megabytes: float) -> list[str]:
    """The lines of the beginning of a file."""
    return path.read_bytes()[: int(megabytes * 1e6)].decode("utf-8", "ignore").split("\n")


def with_spikes(lines: list[str]) -> list[str]:
    """The lines, and in front of every fifth what is an added token in some variants, or unknown."""
    return [SPIKES + line if index % 5 == 0 else line for index, line in enumerate(lines)]


if __name__ == "__main__":
    sys.exit(main())
