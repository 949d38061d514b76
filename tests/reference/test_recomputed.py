"""Figures made a second time from raw ids in plain Python, with none of the code that counts: equal to 1e-9.

Three tokenizers, five languages of parallel text and Python code; one has a dummy prefix and byte fallback.
Recomputed are the metrics that need no places of tokens in the text.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

import tokbench
from tokbench.corpora.cards import datasets_folder
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.measure import measure
from tokbench.tally import CorpusFacts, collect

LANGUAGES = ("eng_Latn", "deu_Latn", "rus_Cyrl", "zho_Hans", "tha_Thai")
SPECS = ("bytes", "tiktoken:gpt2", "sentencepiece:{}/llama-2/tokenizer.model")


def read(path: Path) -> list[str]:
    return path.read_text("utf-8").removesuffix("\n").split("\n")


def figures(tokenizer: tokbench.Tokenizer, texts: list[str]) -> dict[str, float]:
    """The metrics of one text, each by its definition."""
    ids = [list(tokenizer.encode(text)) for text in texts]
    flat = [token for document in ids for token in document]
    n, size = len(flat), sum(len(text.encode()) for text in texts)
    chars = sum(map(len, texts))
    shares = [count / n for count in Counter(flat).values()]
    shannon = -sum(share * math.log2(share) for share in shares)
    renyi = math.log2(sum(share**2.5 for share in shares)) / (1 - 2.5)
    kinds = Counter(unicodedata.category(char)[0] for text in texts for char in text)
    digits = sum(unicodedata.category(char) == "Nd" for text in texts for char in text)
    return {
        "compression_ratio": size / n,
        "chars_per_token": chars / n,
        "tokens_per_document": n / len(texts),
        "tokens_per_line": n / sum(len(text.split("\n")) for text in texts),
        "tokens": n,
        "text_bytes": size,
        "text_letters": (kinds["L"] + kinds["M"]) / chars,
        "text_digits": digits / chars,
        "text_punctuation": (kinds["P"] + kinds["S"]) / chars,
        "text_non_ascii": sum(char > "\x7f" for text in texts for char in text) / chars,
        "vocab_efficiency": len(shares) / n,
        "vocab_utilization": len(shares) / tokenizer.vocab_size,
        "shannon_entropy": shannon,
        "shannon_entropy_miller_madow": shannon + (len(shares) - 1) / (2 * n * math.log(2)),
        "shannon_efficiency": shannon / math.log2(tokenizer.vocab_size),
        "renyi_efficiency": renyi / math.log2(tokenizer.vocab_size),
        "renyi_efficiency_observed": renyi / math.log2(len(shares)),
        "round_trip": sum(tokenizer.decode(each) == text for each, text in zip(ids, texts, strict=True))
        / len(texts),
    }


def across(tokenizer: tokbench.Tokenizer, texts: dict[str, list[str]]) -> dict[str, float]:
    """The metrics of all languages together."""
    tokens = {code: sum(len(tokenizer.encode(text)) for text in some) for code, some in texts.items()}
    sizes = {code: sum(len(text.encode()) for text in some) for code, some in texts.items()}

    def gini(costs: list[float]) -> float:
        return sum(abs(a - b) for a in costs for b in costs) / (2 * len(costs) * sum(costs))

    return {
        "compression_ratio_macro": sum(sizes[code] / tokens[code] for code in texts) / len(texts),
        "gini": gini([tokens[code] / len(texts[code]) for code in texts]),
        "gini_bytes": gini([tokens[code] / sizes[code] for code in texts]),
        "cost_ratio": max(tokens.values()) / min(tokens.values()),
    }


@pytest.mark.parametrize("spec", SPECS)
def test_figures_are_those_of_their_definitions(spec: str, request: pytest.FixtureRequest) -> None:
    vocabs = request.getfixturevalue("test_data") / "vocabs" if spec != "bytes" else Path()
    tokenizer = tokbench.load(spec.format(vocabs))
    folder = datasets_folder()
    texts = {code: read(folder / "parallel" / f"{code}.txt") for code in LANGUAGES}
    code = [path.read_text("utf-8") for path in sorted((folder / "code" / "python").glob("*"))]
    facts = CorpusFacts(parallel=True)
    cells = {
        CellKey("t", "d", language): collect(
            tokenizer, [Document(text, line=line) for line, text in enumerate(some)], facts=facts
        )
        for language, some in texts.items()
    }
    cells[CellKey("t", "c", "python")] = collect(tokenizer, map(Document, code), facts=CorpusFacts(kind="code"))
    context = MeasureContext(
        vocab_sizes={"t": tokenizer.vocab_size}, parallel={"d": True}, kinds={"c": "code"}, replicates=0
    )
    found = {
        (row.dataset, row.language, row.metric): row.value for row in measure(cells, CATALOGUE, context=context)
    }
    wanted = {("d", language, name): value for language, some in texts.items()
              for name, value in figures(tokenizer, some).items()}  # fmt: skip
    wanted |= {("c", "python", name): value for name, value in figures(tokenizer, code).items()
               if name != "tokens_per_line"}  # fmt: skip
    wanted |= {("d", "all", name): value for name, value in across(tokenizer, texts).items()}
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value, abs=1e-9, rel=1e-9), key
