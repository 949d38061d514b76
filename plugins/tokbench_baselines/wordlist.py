"""Whole words over a closed vocabulary: split, look up, and everything else is UNK.

`whitespace` splits as ``str.split`` does; `words` splits at the word boundaries of Unicode (UAX #29) and drops
segments of white space. Neither keeps white space, so decoding joins words with single spaces and is not
lossless. In Chinese, Japanese (kanji) and Thai, `words` makes each character a word, since UAX #29 leaves word
boundaries there to dictionaries.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from tokbench import LoadContext, Option, Spec, SpecError, TokenBatch, TokenizerFamily, TrainingCorpus
from tokbench.arguments import known_id, known_ids, plain_text, plain_texts
from tokbench.family import Progress, opening, read_saved, variant_file, write_saved
from tokbench.pieces import count_words

if TYPE_CHECKING:
    import numpy as np
    import regex
    from numpy.typing import NDArray

UNK = "<unk>"
FORMAT = "tokbench-words"


class WordTokenizer:
    """Words of a closed list; id 0 is UNK, the others follow frequency.

    Example:
        >>> tokenizer = WordTokenizer("demo", split="words", vocabulary=["don't", "panic", "!"])
        >>> tokenizer.encode("don't panic, ever!")
        [1, 2, 0, 0, 3]
        >>> tokenizer.decode([1, 2, 3])
        "don't panic !"
    """

    lossless = False
    unk_id = 0
    special_ids = frozenset({0})

    def __init__(self, name: str, *, split: str, vocabulary: Sequence[str]) -> None:
        self.name = name
        self.split = split
        self.vocabulary = tuple(vocabulary)
        self.vocab_size = len(self.vocabulary) + 1
        self._ids = {word: index for index, word in enumerate(self.vocabulary, start=1)}
        self._find = _pattern(split).findall

    def encode(self, text: str) -> Sequence[int]:
        """The id of each word, 0 for those not in the list."""
        known = self._ids.get
        return [known(word, 0) for word in self._find(plain_text(text, name=self.name))]

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text."""
        return TokenBatch.of(map(self.encode, plain_texts(texts, name=self.name)))

    def decode(self, ids: Sequence[int]) -> str:
        """The words, joined by single spaces."""
        known = known_ids(ids, self.vocab_size, name=self.name)
        return " ".join(self.vocabulary[index - 1] if index else UNK for index in known)

    def token_bytes(self, token_id: int) -> bytes:
        """The word in UTF-8; nothing for UNK."""
        index = known_id(token_id, self.vocab_size, name=self.name)
        return self.vocabulary[index - 1].encode("utf-8", "surrogatepass") if index else b""

    def offsets(self, text: str) -> NDArray[np.int64]:
        """The span of each word."""
        import numpy as np

        spans = [match.span() for match in _pattern(self.split).finditer(text)]
        return np.array(spans, np.int64).reshape(-1, 2)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the list as JSON."""
        write_saved(path, FORMAT, split=self.split, vocabulary=self.vocabulary)

    def facts(self) -> Mapping[str, Any]:
        """What it is."""
        return {
            "algorithm": "word list",
            "normalizer": None,
            "pre_tokenizer": _DESCRIPTION[self.split],
            "byte_fallback": False,
            "special_tokens": {UNK: 0},
            "lossless": False,
            "why_not_lossless": "white space is dropped, and words outside the list become UNK",
        }


_DESCRIPTION = {"whitespace": "split at white space", "words": "UAX #29 words, white space dropped"}


@cache
def _pattern(split: str) -> regex.Pattern[str]:
    r"""The pattern that finds the words of a text.

    With its WORD flag, `regex` follows UAX #29, and ``\b`` is a Unicode word boundary. A segment that does not
    begin with white space is a word.
    """
    import regex

    if split == "whitespace":
        return regex.compile(r"\S+")
    return regex.compile(r"\b\S.*?\b", regex.WORD | regex.V1 | regex.DOTALL)


def check(options: Mapping[str, Any]) -> None:
    """Raise `SpecError` if there is no room for a word."""
    if options["vocab_size"] < 2:
        raise SpecError(f"vocab_size must be at least 2, for UNK and a word, not {options['vocab_size']}")


def train(split: str, corpus: TrainingCorpus, options: Mapping[str, Any], progress: Progress) -> WordTokenizer:
    """The most frequent words of the corpus; ties in code point order."""
    counts = count_words(corpus, _pattern(split), progress)
    floor = options["min_frequency"]
    ranked = sorted((-count, word) for word, count in counts.items() if count >= floor)
    words = [word for _, word in ranked[: options["vocab_size"] - 1]]
    name = str(Spec(split, options={"vocab_size": options["vocab_size"]}))
    return WordTokenizer(name, split=split, vocabulary=words)


def load(split: str, spec: Spec, context: LoadContext) -> WordTokenizer:
    """Open a file written by `save`."""
    remedy = f"; train one with: tokbench train {split} -d DATASET --vocab-size 8k -o FILE.json"
    with opening(spec, f"a word list saved by {split!r}", remedy) as path:
        content = read_saved(path, FORMAT)
        if content["split"] != split:
            raise ValueError(f"it was saved by {content['split']!r}")
        return WordTokenizer(str(spec), split=split, vocabulary=content["vocabulary"])


_of_words = partial(
    TokenizerFamily,
    check=check,
    files=variant_file,
    saved_as=(".json",),
    options=(
        Option("vocab_size", "int", 8000, "Words kept, UNK included."),
        Option("min_frequency", "int", 1, "Words seen less often are left out."),
    ),
    variant="a saved word list (.json); none: trained",
)

WHITESPACE = _of_words(
    name="whitespace",
    summary="Words between white space, from a closed list; UNK for the rest",
    load=partial(load, "whitespace"),
    train=partial(train, "whitespace"),
    examples=("whitespace:vocab_size=8k",),
)
WORDS = _of_words(
    name="words",
    summary="Words by the rules of UAX #29, from a closed list; UNK for the rest",
    load=partial(load, "words"),
    train=partial(train, "words"),
    libraries=("regex",),
    examples=("words:vocab_size=8k",),
)
