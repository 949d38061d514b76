"""Greedy longest match: the oldest way to use a vocabulary, with no merges and no scores.

Text is cut into words that carry their leading space; in each, the longest entry that matches is taken, then
the longest that matches what remains. A character the vocabulary lacks is spelled in bytes, so nothing is lost.

The trainer is as simple as the encoder. Every substring of every distinct word is a candidate with the weight
count × length. The heaviest candidates, a few times the vocabulary size, are matched greedily against the
corpus, and the most used ones stay.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Option, Spec, SpecError, TokenizerFamily, TrainingCorpus
from tokbench.family import Progress, opening, read_saved, variant_file, write_saved
from tokbench.pieces import BYTES, PieceTokenizer, count_words

if TYPE_CHECKING:
    import regex

FORMAT = "tokbench-maxmatch"
CANDIDATES = 4  # times the vocabulary: enough to drop those that greedy matching never uses


class MaxMatchTokenizer(PieceTokenizer):
    """Greedy longest match with byte fallback: ids 0–255 are bytes, then the vocabulary in its order.

    Example:
        >>> tokenizer = MaxMatchTokenizer("demo", vocabulary=["un", "able", "unable", " to"])
        >>> tokenizer.encode("unable to")
        [258, 259]
        >>> tokenizer.decode(tokenizer.encode("ünable"))
        'ünable'
    """

    algorithm = "greedy longest match"

    def __init__(self, name: str, *, vocabulary: Sequence[str]) -> None:
        super().__init__(name, pieces=vocabulary, pattern=_pattern())
        self._longest = max(map(len, vocabulary), default=0)

    def cut(self, word: str) -> Iterable[str]:
        """The longest matches, from the left."""
        return longest_matches(word, self.piece_ids, self._longest)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as JSON."""
        write_saved(path, FORMAT, vocabulary=self.pieces)


@cache
def _pattern() -> regex.Pattern[str]:
    import regex

    return regex.compile(r" ?\S+|\s+?(?=\s?\S)|\s+")


def longest_matches(word: str, known: Mapping[str, Any] | frozenset[str], longest: int) -> Iterable[str]:
    """The greedy longest pieces of `word` that are `known`; a single character where none is.

    Example:
        >>> list(longest_matches("abcd", frozenset({"ab", "abc"}), 3))
        ['abc', 'd']
    """
    start, end = 0, len(word)
    while start < end:
        for stop in range(min(end, start + longest), start + 1, -1):
            if word[start:stop] in known:
                break
        else:
            stop = start + 1
        yield word[start:stop]
        start = stop


def check(options: Mapping[str, Any]) -> None:
    """Raise `SpecError` if there is no room for more than the bytes."""
    if options["vocab_size"] <= BYTES:
        raise SpecError(f"vocab_size must exceed the {BYTES} bytes, not {options['vocab_size']}")


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> MaxMatchTokenizer:
    """Pick the substrings that greedy matching uses most; ties in code point order."""
    check(options)
    size, longest = options["vocab_size"] - BYTES, options["max_token_length"]
    words = count_words(corpus, _pattern(), progress, share=0.5)
    weights: Counter[str] = Counter()
    for word, count in words.items():
        for start in range(len(word)):
            for stop in range(start + 1, min(start + longest, len(word)) + 1):
                weights[word[start:stop]] += count * (stop - start)
    progress(0.8, "matching candidates")
    candidates = frozenset(_heaviest(weights, CANDIDATES * size))
    used: Counter[str] = Counter()
    for word, count in words.items():
        for piece in longest_matches(word, candidates, longest):
            used[piece] += count * len(piece)
    vocabulary = _heaviest(used, size)
    if len(vocabulary) < size:  # a small corpus: candidates that greedy matching passed over fill the rest
        chosen = frozenset(vocabulary)
        vocabulary += [token for token in _heaviest(weights, len(weights)) if token not in chosen]
    progress(1.0, "done")
    name = str(Spec("maxmatch", options={"vocab_size": options["vocab_size"]}))
    return MaxMatchTokenizer(name, vocabulary=vocabulary[:size])


def _heaviest(weights: Mapping[str, int], limit: int) -> list[str]:
    ranked = sorted(
        ((-weight, token) for token, weight in weights.items() if len(token) > 1 or token >= "\x80")
    )
    return [token for _, token in ranked[:limit]]


def load(spec: Spec, context: LoadContext) -> MaxMatchTokenizer:
    """Open a saved vocabulary (.json), or any text file with one token a line."""
    with opening(spec, "a vocabulary saved by maxmatch, nor a text file with one token a line") as path:
        if path.suffix == ".json":
            tokens = read_saved(path, FORMAT)["vocabulary"]
        else:
            tokens = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
        return MaxMatchTokenizer(str(spec), vocabulary=list(dict.fromkeys(tokens)))


MAXMATCH = TokenizerFamily(
    name="maxmatch",
    summary="Greedy longest match over a vocabulary, bytes for the rest: lossless",
    load=load,
    train=train,
    check=check,
    files=variant_file,
    saved_as=(".json",),
    options=(
        Option("vocab_size", "int", 8000, "Entries, the 256 bytes included."),
        Option("max_token_length", "int", 16, "Longest entry, in characters."),
    ),
    variant="a saved vocabulary (.json) or a text file, one token a line; none: trained",
    libraries=("regex",),
    examples=("maxmatch:vocab_size=8k", "maxmatch:vocab.txt"),
)
