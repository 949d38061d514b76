"""Encoding speed of the in-house BPE beside tiktoken, tokenizers and gigatoken; ids are checked first.

    python benchmarks/encode.py --vocabulary cl100k_base corpus.txt other.txt
    TOKBENCH_TEST_DATA=… python benchmarks/encode.py            the corpora and vocabularies found there
    python benchmarks/encode.py --shapes --vocabulary gpt2      short and long documents, texts without a break

Documents are lines. Times are CPU time of one thread, the least of the rounds, with ids as numpy arrays
where the library gives them. `cold` begins with empty caches; `loop` encodes document by document. tokenizers
and gigatoken get tiktoken's own ranks, as files written by us. What is not installed, or gives other ids than
tiktoken, is left out and named.
"""

from __future__ import annotations

import argparse
import os
import random
import string
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rounds import interleaved

os.environ.setdefault("RAYON_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

MEGABYTE = 1_000_000
CORPORA = {
    "english": ["novels/eng_Latn.txt"],
    "russian": ["novels/rus_Cyrl.txt"],
    "zh-ja-th": ["novels/zho_Hans.txt", "novels/jpn_Jpan.txt", "pud/tha_Thai.txt"],
    "21 languages": ["pud/???_????.txt"],
}


def documents(patterns: list[str], root: Path, limit: int) -> list[str]:
    """The lines of the files, about `limit` bytes in all, an equal share from each file."""
    files = [file for pattern in patterns for file in sorted(root.glob(pattern))]
    lines: list[str] = []
    for file in files:
        lines += file.read_bytes()[: limit // len(files)].decode("utf-8", "ignore").splitlines()
    return lines


@dataclass(frozen=True)
class Contender:
    """`run` is what is timed: documents to whatever the library gives; `ids` makes lists of that."""

    run: Callable[[list[str]], Any]
    ids: Callable[[Any], Iterable[list[int]]] = lambda documents: (list(map(int, one)) for one in documents)


@dataclass(frozen=True)
class Libraries:
    """One vocabulary in each library; None where that is not installed."""

    tiktoken: Any
    tokbench: Any
    tokenizers: Any
    gigatoken: Any


def libraries(name: str) -> Libraries:
    """The vocabulary of a tiktoken encoding in all libraries; names those that are not installed."""
    import tiktoken
    from tokbench_subword.bpe.ranks import model_of_ranks, ranks_of
    from tokbench_subword.bpe.tokenizer import BpeTokenizer
    from tokbench_subword.pipeline.patterns import Pattern

    from tokbench.vocabulary_files import write_ranks

    theirs = tiktoken.get_encoding(name)
    pattern = Pattern.of(theirs._pat_str, dialect="rust", keep_gaps=False)
    model = model_of_ranks(theirs._mergeable_ranks, pattern=pattern)
    ours = BpeTokenizer.of_model(model)
    hf = giga = None
    with tempfile.TemporaryDirectory() as folder:
        try:
            import tokenizers
        except ImportError:
            print("tokenizers is not installed: left out")
        else:
            document = Path(folder) / "tokenizer.json"
            ours.save(document)
            hf = tokenizers.Tokenizer.from_file(str(document))
        try:
            import gigatoken
        except ImportError:
            print("gigatoken is not installed: left out")
        else:
            ranks = Path(folder) / "ranks.tiktoken"
            write_ranks(ranks_of(model), ranks)
            giga = gigatoken.Tokenizer.from_tiktoken(ranks, pattern.name)
    return Libraries(theirs, ours, hf, giga)


def contenders(name: str) -> dict[str, Contender]:
    """What is measured, by name. Ratios are to the first."""
    from tokbench_subword.bpe.encoder import BpeEncoder

    every = libraries(name)
    theirs, hf, giga = every.tiktoken, every.tokenizers, every.gigatoken
    ours = BpeEncoder(every.tokbench.model)

    def cold(texts: list[str]) -> object:
        ours.forget()
        return ours.encode_batch(texts)

    found = {
        "tiktoken": Contender(lambda texts: [theirs.encode_ordinary(text) for text in texts]),
        "tokbench": Contender(ours.encode_batch),
        "tokbench cold": Contender(cold),
        "tokbench loop": Contender(lambda texts: [every.tokbench.encode(text) for text in texts]),
    }
    if hf is not None:
        found["tokenizers"] = Contender(
            lambda texts: hf.encode_batch(texts, add_special_tokens=False),
            lambda encodings: (one.ids for one in encodings),
        )
    if giga is not None:
        found["gigatoken"] = Contender(lambda texts: giga.encode_batch(texts, parallel=False))
    return found


def right(name: str, texts: list[str], found: dict[str, Contender]) -> dict[str, Contender]:
    """Those that give tiktoken's ids; the others are named. Ends the program where they are ours."""
    want = found["tiktoken"].run(texts)
    kept = {}
    for label, one in found.items():
        if list(one.ids(one.run(texts))) == want:
            kept[label] = one
        elif label.startswith("tokbench"):
            raise SystemExit(f"{name}: the ids of {label} differ from tiktoken's; nothing is timed")
        else:
            print(f"{name}: the ids of {label} differ from tiktoken's; it is left out")
    return kept


def measure(name: str, texts: list[str], found: dict[str, Contender], rounds: int) -> None:
    """Check the ids, then print one line of speeds and ratios."""
    runs = {label: one.run for label, one in right(name, texts, found).items()}
    size = sum(len(text.encode()) for text in texts)
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for label, run in runs.items():
            if label == "tokbench":
                run(texts)  # warm: the round before may have emptied the caches
            start = time.process_time()
            run(texts)
            best[label] = min(best[label], time.process_time() - start)
    cells = [
        f"{label} {size / 1e6 / seconds:.0f} MB/s (x{best['tiktoken'] / seconds:.1f})"
        for label, seconds in best.items()
    ]
    print(f"{name}, {size / 1e6:.1f} MB, {len(texts)} documents: " + ", ".join(cells), flush=True)


def shapes(english: str, han: str) -> dict[str, list[str]]:
    """Documents of three sizes, alone and many at once, and texts of a megabyte without a place to break."""
    letters = random.Random(0).choices(string.ascii_lowercase, k=MEGABYTE)
    texts: dict[str, list[str]] = {}
    for label, size, count in (("100 B", 100, 1000), ("1 kB", 1000, 100), ("1 MB", MEGABYTE, 2)):
        cut = [english[i * size : (i + 1) * size] for i in range(count)]
        texts[f"one of {label}"], texts[f"{count} of {label}"] = cut[:1], cut
    texts["one letter"] = ["a" * MEGABYTE]
    texts["random letters"] = ["".join(letters)]
    texts["spaces"] = [" " * MEGABYTE]
    texts["CJK"] = ["".join(filter(str.isalpha, han))[: MEGABYTE // 3]]
    return texts


def measure_shapes(name: str, texts: list[str], found: dict[str, Contender], rounds: int) -> None:
    """Print one line: microseconds of CPU time beside those of tiktoken, which `fails` on some texts."""
    ours, theirs = found["tokbench loop" if len(texts) == 1 else "tokbench"].run, found["tiktoken"].run
    want = None
    try:
        want = theirs(texts)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of Rust is no `Exception`
        print(f"{name}: tiktoken fails: {type(error).__name__}", end="; ")
    got = [ids.tolist() for ids in ours(texts)]
    if want is not None and got != want:
        raise SystemExit(f"{name}: the ids differ from tiktoken's; nothing is timed")
    calls = {"tokbench": lambda: ours(texts)} | ({} if want is None else {"tiktoken": lambda: theirs(texts)})
    best = {label: min(seconds) for label, seconds in interleaved(calls, rounds).items()}
    line = f"{name}: tokbench {best['tokbench'] * 1e6:.1f} us"
    if want is not None:
        line += f", tiktoken {best['tiktoken'] * 1e6:.1f} us (x{best['tiktoken'] / best['tokbench']:.1f})"
    print(line, flush=True)


def main() -> None:
    """Measure what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "files", nargs="*", type=Path, help="corpora; without them, those of TOKBENCH_TEST_DATA"
    )
    parser.add_argument("--vocabulary", default="gpt2", help="a tiktoken encoding (default: %(default)s)")
    parser.add_argument("--megabytes", type=float, default=3.0, help="of each corpus (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--shapes", action="store_true", help="short and long documents instead; needs TOKBENCH_TEST_DATA"
    )
    given = parser.parse_args()
    named = os.environ.get("TOKBENCH_TEST_DATA")
    root = Path(named) if named else None
    if root:
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(root / "vocabs/tiktoken-cache"))
    if not given.files and not root:
        parser.error("name corpora, or set TOKBENCH_TEST_DATA")
    found = contenders(given.vocabulary)
    if given.shapes:
        if root is None:
            parser.error("--shapes needs TOKBENCH_TEST_DATA")
        novels = root / "corpora/novels"
        english = (novels / "eng_Latn.txt").read_text("utf-8")
        han = (novels / "zho_Hans.txt").read_text("utf-8")
        for name, texts in shapes(english, han).items():
            measure_shapes(f"{given.vocabulary}, {name}", texts, found, given.rounds)
        return
    limit = int(given.megabytes * 1e6)
    if given.files:
        corpora = {file.name: documents([file.name], file.parent, limit) for file in given.files}
    else:
        assert root is not None
        corpora = {name: documents(files, root / "corpora", limit) for name, files in CORPORA.items()}
    for name, texts in corpora.items():
        measure(f"{given.vocabulary}, {name}", texts, found, given.rounds)


if __name__ == "__main__":
    main()
