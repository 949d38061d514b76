"""The BPE trainer against `tokenizers`, and against the algorithm written plainly."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.trainer import train_bpe
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.training import cells, counting, initial_pairs
from tokbench_subword.training import layout as at
from tokbench_subword.training import session as training_session
from tokbench_subword.training.alphabet import byte_symbols, character_symbols
from tokbench_subword.training.session import MergeSession
from tokbench_subword.training.ties import BYTES, FIRST_SEEN, HF, LEXICOGRAPHIC, TIES

from tests.plugins.subword.bpe.references import hf_merges, written
from tests.plugins.subword.training.plain_merges import plain_merges
from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError, UnknownNameError

NONE = Pattern.of("none")
WORDS_BY_MACHINE = Pattern.of("gpt2")
WORDS = Pattern.of(r"[^ \n]+", keep_gaps=False)

_letters = st.sampled_from(["ab", "abc", "abcdefgh"]).flatmap(
    lambda letters: st.text(letters, min_size=1, max_size=24)
)
_words = st.dictionaries(_letters, st.integers(1, 9), min_size=1, max_size=12)


def repeated(words: dict[str, int]) -> list[str]:
    return [" ".join([word] * count) for word, count in words.items()]


def char_model(words: dict[str, int], **options: object) -> BpeModel:
    return train_bpe(WordCounts.of(words), pattern=WORDS, level="char", initial_alphabet=(), **options)  # type: ignore[arg-type]


@settings(max_examples=150)
@given(_words, st.integers(10, 80), st.sampled_from([0, 0, 2, 3]), st.sampled_from([None, None, 2, 3, 6]))
def test_equals_tokenizers_on_small_corpora(
    words: dict[str, int], vocab_size: int, min_frequency: int, longest: int | None
) -> None:
    model = char_model(words, vocab_size=vocab_size, min_frequency=min_frequency, max_token_length=longest)
    merges, vocabulary = hf_merges(
        repeated(words),
        pre_tokenizer="words",
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        max_token_length=longest,
    )
    tokens = [token.decode() for token in model.vocabulary]
    assert [[tokens[left], tokens[right]] for left, right, _ in model.merges.tolist()] == merges
    assert {token: index for index, token in enumerate(tokens)} == vocabulary


@settings(max_examples=80)
@given(st.lists(st.text(max_size=40), max_size=8), st.integers(258, 330))
def test_equals_tokenizers_on_any_text(texts: list[str], vocab_size: int) -> None:
    texts = [text for text in texts if text.isprintable()]
    model = train_bpe(texts, vocab_size=vocab_size, special_tokens=["<|endoftext|>", "<pad>"])
    expected = hf_merges(texts, vocab_size=vocab_size, special_tokens=["<|endoftext|>", "<pad>"])
    assert written(model) == expected


@pytest.mark.parametrize("rule", [BYTES, LEXICOGRAPHIC, FIRST_SEEN])
@settings(max_examples=80)
@given(words=_words, vocab_size=st.integers(10, 80), minimum=st.integers(0, 3))
def test_equals_plain_training(rule: int, words: dict[str, int], vocab_size: int, minimum: int) -> None:
    symbols, starts, tokens = character_symbols(WordCounts.of(words), frozenset(), "")
    session = MergeSession(
        symbols,
        starts,
        WordCounts.of(words).counts,
        tokens=tokens,
        n_wanted=vocab_size,
        rule=rule,
        minimum=minimum,
    )
    cut = [(symbols[starts[i] : starts[i + 1]].tolist(), count) for i, count in enumerate(words.values())]
    merges, _ = plain_merges(cut, tokens, n_wanted=vocab_size, rule=rule, minimum=minimum)
    assert [tuple(merge) for merge in session.run().tolist()] == merges


def test_tie_rules_differ_where_they_say() -> None:
    # "ba" comes first in the text, "ab" is the smaller pair, and all are seen once.
    learned = {ties: char_model({"baabc": 1}, vocab_size=4, ties=ties).vocabulary[3].decode() for ties in TIES}
    assert learned == {"hf": "aa", "bytes": "aa", "lexicographic": "aa", "first_seen": "ba"}
    # Bytes that do not print go last by the rule `hf`, and first by value.
    assert train_bpe(["\n\nzz"], vocab_size=257, pattern="none", ties="hf").vocabulary[256] == b"zz"
    assert train_bpe(["\n\nzz"], vocab_size=257, pattern="none", ties="bytes").vocabulary[256] == b"\n\n"
    # Shorter first: "abc" and "cd" are seen as often.
    words = {"ab": 5, "abc": 3, "cd": 3}
    assert char_model(words, vocab_size=6, ties="lexicographic").vocabulary[4:] == (b"ab", b"cd")


def test_the_textbook_strings() -> None:
    model = train_bpe(["aaabdaaabac"], vocab_size=258, pattern="none", ties="first_seen")
    assert model.vocabulary[256:] == (b"aa", b"aaa")
    sentence = "The batat and the cat fought over the hat."
    tutorial = train_bpe([sentence], vocab_size=20, pattern=WORDS, level="char", ties="first_seen")
    assert [token.decode() for token in tutorial.vocabulary[16:]] == ["at", "he", "the", "The"]


def test_whole_text_equals_plain_training_exactly() -> None:
    text = Path(__file__).read_text(encoding="utf-8")[:3000]
    for rule, ties in ((FIRST_SEEN, "first_seen"), (LEXICOGRAPHIC, "lexicographic")):
        model = train_bpe([text], vocab_size=400, pattern="none", ties=ties)
        symbols, _, tokens = byte_symbols(WordCounts.of({text: 1}), rule, None)
        merges, _ = plain_merges([(symbols.tolist(), 1)], tokens, n_wanted=400, rule=rule)
        assert [tuple(merge) for merge in model.merges.tolist()] == merges


@pytest.mark.parametrize("ties", TIES)
def test_any_number_of_workers_gives_the_same(ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting.blocks, "__defaults__", (500,))
    texts = Path(__file__).read_text(encoding="utf-8").splitlines()
    one = train_bpe(texts, vocab_size=600, ties=ties)
    for workers in (2, 3, 5):
        many = train_bpe(texts, vocab_size=600, ties=ties, workers=workers)
        assert many.vocabulary == one.vocabulary
        assert np.array_equal(many.merges, one.merges)


@pytest.mark.parametrize("workers", [1, 3])
def test_what_fails_while_counting_is_raised(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting.blocks, "__defaults__", (50,))

    def broken() -> Iterator[str]:
        yield from ["some text"] * 100
        raise OSError("the disk is gone")

    def fill(table: object, block: object) -> None:
        raise MemoryError("no room")

    with pytest.raises(OSError, match="the disk is gone"):
        counting.count_pretokens(broken(), WORDS_BY_MACHINE, workers=workers)
    endless = itertools.repeat("some text")
    with pytest.raises(MemoryError, match="no room"):
        counting.count_blocks(endless, fill, workers=workers, progress=lambda done: None)


def test_threads_that_cannot_be_started_keep_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    start, started, refused = threading.Thread.start, [], threading.Event()

    def limited(thread: threading.Thread) -> None:
        if started:
            refused.set()
            raise RuntimeError("no more threads")
        started.append(thread)
        start(thread)

    def fill(table: object, block: object) -> None:
        assert refused.wait(30)  # at work until another thread is asked for

    monkeypatch.setattr(threading.Thread, "start", limited)
    monkeypatch.setattr(counting.blocks, "__defaults__", (1,))
    with pytest.raises(RuntimeError, match="no more threads"):
        counting.count_blocks(["some text"] * 9, fill, workers=4, progress=lambda done: None)
    assert not any(thread.is_alive() for thread in started)


def test_counting_keeps_to_a_limit_of_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MOST_WORDS", 100)
    monkeypatch.setattr(counting, "BLOCKS_AT_ONCE", 5)
    monkeypatch.setattr(counting.blocks, "__defaults__", (200,))
    texts = [f"common rare{number} usual{number % 30}" for number in range(4000)]
    results = [dict(counting.count_pretokens(texts, Pattern.of("gpt2"), workers=workers)) for workers in (1, 3)]
    assert results[0] == results[1]
    assert len(results[0]) <= 100
    assert results[0][b"common"] == 4000
    by_regex = dict(counting.count_pretokens(texts, WORDS))
    assert len(by_regex) <= 100
    assert by_regex[b"common"] == 4000


def test_outdated_positions_are_left_behind_where_room_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    renewed: list[int] = []
    renew = MergeSession._renew_runs

    def counted(session: MergeSession) -> None:
        renew(session)
        session.work[at.RUNS] = session.work[at.RUNS][: session.work[at.STATE][at.RUNS_USED] + 3000]
        renewed.append(int(session.work[at.STATE][at.RUNS_USED]))

    text = Path(__file__).read_text(encoding="utf-8")[:9000]
    for ties in TIES:
        wide = train_bpe([text], vocab_size=600, pattern="none", ties=ties)
        with monkeypatch.context() as patch:
            patch.setattr(MergeSession, "_renew_runs", counted)
            patch.setattr(initial_pairs, "ROOM", 1)
            tight = train_bpe([text], vocab_size=600, pattern="none", ties=ties)
        assert np.array_equal(tight.merges, wide.merges), ties
    assert len(renewed) > 4
    assert min(renewed) < len(text)


@pytest.mark.parametrize("rule", [HF, BYTES])
def test_all_that_can_be_short_of_room_grows(rule: int, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)  # of two letters: few pairs at first, and many that merges make
    words = WordCounts.of({"".join(generator.choice(["a", "b"], 24)): 2 for _ in range(400)})
    symbols, starts, tokens = byte_symbols(words, rule, None)

    def session() -> MergeSession:
        return MergeSession(symbols, starts, words.counts, tokens=tokens, n_wanted=900, rule=rule)

    expected = session().run()
    grown: set[int] = set()
    growers = MergeSession.growers

    def noted(session: MergeSession) -> dict[int, Callable[[], None]]:
        return {
            reason: lambda reason=reason, grow=grow: (grown.add(reason), grow())  # type: ignore[misc]
            for reason, grow in growers(session).items()
        }

    monkeypatch.setattr(MergeSession, "growers", noted)
    monkeypatch.setattr(initial_pairs, "ROOM", 1)
    monkeypatch.setattr(training_session, "likely_pairs", lambda work: 0)
    tight = session()
    for number in (at.HEAP_COUNTS, at.HEAP_KEYS, at.HEAP_EXTRAS, at.POSITIONS):
        tight.work[number] = np.empty(1, tight.work[number].dtype)
    tight.work[at.WAITING], tight.work[at.MERGES] = np.empty(8, np.int64), np.empty(3, np.int32)
    assert np.array_equal(tight.run(), expected)
    rooms = {at.PAIRS_FULL, at.RUNS_FULL, at.POSITIONS_FULL, at.HEAP_FULL, at.MERGES_FULL, at.WAITING_FULL}
    assert rooms <= grown


def test_more_symbols_than_positions_can_number_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "MOST_CELLS", 10)
    with pytest.raises(TokenizerError, match="11 symbols in total, and the limit of training is about 10"):
        train_bpe(["hello world"], vocab_size=300)


def test_a_word_that_was_never_seen_is_said() -> None:
    with pytest.raises(TokenizerError, match="counts must be at least 1"):
        train_bpe(WordCounts.of({"ab": 0}), vocab_size=300, pattern=NONE)


def test_end_of_word_is_a_symbol_of_its_own() -> None:
    model = train_bpe(["low low lower newest"], vocab_size=16, pattern=WORDS, level="char", end_of_word="</w>")
    tokens = [token.decode() for token in model.vocabulary]
    assert tokens[:8] == sorted(set("lowernest"))
    assert tokens[8:11] == ["r</w>", "t</w>", "w</w>"]
    assert "low</w>" in tokens
    assert model.end_of_word == "</w>"


def test_end_of_word_learns_what_tokenizers_learns() -> None:
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    merges, _ = hf_merges(repeated(words), pre_tokenizer="words", vocab_size=22, end_of_word_suffix="</w>")
    model = char_model(words, vocab_size=22, end_of_word="</w>")
    tokens = [token.decode() for token in model.vocabulary]
    learned = [tokens[left] + tokens[right] for left, right, _ in model.merges.tolist()]
    # Ties fall as ids do, and `tokenizers` gives the ids of x</w> in the order of a hash table: compare the
    # first ones.
    assert learned[:2] == [left + right for left, right in merges[:2]] == ["es", "est</w>"]


@pytest.mark.parametrize("rule", [BYTES, LEXICOGRAPHIC, FIRST_SEEN])
@settings(max_examples=60)
@given(
    words=st.dictionaries(st.text("xw<>/", min_size=1, max_size=12), st.integers(1, 9), min_size=1, max_size=8),
    vocab_size=st.integers(12, 60),
)
def test_the_end_of_word_may_stand_in_the_text(rule: int, words: dict[str, int], vocab_size: int) -> None:
    # "x</w>" is then spelled by one first symbol and by merges of five: one token, of two extents.
    words = {"x</w>": 9, "xx</w>x": 9, "x": 3, **words}
    symbols, starts, tokens = character_symbols(WordCounts.of(words), frozenset(), "</w>")
    counts = WordCounts.of(words).counts
    session = MergeSession(symbols, starts, counts, tokens=tokens, n_wanted=vocab_size, rule=rule)
    cut = [(symbols[starts[i] : starts[i + 1]].tolist(), count) for i, count in enumerate(words.values())]
    merges, _ = plain_merges(cut, tokens, n_wanted=vocab_size, rule=rule)
    assert [tuple(merge) for merge in session.run().tolist()] == merges


def test_a_merge_never_spells_a_special_token() -> None:
    model = train_bpe(["<s><s><s>"], vocab_size=262, pattern="none", special_tokens=["<s>"])
    assert b"<s>" not in model.vocabulary
    assert model.special_tokens == {"<s>": 0}
    assert model.vocabulary[0] == b""
    spelled = train_bpe([" the the the"], vocab_size=262, pattern="none", special_tokens=["Ġthe"])
    assert b" the" not in spelled.vocabulary  # files spell it as the special token


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": 0}, "at least 1"),
        ({"vocab_size": 255}, "ask for at least 256"),
        ({"vocab_size": 256, "special_tokens": ["<s>"]}, "1 special tokens and 256 bytes"),
        ({"vocab_size": 200, "special_tokens": []}, "less than the 256 bytes"),
        ({"vocab_size": 300, "min_frequency": -1}, "negative"),
        ({"vocab_size": 300, "max_token_length": 0}, "at least 1"),
        ({"vocab_size": 300, "end_of_word": "</w>"}, "level=char"),
        ({"vocab_size": 300, "special_tokens": [""]}, "must not be empty"),
        ({"vocab_size": 300, "special_tokens": ["<s>", "e"]}, "'e' is one of the bytes that every token"),
        ({"vocab_size": 300, "special_tokens": ["Ġ"]}, "'Ġ' is one of the bytes"),
        ({"vocab_size": 9, "level": "char", "special_tokens": ["a"]}, "'a' is one of the characters"),
        ({"vocab_size": 2, "level": "char"}, "3 characters"),
        ({"vocab_size": 9, "level": "char", "initial_alphabet": ["ab"]}, "'ab' has 2"),
    ],
)
def test_what_cannot_be_is_said(options: dict[str, object], message: str) -> None:
    with pytest.raises(TokenizerError, match=message):
        train_bpe(["abc"], **options)  # type: ignore[arg-type]


def test_an_unknown_tie_rule_is_said() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'first_seen'"):
        train_bpe(["abc"], vocab_size=300, ties="firstseen")


def test_a_corpus_may_support_fewer_tokens_or_none() -> None:
    assert len(train_bpe(["ab"], vocab_size=5000)) == 257
    assert len(train_bpe([], vocab_size=5000)) == 256
    assert len(train_bpe([""], vocab_size=256)) == 256
    assert len(train_bpe(["ab cd"], vocab_size=300, initial_alphabet=())) == 8
    assert train_bpe(["x" * 50_000], vocab_size=300, pattern="none").vocabulary[-1] == b"x" * 50_000


def test_any_character_and_lone_surrogates() -> None:
    model = train_bpe(["\ud800a\x00\U0010ffff\ufeff" * 3], vocab_size=270, pattern="none")
    assert any(
        b"\xef\xbf\xbd" in token for token in model.vocabulary
    )  # U+FFFD stands for what UTF-8 cannot hold


def test_weights_beyond_32_bits_are_counted() -> None:
    words = WordCounts.of({"ab": 2**40, "ac": 2**40 + 1, "bc": 5})
    model = train_bpe(words, vocab_size=5, pattern=WORDS, level="char", initial_alphabet=())
    assert model.vocabulary[3:] == (b"ac", b"ab")


def test_progress_rises_to_one() -> None:
    seen: list[float] = []
    text = Path(__file__).read_text(encoding="utf-8")
    train_bpe([text], vocab_size=700, n_bytes=len(text), progress=lambda part, what: seen.append(part))
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
