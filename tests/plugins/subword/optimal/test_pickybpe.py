"""PickyBPE against the paper's two algorithms in plain Python, and its file."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.optimal.families import PICKYBPE
from tokbench_subword.optimal.pickybpe import Event, Picked, learn_picky
from tokbench_subword.optimal.replaying import ReplayModel
from tokbench_subword.optimal.wordwise import WordwiseTokenizer
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.training.alphabet import byte_order
from tokbench_subword.training.ties import HF

from tests.plugins.conftest import train_on
from tests.plugins.subword.strings import ENGLISH, GPT2, hard_strings
from tests.plugins.subword.training.plain_merges import replaced
from tokbench.capabilities import Prunable, Sampler, ShortestSpeller, Traceable
from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.registry import build_registry
from tokbench.spec import Spec

Word = list[bytes]
Happened = list[tuple[list[bytes], list[bytes]]]


def picky(counts: dict[bytes, int], size: int, ios: float) -> tuple[list[bytes], Happened]:
    """The tokens, in the order in which each was first made, and what happened."""
    order = [bytes([byte]) for byte in byte_order(HF)]
    sides: dict[bytes, Word] = {}
    present, events = set(order), []
    words = {word: [word[i : i + 1] for i in range(len(word))] for word in counts}

    def happen(before: Word, after: Word) -> None:
        events.append((before, after))
        for word in words:
            words[word] = replaced(words[word], before, after)

    def seen(token: bytes) -> int:
        return sum(counts[word] * now.count(token) for word, now in words.items())

    def parts(token: bytes) -> Word:
        return [token] if token in present else [part for side in sides[token] for part in parts(side)]

    while len(present) < size:
        pairs: Counter[tuple[bytes, bytes]] = Counter()
        for word, now in words.items():
            for pair in pairwise(now):
                pairs[pair] += counts[word]
        if not pairs:
            break
        left, right = min(pairs, key=lambda pair: (-pairs[pair], order.index(pair[0]), order.index(pair[1])))
        new, length = left + right, sum(counts[word] * len(now) for word, now in words.items())
        if new not in order:
            order.append(new)
            sides[new] = [left, right]
        present.add(new)
        happen([left, right], [new])
        merged = length - sum(counts[word] * len(now) for word, now in words.items())
        for side in dict.fromkeys((left, right)):
            if len(side) > 1 and merged > ios * (seen(side) + merged):
                present.remove(side)
                happen([side], parts(side))
    return [token for token in order if token in present], events


trained = partial(train_on, PICKYBPE, threads=1)


@settings(max_examples=30, deadline=None)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=14), st.integers(1, 9), min_size=1, max_size=6),
    st.integers(256, 266),
    st.sampled_from([0.5, 0.6, 0.75, 0.9, 1.0]),
)
def test_tokens_events_and_spellings_are_those_of_the_paper(
    words: dict[str, int], size: int, ios: float
) -> None:
    counts = {word.encode(): count for word, count in words.items()}
    tokens, events = picky(counts, size, ios)
    picked = learn_picky(WordCounts.of(counts), size, ios=ios)
    assert [picked.symbols[index] for index in picked.present] == tokens
    spell = picked.symbols.__getitem__
    assert [([*map(spell, e.before)], [*map(spell, e.after)]) for e in picked.events] == events
    tokenizer = WordwiseTokenizer.of_model(ReplayModel.of_picked(picked, 0), name="picky")
    for text in [*words, "abcabcaab", "ccbbaa" * 9]:
        word = [text[i].encode() for i in range(len(text))]
        for before, after in events:
            word = replaced(word, before, after)
        assert [tokenizer.token_bytes(index) for index in tokenizer.encode(text)] == word


@pytest.mark.parametrize("word", ["ab" * 30, "ba" * 31, "a" * 9 + "ab" * 20])
def test_pairs_that_come_and_go_again_and_again_happen_once_their_turn_comes(word: str) -> None:
    order = [bytes([byte]) for byte in byte_order(HF)]
    a, b = order.index(b"a"), order.index(b"b")
    ab, ba = 256, 257
    events = [Event((a, b), (ab,)), Event((ab,), (a, b))] * 40 + [Event((b, a), (ba,)), Event((a, b), (ab,))]
    symbols = [*order, b"ab", b"ba"]
    model = ReplayModel.of_picked(Picked(symbols, events, [*range(258)]), 0, pattern=Pattern("none"))
    expected = [bytes([byte]) for byte in word.encode()]
    for event in events:
        expected = replaced(
            expected, *([symbols[index] for index in side] for side in (event.before, event.after))
        )
    tokenizer = WordwiseTokenizer.of_model(model, name="picky")
    assert [tokenizer.token_bytes(index) for index in tokenizer.encode(word)] == expected


def test_english_is_learned_and_encoded_as_by_hand_in_any_number_of_threads() -> None:
    words = Counter(piece.encode() for text in ENGLISH[:15] for piece in regex.findall(GPT2, text))
    tokens, events = picky(words, 330, 0.6)
    assert any(len(before) == 1 for before, _ in events)
    for threads in (1, 3):
        tokenizer = trained(ENGLISH[:15], vocab_size=330, ios=0.6, threads=threads)
        assert [tokenizer.token_bytes(index) for index in range(330)] == tokens
    for text in [*ENGLISH[10:60], *hard_strings(20)]:
        expected: Word = []
        for piece in regex.findall(GPT2, text):
            word = [bytes([byte]) for byte in piece.encode()]
            for before, after in events:
                word = replaced(word, before, after)
            expected += word
        assert [tokenizer.token_bytes(index) for index in tokenizer.encode(text)] == expected


def test_more_symbols_than_twice_the_tokens_find_room_on_the_way() -> None:
    words = WordCounts.of(Counter(line.encode() for line in ENGLISH))
    some, most = (learn_picky(words, size, ios=0.3) for size in (1020, 4000))
    assert len(some.symbols) > 2 * 1020
    assert some.events == most.events


def test_a_share_that_no_merge_exceeds_makes_it_plain_bpe() -> None:
    from tokbench_subword.bpe.trainer import train_bpe

    plain = train_bpe(ENGLISH, vocab_size=1200)
    picked = trained(ENGLISH, vocab_size=1200, ios=1.0)
    assert [picked.token_bytes(index) for index in range(1200)] == list(plain.vocabulary)


def test_what_only_merges_can_is_not_there_and_added_tokens_stay_in_its_file(tmp_path: Path) -> None:
    picked = learn_picky(WordCounts.of({"abc": 9, "ab": 1}), 258, ios=0.8, minimum=2)
    ours = WordwiseTokenizer.of_model(ReplayModel.of_picked(picked, 0), name="picky")
    assert isinstance(ours, ShortestSpeller)
    assert not isinstance(ours, Sampler | Traceable | Prunable)
    assert not callable(ours.with_dropout)
    ours.add_tokens("<x>")
    ours.save(tmp_path / "t.pickybpe")
    again = WordwiseTokenizer.from_file(tmp_path / "t.pickybpe", kind=ReplayModel, name="again")
    assert repr(again) == "WordwiseTokenizer('again', vocab_size=258, merges=0)"
    assert again("ab<x>abc") == ours("ab<x>abc")
    assert again.decode(again("<x>")) == "<x>"


@pytest.mark.parametrize("event", ["[[0, 1], [2, 3]]", "[[0], [1, 2]]", "[[0, 99999], [1]]"])
def test_events_that_cannot_be_are_told(tmp_path: Path, event: str) -> None:
    trained(["ab" * 9], vocab_size=257).save(tmp_path / "t.pickybpe")
    text = (tmp_path / "t.pickybpe").read_text(encoding="utf-8")
    start = text.index('"events"')
    (tmp_path / "t.pickybpe").write_text(
        text[:start] + f'"events": [{event}]' + text[text.index("}", start) :], encoding="utf-8"
    )
    with pytest.raises(TokenizerError, match=r"PickyBPE is damaged.*event 0"):
        build_registry().load(Spec("pickybpe", str(tmp_path / "t.pickybpe")))


@pytest.mark.parametrize(("key", "said"), [("tokens", "b'ab' is made.*not a token"), ("symbols", "list")])
def test_a_symbol_without_an_id_is_told_before_it_comes_up(tmp_path: Path, key: str, said: str) -> None:
    path = tmp_path / "t.pickybpe"
    trained(["ab" * 9], vocab_size=257).save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["model"][key][-1 if key == "tokens" else 0]
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(TokenizerError, match=f"PickyBPE is damaged.*{said}"):
        build_registry().load(Spec("pickybpe", str(path)))


def test_a_share_out_of_range_is_refused() -> None:
    with pytest.raises(TokenizerError, match=r"ios must be above 0 and at most 1; it is 1\.5"):
        trained(["text"], ios=1.5)
