"""Encoding speed over a matrix of vocabularies and texts, cold and warm, ids compared first.

    TOKBENCH_TEST_DATA=FOLDER python benchmarks/vocabularies.py [PATH…] [--quick] [--hard] [--only TEXT]

The vocabularies are the tokenizer.json, .model and vocab.txt files in the paths given; without any, those of
TOKBENCH_TEST_DATA, tiktoken's encodings and the shapes of `vocabulary_variants`. The contenders are families of
tokbench, in-house ones and adapters (which cost at most a tenth more than their library's call: `adapters.py`),
each only where it opens the file and gives the ids of the vocabulary's own library. CPU time of one thread,
rounds interleaved, medians. Each measurement is a process of its own, which loads the tokenizer: `cold` is its
first pass over text it has never seen, after one short text that shares nothing with it, and `warm` the second.
Processes are forked from one that has imported the libraries and done nothing else. (One that has read files
has used memory to hand on, of which a new process copies each page that it writes to: in-house first passes
took up to a third longer, and no user meets that.) Exit status 1 where in-house ids differ.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

os.environ |= {"TOKENIZERS_PARALLELISM": "false", "RAYON_NUM_THREADS": "1"}

import numpy as np
from tokbench_subword.files.recognising import model_type_of
from vocabulary_texts import hard_texts, sample, texts_of
from vocabulary_variants import variants

import tokbench

OURS, OWN = "in-house", "own library"
OTHERS = (OWN, "gigatoken", "snaptokens")
_SERVER = get_context("forkserver")
LIBRARIES = ("tiktoken", "sentencepiece", "transformers", "gigatoken", "snaptokens", "numba")
"""What processes find imported, so that each does not take seconds for it."""
SAMPLE = 50_000  # bytes of each text whose ids are compared
HARD = ("", "  a  b\t\n ▁", "<unused_7> [control_9]<mask> Hello World", "ﬁ É Å ½ 漢龘 สวัสดี 👩‍👩‍👧", "x" * 300)
EQUAL = "equal"
FIRST = "To begin with: 1 Zug, 2 Brücken …"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary, and the spec by which each contender opens it."""

    name: str
    specs: dict[str, str]


def family_of(path: Path) -> str:
    """The in-house family that opens a file; of one that no family opens, BPE says why."""
    try:
        return str(model_type_of(path) or "bpe").lower()
    except tokbench.TokenizerError:
        return "bpe"


def of_document(name: str, path: Path, *, match_special: bool = False) -> Vocabulary:
    """A `tokenizer.json`; `match_special` where the text of special tokens is to be matched."""
    family = family_of(path)
    special = ",special=match" * match_special
    specs = {OURS: f"{family}:{path}" + ",match_special=true" * match_special}
    specs |= {OWN: f"transformers:{path}{special}"} | _fast(f"{path}{special}", f"{path}{special}")
    return Vocabulary(name, specs)


def _fast(gigatoken: str, snaptokens: str) -> dict[str, str]:
    return {"gigatoken": f"gigatoken:{gigatoken}", "snaptokens": f"snaptokens:{snaptokens}"}


def in_folder(folder: Path) -> Iterator[Vocabulary]:
    """Every file in the folder that is a vocabulary by its name."""
    for path in sorted([folder] if folder.is_file() else folder.rglob("*")):
        name = str(path.relative_to(folder)) if path != folder else path.name
        if path.name == "tokenizer.json":
            yield of_document(name, path)
        elif path.suffix == ".model":
            specs = {
                OURS: f"{family_of(path)}:{path}",
                OWN: f"sentencepiece:{path}",
                "gigatoken": f"gigatoken:{path}",
            }
            yield Vocabulary(name, specs)
        elif path.name == "vocab.txt":
            theirs = f"transformers:{path.parent},tokenizer_class=BertTokenizer"
            yield Vocabulary(name, {OURS: f"wordpiece:{path}", OWN: theirs})


def encodings(temporary: Path) -> Iterator[Vocabulary]:
    """Those of tiktoken that its cache holds; the in-house BPE opens them as `.tiktoken` files."""
    from tokbench_extras.published import cached

    for name in ("r50k_base", "cl100k_base", "o200k_base"):
        if cached(name).is_file():
            path, document = temporary / f"{name}.tiktoken", temporary / f"{name}.json"
            path.symlink_to(cached(name))
            tokbench.load(f"bpe:{path}").save(document)  # type: ignore[attr-defined]
            yield Vocabulary(name, {OURS: f"bpe:{path}", OWN: f"tiktoken:{name}", **_fast(name, str(document))})


def derived(folder: Path, temporary: Path) -> Iterator[Vocabulary]:
    """The variants of the files in the folder."""
    path = temporary / "tokenizer.json"
    for variant in variants(folder):
        path.write_text(json.dumps(variant.content), encoding="utf-8")
        yield of_document(variant.name, path, match_special=variant.match_special)


def in_a_child(function: Callable[..., Any], *arguments: Any) -> Any:
    """What `function` gives in a process of its own; None where it raises or dies."""
    receiver, sender = _SERVER.Pipe(duplex=False)
    process = _SERVER.Process(target=_send, args=(sender, function, *arguments))
    process.start()
    sender.close()
    try:
        result = receiver.recv()
    except EOFError:
        result = None
    process.join()
    return result


def _send(sender: Connection, function: Callable[..., Any], *arguments: Any) -> None:
    with Path(os.devnull).open("w") as nowhere:
        os.dup2(nowhere.fileno(), 2)  # what goes wrong is told by None
    sender.send(function(*arguments))


def encoded(spec: str, documents: list[str]) -> Any:
    """The ids of the documents."""
    return tokbench.load(spec).encode_batch(documents)


def difference(spec: str, documents: list[str], expected: Any) -> str:
    """The first document whose ids are not the expected ones; "equal" where there is none."""
    found = encoded(spec, documents)
    if np.array_equal(found.ids, expected.ids) and np.array_equal(found.offsets, expected.offsets):
        return EQUAL
    triples = zip(documents, found, expected, strict=True)
    return next(document for document, ids, theirs in triples if ids.tolist() != theirs.tolist())


def passes(spec: str, documents: list[str]) -> tuple[float, float]:
    """CPU seconds of the first and of the second pass over the text."""
    tokenizer = tokbench.load(spec)
    tokenizer.encode_batch([FIRST])
    gc.disable()
    seconds = []
    for _ in range(2):
        start = time.process_time()
        tokenizer.encode_batch(documents)
        seconds.append(time.process_time() - start)
    return seconds[0], seconds[1]


def refusal(spec: str) -> str:
    """What is said where a spec cannot be loaded; nothing where it can."""
    try:
        tokbench.load(spec)
    except tokbench.TokenizerError as error:
        return str(error)
    return ""


def opened(vocabulary: Vocabulary) -> dict[str, str]:
    """The spec of each contender that opens the file."""
    found = {}
    for contender, spec in vocabulary.specs.items():
        refused = in_a_child(refusal, spec)
        if refused == "":
            found[contender] = spec
        elif contender in (OURS, OWN):
            print(f"{vocabulary.name}: {contender} refuses it: {refused or 'its process died'}", flush=True)
    return found


def cell(specs: dict[str, str], documents: list[str], rounds: int) -> dict[str, Any]:
    """Speeds in MB/s, cold and warm, of those whose ids are equal; `differs` names a text of the others."""
    compared = [*HARD, *sample(documents, SAMPLE)]
    expected = in_a_child(encoded, specs[OWN], compared)
    differs: dict[str, str] = {}
    for contender, spec in specs.items():
        told = in_a_child(difference, spec, compared, expected)
        if told != EQUAL:
            differs[contender] = "(an error)" if told is None else told
    megabytes = sum(len(document.encode()) for document in documents) / 1e6
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in specs if name not in differs}
    for _ in range(rounds):
        for contender, seconds in taken.items():
            if pair := in_a_child(passes, specs[contender], documents):
                seconds.append(pair)
    speeds = {
        contender: [megabytes / statistics.median(column) for column in zip(*seconds, strict=True)]
        for contender, seconds in taken.items()
        if seconds
    }
    return {"megabytes": megabytes, "speeds": speeds, "differs": differs}


def line(row: dict[str, Any]) -> str:
    """A cell as a line: our speed, and the ratio to each of the others, cold and warm."""
    speeds, differs = row["speeds"], row["differs"]
    head = f"{row['vocabulary']:52.52} {row['text']:22.22}"
    if OURS in differs:
        return f"{head} DIFFERS: {ascii(differs[OURS])[:300]}"
    shown = [f"{speeds[OURS][0]:7.1f} {speeds[OURS][1]:7.1f}"]
    for other in OTHERS:
        if other in speeds:
            shown.append(
                "{:7.2f} {:7.2f}".format(*(a / b for a, b in zip(speeds[OURS], speeds[other], strict=True)))
            )
        else:
            shown.append(f"{'differs' if other in differs else '–':>7} {'':7}")
    return f"{head} {'  '.join(shown)}"


def summary(rows: list[dict[str, Any]], worst: int) -> Iterator[str]:
    """For each other contender the cells that are worst for us, and the geometric mean, cold and warm."""
    ours = [row for row in rows if OURS in row["speeds"]]
    for other in OTHERS:
        for index, when in enumerate(("cold", "warm")):
            ratios = [
                (row["speeds"][OURS][index] / row["speeds"][other][index], row)
                for row in ours
                if other in row["speeds"]
            ]
            if ratios:
                ratios.sort(key=lambda pair: pair[0])
                mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in ratios))
                yield f"\n{other}, {when}: geometric mean {mean:.2f} of {len(ratios)} cells, least:"
                for ratio, row in ratios[:worst]:
                    speed = row["speeds"][OURS][index]
                    yield f"  {ratio:6.2f}  {speed:7.1f} MB/s  {row['vocabulary']}, {row['text']}"
    yield f"\nids differ in {sum(OURS in row['differs'] for row in rows)} of {len(rows)} cells"


def main() -> int:
    """Measure every cell; 1 where in-house ids differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path, help="vocabularies, or folders of them")
    parser.add_argument("--megabytes", type=float, default=2.0, help="of each text (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--text", action="append", default=[], metavar="NAME=PATH", help="a file or folder of lines"
    )
    parser.add_argument(
        "--hard", action="store_true", help="text that is hard to be quick on, made up, instead"
    )
    parser.add_argument("--texts", action="append", help="only texts whose names contain this")
    parser.add_argument("--only", default="", help="only vocabularies whose names contain this")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth vocabulary")
    parser.add_argument("--quick", action="store_true", help="a part of the matrix, in two minutes")
    parser.add_argument("--worst", type=int, default=10, help="how many of the worst cells the summary names")
    parser.add_argument("--json", type=Path, help="write the cells here")
    asked = parser.parse_args()
    data = Path(os.environ.get("TOKBENCH_TEST_DATA") or parser.error("set TOKBENCH_TEST_DATA"))
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(data / "vocabs" / "tiktoken-cache"))
    if asked.quick:
        asked.megabytes, asked.rounds, asked.every = 0.2, 1, 25
    own = [(name, Path(path)) for name, _, path in (text.partition("=") for text in asked.text)]
    texts = texts_of(data / "corpora", asked.megabytes, own)
    if asked.hard:
        texts = hard_texts(asked.megabytes) | {name: texts[name] for name, _ in own if name in texts}
    texts = {
        name: documents
        for name, documents in texts.items()
        if any(part in name for part in asked.texts or [""])
    }
    _SERVER.set_forkserver_preload(["tokbench", *LIBRARIES])
    heads = "  ".join(f"{'× ' + other:>15}" for other in OTHERS)
    print(f"{'vocabulary':52} {'text':22} {'MB/s cold, warm':>15}  {heads}", flush=True)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        subjects = all_vocabularies(asked.paths, data / "vocabs", Path(folder))
        for number, vocabulary in enumerate(one for one in subjects if asked.only in one.name):
            if number % asked.every:
                continue
            specs = opened(vocabulary)
            if not {OURS, OWN} <= specs.keys():
                continue
            in_a_child(encoded, specs[OURS], list(HARD))  # compiles
            for name, documents in texts.items():
                row = {"vocabulary": vocabulary.name, "text": name} | cell(specs, documents, asked.rounds)
                rows.append(row)
                print(line(row), flush=True)
    print("\n".join(summary(rows, asked.worst)))
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return int(any(OURS in row["differs"] for row in rows))


def all_vocabularies(paths: list[Path], vocabularies: Path, temporary: Path) -> Iterator[Vocabulary]:
    """Those of the paths, or all at hand and their variants."""
    for path in paths:
        yield from in_folder(path)
    if not paths:
        yield from encodings(temporary)
        yield from in_folder(vocabularies)
        yield from derived(vocabularies, temporary)


if __name__ == "__main__":
    sys.exit(main())
