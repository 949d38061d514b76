"""The in-house algorithms in parts: training that goes on is training in one, and gives a tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tokbench_subword.methods import bpe_of_merges, cut, train_bpe, train_unigram, train_wordpiece

import tokbench
from tokbench.errors import TokenizerError
from tokbench.testing.texts import PROSE

TEXTS = [PROSE] * 3


@pytest.mark.parametrize("special", [(), ("<end>", "<pad>")])
def test_training_that_goes_on_is_training_in_one(special: tuple[str, ...]) -> None:
    whole = train_bpe(TEXTS, 420, special_tokens=special)
    begun = train_bpe(TEXTS, 330, special_tokens=special)
    gone_on = train_bpe(TEXTS, 420, initial=begun)
    assert gone_on.model.vocabulary == whole.model.vocabulary
    assert gone_on.model.merges.tolist() == whole.model.merges.tolist()
    assert gone_on.model.special_tokens == whole.model.special_tokens


def test_a_second_stage_goes_across_words_and_other_libraries_open_it(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    words = train_bpe(TEXTS, 300)
    lines = train_bpe(TEXTS, 400, pattern=r"[^\n]+|\n+", initial=words)
    new = lines.model.vocabulary[300:]
    assert any(b" " in token.strip() for token in new)
    assert not any(b" " in token.strip() for token in words.model.vocabulary)
    lines.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.encode(PROSE).ids == lines.encode(PROSE).tolist()
    assert lines.decode(lines.encode(PROSE)) == PROSE


def test_merges_of_ones_own_make_a_tokenizer() -> None:
    trained = train_bpe(TEXTS, 300)
    spelled = trained.model.vocabulary
    merges = [(spelled[left], spelled[right]) for left, right, _ in trained.model.merges.tolist()]
    mine = bpe_of_merges(merges)
    tokens = [mine.token_bytes(token) for token in mine.encode(PROSE)]
    assert tokens == [trained.token_bytes(token) for token in trained.encode(PROSE)]
    with pytest.raises(TokenizerError, match="merge 1: b'bc' is neither a byte nor made by an earlier merge"):
        bpe_of_merges([(b"a", b"b"), (b"bc", b"d")])


@pytest.mark.parametrize("train", [train_bpe, train_wordpiece, train_unigram])
def test_one_text_in_the_place_of_several_is_refused(train: Any) -> None:
    """Each of its characters was a text: BPE came back without a merge, and nothing was said."""
    with pytest.raises(TokenizerError, match=r"training takes several texts.*give \[text\]"):
        train(PROSE, 300)


def test_sampling_from_a_seed_instead_of_a_generator_is_refused() -> None:
    """BPE showed a page of numba's errors."""
    for tokenizer in (train_bpe(TEXTS, 300), train_unigram(TEXTS, 120)):
        with pytest.raises(TokenizerError, match=r"default_rng\(seed\) gives, not from int \(5\)"):
            tokenizer.sample(PROSE, 5, 0.5)  # type: ignore[arg-type]


def test_what_cannot_be_gone_on_with_is_said() -> None:
    begun = train_bpe(TEXTS, 300)
    with pytest.raises(TokenizerError, match="initial: must be an in-house BPE of `train_bpe`, not "):
        train_bpe(TEXTS, 400, initial=tokbench.load("bytes"))  # type: ignore[arg-type]
    with pytest.raises(TokenizerError, match="the initial tokenizer has 300 tokens already"):
        train_bpe(TEXTS, 299, initial=begun)


def test_the_other_algorithms_and_the_cutting_are_there() -> None:
    assert "".join(cut(PROSE)) == PROSE
    assert train_wordpiece(TEXTS, 200).vocab_size == 200
    assert train_unigram(TEXTS, 120).vocab_size == 120


def test_steps_name_parts_of_characters_by_their_bytes() -> None:
    """As the pieces of the steps are shown, not as Python writes bytes."""
    [merge] = [step for step in bpe_of_merges([(b"\xe0", b"\xb8")]).trace("ก") if step.kind == "merge"]
    assert merge.note == "merge ⟨E0⟩ + ⟨B8⟩ → ⟨E0 B8⟩ (rank 0)"
