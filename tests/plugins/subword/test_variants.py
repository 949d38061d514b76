"""Well-known files with one part of each replaced: the in-house ids are those of `tokenizers`.

The everyday run takes one variant in forty; `pytest -m slow` takes all.
"""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path

import pytest
from tokenizers import Tokenizer

import tokbench
from tests.plugins.subword.strings import hard_strings

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))  # whose scripts are in no package
from vocabulary_variants import BASES, Variant, variants

EVERY_DAY = 40
ADDED = (
    "  a  b\t\n ▁   <unused_7>[control_9] <unused_70> x<mask>  Hello World!Hello Worlds\n\n\n        return",
    "the Hello World the theHello World <mask>x ﬁ ﬁn \ufb01",
    "<|endoftext|></s> <s>[SEP] <pad>",
)


@pytest.fixture(scope="module")
def texts(test_data: Path) -> list[str]:
    """A line of every language at hand, naughty strings, made-up ones, code."""
    corpora = test_data / "corpora"
    files = [*corpora.glob("pud/???_????.txt"), *corpora.glob("flores200/*/*_*.dev")]
    files += (Path(__file__).parents[3] / "datasets" / "parallel").glob("*.txt")
    naughty = (corpora / "naughty-strings" / "blns.txt").read_text("utf-8").split("\n")
    lines = [path.read_text("utf-8").split("\n", 2)[1] for path in sorted(files)]
    return [*ADDED, *lines, *naughty, *hard_strings(100), Path(__file__).read_text("utf-8"), ""]


def assert_same_ids(variant: Variant, texts: list[str], folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(variant.content), encoding="utf-8")
    theirs = Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = not variant.match_special
    ours = tokbench.load(f"{variant.family}:{path}" + ",match_special=true" * variant.match_special)
    expected = theirs.encode_batch_fast(texts, add_special_tokens=False)
    for text, ids, encoding in zip(texts, ours.encode_batch(texts), expected, strict=True):
        assert ids.tolist() == encoding.ids, f"{variant.name}: {text!a}"


@pytest.mark.parametrize("base", BASES)
def test_some_variants_give_the_ids_of_tokenizers(base: str, test_data: Path, texts, tmp_path: Path) -> None:
    for variant in islice(variants(test_data / "vocabs", base), 0, None, EVERY_DAY):
        assert_same_ids(variant, texts, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
def test_all_variants_give_the_ids_of_tokenizers(base: str, test_data: Path, texts, tmp_path: Path) -> None:
    for variant in variants(test_data / "vocabs", base):
        assert_same_ids(variant, texts, tmp_path)
