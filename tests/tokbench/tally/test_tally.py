"""Tallies add up: any split of the documents into any shards in any order gives the identical tally."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokbench.batch import TokenBatch
from tokbench.corpus import Document
from tokbench.errors import ResultsError, TokenizerError
from tokbench.metrics import CellKey
from tokbench.metrics.catalogue import CATALOGUE
from tokbench.metrics.context import MeasureContext
from tokbench.metrics.measure import measure
from tokbench.tally import histogram
from tokbench.tally.collect import collect
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.own import OwnCounting
from tokbench.tally.prepare import prepare
from tokbench.tally.tally import Tally

TEXTS = st.lists(
    st.text(alphabet=st.sampled_from("aAbé 1.\n漢ไ\U0001f600"), max_size=30), min_size=0, max_size=12
)


def tokenizers(stand_ins) -> list[object]:
    return [stand_ins.Pieces("ab", " a", "é"), stand_ins.Lowering("aa", " b"), stand_ins.Words("a", "b", "ab")]


@settings(max_examples=40)
@given(TEXTS, st.randoms(use_true_random=False), st.integers(1, 4))
def test_any_split_in_any_order_gives_the_identical_tally(stand_ins, texts, random, n_shards) -> None:
    whole = [collect(each, map(Document, texts)) for each in tokenizers(stand_ins)]
    shuffled = texts[:]
    random.shuffle(shuffled)
    shards = [shuffled[i::n_shards] for i in range(n_shards)]
    for index in range(3):
        parts = [
            collect(
                tokenizers(stand_ins)[index], map(Document, shard), batch_bytes=random.choice([1, 20, 10_000])
            )
            for shard in shards
        ]
        random.shuffle(parts)
        assert Tally.sum(parts).to_bytes() == whole[index].to_bytes()
        added = Tally.empty()
        for part in parts:
            added = added + part
        assert added == whole[index]


def test_splits_agree_where_ngrams_are_sampled(stand_ins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram, "SAMPLE_BYTES", 600)
    texts = [f"{i} ab {i * i} a b" * (1 + i % 3) for i in range(200)]
    tokenizer = stand_ins.Pieces("ab", " a")
    whole = collect(tokenizer, map(Document, texts))
    assert 0 < whole.ngrams.n_bytes <= 600
    parts = [collect(tokenizer, map(Document, texts[i::7])) for i in reversed(range(7))]
    assert Tally.sum([Tally.sum(parts[:3]), Tally.sum(parts[3:])]) == whole


def test_bytes_round_trip_and_are_the_same_again(stand_ins) -> None:
    tally = collect(stand_ins.Lowering("ab"), map(Document, ["Ab É", "x" * 300, ""]))
    data = tally.to_bytes()
    again = Tally.from_bytes(data)
    assert again.to_bytes() == data
    assert again.totals == tally.totals
    assert again.losses == tally.losses
    assert pickle.loads(pickle.dumps(tally)) == tally


@pytest.mark.parametrize("data", [b"", b"something else", b"tokbench tally\nx"])
def test_what_is_no_tally_is_refused(data: bytes) -> None:
    with pytest.raises(ResultsError, match="tally"):
        Tally.from_bytes(data)


def test_cut_bytes_are_refused(stand_ins) -> None:
    data = collect(stand_ins.Pieces(), [Document("some text")]).to_bytes()
    with pytest.raises(ResultsError, match="damaged"):
        Tally.from_bytes(data[:-10])


def test_no_text_has_no_counts(stand_ins) -> None:
    tally = collect(stand_ins.Pieces(), [])
    assert tally == Tally.empty()
    assert not any(tally.totals.values())
    assert not tally.lossy


def test_histograms_by_hand(stand_ins) -> None:
    tally = collect(stand_ins.Pieces("ab"), map(Document, ["abab a", "é"]))
    assert tally.tokens == 6
    assert dict(zip(tally.ids.keys.tolist(), tally.ids.counts.tolist(), strict=True)) == {
        256: 2, 32: 1, 97: 1, 0xC3: 1, 0xA9: 1,
    }  # fmt: skip
    assert dict(zip(tally.document_tokens.keys, tally.document_tokens.counts, strict=True)) == {2: 1, 4: 1}
    assert dict(zip(tally.token_bytes.keys, tally.token_bytes.counts, strict=True)) == {1: 4, 2: 2}
    assert dict(zip(tally.word_tokens.keys, tally.word_tokens.counts, strict=True)) == {1: 1, 2: 2}
    assert tally.totals["split_tokens"] == 2
    assert tally.totals["cut_chars"] == 1
    assert tally.lengths[2].tolist() == [1, 2, 2]
    assert tally.lengths[3].tolist() == [1, 6, 4]


def test_progress_counts_every_byte_once(stand_ins) -> None:
    told: list[int] = []
    collect(stand_ins.Pieces(), map(Document, ["ab"] * 10), batch_bytes=5, on_batch=told.append)
    assert sum(told) == 20
    assert len(told) > 1


def test_prepared_text_serves_several_tokenizers(stand_ins) -> None:
    batches = list(prepare(map(Document, ["ab cd", "é"])))
    assert collect(stand_ins.Pieces("ab"), batches) == collect(
        stand_ins.Pieces("ab"), map(Document, ["ab cd", "é"])
    )


def test_facts_say_which_group_a_document_is_in(stand_ins) -> None:
    documents = [Document("same", line=i) for i in range(3)]
    apart = collect(stand_ins.Pieces(), documents, facts=CorpusFacts(parallel=True))
    assert apart.groups.rows.tolist() == [0, 1, 2]
    assert len(collect(stand_ins.Pieces(), documents).groups.rows) == 1


def test_what_plugins_do_to_their_arguments_changes_no_count(stand_ins) -> None:
    """Texts put in small letters in place came back "unchanged"; ids cleared by one were zeros to the next."""

    class Lowers(stand_ins.Pieces):
        def encode_batch(self, texts: list[str]) -> TokenBatch:
            texts[:] = map(str.lower, texts)
            return TokenBatch.of(map(self.encode, texts))

    class Clears(stand_ins.Pieces):
        def decode_batch(self, batch: TokenBatch) -> list[str]:
            texts = [self.decode(ids) for ids in batch.to_lists()]
            batch.ids[:] = 0
            return texts

    def clear(texts: list[str], batch: TokenBatch) -> list[int]:
        batch.ids[:] = 0
        texts.clear()
        return [0] * len(batch)

    documents = [Document(f"Hello {number}") for number in range(20)]
    assert collect(Lowers(), documents).totals["round_trips"] == 0
    told = [
        OwnCounting("first", ("n",), clear, {}),
        OwnCounting("second", ("n",), lambda batch: [int(ids[0]) for ids in batch], {}),
    ]
    own = collect(stand_ins.Pieces(), documents, counting=told).own
    assert (own.faults, own.totals()["second.n"]) == ({}, 20 * ord("H"))
    same = collect(Clears(), documents) == collect(stand_ins.Pieces(), documents)
    assert same


def test_an_id_outside_the_vocabulary_is_an_error(stand_ins) -> None:
    with pytest.raises(TokenizerError, match="id 999, outside its vocabulary of 256 ids"):
        collect(stand_ins.Broken([999], [0, 1]), [Document("x")])
    with pytest.raises(TokenizerError, match="id -1"):
        collect(stand_ins.Broken([-1], [0, 1]), [Document("x")])


@pytest.mark.parametrize("offsets", [[0, 1], [0, 2, 2], [1, 1, 2], [0, 5, 1]])
def test_a_batch_of_a_wrong_shape_is_an_error(stand_ins, offsets: list[int]) -> None:
    with pytest.raises(TokenizerError, match=r"batch|documents"):
        collect(stand_ins.Broken([97], offsets), [Document("x"), Document("y")])


def test_counts_are_whole_numbers_of_the_smallest_type(stand_ins) -> None:
    tally = collect(stand_ins.Pieces(), [Document("abc")])
    assert tally.groups.values.dtype == np.uint8


def test_offsets_in_any_order_count_the_same() -> None:
    class Backwards:
        name, vocab_size = "backwards", 2

        def encode(self, text: str) -> list[int]:
            return [1, 0]

        def decode(self, ids: Sequence[int]) -> str:
            return "?"

        def token_bytes(self, token_id: int) -> bytes:
            return b"?"

        def offsets(self, text: str) -> np.ndarray:
            return np.array([(2, 5), (0, 4)])

    tally = collect(Backwards(), [Document("ab cd")])
    names = ("aligned_words", "word_tokens", "continued_words", "cross_words", "boundaries")
    assert [tally.totals[name] for name in names] == [2, 3, 1, 1, 1]


def test_tokens_across_words_are_a_share_of_all_tokens() -> None:
    """Tokens are not one more than boundaries where space at the beginning is dropped."""

    class Strips:
        name, vocab_size = "strips", 4
        encode = staticmethod(lambda text: [0, 1, 2])
        decode = staticmethod(lambda ids: "ab cd")
        token_bytes = staticmethod(lambda token: (b"a", b"b c", b"d")[token])
        offsets = staticmethod(lambda text: np.array([(1, 2), (2, 5), (5, 6)]))

    tally = collect(Strips(), [Document("\tab cd")] * 5)
    cells = {CellKey("t", "d", "eng"): tally}
    metrics = [metric for metric in CATALOGUE if metric.name == "cross_word_tokens"]
    row = measure(cells, metrics, context=MeasureContext(replicates=0))[0]
    assert row.value == pytest.approx(1 / 3, abs=1e-12)
