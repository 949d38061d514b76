"""Units say what was counted: which words, which currency, how large a sample."""

from __future__ import annotations

from tests.tokbench.metrics.measuring import NAMED, one
from tokbench.corpus import Document
from tokbench.metrics import Metric
from tokbench.metrics.cost import PriceTable
from tokbench.metrics.counts import Counts
from tokbench.metrics.units import unit_of
from tokbench.tally.collect import collect


def test_the_word_that_was_counted_is_named(stand_ins) -> None:
    def unit(*documents: Document) -> str:
        return one(collect(stand_ins.Pieces(), documents), NAMED["fertility"]).unit

    assert unit(Document("ab cd")) == "tokens/word (UAX #29)"
    assert unit(Document("ab", words=((0, 2),))) == "tokens/word (gold)"
    assert "one per character" in unit(Document("ไทย"))
    assert unit(Document("ไทย ab cd")) == "tokens/word (UAX #29: single characters in some scripts)"


def test_the_currency_and_the_sample_are_named(tally, stand_ins) -> None:
    prices = PriceTable("EUR", {"t": 2.0})
    assert one(tally, NAMED["cost"], prices=prices).unit == "EUR"
    assert one(tally, NAMED["cost_per_million_words"], prices=prices).unit == "EUR per million words (UAX #29)"
    assert one(tally, NAMED["bigram_entropy"]).unit == "bits"
    long = collect(stand_ins.Pieces(), (Document(f"{i} " + "ab" * 500) for i in range(1000)))
    unit = one(long, NAMED["bigram_entropy"]).unit
    assert unit == f"bits (sample of {round(long.ngrams.n_bytes / 1024)} KiB)"
    assert long.ngrams.n_bytes <= 512 * 1024


def test_blocks_of_one_text_are_no_clusters_in_the_table_either(tally) -> None:
    assert one(tally, NAMED["clusters"]).unit == "clusters"
    assert "consecutive" in one(tally, NAMED["clusters"], consecutive=frozenset({"d"})).unit


def test_only_what_is_over_the_words_that_are_counted_says_which_words_they_are() -> None:
    def unit(*needs: str) -> str:
        metric = Metric(name="own", unit="swords", better="none", summary="s", needs=needs, compute=len)
        return unit_of(metric, Counts(words=3, gold_words=0, unspaced_words=0))

    assert unit("bytes") == "swords"
    assert unit("words") == "swords (UAX #29)"
