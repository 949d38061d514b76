"""Whether two checkouts of tokbench count and measure the same: tallies byte for byte, figures to 1e-12.

    git clone . ../old && git -C ../old checkout COMMIT
    python tools/compare_tallies.py ../old [--languages N] [--lines N] [--tokenizer SPEC]…

For changes that are to make counting or measuring faster and nothing else. Each checkout counts in a process
of its own, the same texts: parallel text and strings that break things from the folder that TOKBENCH_TEST_DATA
names, the old checkout's code, random text made to be hostile, and words marked in it. Exit status 1 where
anything differs, and the first differences are printed.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TOLERANCE = 1e-12
SHOWN = 20
IN_HOUSE = ("bytes", "chars")


def main() -> int:
    """Count with both checkouts and compare; or, as the child of such a run, count with one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("old", type=Path, help="a checkout to compare this one with")
    parser.add_argument("--languages", type=int, default=21)
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--tokenizer", action="append", help="a tokenizer spec")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        options.write.write_text(json.dumps(counted(options)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        old, new = (
            child(checkout, Path(folder) / name)
            for checkout, name in ((options.old.resolve(), "old"), (ROOT, "new"))
        )
    different = list(differences(old, new))
    for each in different[:SHOWN]:
        print(each)
    n_tallies = sum(name.startswith("tally ") for name in old)
    print(f"{n_tallies} tallies, {len(old) - n_tallies:,} rows: {len(different)} differ")
    return int(bool(different) or not old)


def child(checkout: Path, file: Path) -> dict[str, Any]:
    """What a process that imports `checkout` finds."""
    paths = [str(checkout), str(checkout / "plugins")]
    command = [sys.executable, __file__, *sys.argv[1:], "--write", str(file)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def differences(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    """A line for everything that is not the same in both."""
    for name in {**old, **new}:
        one, other = old.get(name), new.get(name)
        if not same(one, other):
            yield f"{name}\n  old: {one}\n  new: {other}"
    if [*old] != [*new] and old.keys() == new.keys():
        yield "the rows are in another order"


def same(one: Any, other: Any) -> bool:
    """Whether two entries are equal, numbers as nearly as rounding allows."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=0)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def counted(options: argparse.Namespace) -> dict[str, Any]:
    """Every tally's digest and every row by name, of the tokbench that is imported."""
    import tokbench
    from tokbench.metrics import CellKey
    from tokbench.metrics.catalogue import CATALOGUE
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.differences import differences as paired
    from tokbench.metrics.measure import measure

    data = Path(os.environ.get("TOKBENCH_TEST_DATA") or sys.exit("set TOKBENCH_TEST_DATA"))
    specs = options.tokenizer or [*IN_HOUSE, *published(data / "vocabs")]
    tokenizers = {spec: tokbench.load(spec) for spec in specs}
    print(f"{Path(tokbench.__file__).parents[1]}: {len(specs)} tokenizers", flush=True)
    found: dict[str, Any] = {}
    cells: dict[CellKey, Any] = {}
    for dataset, language, documents, facts in texts(data / "corpora", options):
        for spec, tally in each_tally(tokenizers, documents, facts):
            name = f"tally {spec} {dataset} {language}"
            if isinstance(tally, str):
                found[name] = tally
                continue
            found[name] = hashlib.sha256(tally.to_bytes()).hexdigest()
            cells[CellKey(spec, dataset, language)] = tally
    context = MeasureContext(
        vocab_sizes={spec: tokenizer.vocab_size for spec, tokenizer in tokenizers.items()},
        parallel={"parallel": True},
        kinds={"code": "code"},
        baseline=specs[-1],
        context_length=8192,
        renyi_alphas=(0.5, 3.0),
    )
    contexts = {"": context, "lossless ": dataclasses.replace(context, exclude_lossy=True, replicates=50)}
    for prefix, each in contexts.items():
        for row in measure(cells, CATALOGUE, context=each):
            own = dataclasses.astuple(row)
            found[f"{prefix}row {' '.join(own[:4])}"] = list(own[4:])
    for pair in paired(cells, CATALOGUE, context=context, per_language=False):
        own = dataclasses.astuple(pair)
        found[f"difference {' '.join(own[:5])}"] = list(own[5:])
    return found


def each_tally(tokenizers: dict[str, Any], documents: Any, facts: Any) -> Iterator[Any]:
    """The tally of each tokenizer; of one that refuses the text, what it says."""
    from tokbench.errors import TokenizerError
    from tokbench.tally.collect import collect
    from tokbench.tally.prepare import prepare

    batches = list(prepare(documents, facts=facts))
    for spec, tokenizer in tokenizers.items():
        try:
            yield spec, collect(tokenizer, batches, facts=facts)
        except TokenizerError as error:
            yield spec, str(error)


def published(vocabs: Path) -> list[str]:
    """Tokenizers of four libraries, lossless and not, and some of ours with the same vocabularies."""
    fast = sorted(vocabs.glob("*/hf/tokenizer.json"))
    pieces = [path for path in sorted(vocabs.glob("*/*.model")) if path.parent.name != "spm-test"]
    encodings = ("gpt2", "cl100k_base", "o200k_base")
    return [
        *(f"transformers:{path}" for path in fast),
        *(f"sentencepiece:{path}" for path in pieces),
        *(f"bpe:{path}" for path in fast if path.parts[-3] in ("gpt2", "qwen2")),
        *(f"wordpiece:{path}" for path in fast if path.parts[-3].startswith("bert")),
        *(f"unigram:{path}" for path in pieces if path.parent.name != "llama-2"),
        *(f"tiktoken:{name}" for name in encodings),
    ]


def texts(corpora: Path, options: argparse.Namespace) -> Iterator[tuple[str, str, list[Any], Any]]:
    """Dataset, language, documents and facts of everything that is counted."""
    from tokbench import Document
    from tokbench.tally.counters import CorpusFacts

    parallel = CorpusFacts(parallel=True)
    paths = sorted(path for path in (corpora / "pud").glob("*_*.txt") if path.name != "sent_ids.txt")
    for path in paths[: options.languages]:
        some = path.read_text("utf-8").split("\n")[: options.lines]
        yield "parallel", path.stem, [Document(line, line=n) for n, line in enumerate(some)], parallel
    naughty = sorted(path for path in (corpora / "naughty-strings").rglob("*.txt"))
    for path in naughty:
        some = path.read_text("utf-8", "replace").split("\n")
        yield "naughty", path.stem, [Document(line) for line in some], CorpusFacts()
    code = sorted((options.old / "tokbench").rglob("*.py"))[:40]  # which nobody is editing
    facts = CorpusFacts(kind="code", language="python")
    yield "code", "python", [Document(path.read_text("utf-8")) for path in code], facts
    for seed in range(4):
        yield "hostile", str(seed), [Document(text) for text in hostile(seed)], CorpusFacts()
    yield "hostile", "words", [*marked(random.Random(9))], CorpusFacts()


ALPHABETS = (
    "ab ", "a  \t\n\r\u00a0\u2003\u200b", "aé\u0301\u0323ñÅ", "0123456789,. ", "漢字かな ", "ไทย่้ ", "नमस्ते क्ष ",
    "🙂👩\u200d👩\u200d👧🇩🇪\ufe0f", "\u2581 ▁a<unk></s>⁇", "ﬁ①Ⅷ½ＡＢ㍿", "العربية\u064e\u0640 ", "한국어ㄱㅏ ",
    "\ufffd\u2028\u2029\x00\x1f\x85", "<|endoftext|>[UNK][CLS]##a'll ",
)  # fmt: skip


def hostile(seed: int) -> Iterator[str]:
    """Random texts of few kinds of character each, of any, empty, long, repeated; some of lone surrogates."""
    rng = random.Random(seed)
    for _ in range(150):
        alphabet = "".join(rng.sample(ALPHABETS, rng.randint(1, 3)))
        yield "".join(rng.choices(alphabet, k=rng.choice((0, 1, 2, 5, 20, 100, 700))))
    for _ in range(100):
        points = (rng.choice((0x80, 0x800, 0x10000, 0x110000)) for _ in range(rng.randint(1, 60)))
        text = "".join(chr(rng.randrange(below)) for below in points)
        yield text if seed == 0 else text.encode("utf-8", "replace").decode()
    yield from ("a" * 70_000, " " * 3000, "漢" * 3000, "", "")


def marked(rng: random.Random) -> Iterator[Any]:
    """Documents with words of their own, some of which begin and end inside tokens."""
    from tokbench import Document

    for text in hostile(8):
        cuts = sorted(rng.sample(range(len(text) + 1), min(len(text) + 1, 8)))
        yield Document(text, words=tuple(zip(cuts[::2], cuts[1::2], strict=False)))


if __name__ == "__main__":
    sys.exit(main())
