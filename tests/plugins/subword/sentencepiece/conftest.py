"""The real models and lines of real text that these tests share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokbench_subword.files.sentencepiece_model import read_model
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

UNIGRAM_MODELS = (
    "t5-base/spiece.model",
    "albert-base-v1/spiece.model",
    "spm-test/test_model.model",
    "spm-test/test_ja_model.model",
    "spm-test/test_sentencepiece.model",
    "spm-test/test_sentencepiece_no_bos.model",
)
BPE_MODELS = ("llama-2/tokenizer.model", "spm-test/test_sentencepiece_bpe.model")
LONG = 200_000  # characters of a long file that the everyday tests read


@pytest.fixture(scope="session")
def pair(test_data: Path) -> Callable[[str], tuple[SpmTokenizer, Any]]:
    """Our tokenizer and sentencepiece's of the same model."""
    import sentencepiece

    made: dict[str, tuple[SpmTokenizer, Any]] = {}

    def of(model: str) -> tuple[SpmTokenizer, Any]:
        if model not in made:
            path = test_data / "vocabs" / model
            theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
            made[model] = SpmTokenizer(model, read_model(path)), theirs
        return made[model]

    return of


def json_pair(folder: str, test_data: Path) -> tuple[JsonUnigramTokenizer, Any]:
    """Our tokenizer and that of `tokenizers`, of the same `tokenizer.json`."""
    from tokenizers import Tokenizer

    path = test_data / "vocabs" / folder / "hf" / "tokenizer.json"
    theirs = Tokenizer.from_file(str(path))
    theirs.encode_special_tokens = True
    theirs.no_padding()
    theirs.no_truncation()
    return JsonUnigramTokenizer.from_file(path), theirs


def corpus_files(test_data: Path) -> list[Path]:
    """Every file of every corpus."""
    return sorted(path for path in (test_data / "corpora").rglob("*") if path.is_file())


def lines_of(path: Path, limit: int | None) -> list[str]:
    """The lines of a file, of its first `limit` characters; what is not UTF-8 replaced."""
    text = path.read_bytes().decode("utf-8", "replace")
    return text[:limit].split("\n")
