"""Every metric of the catalogue against a case worked out by hand, and what holds for all of them."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace

import pytest

from tokbench.corpus import Document
from tokbench.metrics import CellKey, Measurement
from tokbench.metrics.catalogue import CATALOGUE, GROUPS
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.counts import Counts
from tokbench.metrics.measure import measure
from tokbench.metrics.model import Model
from tokbench.metrics.morphemes import MorphCounts
from tokbench.tally.collect import collect
from tokbench.tally.counters import COUNTERS, CorpusFacts
from tokbench.tally.tally import Tally


def audit(own: set[bytes], **statuses: float) -> SimpleNamespace:
    return SimpleNamespace(
        share=statuses.__getitem__,
        byte_strings=lambda: frozenset(own),
        scripts={"Latin": 6, "Cyrillic": 2, "digits": 5, "part of a character": 9},
    )


CONTEXT = MeasureContext(
    vocab_sizes={"p": 256 + 4, "base": 256, "w": 3},
    parallel={"d": True, "code": False},
    kinds={"code": "code"},
    baseline="base",
    prices=PriceTable("EUR", {"p": 3.0}),
    context_length=100,
    model=Model(layers=2, width=4, heads=2, kv_heads=1, ffn=8, context=3, precision="float16"),
    audits={
        "p": audit({b"a", b"b", b"c"}, UNREACHABLE=0.25, UNDECODABLE=0.5, SPECIAL=0.125),
        "base": audit({b"b", b"c", b"d"}, UNREACHABLE=0, UNDECODABLE=0, SPECIAL=0),
    },
    morphology={
        ("p", "eng"): MorphCounts(
            words=12, cut=10, cut_whole=2, gold=12, gold_split=9, made=15, hits=6, recalls=4.0
        )
    },
)


@pytest.fixture(scope="module")
def rows(stand_ins) -> dict[tuple[str, str, str, str], Measurement]:
    """Two languages of parallel text and a file of code, under three tokenizers."""
    p = stand_ins.Pieces("ab", " ab", "12", "==")
    base = stand_ins.Pieces()
    w = stand_ins.Words("ab", "é")
    lines = {"eng": ["ab ab", "xab 1234", "é"], "rus_Cyrl": ["abab", "ж", "ab"]}
    facts = CorpusFacts(parallel=True)
    cells: dict[CellKey, Tally] = {}
    for spec, tokenizer in (("p", p), ("base", base), ("w", w)):
        for language, texts in lines.items():
            documents = [Document(text, line=i) for i, text in enumerate(texts)]
            cells[CellKey(spec, "d", language)] = collect(tokenizer, documents, facts=facts)
    code = CorpusFacts(kind="code", language="nosuch")
    cells[CellKey("p", "code", "nosuch")] = collect(p, [Document("if abAb == x:\n  y")], facts=code)
    return {
        (row.tokenizer, row.dataset, row.language, row.metric): row
        for row in measure(cells, CATALOGUE, context=CONTEXT)
    }


def entropy(*counts: int) -> float:
    return -sum(c / sum(counts) * math.log2(c / sum(counts)) for c in counts)


def renyi(*counts: int) -> float:
    return math.log2(sum((c / sum(counts)) ** 2.5 for c in counts)) / (1 - 2.5)


# p on eng: "ab"," ab" | "x","ab"," ","12","3","4" | two bytes of é: 10 tokens, 15 bytes, 14 characters
IDS = (2, 1, 1, 1, 1, 1, 1, 1, 1)
BY_HAND = {
    "compression_ratio": 15 / 10,
    "chars_per_token": 14 / 10,
    "tokens_per_document": 10 / 3,
    "tokens_per_line": 10 / 3,
    "token_length": (2 + 3 + 1 + 2 + 1 + 2 + 1 + 1 + 1 + 1) / 10,
    "token_length_p50": 1,
    "token_length_p95": 3,
    "token_length_p99": 3,
    "nsl": 10 / 15,
    "text_letters": 8 / 14,
    "text_digits": 4 / 14,
    "text_spaces": 2 / 14,
    "text_punctuation": 0,
    "text_non_ascii": 1 / 14,
    "text_bytes": 15,
    "tokens": 10,
    "clusters": 3,
    "fertility": (1 + 1 + 2 + 3 + 2) / 5,
    "continued_words": 3 / 5,
    "single_token_words": 2 / 5,
    "fertility_isolated": (1 + 2 + 3 + 2) / 4,  # ab, xab, 1234, é
    "cross_word_tokens": 0,
    "vocab_efficiency": 9 / 10,
    "vocab_utilization": 9 / 260,
    "renyi_efficiency": renyi(*IDS) / math.log2(260),
    "renyi_efficiency_observed": renyi(*IDS) / math.log2(9),
    "shannon_entropy": entropy(*IDS),
    "shannon_entropy_miller_madow": entropy(*IDS) + 8 / (20 * math.log(2)),
    "shannon_efficiency": entropy(*IDS) / math.log2(260),
    "bigram_entropy": math.log2(7),
    "trigram_entropy": math.log2(4),
    # seven pairs and four triples, each once, so that what was seen is taken for 1/N of what there is
    "bigram_entropy_chao_shen": math.log2(49) / (7 * (1 - (48 / 49) ** 7)),
    "trigram_entropy_chao_shen": math.log2(16) / (4 * (1 - (15 / 16) ** 4)),
    "token_rank": (2 * 1 + sum(range(2, 10))) / 10,
    "percentile_frequency": 7 / 10 + 1 / 10,  # ranks 0 to 6 of nine
    "zipf_slope": None,
    "round_trip": 1,
    "unk_rate": 0,
    "whitespace_fidelity": 1,
    "lost_form": 0,
    "lost_spaces": 0,
    "lost_text": 0,
    "cer": 0,
    "split_characters": 2 / 10,
    "cut_characters": 1 / 7,
    "cut_graphemes": 1 / 7,
    "digit_alignment": None,  # 1234 may be a year
    "whole_numbers": 0,
    "gold_words": 12,
    "morph_f1": 2 * 6 / (15 + 12),
    "morph_f1_split": 2 * 6 / (15 + 9),
    "morph_precision": 6 / 15,
    "morph_recall": 6 / 12,
    "morph_score": 4 / 8,
    "morph_score_all": 4 / 10,
    "script_share": 6 / 8,
    "cost": 10 * 3 / 1e6,
    "cost_per_million_words": 3 * 10 / 5,
    "context_words": 100 * 5 / 10,
    "context_chars": 100 * 14 / 10,
    "longest_document": 100 * 15 / 10,
    "serve_flops": (2 * (2 * (16 + 16 + 8 + 8 + 3 * 32) + 260 * 4) + 4 * 2 * 4 * 2) * 10 / 15,
    "train_flops": 3 * 2720 * 10 / 15,
    "kv_cache": 1000 * (2 * 2 * 2 * 2) * 10 / 15,
    "premium": 10 / 5,
}
# on rus_Cyrl: "ab","ab" | two bytes of ж | "ab": 5 tokens, 8 bytes
TOGETHER = {
    "compression_ratio_macro": (15 / 10 + 8 / 5) / 2,
    "gini": (10 - 5) * 2 / (2 * 4 * 7.5),
    "gini_bytes": 2 * abs(10 / 15 - 5 / 8) / (4 * (10 / 15 + 5 / 8)),
    "cost_ratio": 2,
    "languages_per_token": (9 + 3) / (9 + 3 - 1),  # both have "ab"
    "utilization_spread": (9 - 3) / 260,
    "cost_variation": 2.5 / 7.5,
    "gini_scripts": (10 - 5) * 2 / (2 * 4 * 7.5),
    "gini_families": None,  # both Indo-European
}
VOCABULARY = {
    "vocab_size": 260,
    "unreachable_tokens": 0.25,
    "undecodable_tokens": 0.5,
    "special_tokens": 0.125,
    "vocab_overlap": 2 / 4,
    "embedding_parameters": 2 * 260 * 4,
    "embedding_memory": 2 * 2 * 260 * 4,
    "model_parameters": 2080 + 288 + 5 * 4,
    "embedding_share": 2080 / 2388,
}
# "if", "abAb", "x", "y"; pieces "ab", "=="
CODE = {
    "whole_operators": 1,
    "indentation_tokens": 2,
    "identifier_fragmentation": (2 + 3 + 1 + 1) / 4,
    "identifier_alignment": 2 * 1 / (3 + 1),
    "syntax_alignment": None,
    "syntax_recall": None,
}


@pytest.mark.parametrize(
    ("dataset", "language", "expected"),
    [("d", "eng", BY_HAND), ("d", "all", TOGETHER), ("", "all", VOCABULARY), ("code", "nosuch", CODE)],
)
def test_by_hand(rows, dataset, language, expected) -> None:
    for name, value in expected.items():
        row = rows["p", dataset, language, name]
        if value is None:
            assert row.value is None, name
            assert row.status.startswith("undefined: "), name
        else:
            assert row.value == pytest.approx(value), name
            assert row.status == "ok"


def test_every_metric_has_a_case_by_hand() -> None:
    measured = {metric.name for metric in CATALOGUE if metric.level != "speed"}
    on_request = {metric.name for metric in CATALOGUE if metric.on_request}  # in `test_digits`
    assert measured == {*BY_HAND, *TOGETHER, *VOCABULARY, *CODE, *on_request}
    assert len({metric.name for metric in CATALOGUE}) == len(CATALOGUE)


def test_renyi_efficiency_is_headed_by_its_name_and_the_unit_says_of_what() -> None:
    [metric] = [metric for metric in CATALOGUE if metric.name == "renyi_efficiency"]
    assert (metric.heading, metric.unit) == ("Rényi efficiency", "ratio to declared vocabulary")


def test_unknown_text_by_hand(rows) -> None:
    # w on eng: ab ab | [UNK] [UNK] | é; "xab 1234" is under unknown tokens
    assert rows["w", "d", "eng", "round_trip"].value == pytest.approx(2 / 3)
    status = rows["w", "d", "eng", "unk_rate"]
    assert status.value == pytest.approx(7 / 14)
    assert rows["w", "d", "rus_Cyrl", "unk_rate"].value == pytest.approx(5 / 7)


def test_what_is_lost_is_told_by_kind(stand_ins) -> None:
    def shares(tokenizer, *texts) -> list[float]:
        cells = {CellKey("t", "d", "eng"): collect(tokenizer, map(Document, texts))}
        found = {row.metric: row.value for row in measure(cells, CATALOGUE, context=MeasureContext())}
        return [found[name] for name in ("lost_form", "lost_spaces", "lost_text")]

    assert shares(stand_ins.Lowering("ab"), "ab", "Ab", "b\u00e9", "x") == [1 / 2, 0, 0]  # case, accents
    assert shares(stand_ins.Words("ab"), "ab", "ab xyz") == [0, 0, 1 / 2]


def test_words_of_scripts_with_and_without_spaces_are_not_pooled(stand_ins) -> None:
    texts = {"eng": "two words", "tha": "\u0e01\u0e02 \u0e04\u0e07"}
    cells = {
        CellKey("t", "d", language): collect(stand_ins.Pieces(), [Document(text)])
        for language, text in texts.items()
    }
    found = {(row.language, row.metric): row for row in measure(cells, CATALOGUE, context=MeasureContext())}
    assert found["eng", "fertility"].value == 4
    assert found["tha", "fertility"].value == 3
    assert found["all", "fertility"].value is None
    assert "are different units" in found["all", "fertility"].status
    assert found["all", "compression_ratio"].value is not None


def test_pooled_and_mean_of_languages_can_rank_otherwise(stand_ins) -> None:
    texts = {"eng": "abab", "rus": "\u0436" * 20}
    tokenizers = {"latin": stand_ins.Pieces("abab"), "cyrillic": stand_ins.Pieces("\u0436")}
    cells = {
        CellKey(name, "d", language): collect(tokenizer, [Document(text)])
        for name, tokenizer in tokenizers.items()
        for language, text in texts.items()
    }
    rows = measure(cells, CATALOGUE, context=MeasureContext())
    found = {(row.tokenizer, row.metric): row.value for row in rows if row.language == "all"}
    assert found["latin", "compression_ratio"] < found["cyrillic", "compression_ratio"]
    assert found["latin", "compression_ratio_macro"] == (4 + 1) / 2
    assert found["cyrillic", "compression_ratio_macro"] == (1 + 2) / 2


def test_counts_are_typed() -> None:
    assert all(getattr(Counts, name).meaning == meaning for name, meaning in COUNTERS.items())
    assert {"ids", "language"} <= set(Counts.__annotations__)


def test_intervals_hold_the_value(rows) -> None:
    for row in rows.values():
        if row.ci_low is not None:
            assert row.ci_low <= row.value + 1e-12, row
            assert row.value <= row.ci_high + 1e-12, row
    # three documents are too few for any but what is the same in each of them
    assert rows["p", "d", "eng", "compression_ratio"].ci_low is None
    assert rows["base", "d", "all", "round_trip"].ci_low == pytest.approx(0.025 ** (1 / 3))


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.name)
def test_definitions_are_complete(metric) -> None:
    assert metric.unit
    assert metric.summary.endswith(".")
    assert metric.formula or metric.level == "speed"
    assert metric.formula.count("{") == metric.formula.count("}")
    assert metric.group in GROUPS
    assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name)


def test_no_text_gives_nulls_with_a_reason(stand_ins) -> None:
    counting = [own for metric in CATALOGUE if (own := metric.counting) is not None]
    cells = {CellKey("p", "d", "eng"): collect(stand_ins.Pieces(), [], counting=counting)}
    context = MeasureContext(vocab_sizes={"p": 256}, parallel={"d": True})
    rows = measure(cells, CATALOGUE, context=context)
    names = {metric.name for metric in CATALOGUE if metric.level != "speed"}
    assert {row.metric for row in rows} == names
    for row in rows:
        if row.metric != "vocab_size":
            assert row.value is None, row
            assert row.status.startswith("undefined: "), row
            assert len(row.status) > 15, row
