"""Made-up tokenizers, and a made-up run of any size with the attributes of `tokbench.results.Run`."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.runs import workers_stay
from tokbench.errors import ResultsError
from tokbench.results import COLUMNS
from tokbench.tally.histogram import Histogram

__all__ = ["workers_stay"]

CODES = [
    "eng_Latn", "deu_Latn", "fra_Latn", "spa_Latn", "por_Latn", "ita_Latn", "nld_Latn", "pol_Latn",
    "ces_Latn", "tur_Latn", "fin_Latn", "hun_Latn", "vie_Latn", "ind_Latn", "swh_Latn", "rus_Cyrl",
    "ukr_Cyrl", "bul_Cyrl", "ell_Grek", "heb_Hebr", "arb_Arab", "pes_Arab", "urd_Arab", "hin_Deva",
    "ben_Beng", "tam_Taml", "tel_Telu", "tha_Thai", "mya_Mymr", "kat_Geor", "hye_Armn", "amh_Ethi",
    "zho_Hans", "jpn_Jpan", "kor_Hang", "khm_Khmr",
]  # fmt: skip
SPECS = (
    "bpe:vocab_size=8000",
    "tiktoken:o200k_base",
    "unigram:vocab_size=8000",
    "wordpiece:vocab_size=8000",
    "bytes",
    "tiktoken:cl100k_base",
    "sentencepiece:model_type=unigram,vocab_size=8000",
    "sentencepiece:model_type=bpe,vocab_size=8000",
    "transformers:algorithm=bpe,vocab_size=8000",
    "transformers:vocabs/qwen2/hf/tokenizer.json",
    "tiktoken:gpt2",
    "chars",
    "words",
    "bpe:vocab_size=16000",
    "bpe:pattern=gpt2,vocab_size=32000",
)
UNITS = {
    "compression_ratio": "bytes/token", "chars_per_token": "chars/token",
    "tokens_per_line": "tokens/line",
    "fertility": "tokens/word", "continued_words": "share", "vocab_utilization": "share",
    "token_length": "bytes",
    "round_trip": "share", "unk_rate": "share", "premium": "ratio", "gini": "", "encode_speed": "MB/s",
    "renyi_efficiency": "", "load_time": "s", "peak_memory": "MB",
}  # fmt: skip


FAILURE = {
    "tokenizer": "tiktoken:p50k_base",
    "dataset": "bundled:parallel",
    "language": "all",
    "kind": "load",
    "message": "not in the cache, and offline <b>bold</b>",
    "remedy": "set TIKTOKEN_CACHE_DIR to a folder that holds it",
    "traceback": "Traceback: <script>alert(1)</script>",
    "output": "",
}


def vocab_size(spec: str) -> int:
    return int(spec.partition("vocab_size=")[2] or 100_277)


@dataclass(eq=False)
class MadeUpRun:
    """Looks like a finished run; every figure is drawn from a seeded generator."""

    frame: pd.DataFrame
    manifest: dict[str, Any]
    tokenizers: list[str]
    datasets: list[str]
    spoken: list[str]
    samples: list[dict[str, Any]] = field(default_factory=list)
    audits: dict[str, Any] = field(default_factory=dict)
    diffs: dict[str, Any] = field(default_factory=dict)
    injections: dict[str, Any] = field(default_factory=dict)
    comparisons: pd.DataFrame = field(default_factory=pd.DataFrame)
    speed: pd.DataFrame = field(default_factory=pd.DataFrame)

    confidence, level = 0.95, "95 %"

    @property
    def name(self) -> str:
        return str(self.manifest["run"])

    @property
    def failures(self) -> list[dict[str, Any]]:
        return list(self.manifest["failures"])

    def languages(self, dataset: str) -> list[str]:
        return self.spoken if "parallel" in dataset else ["python", "json"]

    def tally(self, tokenizer: str, dataset: str, language: str = "all") -> Any:
        if tokenizer not in self.tokenizers:
            raise ResultsError(f"no cell for {tokenizer}")
        rng = generator(tokenizer, dataset, language)
        mean = 1.5 + 4 * rng.random()
        lengths = np.round(40_000 * np.exp(-((np.arange(17) - mean) ** 2) / 6)).astype(np.int64)
        frequencies = (60_000 / np.arange(1, 4001) ** (0.8 + 0.4 * rng.random())).astype(np.int64)
        documents = np.zeros((40, 3), np.int64)
        documents[5:11, 0] = 20
        documents[5:11, 1] = 20 * (3 << np.arange(3, 9))
        documents[5:11, 2] = documents[5:11, 1] / (mean * (0.8 + 0.04 * np.arange(6)))
        return SimpleNamespace(
            token_bytes=Histogram.of_dense(lengths), ids=Histogram.of_dense(frequencies), lengths=documents
        )


def generator(*parts: str) -> np.random.Generator:
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "little"))


def language_codes(n: int) -> list[str]:
    extra = [f"x{chr(97 + i // 26)}{chr(97 + i % 26)}_Latn" for i in range(max(0, n - len(CODES)))]
    return [*CODES, *extra][:n]


def build(n_languages: int, n_tokenizers: int, *, specs: Sequence[str] | None = None) -> MadeUpRun:
    tokenizers = list(specs or SPECS[:n_tokenizers])
    spoken = language_codes(n_languages)
    datasets = ["bundled:parallel", "bundled:code"]
    rows: list[tuple[Any, ...]] = []

    def add(tokenizer: str, dataset: str, language: str, metric: str, value: float, width: float) -> None:
        interval = (value * (1 - width), value * (1 + width)) if width else (None, None)
        n = 60 if language != "all" else 60 * n_languages
        rows.append(("r1", tokenizer, dataset, language, metric, value, *interval, UNITS[metric], n, "ok"))

    for tokenizer in tokenizers:
        skill = 0.6 + 0.8 * generator(tokenizer).random()
        for dataset in datasets:
            there = spoken if "parallel" in dataset else ["python", "json"]
            for language in [*there, "all"]:
                ease = 0.35 + generator(language).random() if language != "all" else 0.85
                noise = 0.9 + 0.2 * generator(tokenizer, language).random()
                ratio = 4.4 * skill * ease * noise
                width = 0.03 if language != "all" else 0.008
                add(tokenizer, dataset, language, "compression_ratio", ratio, width)
                add(tokenizer, dataset, language, "chars_per_token", ratio / (1 + ease), width)
                add(tokenizer, dataset, language, "tokens_per_line", 120 / ratio, width)
                add(tokenizer, dataset, language, "fertility", 6 / ratio, width)
                add(tokenizer, dataset, language, "continued_words", min(1.0, 2 / ratio), width)
                add(tokenizer, dataset, language, "token_length", ratio, width)
                lossless = tokenizer.split(":")[0] not in ("wordpiece", "words")
                add(tokenizer, dataset, language, "round_trip", 1.0 if lossless else 0.94, 0.0)
                add(tokenizer, dataset, language, "unk_rate", 0.0 if lossless else 0.002, 0.0)
                if "parallel" in dataset and language != "all":
                    add(tokenizer, dataset, language, "premium", 1.6 / (ease * noise), width)
            add(tokenizer, dataset, "all", "vocab_utilization", 0.1 + 0.5 * skill / 2, 0.0)
            if "parallel" in dataset:
                add(tokenizer, dataset, "all", "gini", 0.05 + 0.2 * generator(tokenizer, "g").random(), 0.05)
        speed = 1 + 60 * generator(tokenizer, "s").random() ** 2
        add(tokenizer, "bundled:parallel", "all", "encode_speed", speed, 0.05)
        add(tokenizer, "", "all", "load_time", 0.1 + generator(tokenizer, "l").random(), 0.0)
    if n_tokenizers > 2:
        nothing = (None, None, None, UNITS["fertility"], 0, "undefined: no words")
        rows.append(("r1", tokenizers[2], "bundled:code", "json", "fertility", *nothing))
    frame = pd.DataFrame(rows, columns=list(COLUMNS[:-1])).assign(estimated=False)
    manifest = {
        "request": "5f" * 32,
        "schema": 1,
        "run": "r1",
        "suite": {"tokenizers": tokenizers, "datasets": datasets},
        "tokenizers": [{"spec": spec, "vocab_size": vocab_size(spec)} for spec in tokenizers],
        "datasets": [{"spec": "bundled:parallel", "languages": {code: {} for code in spoken}, "parallel": True},
                     {"spec": "bundled:code", "languages": {"python": {}, "json": {}}, "parallel": False}],
        "failures": [FAILURE],
        "machine": {"cpu": "made-up", "cores": 2},
    }  # fmt: skip
    return MadeUpRun(frame, manifest, tokenizers, datasets, spoken, comparisons=compared(frame))


def compared(frame: pd.DataFrame) -> pd.DataFrame:
    """Every pair's difference in compression over whole datasets, one in three no more than chance."""
    overall = frame[(frame["metric"] == "compression_ratio") & (frame["language"] == "all")]
    rows = []
    for dataset, figures in overall.groupby("dataset", sort=False):
        values = figures.set_index("tokenizer")["value"]
        for number, (one, other) in enumerate(combinations(values.index, 2)):
            value, width = values[one] - values[other], 0.1
            rows.append({
                "tokenizer": one, "baseline": other, "dataset": dataset, "language": "all",
                "metric": "compression_ratio", "value": value, "ratio": values[one] / values[other],
                "ci_low": value - width, "ci_high": value + width,
                "p_adjusted": 0.3 if number % 3 == 2 else 0.001,
            })  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def made_up_run() -> Callable[..., MadeUpRun]:
    """`made_up_run(languages, tokenizers)`: a run of that size."""
    return build


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium driven by Playwright; skipped, with the reason, where either is missing."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = os.environ.get("TOKBENCH_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("needs a Chromium: install the distribution's package, or set TOKBENCH_CHROMIUM to one")
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, from `node_modules` or the file that TOKBENCH_AXE names."""
    here = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
    path = Path(os.environ.get("TOKBENCH_AXE", here))
    if not path.is_file():
        pytest.skip("needs axe-core: npm install --no-save axe-core, or set TOKBENCH_AXE to its axe.min.js")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def stand_ins() -> ModuleType:
    """Tokenizers whose ids can be worked out by hand, such as `Pieces`."""
    from tests.tokbench.tally import stand_ins

    return stand_ins
