"""The texts that vocabularies are measured on: no line twice, languages in turn; and hard ones, made up."""

from __future__ import annotations

import random
import string
import sysconfig
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

TEXTS = {
    "English": ("novels/eng_Latn.txt",),
    "21 languages": ("pud/???_????.txt",),
    "FLORES languages": ("flores200/dev/*.dev",),
    "Chinese-Japanese-Thai": (
        "novels/zho_Hans.txt",
        "novels/jpn_Jpan.txt",
        "pud/tha_Thai.txt",
        "flores200/dev/tha_*",
    ),
}
"""Names and the files of a folder of corpora."""
CODE = "code"


def texts_of(corpora: Path, megabytes: float, own: Iterable[tuple[str, Path]] = ()) -> dict[str, list[str]]:
    """So many documents of each kind of text, lines or files of code; `own` adds files and folders of lines."""
    limit = int(megabytes * 1e6)
    found = {name: [path for one in globs for path in corpora.glob(one)] for name, globs in TEXTS.items()}
    found |= {name: list(path.rglob("*.txt")) if path.is_dir() else [path] for name, path in own}
    texts = {name: _first(_lines_in_turn(paths), limit) for name, paths in found.items() if paths}
    return texts | {CODE: _first(_library(), limit)}


def hard_texts(megabytes: float) -> dict[str, list[str]]:
    """So much of what no cache and no quick path helps with, the same in every run.

    Words that come once; one word of four letters without an end, of a fifth of the size, since libraries may
    take a second for it; and any characters, with those that join others.
    """
    source, size = random.Random(7), int(megabytes * 1e6)
    words = (
        "".join(source.choices(string.ascii_lowercase, k=source.randrange(6, 12))) for _ in range(size // 8)
    )
    joining = [*"\u0301\u0345\u0600\u06dd\u093c\u094d\u200d\u302e\ufe0f\U0001d15e", "e\u0301", "\r\n", " "]
    ranges = (range(0x20, 0x250), range(0x250, 0x2000), range(0x2000, 0xD800), range(0xE000, 0x20000))
    characters = (
        chr(source.choice(source.choice(ranges))) if source.random() < 0.9 else source.choice(joining)
        for _ in range(size // 3)
    )
    return {
        "words that come once": _parted(" ".join(words)),
        "one word without an end": ["".join(source.choices("ACGT", k=size // 5))],
        "any characters": _parted("".join(characters)),
    }


def _parted(text: str) -> list[str]:
    return [text[k : k + 4000] for k in range(0, len(text), 4000)]


def sample(documents: list[str], size: int) -> list[str]:
    """Documents from all over the text, of about `size` bytes in all."""
    total = sum(map(len, documents))
    return documents[:: max(1, round(total / size))]


def _lines_in_turn(paths: list[Path]) -> Iterator[str]:
    """The first line of every file, the second of every file and so on, none twice."""
    lines = (path.read_text(encoding="utf-8").splitlines() for path in sorted(paths))
    seen = {""}
    for line in (line for row in zip_longest(*lines, fillvalue="") for line in row):
        if line not in seen:
            seen.add(line)
            yield line


def _library() -> Iterator[str]:
    """Python's own library, a document a file."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*/*.py")):
        if "site-packages" not in path.parts:
            yield path.read_bytes().decode("utf-8", "replace")


def _first(documents: Iterable[str], limit: int) -> list[str]:
    """The documents of the first `limit` bytes."""
    found: list[str] = []
    size = 0
    for document in documents:
        size += len(document.encode())
        if size > limit and found:
            break
        found.append(document)
    return found
