"""Speed of compiled normalizers beside the plain Python ones and those of `tokenizers`, texts compared first.

    python benchmarks/normalizers.py [--megabytes 8] [--rounds 5] [--only NAME]

CPU time of one thread, rounds interleaved, the median shown as MB of UTF-8 input per second. Documents are
lines of the corpora in the folder that TOKBENCH_TEST_DATA names: an English novel; parallel corpora, with those
that tokbench brings along, a line of each language in turn; a Chinese novel. The compiled form takes and gives
a batch of UTF-8; the others take and give strings, one by one. Plain Python does a tenth of the text. Exit
status 1 where a text differs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from rounds import interleaved
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
from tokbench_subword.pipeline.normalizers import text_normalizer_of
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokenizers import Regex
from tokenizers import normalizers as N

from tokbench.kernels.pointers import PADDING

NORMALIZERS = {
    "NFC": N.NFC(),
    "NFD": N.NFD(),
    "NFKC": N.NFKC(),
    "NFKD": N.NFKD(),
    "Lowercase": N.Lowercase(),
    "StripAccents": N.StripAccents(),
    "Nmt": N.Nmt(),
    "BertNormalizer": N.BertNormalizer(),
    "BertNormalizer, cased": N.BertNormalizer(lowercase=False),
    "ByteLevel": N.ByteLevel(),
    "Prepend": N.Prepend("▁"),
    "Strip": N.Strip(),
    "Replace a space": N.Replace(" ", "▁"),
    "Replace ``": N.Replace("``", '"'),
    "Replace two spaces": N.Replace("  ", " "),
    "CLIP: NFC, \\s+, Lowercase": N.Sequence([N.NFC(), N.Replace(Regex(r"\s+"), " "), N.Lowercase()]),
    "Precompiled nmt_nfkc": N.Precompiled(charsmap_of("nmt_nfkc")),
    "ALBERT": N.Sequence(
        [
            N.Replace("``", '"'),
            N.Replace("''", '"'),
            N.NFKD(),
            N.StripAccents(),
            N.Lowercase(),
            N.Precompiled(charsmap_of("nmt_nfkc")),
        ]
    ),
}


def corpora(folder: Path, size: int) -> dict[str, list[str]]:
    """The lines of each corpus, up to some bytes."""
    own = Path(__file__).parents[1] / "datasets/parallel"
    parallel = [*sorted((folder / "pud").glob("*.txt")), *sorted((folder / "flores200/dev").iterdir())]
    texts = [path.read_text(encoding="utf-8").split("\n") for path in [*parallel, *sorted(own.glob("*_*.txt"))]]
    many = [lines[k] for k in range(max(map(len, texts))) for lines in texts if k < len(lines)]
    return {
        "English": _upto((folder / "novels/eng_Latn.txt").read_text(encoding="utf-8").split("\n"), size),
        f"{len(texts)} files": _upto(many, size),
        "Chinese": _upto((folder / "novels/zho_Hans.txt").read_text(encoding="utf-8").split("\n"), size),
    }


def _upto(lines: list[str], size: int) -> list[str]:
    ends = np.cumsum([len(line.encode()) for line in lines])
    return lines[: int(np.searchsorted(ends, size)) + 1]


def _each(normalize: Callable[[str], str], texts: list[str]) -> None:
    for text in texts:
        normalize(text)


def main() -> int:
    """Print the table; 1 where a text differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="normalizers with this in their name")
    options = parser.parse_args()
    folder = Path(os.environ.get("TOKBENCH_TEST_DATA") or sys.exit("set TOKBENCH_TEST_DATA")) / "corpora"
    differs = False
    for name, lines in corpora(folder, int(options.megabytes * 1e6)).items():
        encoded = [line.encode() for line in lines]
        offsets = np.cumsum([0, *map(len, encoded)])
        data = np.frombuffer(bytearray(b"".join(encoded) + bytes(PADDING)), np.uint8)[: offsets[-1]]
        some = lines[::10]
        sizes = (len(data), len(data), sum(len(line.encode()) for line in some))
        print(f"{name}: {len(data) / 1e6:.1f} MB of {len(lines)} lines, MB/s")
        print(f"  {'':28}{'compiled':>10}{'tokenizers':>12}{'plain':>8}")
        for kind, library in NORMALIZERS.items():
            if options.only not in kind:
                continue
            config = json.loads(library.__getstate__())
            compiled, plain = compiled_normalizer_of(config), text_normalizer_of(config)
            assert compiled is not None
            assert plain is not None
            given = Segments(data, offsets)
            result = compiled(given)
            texts = [result.data[start:end].tobytes().decode() for start, end in pairwise(result.offsets)]
            equal = texts == [library.normalize_str(line) for line in lines]
            differs |= not equal
            calls: dict[str, Callable[[], object]] = {
                "compiled": partial(compiled, given),
                "tokenizers": partial(_each, library.normalize_str, lines),
                "plain": partial(_each, plain, some),
            }
            times = interleaved(calls, options.rounds).values()
            speeds = [size / statistics.median(each) / 1e6 for size, each in zip(sizes, times, strict=True)]
            figures = f"{speeds[0]:10.0f}{speeds[1]:12.2f}{speeds[2]:8.1f}"
            print(f"  {kind:28}{figures}{'' if equal else '   DIFFERS'}", flush=True)
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
