"""Figures made a second time from raw ids in plain Python, with none of the code that counts: equal to 1e-9.

Three tokenizers, five languages of parallel text and Python code; one has a dummy prefix and byte fallback.
Left out are metrics of a parser, of a vocabulary's audit, of gold words, of prices, and of speed.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sentencepiece import SentencePieceProcessor
from uniseg import graphemecluster, wordbreak

import tokbench
from tokbench.corpora.bundled import datasets_folder
from tokbench.corpus import Document
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.measure import measure
from tokbench.tally.collect import collect
from tokbench.tally.counters import CorpusFacts

FAMILIES = (("eng_Latn", "deu_Latn", "rus_Cyrl"), ("zho_Hans",), ("tha_Thai",))
SCRIPTS = (("eng_Latn", "deu_Latn"), ("rus_Cyrl",), ("zho_Hans",), ("tha_Thai",))
LANGUAGES = ("eng_Latn", "deu_Latn", "rus_Cyrl", "zho_Hans", "tha_Thai")
SPECS = ("bytes", "tiktoken:gpt2", "sentencepiece:{}/llama-2/tokenizer.model")


def read(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:24]


@cache
def processor(model: bytes) -> SentencePieceProcessor:
    """The library's own reading of a model file."""
    return SentencePieceProcessor(model_proto=model)


def bytes_of(tokenizer: tokbench.Tokenizer, token: int) -> bytes:
    """The bytes of a token, asked of the library itself."""
    raw: Any = tokenizer
    if raw.name == "bytes":
        return bytes([token])
    if hasattr(raw, "encoding"):
        return bytes(raw.encoding.decode_single_token_bytes(token))
    piece = processor(raw.model).id_to_piece(token)
    known = re.fullmatch(r"<0x(..)>", piece)
    return bytes.fromhex(known[1]) if known else piece.replace("\u2581", " ").encode()


def entropy(counts: Iterable[int]) -> float:
    """In bits."""
    found = [*counts]
    return -sum(count / sum(found) * math.log2(count / sum(found)) for count in found)


def chao_shen(counts: Iterable[int]) -> float:
    """Entropy in bits, corrected for what was not seen: Chao and Shen (2003)."""
    found = [*counts]
    n = sum(found)
    coverage = 1 - found.count(1) / n
    shares = [coverage * count / n for count in found]
    return -sum(share * math.log2(share) / (1 - (1 - share) ** n) for share in shares)


def slope(counts: Iterable[int]) -> float:
    """Of the logarithm of counts on that of their ranks, by least squares over geometrically spaced ranks."""
    ordered = sorted(counts, reverse=True)
    ranks = sorted({round(len(ordered) ** (step / 199)) for step in range(200)})
    xs, ys = [math.log(rank) for rank in ranks], [math.log(ordered[rank - 1]) for rank in ranks]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


Span = tuple[int, int]


def laid_out(text: str, parts: list[bytes]) -> list[Span]:
    """Where each token lies in the UTF-8 of a text that it may put a space before; those of no extent too."""
    joined, whole = b"".join(parts), text.encode()
    assert joined in (whole, b" " + whole)
    spans, at = [], len(whole) - len(joined)
    for part in parts:
        spans.append((max(at, 0), at + len(part)))
        at += len(part)
    return spans


def segments(units: Iterable[str], wanted: Callable[[str], bool]) -> list[Span]:
    """The wanted ones of consecutive units, as spans of UTF-8."""
    spans, at = [], 0
    for unit in units:
        size = len(unit.encode())
        if wanted(unit):
            spans.append((at, at + size))
        at += size
    return spans


def parts_of(name: str) -> set[int]:
    """Where parts of a name in camelCase and snake_case begin, in bytes of UTF-8."""
    after = re.finditer(r"(?<=[^A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=_)(?=[^_])|(?<=[^_])(?=_)", name)
    return {len(name[: found.start()].encode()) for found in after} - {0}


def structure(tokenizer: tokbench.Tokenizer, texts: list[str], code: bool) -> dict[str, float]:
    """The metrics that need to know where tokens lie, each by its definition."""
    n: Counter[str] = Counter()
    types: set[str] = set()
    for text in texts:
        parts = [bytes_of(tokenizer, token) for token in tokenizer.encode(text)]
        spans = [span for span in laid_out(text, parts) if span[1] > span[0]]
        whole = text.encode()
        bounds = {start for start, _ in spans} - {0}
        words = segments(wordbreak.words(text), lambda unit: any(char.isalnum() for char in unit))
        types |= {whole[start:end].decode() for start, end in words}

        def touching(span: Span, spans: list[Span] = spans) -> int:
            return sum(start < span[1] and end > span[0] for start, end in spans)

        for word in words:
            n["words"] += 1
            n["word tokens"] += touching(word)
            n["continued"] += touching(word) > 1
        n["crossing"] += sum(sum(a < end and b > start for a, b in words) > 1 for start, end in spans)
        n["tokens"] += len(parts)
        n["bounds"] += len(bounds)
        n["in characters"] += sum(whole[at] & 0xC0 == 0x80 for at in bounds)
        clusters = segments(graphemecluster.grapheme_clusters(text), lambda unit: True)
        n["in clusters"] += len(bounds - {start for start, _ in clusters})
        for number in re.finditer(r"\d+", text):
            digits = number[0]
            start = len(text[: number.start()].encode())
            ends = [start + len(digits[:index].encode()) for index in range(len(digits) + 1)]
            n["numbers"] += 1
            n["whole numbers"] += touching((ends[0], ends[-1])) == 1
            if not (len(digits) == 4 and 1000 <= int(digits) <= 2099):
                gold = {ends[index] for index in range(1, len(digits)) if (len(digits) - index) % 3 == 0}
                inner = {at for at in bounds if ends[0] < at < ends[-1]}
                n["digit both"] += len(gold & inner)
                n["digit groups"] += len(gold)
                n["digit cuts"] += len(gold) + len(inner)
        at = 0
        for line in text.split("\n") if code else ():
            indent = len(line) - len(line.lstrip(" \t"))
            if indent and line.strip():
                n["indented"] += 1
                n["indent tokens"] += touching((at, at + indent))
            at += len(line.encode()) + 1
        for name in re.finditer(r"\b[^\W\d]\w*", text) if code else ():
            start, parted = len(text[: name.start()].encode()), parts_of(name[0])
            end = start + len(name[0].encode())
            inner = {at - start for at in bounds if start < at < end}
            n["identifiers"] += 1
            n["identifier tokens"] += touching((start, end))
            n["part hits"] += 2 * len(inner & parted)
            n["part cuts"] += len(inner) + len(parted)

    def share(above: str, below: str) -> float | None:
        return n[above] / n[below] if n[below] else None

    found = {
        "fertility": share("word tokens", "words"),
        "continued_words": share("continued", "words"),
        "single_token_words": 1 - n["continued"] / n["words"],
        "cross_word_tokens": share("crossing", "tokens"),
        "cut_characters": share("in characters", "bounds"),
        "cut_graphemes": share("in clusters", "bounds"),
        "whole_numbers": share("whole numbers", "numbers"),
        "digit_alignment": 2 * n["digit both"] / n["digit cuts"] if n["digit groups"] else None,
        "indentation_tokens": share("indent tokens", "indented"),
        "identifier_fragmentation": share("identifier tokens", "identifiers"),
        "identifier_alignment": share("part hits", "part cuts"),
        "context_words": 2048 * n["words"] / n["tokens"],
        "cost_per_million_words": 2.5 * n["tokens"] / n["words"],
    }
    if len(types) <= 256:  # of more, a sample is encoded
        found["fertility_isolated"] = sum(len(tokenizer.encode(word)) for word in types) / len(types)
    return {name: value for name, value in found.items() if value is not None}


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
    parts = {token: bytes_of(tokenizer, token) for token in set(flat)}
    lengths = sorted(len(parts[token]) for token in flat)
    counts = sorted(Counter(flat).values(), reverse=True)
    follow = {
        k: Counter(tuple(each[i : i + k]) for each in ids for i in range(len(each) - k + 1)) for k in (2, 3)
    }

    def whole(part: bytes) -> bool:
        return "\ufffd" not in part.decode("utf-8", "replace")

    return {
        "token_length": sum(lengths) / n,
        **{f"token_length_p{q}": lengths[math.ceil(q * n / 100) - 1] for q in (50, 95, 99)},
        "split_characters": sum(not whole(parts[token]) for token in flat) / n,
        "bigram_entropy": entropy(follow[2].values()),
        "trigram_entropy": entropy(follow[3].values()),
        "bigram_entropy_chao_shen": chao_shen(follow[2].values()),
        "trigram_entropy_chao_shen": chao_shen(follow[3].values()),
        "percentile_frequency": sum(counts[int(0.03 * len(counts)) : int(0.83 * len(counts))]) / n,
        "zipf_slope": slope(counts),
        "token_rank": sum(rank * count for rank, count in enumerate(counts, 1)) / n,
        "cost": 2.5 * n / 1e6,
        "context_chars": 2048 * chars / n,
        "longest_document": 2048 * size / n,
        "text_spaces": sum(char.isspace() for text in texts for char in text) / chars,
        "unk_rate": 0,
        "whitespace_fidelity": 1,
        "cer": 0,
        **dict.fromkeys(("lost_form", "lost_spaces", "lost_text"), 0),
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

    lines = {code: tokens[code] / len(texts[code]) for code in texts}
    mean = sum(lines.values()) / len(lines)

    def of_groups(groups: Iterable[tuple[str, ...]]) -> float:
        return gini([sum(lines[code] for code in group) / len(group) for group in groups])

    used = [{token for text in some for token in tokenizer.encode(text)} for some in texts.values()]
    shares = [len(each) / tokenizer.vocab_size for each in used]
    return {
        "languages_per_token": sum(map(len, used)) / len(set().union(*used)),
        "utilization_spread": max(shares) - min(shares),
        "gini_scripts": of_groups(SCRIPTS),
        "gini_families": of_groups(FAMILIES),
        "cost_variation": math.sqrt(sum((cost - mean) ** 2 for cost in lines.values()) / len(lines)) / mean,
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
        vocab_sizes={"t": tokenizer.vocab_size},
        parallel={"d": True},
        kinds={"c": "code"},
        replicates=0,
        prices=PriceTable("EUR", {"t": 2.5}),
        context_length=2048,
    )
    found = {
        (row.dataset, row.language, row.metric): row.value for row in measure(cells, CATALOGUE, context=context)
    }
    wanted: dict[tuple[str, str, str], float] = {}
    for dataset, language, some in [*(("d", *each) for each in texts.items()), ("c", "python", code)]:
        own = figures(tokenizer, some) | structure(tokenizer, some, code=dataset == "c")
        wanted |= {(dataset, language, name): value for name, value in own.items()}
    del wanted["c", "python", "tokens_per_line"]  # of parallel text only
    costs = {language: wanted["d", language, "tokens"] for language in texts}
    wanted |= {("d", language, "premium"): cost / min(costs.values()) for language, cost in costs.items()}
    wanted |= {("d", "all", name): value for name, value in across(tokenizer, texts).items()}
    wrong = [
        (key, found.get(key), value)
        for key, value in wanted.items()
        if found.get(key) is None or found[key] != pytest.approx(value, abs=1e-9, rel=1e-9)
    ]
    assert not wrong, "\n".join(map(str, wrong))
