"""The n-gram model against one written plainly, and the figures made of it."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokbench
from tests.command import invoke
from tests.runs import tokenizer_plugin
from tokbench import TrainingCorpus
from tokbench.batch import TokenBatch
from tokbench.errors import CorpusError, SpecError, TokenizerError
from tokbench.metrics.ngram import NgramModel, discounts
from tokbench.metrics.ngram_bits import ngram_bits
from tokbench.registry import build_registry

Gram = tuple[int, ...]
PARALLEL = Path(__file__).parents[3] / "datasets" / "parallel"
WORDS = ["the", "cat", "dog", "sat", "on", "a", "mat", "and", "ran"]


class Plain:
    """Interpolated modified Kneser-Ney, from its definition; the beginning is -1, the end `size`."""

    def __init__(self, documents: list[list[int]], size: int, order: int) -> None:
        self.size, self.order = size, order
        own: list[Counter[Gram]] = [Counter() for _ in range(order + 1)]
        for ids in documents:
            marked = [-1, *ids, size]
            for n in range(1, order + 1):
                own[n].update(tuple(marked[at : at + n]) for at in range(len(marked) - n + 1))
        del own[1][(-1,)]
        self.counts = [*own[:-1], own[order]]
        for n in range(1, order):
            after = Counter(gram[1:] for gram in own[n + 1])
            self.counts[n] = Counter({gram: after.get(gram, count) for gram, count in own[n].items()})
        self.taken = [(0.0, 0.0, 0.0, 0.0)]
        for n in range(1, order + 1):
            n1, n2, n3, n4 = (sum(c == m for c in self.counts[n].values()) for m in (1, 2, 3, 4))
            taken = (0.0, 0.5, 1.0, 1.5)
            if n1 and n2:
                y = n1 / (n1 + 2 * n2)
                taken = (0.0, y, y, y)
                if n3 and n4:
                    three = 0.0, 1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
                    if all(0 < d <= m for m, d in enumerate(three[1:], start=1)):
                        taken = three
            self.taken.append(taken)

    def chance(self, symbol: int, history: Gram) -> float:
        """The probability of a symbol (or the end) after a history of up to order - 1 symbols."""
        below = self.chance(symbol, history[1:]) if history else 1 / (self.size + 1)
        n = len(history) + 1
        follow = self.following(history)
        total = sum(follow.values())
        if not total:
            return below
        taken = self.taken[n]
        rest = sum(taken[min(count, 3)] for count in follow.values()) / total
        mine = follow.get(symbol, 0)
        return (mine - taken[min(mine, 3)]) / total + rest * below

    @cache  # noqa: B019 - as long as the test
    def following(self, history: Gram) -> dict[int, int]:
        return {g[-1]: c for g, c in self.counts[len(history) + 1].items() if g[:-1] == history}

    def bits(self, ids: list[int]) -> list[float]:
        """Of each id and the end."""
        marked = [-1, *ids, self.size]
        return [
            -math.log2(self.chance(marked[at], tuple(marked[max(0, at - self.order + 1) : at])))
            for at in range(1, len(marked))
        ]


documents = st.lists(st.lists(st.integers(0, 5), max_size=12), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(documents, documents, st.integers(1, 4))
def test_bits_are_those_found_plainly(train: list[list[int]], test: list[list[int]], order: int) -> None:
    model = NgramModel.fit([TokenBatch.of(train)], 7, order=order)
    expected = [bits for ids in test for bits in Plain(train, 7, order).bits(ids)]
    np.testing.assert_allclose(model.bits(TokenBatch.of(test)), expected, rtol=0, atol=1e-9)


def test_an_order_above_the_longest_document_costs_and_changes_nothing() -> None:
    train, test = TokenBatch.of([[0, 1, 2], [0, 1]]), TokenBatch.of([[0, 1, 2, 0, 1, 2], [4]])
    longest = NgramModel.fit([train], 7, order=5)
    for order in (6, 10**9):
        model = NgramModel.fit([train], 7, order=order)
        assert len(model.orders) == 5
        assert model.bits(test).tolist() == longest.bits(test).tolist()


def test_real_text_in_several_batches_has_modified_discounts_and_the_plain_bits() -> None:
    lines = [
        line.encode()
        for line in Path("datasets/parallel/eng_Latn.txt").read_text(encoding="utf-8").splitlines()
    ]
    train, test = [list(line) for line in lines[:40]], [list(line) for line in lines[40:50]]
    model = NgramModel.fit([TokenBatch.of(train[:9]), TokenBatch.of(train[9:])], 256, order=3)
    assert [each.discounts.estimate for each in model.orders][1:] == ["modified", "modified"]
    plain = Plain(train, 256, 3)
    expected = [bits for ids in test for bits in plain.bits(ids)]
    np.testing.assert_allclose(model.bits(TokenBatch.of(test)), expected, rtol=0, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(documents, st.lists(st.integers(0, 6), max_size=4), st.integers(1, 4))
def test_probabilities_sum_to_one(train: list[list[int]], history: list[int], order: int) -> None:
    model = NgramModel.fit([TokenBatch.of(train)], 7, order=order)
    after = [model.bits(TokenBatch.of([[*history, symbol]]))[-2] for symbol in range(7)]
    end = model.bits(TokenBatch.of([history]))[-1]
    assert sum(2.0**-bits for bits in [*after, end]) == pytest.approx(1, abs=1e-12)


def test_discounts_by_hand() -> None:
    assert discounts([0, 5, 5, 5])[:3] == (0.5, 1.0, 1.5)
    assert discounts([4, 2, 0, 1]) == (0.5, 0.5, 0.5, "one discount")
    assert discounts([6, 3, 2, 1]) == (0.5, 1.0, 2.0, "modified")
    assert discounts([6, 3, 9, 1]).estimate == "one discount"  # two would be negative


def test_documents_trained_on_are_left_out_and_bytes_are_those_of_the_text() -> None:
    registry = build_registry()
    texts = [f"{a} {b} é" for a in WORDS for b in WORDS]
    train, test = TrainingCorpus.of_texts(texts[:50]), TrainingCorpus.of_texts([*texts[40:], ""]).dataset
    found = ngram_bits({"bytes": tokbench.load("bytes")}, train, test, order=2)
    [row] = found.figures
    assert (found.excluded, row.documents, found.training_documents) == (10, 31, 50)
    assert row.bytes == row.tokens == sum(len(text.encode()) for text in texts[50:])
    plain = Plain([list(text.encode()) for text in texts[:50]], registry.load("bytes").vocab_size, 2)
    assert row.bits == pytest.approx(sum(sum(plain.bits(list(text.encode()))) for text in texts[50:]), abs=1e-9)
    assert row.interval is not None
    assert row.interval[0] < row.bits_per_byte < row.interval[1]
    assert row.rank is None


def test_copies_have_no_spread_and_share_a_rank() -> None:
    texts = [f"{a} {b} é" for a in WORDS for b in WORDS]
    train, test = TrainingCorpus.of_texts(texts[:50]), TrainingCorpus.of_texts(texts[50:]).dataset
    found = ngram_bits({"one": tokbench.load("bytes"), "two": tokbench.load("bytes")}, train, test)
    assert [row.rank for row in found.figures] == [(1, 2), (1, 2)]
    assert len({row.bits for row in found.figures}) == 1


def test_what_cannot_be_read_is_said() -> None:
    own = {"bytes": tokbench.load("bytes")}
    train = TrainingCorpus.of_texts(["one", "two"])
    with pytest.raises(CorpusError, match="every document of it occurs in the training text"):
        ngram_bits(own, train, train.dataset)
    with pytest.raises(CorpusError, match="more than 7 tokens"):
        ngram_bits(own, train, train.dataset, limit=7)
    with pytest.raises(CorpusError, match="more than 8 tokens, for which counts of order 4 "):
        ngram_bits(own, TrainingCorpus.of_texts(["one", "two", "6"]), train.dataset, order=4, limit=10)
    with pytest.raises(CorpusError, match="more than 6 tokens, for which counts of order 5 "):
        ngram_bits(own, train, train.dataset, order=10**9, limit=10)
    with pytest.raises(CorpusError, match="no text to train"):
        ngram_bits(own, TrainingCorpus.of_texts([""]), train.dataset)
    with pytest.raises(SpecError, match="order of 1 or more"):
        ngram_bits(own, train, train.dataset, order=0)
    with pytest.raises(TokenizerError, match="the id 3, outside its vocabulary of 3 ids"):
        NgramModel.fit([TokenBatch.of([[3]])], 3)


def text_of(lines: Iterable[str], path: Path) -> str:
    """The spec of a dataset of these lines."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return f"text:{path}"


@pytest.fixture
def words(tmp_path: Path) -> str:
    return text_of(["some words"] * 30, tmp_path / "words.txt")


def test_the_command_ranks_and_marks_what_loses_text(tmp_path: Path) -> None:
    plugin = tokenizer_plugin(
        tmp_path / "lossy.py",
        "vocab_size = 2\n"
        "def encode(self, text): return [ord(c) % 2 for c in text]\n"
        "def decode(self, ids): return 'ab'[: len(ids)]",
    )
    lines = [f"the {b} {c} {d}" for b in WORDS for c in WORDS for d in WORDS]
    train = text_of(lines[::2], tmp_path / "train.txt")
    text = text_of([*lines[1::2], lines[0]], tmp_path / "test.txt")
    call = ["ngram", "bytes", "lossy", "--train-on", train, "--plugin", plugin, "-d", text]
    said = invoke(*call, "--json")
    found = json.loads(said.stdout)
    assert found["excluded"] == 1
    assert [(row["tokenizer"], row["rank"], bool(row["lost"])) for row in found["figures"]] == [
        ("bytes", None, False),
        ("lossy", None, True),
    ]
    shown = invoke(*call).stdout
    assert "lossy†" in shown
    assert "lossy does not give back 364 of 364 documents" in shown
    assert "1 document left out" in shown
    assert "No paper validates" in shown


def test_the_metric_is_the_command_s_figure_with_an_interval(tmp_path: Path) -> None:
    from tokbench.metrics import CellKey
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.measure import measure
    from tokbench.runner.training.train import training_corpus
    from tokbench.spec import Spec
    from tokbench.tally.collect import collect

    lines = (PARALLEL / "eng_Latn.txt").read_text("utf-8").splitlines()
    train = text_of(lines[::2], tmp_path / "train.txt")
    registry = build_registry()
    text = registry.dataset(text_of([*lines[1::2], lines[0]], tmp_path / "read.txt"))
    tokenizer = tokbench.load("chars")
    [expected] = ngram_bits({"chars": tokenizer}, training_corpus(registry, train), text).figures
    metric = registry.metric("ngram_bpb").asked_as(Spec("ngram_bpb", None, {"train_on": train}))
    [language] = text.languages
    documents = [document for shard in text.shards(language) for document in text.read(shard)]
    cells = {CellKey("chars", "d", language): collect(tokenizer, documents, counting=[metric.counting])}
    row = measure(cells, [metric], context=MeasureContext())[0]
    assert row.value == pytest.approx(expected.bits_per_byte, abs=1e-6)
    assert row.ci_low < row.value < row.ci_high
    unnamed = registry.metric("ngram_bpb")
    cells = {CellKey("chars", "d", language): collect(tokenizer, documents, counting=[unnamed.counting])}
    assert "name that with train_on=DATASET" in measure(cells, [unnamed], context=MeasureContext())[0].status


def test_splits_part_the_documents_and_tell_how_stable_ranks_are() -> None:
    from tokbench.metrics.ngram_bits import is_read

    data = [str(number).encode() for number in range(2000)]
    halves = [[is_read(each, split) for each in data] for split in range(2)]
    assert all(900 < sum(each) < 1100 for each in halves)
    assert 900 < sum(one == other for one, other in zip(*halves, strict=True)) < 1100
    text = "bundled:parallel,languages=eng_Latn+deu_Latn"
    command = ["ngram", "bytes", "chars", "--train-on", text, "-d", text, "--splits", "3"]
    done = invoke(*command, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["splits"] == 3
    assert {*found["ranks"]} == {"bytes", "chars"}
    assert all(len({*bits}) == 3 for bits in found["bits"].values())
    shown = invoke(*command).stdout
    assert "the order is" in shown


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "[b]"
    folder.mkdir()
    (folder / "few.txt").write_text("cat\nthe cat\n")
    train = text_of((f"the cat sat here {number}" for number in range(99)), tmp_path / "train.txt")
    text = text_of((f"the cat is there {number}" for number in range(99)), tmp_path / "text.txt")
    call = ["ngram", f"maxmatch:{folder}/few.txt", "--train-on", train, "-d", text]
    for more in ([], ["--splits", "2"]):
        shown = invoke(*call, *more, columns=400).stdout
        assert "[b]/few.txt" in shown
        assert "\\[" not in shown


@pytest.mark.parametrize(
    ("train_on", "said"),
    [
        ("nonsense", "train_on=nonsense names no dataset; there are bundled, .* as in text:PATH"),
        ("text:gone.txt", "gone.txt: no such file or folder"),
        ("counts:{counts}", "the training data are counts"),
    ],
)
def test_a_training_text_that_is_not_there_is_refused_before_any_work(
    words: str, tmp_path: Path, train_on: str, said: str
) -> None:
    out, counts = tmp_path / "out", tmp_path / "counts.tsv"
    assert invoke("count", "-d", words, "-o", counts).exit_code == 0
    metric = f"ngram_bpb:train_on={train_on.format(counts=counts)}"
    with pytest.raises(SpecError, match=f"{metric}: {said}"):
        invoke("run", "-t", "bytes", "-d", words, "-m", metric, "-o", out, catch=False)
    assert not out.exists()


def test_the_metric_without_a_training_text_is_refused_before_any_work(words: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(SpecError, match=r"ngram_bpb: name the text that .*: -m ngram_bpb:train_on=DATASET"):
        invoke("run", "-t", "bytes", "-d", words, "-o", out, "-m", "ngram_bpb", catch=False)
    assert not out.exists()


@pytest.mark.parametrize(
    ("limit", "said"), [("9k", ""), ("10", "more than 10 tokens"), ("x", "'x'"), ("0", "'0'")]
)
def test_the_limit_is_a_number_as_other_options_take_it(tmp_path: Path, limit: str, said: str) -> None:
    train = text_of((f"the cat {number}" for number in range(99)), tmp_path / "train.txt")
    text = text_of((f"the dog {number}" for number in range(99)), tmp_path / "text.txt")
    done = invoke("ngram", "bytes", "--train-on", train, "-d", text, "--limit", limit)
    assert bool(done.exit_code) == bool(said), done.output
    assert said in str(done.exception or "")


def test_an_order_below_one_is_refused_before_any_work(words: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for order in ("0", "-1"):
        with pytest.raises(SpecError, match=rf"ngram_bpb: option 'order' takes 1 or more, not '{order}'"):
            invoke("run", "-t", "bytes", "-d", words, "-m", f"ngram_bpb:order={order}", "-o", out, catch=False)
    assert not out.exists()
