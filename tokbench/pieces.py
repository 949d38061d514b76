"""For plugins whose tokenizer cuts words into pieces: a vocabulary over the 256 bytes, so that nothing is lost.

A new algorithm of that kind says where it cuts, and how it finds its pieces when it is trained; ids, decoding,
the spelling of what the vocabulary lacks, the cache of words and counting the words of a corpus are here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tokbench.arguments import known_id, known_ids, plain_text, plain_texts
from tokbench.batch import TokenBatch
from tokbench.tokenizer import text_of

if TYPE_CHECKING:
    import regex

    from tokbench.family import Progress
    from tokbench.training_corpus import TrainingCorpus

BYTES = 256
CACHED_WORDS = 1 << 18


class PieceTokenizer(ABC):
    r"""Pieces of words with byte fallback: ids 0–255 are bytes, then `pieces` in their order.

    `pattern` finds the words; together they must be the whole text. A subclass cuts each in `cut`, once as long
    as the cache remembers it; a piece that is not in the vocabulary is spelled in bytes.

    Example:
        >>> import regex
        >>> class Halves(PieceTokenizer):
        ...     def cut(self, word):
        ...         return word[: len(word) // 2], word[len(word) // 2 :]
        >>> tokenizer = Halves("halves", pieces=["to", "ken"], pattern=regex.compile(r"\w+|\W+"))
        >>> tokenizer.encode("toto!"), tokenizer.decode(tokenizer.encode("toto!"))
        ([256, 256, 33], 'toto!')
        >>> tokenizer.facts()["pre_tokenizer"]
        '\\w+|\\W+'
    """

    algorithm: str | None = None
    lossless = True
    decode_joins_bytes = True

    def __init__(self, name: str, *, pieces: Sequence[str], pattern: regex.Pattern[str]) -> None:
        self.name = name
        self.pieces = tuple(pieces)
        self.pattern = pattern
        self.vocab_size = BYTES + len(self.pieces)
        self.piece_ids = {piece: index for index, piece in enumerate(self.pieces, start=BYTES)}
        self._words: dict[str, list[int]] = {}

    @abstractmethod
    def cut(self, word: str) -> Iterable[str]:
        """The pieces of one word, which joined are the word."""

    def encode(self, text: str) -> list[int]:
        """The ids of the pieces."""
        ids: list[int] = []
        for word in words_of(plain_text(text, name=self.name), self.pattern):
            ids += self._word(word)
        return ids

    def encode_batch(self, texts: Sequence[str]) -> TokenBatch:
        """The ids of every text."""
        return TokenBatch.of_lists(map(self.encode, plain_texts(texts, name=self.name)))

    def decode(self, ids: Sequence[int]) -> str:
        """The text; bytes that are not UTF-8 become U+FFFD."""
        return text_of(b"".join(map(self.token_bytes, known_ids(ids, self.vocab_size, name=self.name))))

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a piece."""
        token_id = known_id(token_id, self.vocab_size, name=self.name)
        if token_id < BYTES:
            return bytes([token_id])
        return self.pieces[token_id - BYTES].encode("utf-8", "surrogatepass")

    def facts(self) -> Mapping[str, Any]:
        """What it is; a subclass says its `algorithm`."""
        return {
            "algorithm": self.algorithm,
            "normalizer": None,
            "pre_tokenizer": self.pattern.pattern,
            "byte_fallback": True,
            "special_tokens": {},
            "lossless": True,
        }

    def _word(self, word: str) -> list[int]:
        ids = self._words.get(word)
        if ids is None:
            ids = []
            for piece in self.cut(word):
                known = self.piece_ids.get(piece)
                ids += [known] if known is not None else piece.encode("utf-8", "surrogatepass")
            if len(self._words) >= CACHED_WORDS:  # hostile text must not grow memory without end
                self._words.clear()
            self._words[word] = ids
        return ids


def count_words(
    corpus: TrainingCorpus, pattern: regex.Pattern[str], progress: Progress, *, share: float = 1.0
) -> Counter[str]:
    """How often each word that `pattern` finds stands in a corpus; `share` of the training's progress."""
    words: Counter[str] = Counter()
    for text in corpus.texts_told(progress, "counting words", share):
        words.update(words_of(text, pattern))
    return words


def words_of(text: str, pattern: regex.Pattern[str]) -> list[str]:
    """What `pattern` finds in a text, whether or not it has groups.

    Example:
        >>> import regex
        >>> words_of("it's so", regex.compile(r"'(s|t)| ?[a-z]+"))
        ['it', "'s", ' so']
    """
    if pattern.groups:  # `findall` would give what the groups hold
        return [match[0] for match in pattern.finditer(text)]
    found: list[str] = pattern.findall(text)
    return found
