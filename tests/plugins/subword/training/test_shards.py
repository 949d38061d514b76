"""BPE training in several threads: they learn what one thread learns, whatever becomes of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.trainer import train_bpe
from tokbench_subword.training import initial
from tokbench_subword.training import layout as at
from tokbench_subword.training import shards as sharded
from tokbench_subword.training.alphabet import byte_symbols, character_symbols
from tokbench_subword.training.pairs import RUN_HEAD
from tokbench_subword.training.session import MergeSession
from tokbench_subword.training.shards import Home, ShardedSession, Starvation, WordShard, merge_session
from tokbench_subword.training.ties import BYTES, FIRST_SEEN, HF, LEXICOGRAPHIC, TIES

from tests.plugins.subword.training.plain_merges import plain_merges
from tokbench.counts import WordCounts

TEXT = Path(__file__).read_text(encoding="utf-8")
WORDS = WordCounts.of({word: TEXT.count(word) for word in TEXT.split()})

_letters = st.sampled_from(["ab", "abc", "abcdefgh"]).flatmap(
    lambda letters: st.text(letters, min_size=1, max_size=24)
)
_words = st.dictionaries(_letters, st.integers(1, 9), min_size=1, max_size=12)


def learned(words: WordCounts, shards: int, threads: int = 1, **options: Any) -> list[list[int]]:
    """The merges of sessions over bytes."""
    symbols, starts, tokens = byte_symbols(words, options["rule"], None)
    options = {"tokens": tokens, "n_wanted": 900, **options}
    if shards == 0:
        return MergeSession(symbols, starts, words.counts, **options).run().tolist()
    session = ShardedSession(symbols, starts, words.counts, shards=shards, threads=threads, **options)
    return session.run().tolist()


@pytest.mark.long
@settings(max_examples=300)
@given(
    words=_words,
    rule=st.sampled_from([HF, BYTES]),
    vocab_size=st.integers(10, 80),
    minimum=st.integers(0, 3),
    longest=st.sampled_from([None, None, 2, 3, 6]),
    forbidden=st.sampled_from([(), (), (b"ab",), (b"aa", b"abc")]),
    shards=st.sampled_from([1, 2, 3, 5]),
)
def test_any_number_of_shards_learns_the_same(
    words: dict[str, int],
    rule: int,
    vocab_size: int,
    minimum: int,
    longest: int | None,
    forbidden: tuple[bytes, ...],
    shards: int,
) -> None:
    counted = WordCounts.of(words)
    symbols, starts, tokens = character_symbols(counted, frozenset(), "")
    options: dict[str, Any] = {"tokens": tokens, "n_wanted": vocab_size, "rule": rule, "minimum": minimum}
    options |= {"longest": longest, "forbidden": forbidden}
    sharded = (
        ShardedSession(symbols, starts, counted.counts, shards=shards, threads=1, **options).run().tolist()
    )
    assert sharded == MergeSession(symbols, starts, counted.counts, **options).run().tolist()
    if rule == BYTES and longest is None and not forbidden:
        cut = [(symbols[starts[i] : starts[i + 1]].tolist(), count) for i, count in enumerate(words.values())]
        merges, _ = plain_merges(cut, tokens, n_wanted=vocab_size, rule=rule, minimum=minimum)
        assert [tuple(merge) for merge in sharded] == merges


@settings(max_examples=150)
@given(
    words=st.dictionaries(st.text("xw<>/", min_size=1, max_size=12), st.integers(1, 9), min_size=1, max_size=8),
    rule=st.sampled_from([HF, BYTES]),
    vocab_size=st.integers(12, 60),
    shards=st.sampled_from([1, 2, 3]),
)
def test_tokens_that_are_built_in_two_ways(
    words: dict[str, int], rule: int, vocab_size: int, shards: int
) -> None:
    words = {"x</w>": 9, "xx</w>x": 9, "x": 3, **words}
    counted = WordCounts.of(words)
    symbols, starts, tokens = character_symbols(counted, frozenset(), "</w>")
    options: dict[str, Any] = {"tokens": tokens, "n_wanted": vocab_size, "rule": rule}
    sharded = ShardedSession(symbols, starts, counted.counts, shards=shards, threads=1, **options)
    assert sharded.run().tolist() == MergeSession(symbols, starts, counted.counts, **options).run().tolist()


@pytest.mark.parametrize("rule", [HF, BYTES])
@pytest.mark.parametrize(("shards", "threads"), [(1, 1), (2, 2), (3, 2), (5, 5), (4, 1)])
def test_threads_learn_the_same(rule: int, shards: int, threads: int) -> None:
    assert learned(WORDS, shards, threads, rule=rule) == learned(WORDS, 0, rule=rule)


@pytest.mark.parametrize("ties", TIES)
def test_training_in_threads_is_training(ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded, "WORTH_SHARING", 0)
    monkeypatch.setattr(sharded, "usable_cores", lambda: 8)
    one = train_bpe([TEXT], vocab_size=700, ties=ties)
    for workers in (2, 3, 5):
        many = train_bpe([TEXT], vocab_size=700, ties=ties, workers=workers)
        assert many.vocabulary == one.vocabulary
        assert np.array_equal(many.merges, one.merges)


def test_only_large_corpora_are_shared_and_by_two_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded, "usable_cores", lambda: 3)
    symbols, starts, tokens = byte_symbols(WORDS, HF, None)

    def kind(rule: int, workers: int) -> type:
        options = {"tokens": tokens, "n_wanted": 300, "workers": workers}
        return type(merge_session(symbols, starts, WORDS.counts, rule=rule, **options))

    assert kind(HF, 2) is MergeSession
    monkeypatch.setattr(sharded, "WORTH_SHARING", 0)
    assert [kind(rule, 2) is ShardedSession for rule in (HF, BYTES, LEXICOGRAPHIC, FIRST_SEEN)] == [
        True,
        True,
        False,
        False,
    ]
    assert kind(HF, 1) is MergeSession
    monkeypatch.setattr(sharded, "usable_cores", lambda: 1)
    assert kind(HF, 2) is MergeSession


@pytest.mark.parametrize("rule", [HF, BYTES])
def test_all_that_can_be_short_of_room_grows(rule: int, monkeypatch: pytest.MonkeyPatch) -> None:
    grown: set[int] = set()
    in_batch: set[bool] = set()
    renew_runs = WordShard._renew_runs

    def noted(kind: Any) -> Any:
        growers = kind.growers

        def grower(reason: int, grow: Any) -> Any:
            return lambda: (grown.add(reason), grow())

        return lambda arrays: {reason: grower(reason, grow) for reason, grow in growers(arrays).items()}

    def renewed(shard: WordShard) -> None:
        state, work = shard.work[at.STATE], shard.work
        in_batch.add(bool(state[at.AT_MERGE] > 0))
        renew_runs(shard)
        at_hand = state[at.N_EVENTS :][:2].sum() + RUN_HEAD * state[at.N_MET :][:2].sum()
        work[at.RUNS] = work[at.RUNS][: state[at.RUNS_USED] + at_hand].copy()

    def tight(self: WordShard, *words: Any, **options: Any) -> None:
        made(self, *words, **options)
        work = self.work
        parts, ends = work[at.OUTBOX].reshape(options["n_shards"], -1), work[at.OUTBOX_ENDS]
        begins = np.arange(len(parts)) * parts.shape[1]
        used = int((ends[len(parts) :][: len(parts)] - begins).max())
        ends.reshape(-1, len(parts))[:2] += np.arange(len(parts)) * used - begins
        work[at.OUTBOX] = parts[:, :used].copy().reshape(-1)
        work[at.MERGES] = np.empty(3, np.int32)
        for number in (at.WAITING, at.HEAP_COUNTS, at.HEAP_KEYS, at.HEAP_EXTRAS):
            self.home.work[number] = np.empty(8 if number == at.WAITING else 1, np.int64)

    made = WordShard.__init__
    generator = np.random.default_rng(3)  # of two letters: few pairs at first, and many that merges make
    words = WordCounts.of({"".join(generator.choice(["a", "b"], 24)): 2 for _ in range(400)})
    expected = learned(words, 0, rule=rule)
    monkeypatch.setattr(WordShard, "growers", noted(WordShard))
    monkeypatch.setattr(Home, "growers", noted(Home))
    monkeypatch.setattr(WordShard, "_renew_runs", renewed)
    monkeypatch.setattr(WordShard, "__init__", tight)
    monkeypatch.setattr(initial, "ROOM", 1)
    monkeypatch.setattr(sharded, "table_bits", lambda n_pairs: 6)
    assert learned(words, 3, 2, rule=rule) == expected
    assert {at.PAIRS_FULL, at.OUTBOX_FULL, at.WAITING_FULL, at.MERGES_FULL, at.HEAP_FULL, at.RUNS_FULL} <= grown
    assert in_batch == {False, True}


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_who_finds_no_core_leaves_it_to_the_first_thread(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Starvation, "too_much", lambda starvation: True)
    monkeypatch.setattr(sharded, "PAUSE", 50)
    assert learned(WORDS, 4, threads, rule=HF) == learned(WORDS, 0, rule=HF)


def test_threads_starve_when_they_are_without_a_core_for_much_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, core = [0.0], [0.0]
    monkeypatch.setattr(sharded.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(sharded.time, "thread_time", lambda: core[0])
    starvation = Starvation(2)

    def spend(thread: int, seconds: float, on_core: float) -> None:
        with starvation.watched(thread):
            clock[0] += seconds
            core[0] += on_core

    spend(0, 0.04, 0.0)
    assert not starvation.too_much()  # all of the time, but too little to tell
    spend(1, 0.96, 0.76)
    assert not starvation.too_much()  # 0.24 of one second
    spend(0, 0.02, 0.0)
    assert starvation.too_much()


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_ends_all_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharded, "PAUSE", 20)
    symbols, starts, tokens = byte_symbols(WORDS, HF, None)
    session = ShardedSession(
        symbols, starts, WORDS.counts, shards=3, threads=threads, tokens=tokens, n_wanted=900, rule=HF
    )

    def progress(done: float) -> None:
        if done > 0.1:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        session.run(progress)
    assert threading.active_count() == before


@pytest.mark.parametrize("failing", [0, 2])
def test_a_failure_in_one_thread_ends_all(failing: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(shard: WordShard) -> None:
        if shard.work[at.STATE][at.SHARD] == failing:
            raise MemoryError("no room")
        shard.work.grow(at.MERGES, unit=3)

    def short(shard: WordShard) -> dict[int, Any]:
        return {**growers(shard), at.MERGES_FULL: lambda: no_room(shard)}

    growers = WordShard.growers
    symbols, starts, tokens = byte_symbols(WORDS, HF, None)
    monkeypatch.setattr(WordShard, "growers", short)
    session = ShardedSession(
        symbols, starts, WORDS.counts, shards=3, threads=3, tokens=tokens, n_wanted=900, rule=HF
    )
    for shard in session.shards:
        shard.work[at.MERGES] = np.empty(3 * 100, np.int32)
    with pytest.raises(MemoryError, match="no room"):
        session.run()


def test_no_thread_to_be_had_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def submit(pool: object, *job: object) -> None:
        raise RuntimeError("can't start new thread")

    symbols, starts, tokens = byte_symbols(WORDS, HF, None)
    session = ShardedSession(
        symbols, starts, WORDS.counts, shards=2, threads=2, tokens=tokens, n_wanted=900, rule=HF
    )
    monkeypatch.setattr(sharded.ThreadPoolExecutor, "submit", submit)
    with pytest.raises(RuntimeError, match="can't start"):
        session.run()


def test_one_word_and_none() -> None:
    for words in ({}, {"x" * 50_000: 1}, {"ab": 3}):
        counted = WordCounts.of(words)
        assert learned(counted, 3, 2, rule=HF, n_wanted=300) == learned(counted, 0, rule=HF, n_wanted=300)
