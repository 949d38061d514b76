"""The BPE trainer on real text: merges equal to those of `tokenizers`, and to the algorithm written plainly."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from tokbench_subword.bpe.trainer import train_bpe
from tokbench_subword.training.alphabet import byte_symbols
from tokbench_subword.training.ties import FIRST_SEEN

from tests.plugins.subword.bpe.references import hf_merges, written
from tests.plugins.subword.training.plain_merges import plain_merges
from tokbench.counts import WordCounts


def corpora(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Lines of English, lines of 28 other texts, and the files of the standard library."""
    novels = folder / "corpora" / "novels"
    yield "english", (novels / "eng_Latn.txt").read_text(encoding="utf-8").split("\n")
    others = sorted(path for path in novels.glob("*.txt") if path.name not in ("eng_Latn.txt", "SOURCE.txt"))
    parallel = sorted((folder / "corpora" / "pud").glob("???_????.txt"))
    yield (
        "multilingual",
        [line for path in (*others, *parallel) for line in path.read_text("utf-8").split("\n")],
    )
    library = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    yield "code", [path.read_text("utf-8", errors="replace") for path in files]


@pytest.mark.slow
def test_merges_equal_tokenizers_at_8k_and_32k(test_data: Path) -> None:
    for name, texts in corpora(test_data):
        expected = hf_merges(texts, vocab_size=32_000)
        merges, vocabulary = written(train_bpe(texts, vocab_size=32_000))
        assert merges == expected[0], name
        assert vocabulary == expected[1], name
        # A smaller vocabulary is the beginning of a larger one.
        assert written(train_bpe(texts, vocab_size=8000))[0] == expected[0][: 8000 - 256], name


def test_merges_equal_tokenizers_on_real_text(test_data: Path) -> None:
    for path in ("english-misc/romeo-and-juliet.txt", "pud/jpn_Jpan.txt", "pud/arb_Arab.txt"):
        lines = (test_data / "corpora" / path).read_text(encoding="utf-8").split("\n")
        assert written(train_bpe(lines, vocab_size=3000)) == hf_merges(lines, vocab_size=3000), path


@pytest.mark.slow
def test_romeo_and_juliet_as_one_piece(test_data: Path) -> None:
    """The textbook run: bytes, no cuts, 5,000 tokens, about 4.5 bytes a token; equal to the plain form."""
    text = (test_data / "corpora" / "english-misc" / "romeo-and-juliet.txt").read_text(encoding="utf-8")
    model = train_bpe([text], vocab_size=5000, pattern="none", ties="first_seen")
    symbols, _, tokens = byte_symbols(WordCounts.of({text: 1}), FIRST_SEEN, None)
    merges, spelled = plain_merges([(symbols.tolist(), 1)], tokens, n_wanted=5000, rule=FIRST_SEEN)
    assert model.vocabulary == tuple(spelled)
    assert [tuple(merge) for merge in model.merges.tolist()] == merges
