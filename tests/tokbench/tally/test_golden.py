"""Tallies that stay what they are, byte for byte, until `TALLY_VERSION` is raised.

What is in a cache is used as long as the version is the same. So where a change makes one of these digests
another, raise the version, and print the new digests: ``python -m tests.tokbench.tally.test_golden``.
"""

from __future__ import annotations

import hashlib
import zlib

import pytest

import tokbench
from tests.tokbench.tally.stand_ins import Lowering, Prefixing, Words
from tokbench.corpus import Document
from tokbench.tally.collect import collect
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.tally import TALLY_VERSION, Tally

TEXTS = [
    "It's 1,234,567 words,\r\n_and_ 3.14 more in 1999.\n" * 3,
    "",
    "L'été à 北京 กำ é \U0001f469\u200d\U0001f680",
    "supercalifragilisticexpialidocious " * 5,
    "«Naïve» “don’t” – ٠١٢٣٤ " * 9,
    "Строка на русском, ещё 12 345 слов.",
    "हिन्दी में एक वाक्य, 한국어 문장 ㄱㅏ",
    "  two  spaces\tand a tab \u3000 here ",
]
CODE = [
    "def größeÄndern(HTTPServer, x_9=None):\n    return x_9 // 2 != 1  # -> gone\n",
    "\tfor (i = 0; i <= n; i++) { a->b ??= 'x == y'; }\n",
]
GOLDEN = {
    "bytes text": "1c741b2d8473ae0e",
    "bytes code": "ab2521151d8b23db",
    "chars text": "c18b56029a01cfbf",
    "words text": "eb35771ff26b883a",
    "lowering text": "26376ec740eaa55f",
    "prefixing text": "4777467737cce63f",
    "prefixing code": "00de6fe995a1d18f",
}


def made() -> dict[str, Tally]:
    """The tally of each tokenizer on each text."""
    tokenizers = {
        "bytes": tokbench.load("bytes"),
        "chars": tokbench.load("chars"),
        "words": Words("words,", "two", "spaces", "here"),
        "lowering": Lowering("it", " wo", "ete", "super"),
        "prefixing": Prefixing(" L", "    ", " two", "(i", "return"),
    }
    datasets = {
        "text": (TEXTS, CorpusFacts()),
        "code": (CODE, CorpusFacts(kind="code", language="nosuchlanguage")),
    }
    return {
        name: collect(tokenizers[name.split()[0]], map(Document, texts), facts=facts)
        for name in GOLDEN
        for texts, facts in [datasets[name.split()[1]]]
    }


def digest(tally: Tally) -> str:
    """A digest of what is in a tally, without its version and however it is compressed."""
    body = zlib.decompress(tally.to_bytes().partition(b"\n")[2])
    return hashlib.sha256(body.replace(f'"version":{TALLY_VERSION},'.encode(), b"", 1)).hexdigest()[:16]


@pytest.fixture(scope="module")
def digests() -> dict[str, str]:
    return {name: digest(tally) for name, tally in made().items()}


@pytest.mark.parametrize("name", GOLDEN)
def test_tallies_stay_what_they_are(digests: dict[str, str], name: str) -> None:
    assert digests[name] == GOLDEN[name], "raise TALLY_VERSION, and see the head of this file"


def test_the_version_is_that_of_these_digests() -> None:
    assert TALLY_VERSION == 8


if __name__ == "__main__":
    for name, tally in made().items():
        print(f'    "{name}": "{digest(tally)}",')
