"""Why BoundlessBPE (Schmidt et al. 2025) is not trained here: no BPE of a `tokenizer.json` encodes as it does.

Both of its parts are shown on the smallest vocabularies there are, beside every list of merges for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations, product

import regex
from tokbench_subword.optimal.pickybpe import learn_picky
from tokbench_subword.optimal.replaying import ReplayModel
from tokbench_subword.optimal.wordwise import WordwiseTokenizer
from tokbench_subword.pipeline.patterns import Pattern
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

from tokbench.counts import WordCounts

Merge = tuple[str, str]


def served(
    letters: str, merges: Sequence[Merge], texts: Sequence[str], cut: str = ""
) -> Iterator[list[list[str]]]:
    """The tokens of the texts by each list of some of the merges, in each order, as `tokenizers` gives them."""
    vocabulary = {
        token: index for index, token in enumerate([*letters, *(left + right for left, right in merges)])
    }
    lists = (some for size in range(len(merges) + 1) for some in permutations(merges, size))
    for chosen, ignore_merges in product(lists, (False, True)):
        tokenizer = Tokenizer(models.BPE(vocabulary, list(chosen), ignore_merges=ignore_merges))
        if cut:
            tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(cut), "isolated")
        yield [tokenizer.encode(text).tokens for text in texts]


def boundless(text: str, merges: Sequence[Merge], supermerges: Sequence[Merge]) -> list[str]:
    """BoundlessBPE without deletions: merges in each pre-token, supermerges of two that are one token each."""
    words = [list(word) for word in regex.findall(r" ?\w+", text)]
    for left, right in merges:
        for word in words:
            for at in range(len(word) - 2, -1, -1):  # no pair here overlaps itself
                if word[at : at + 2] == [left, right]:
                    word[at : at + 2] = [left + right]
    for left, right in supermerges:
        for at in range(len(words) - 2, -1, -1):
            if words[at : at + 2] == [[left], [right]]:
                words[at : at + 2] = [[left + right]]
    return [token for word in words for token in word]


def test_no_merges_take_a_token_back() -> None:
    picked = learn_picky(WordCounts.of({"abc": 9, "ab": 1}), 258, ios=0.8, minimum=2)
    model = ReplayModel.of_picked(picked, 0, pattern=Pattern("none"))
    tokenizer = WordwiseTokenizer.of_model(model, name="picky")
    texts = ["abcab", "ab", "bc"]
    found = [[tokenizer.token_bytes(index).decode() for index in tokenizer.encode(text)] for text in texts]
    assert found == [["abc", "a", "b"], ["a", "b"], ["b", "c"]]
    every = list(served("abc", [("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")], texts))
    assert len(every) == 2 * 65
    assert found not in every


def test_no_merges_tell_whether_the_next_pretoken_is_one_token() -> None:
    merges, supermerges = [(" ", "a"), (" ", "b")], [(" a", " b")]
    texts = [" a b a b", " a bc"]
    found = [boundless(text, merges, supermerges) for text in texts]
    assert found == [[" a b", " a b"], [" a", " b", "c"]]
    for cut in ("", r" ?\w+"):
        every = list(served(" abc", [*merges, *supermerges], texts, cut))
        assert len(every) == 2 * 16
        assert found not in every
    assert [[" a b", " a b"], [" a b", "c"]] in served(" abc", [*merges, *supermerges], texts)
