"""Greedy longest match: the oldest way to use a vocabulary, with no merges and no scores.

Text is cut into words that carry their leading space; in each, the longest entry that matches is taken, then
the longest that matches what remains. A character the vocabulary lacks is spelled in bytes, so nothing is lost.

The trainer is as plain as the encoder. Every substring of every distinct word is a candidate, weighed by
count × length; the heaviest few times V are matched greedily against the corpus, and those used most stay.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench import (
    LoadContext,
    Option,
    Spec,
    SpecError,
    TokenBatch,
    TokenizerError,
    TokenizerFamily,
    TrainingCorpus,
)
from tokbench.tokenizer import Progress, text_of

if TYPE_CHECKING:
    import regex

FORMAT = "tokbench-maxmatch"
BYTES = 256
CANDIDATES = 4  # times the vocabulary: enough that what greedy matching never uses can be let go
CACHED_WORDS = 1 << 18


class MaxMatchTokenizer:
    """Greedy longest match with byte fallback: ids 0–255 are bytes, then the vocabulary in its order.

    Example:
        >>> tokenizer = MaxMatchTokenizer("demo", vocabulary=["un", "able", "unable", " to"])
        >>> tokenizer.encode("unable to")
        [258, 259]
        >>> tokenizer.decode(tokenizer.encode("ünable"))
        'ünable'
    """

    lossless = True
    decode_joins_bytes = True

    def __init__(self, name: str, *, vocabulary: Sequence[str]) -> None:
        self.name = name
        self.vocabulary = tuple(vocabulary)
        self.vocab_size = BYTES + len(self.vocabulary)
        self._ids = {token: index for index, token in enumerate(self.vocabulary, start=BYTES)}
        self._longest = max(map(len, self.vocabulary), default=0)
        self._words: dict[str, list[int]] = {}

    def encode(self, text: str) -> Sequence[int]:
        """The ids of the longest matches."""
        ids: list[int] = []
        for word in _pattern().findall(text):
            ids += self._word(word)
        return ids

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text."""
        return TokenBatch.of(map(self.encode, texts))

    def decode(self, ids: Sequence[int]) -> str:
        """The text; bytes that are not UTF-8 become U+FFFD."""
        return text_of(b"".join(map(self.token_bytes, ids)))

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of one entry."""
        if not 0 <= token_id < self.vocab_size:
            raise TokenizerError(f"{self.name}: id {token_id} is outside 0..{self.vocab_size - 1}")
        if token_id < BYTES:
            return bytes([token_id])
        return self.vocabulary[token_id - BYTES].encode("utf-8", "surrogatepass")

    def _word(self, word: str) -> list[int]:
        ids = self._words.get(word)
        if ids is None:
            ids = []
            for piece in longest_matches(word, self._ids, self._longest):
                known = self._ids.get(piece)
                ids += [known] if known is not None else piece.encode("utf-8", "surrogatepass")
            if len(self._words) >= CACHED_WORDS:  # hostile text must not grow memory without end
                self._words.clear()
            self._words[word] = ids
        return ids

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the vocabulary as JSON."""
        content = {"format": FORMAT, "version": 1, "vocabulary": self.vocabulary}
        Path(path).write_text(json.dumps(content, ensure_ascii=True), encoding="utf-8")

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {
            "algorithm": "greedy longest match",
            "normalizer": None,
            "pre_tokenizer": _pattern().pattern,
            "byte_fallback": True,
            "special_tokens": {},
            "lossless": True,
        }


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


def train(corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> MaxMatchTokenizer:
    """Pick the substrings that greedy matching uses most; ties in code point order."""
    size, longest = options["vocab_size"] - BYTES, options["max_token_length"]
    if size < 1:
        raise SpecError(f"maxmatch: vocab_size must exceed the {BYTES} bytes, not {options['vocab_size']}")
    words: Counter[str] = Counter()
    total, seen = max(corpus.n_bytes, 1), 0
    for text in corpus.texts():
        words.update(_pattern().findall(text))
        seen += len(text.encode("utf-8", "surrogatepass"))
        progress(0.5 * min(seen / total, 1.0), "counting words")
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
    path = Path(spec.variant or "")
    try:
        content = path.read_text(encoding="utf-8")
        if path.suffix != ".json":
            tokens = [line for line in content.split("\n") if line]
        else:
            saved = json.loads(content)
            if saved["format"] != FORMAT:
                raise ValueError(f"it holds {saved['format']}")
            tokens = saved["vocabulary"]
    except OSError as error:
        raise TokenizerError(f"{spec}: cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise TokenizerError(
            f"{spec}: {path} is neither a vocabulary saved by maxmatch nor a text file with one token a line "
            f"({error})"
        ) from error
    return MaxMatchTokenizer(str(spec), vocabulary=list(dict.fromkeys(tokens)))


def _files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    return [Path(spec.variant)] if spec.variant else []


MAXMATCH = TokenizerFamily(
    name="maxmatch",
    summary="Greedy longest match over a vocabulary, bytes for the rest: lossless",
    load=load,
    train=train,
    files=_files,
    options=(
        Option("vocab_size", "int", 8000, "Entries, the 256 bytes included."),
        Option("max_token_length", "int", 16, "Longest entry, in characters."),
    ),
    variant="a saved vocabulary (.json) or a text file, one token a line; none: trained",
    libraries=("regex",),
    examples=("maxmatch:vocab_size=8k", "maxmatch:vocab.txt"),
)
