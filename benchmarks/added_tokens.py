"""How fast added tokens are found, by how many there are: compiled, and in plain Python.

    TOKBENCH_TEST_DATA=folder python benchmarks/added_tokens.py [--megabytes N] [--rounds N] [--plain]

The sets of tokens have the shape of well-known vocabularies': one special token that is not matched (0), two
of those and 23 runs of spaces (25), 771 in angle and square brackets (771); beyond those, 500 words of ordinary
English and 500 of Chinese, where nearly every place may begin one. The texts: a novel, Python's own library,
and as many languages as there are in the folder that TOKBENCH_TEST_DATA names. What is found is compared with
the plain form first, in the first 100 kB of each; a difference ends the run. CPU time of one thread, the median
of rounds.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokbench_subword.pipeline.added_matching import AddedMatcher
from tokbench_subword.pipeline.added_tokens import AddedToken, AddedTokens

from tokbench.kernels.pointers import PADDING

Documents = tuple[NDArray[np.uint8], NDArray[np.int64]]


def main() -> int:
    """Compare, time and print; 1 where what is found differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=8.0, help="read so much of each text")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--plain", action="store_true", help="time the plain form too, on the first 100 kB")
    asked = parser.parse_args()
    folder = Path(os.environ.get("TOKBENCH_TEST_DATA") or sys.exit("set TOKBENCH_TEST_DATA")) / "corpora"
    texts = {name: list(some(lines, asked.megabytes)) for name, lines in sources(folder).items()}
    print(f"{'MB/s':12}" + "".join(f"{name:>26}" for name in texts))
    for name, contents in vocabularies(texts).items():
        tokens = AddedTokens(
            AddedToken(text, k, special=text.startswith("<|")) for k, text in enumerate(contents)
        )
        matcher = AddedMatcher.of(tokens, match_special=False)
        row = []
        for text in texts.values():
            if not same(tokens, matcher, list(some(text, 0.1))):
                print(f"{name}: what is found differs")
                return 1
            row.append(figures(tokens, matcher, text, asked))
        print(f"{name:12}" + "".join(f"{cell:>26}" for cell in row), flush=True)
    return 0


def sources(folder: Path) -> dict[str, Iterable[str]]:
    """Lines of each kind of text, without an end."""
    novel = (folder / "novels" / "eng_Latn.txt").read_text().split("\n")
    code = (
        path.read_text(errors="replace") for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    )
    languages = [path.read_text().split("\n") for path in sorted(folder.glob("pud/*.txt"))]
    languages += [path.read_text().split("\n") for path in sorted(folder.glob("flores200/dev/*"))]
    mixed = [line for lines in itertools.zip_longest(*languages, fillvalue="") for line in lines]
    return {
        "English": itertools.cycle(novel),
        "code": itertools.cycle(list(code)),
        f"{len(languages)} languages": itertools.cycle(mixed),
    }


def vocabularies(texts: dict[str, list[str]]) -> dict[str, list[str]]:
    """The contents of added tokens, by what to call them."""
    english = "\n".join(next(iter(texts.values())))
    chinese = "".join(re.findall("[\u4e00-\u9fff]", "".join(list(texts.values())[2])))
    special = ["<|endoftext|>", "<|padding|>"]
    brackets = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]"]
    return {
        "0": special[:1],
        "25": special + [" " * count for count in range(2, 25)],
        "771": brackets + [f"[control_{k}]" for k in range(8, 772)],
        "500 English": sorted(set(re.findall(r"[A-Za-z]{5,}", english)))[::40][:500],
        "500 Chinese": sorted({chinese[at : at + 2] for at in range(0, len(chinese) - 1, 97)})[:500],
    }


def figures(tokens: AddedTokens, matcher: AddedMatcher | None, text: list[str], asked: Any) -> str:
    """Speed, and matches for each kB; the speed of the plain form."""
    if matcher is None:
        return "nothing to find"
    data, offsets = laid_out(text)
    matches = 1e3 * len(matcher.find(data, offsets)[1]) / len(data)
    figure = f"{speed(lambda: matcher.find(data, offsets), text, asked.rounds):.0f} ({matches:.1f}/kB)"
    if asked.plain:
        part = list(some(text, 0.1))
        plain = speed(lambda: [tokens.split(one, match_special=False) for one in part], part, 3)
        figure += f" {plain:.1f}"
    return figure


def some(lines: Iterable[str], megabytes: float) -> Iterable[str]:
    """Lines up to so many megabytes in all."""
    size = 0.0
    for line in lines:
        size += len(line.encode()) / 1e6
        if size > megabytes:
            return
        yield line


def laid_out(texts: list[str]) -> Documents:
    """Texts end to end, and where each begins."""
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(b"".join([*encoded, bytes(PADDING)]), np.uint8)
    return data, np.cumsum([0, *map(len, encoded)])


def same(tokens: AddedTokens, matcher: AddedMatcher | None, texts: list[str]) -> bool:
    """Whether the plain form finds the same, as many bytes long."""
    expected = [
        (piece.token.id, len(text[piece.start : piece.end].encode()))
        for text in texts
        for piece in tokens.split(text, match_special=False)
        if piece.token
    ]
    if matcher is None:
        return not expected
    places, ids = matcher.find(*laid_out(texts))
    return list(zip(ids.tolist(), np.diff(places)[:, 0].tolist(), strict=True)) == expected


def speed(call: Callable[[], Any], texts: list[str], rounds: int) -> float:
    """Megabytes a CPU second of one thread, in the median of rounds."""
    times = []
    for _ in range(rounds + 1):  # the first compiles
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return sum(len(text.encode()) for text in texts) / 1e6 / statistics.median(times[1:])


if __name__ == "__main__":
    raise SystemExit(main())
