"""GreedTok against the paper's two algorithms in plain Python, and its file."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.optimal.families import GREEDTOK
from tokbench_subword.optimal.greedtok import chosen_tokens

from tests.plugins.conftest import train_on
from tests.plugins.subword.strings import ENGLISH, GPT2, hard_strings
from tokbench import TrainingCorpus
from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.registry import build_registry
from tokbench.spec import Spec, with_defaults


def covered(word: list[bytes], token: bytes) -> list[bytes]:
    """A word as it is spelled once a token covers its places in it, from left to right."""
    spelled: list[bytes] = []
    start = 0
    while start < len(word):
        end, joined = start, b""
        while end < len(word) and len(joined) < len(token):
            joined += word[end]
            end += 1
        whole = joined == token
        spelled.append(token if whole else word[start])
        start = end if whole else start + 1
    return spelled


def greedily(counts: dict[bytes, int], size: int, longest: int) -> list[bytes]:
    """The tokens in the order in which they are chosen: what saves most, as often as the words were seen."""
    words = {word: [word[i : i + 1] for i in range(len(word))] for word in counts}
    candidates = sorted(
        {w[i:j] for w in counts for i in range(len(w)) for j in range(i + 2, min(len(w), i + longest) + 1)}
    )
    chosen: list[bytes] = []
    while len(chosen) < size:
        gains = {
            token: sum(
                counts[w] * (len(now) - len(covered(now, token))) for w, now in words.items() if token in w
            )
            for token in candidates
            if token not in chosen
        }
        best = max(gains, key=lambda token: gains[token], default=b"")
        if not gains or gains[best] == 0:
            break
        chosen.append(best)
        words = {word: covered(now, best) for word, now in words.items()}
    return chosen


trained = partial(train_on, GREEDTOK, threads=1)


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=12), st.integers(1, 9), min_size=1, max_size=6),
    st.integers(0, 12),
    st.integers(2, 12),
)
def test_the_tokens_are_those_of_the_paper(words: dict[str, int], size: int, longest: int) -> None:
    counts = {word.encode(): count for word, count in words.items()}
    assert chosen_tokens(WordCounts.of(counts), size, longest=longest) == greedily(counts, size, longest)


def test_training_and_encoding_are_as_by_hand_in_any_number_of_threads() -> None:
    texts = ENGLISH[:6]
    words = Counter(piece.encode() for text in texts for piece in regex.findall(GPT2, text))
    by_hand = greedily(words, 30, 32)
    for threads in (1, 3):
        tokenizer = trained(texts, vocab_size=286, threads=threads)
        assert [tokenizer.token_bytes(index) for index in range(256, 286)] == by_hand
    for text in [*texts, *ENGLISH[100:140], *hard_strings(40)]:
        expected: list[bytes] = []
        for piece in regex.findall(GPT2, text):
            word = [bytes([byte]) for byte in piece.encode()]
            for token in by_hand:
                word = covered(word, token)
            expected += word
        assert [tokenizer.token_bytes(index) for index in tokenizer.encode(text)] == expected


def test_files_that_are_not_ours_are_refused_with_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "other.greedtok"
    path.write_text('{"model": {"type": "BPE", "vocab": {}, "merges": []}}', encoding="utf-8")
    registry = build_registry()
    with pytest.raises(TokenizerError, match="its model is BPE, not GreedTok"):
        registry.load(Spec("greedtok", str(path)))
    path.write_text('{"model": {"type": "GreedTok", "tokens": ["a"]}}', encoding="utf-8")
    with pytest.raises(TokenizerError, match="the model GreedTok is damaged"):
        registry.load(Spec("greedtok", str(path)))


def test_several_sizes_by_one_training_are_each_as_trained_for_itself() -> None:
    texts = ENGLISH[:60]
    asked = with_defaults(GREEDTOK.options, {"special_tokens": "<s>"})
    assert GREEDTOK.train_sizes is not None
    sizes = GREEDTOK.train_sizes(TrainingCorpus.of_texts(texts), asked, [100, 300, 380], lambda *_: None)
    assert [*sizes] == [300, 380]
    for size, tokenizer in sizes.items():
        alone = trained(texts, vocab_size=size, special_tokens="<s>")
        assert tokenizer.to_dict() == alone.to_dict()  # type: ignore[attr-defined]
