"""`train_bpe`: a BPE vocabulary from text.

Texts are cut into pre-tokens, and the distinct pre-tokens are counted. Training then repeatedly turns the most
frequent pair of neighbouring tokens into a new token (Sennrich et al., 2016; Gage, 1994). `training.counting`
and `training.merges` do the work; this module prepares their input and makes models of the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.family import Progress
from tokbench_subword.bpe.model import BpeModel, Level, each_pair_once
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.training.sizes import check_room
from tokbench_subword.training.stages import COUNTING_SHARE, stage
from tokbench_subword.training.ties import tie_rule

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def train_bpe(texts: Iterable[str] | WordCounts, *, vocab_size: int, **options: Any) -> BpeModel:
    """Train a BPE vocabulary of `vocab_size` tokens; the options are those of `learn`.

    Example:
        >>> model = train_bpe(["aaabdaaabac"], vocab_size=259, pattern="none", ties="first_seen")
        >>> [model.vocabulary[index] for index in range(256, 259)]
        [b'aa', b'aaa', b'aaab']
    """
    return learn(texts, vocab_size=vocab_size, **options).model(vocab_size)


def learn(
    texts: Iterable[str] | WordCounts,
    *,
    vocab_size: int,
    pattern: str | Pattern = "gpt2",
    ties: str = "hf",
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
    initial_alphabet: Iterable[str] | None = None,
    max_token_length: int | None = None,
    end_of_word: str | None = None,
    level: Level = "byte",
    workers: int = 1,
    n_bytes: int | None = None,
    progress: Progress = lambda fraction, what: None,
) -> Learned:
    """Learn a BPE vocabulary of `vocab_size` tokens from texts, read once, or from counted pre-tokens.

    - `pattern`: how text is cut; merges never cross a cut. ``none`` makes each text one pre-token.
    - `ties`: which of equally frequent pairs is merged first; see `training.ties`. With ``hf`` the merges equal
      those of `tokenizers`' `BpeTrainer` over the same pre-tokens.
    - `min_frequency`: pairs seen less often are not merged.
    - `special_tokens`: they get the first ids; no merge results in the text of one.
    - `initial_alphabet`: characters that are tokens from the start. At level ``byte`` the default is all 256
      bytes, and ``()`` means only the bytes seen. At level ``char`` these characters are added to those seen.
    - `max_token_length`: two tokens are merged only if together they have fewer symbols than this. Two first
      symbols may always merge (both as in `tokenizers`).
    - `end_of_word`: at level ``char``, the suffix of the last symbol of every pre-token, such as ``</w>``.
    - `workers`: the number of threads that count; it does not change the result.
    - `n_bytes`: the size of the corpus, for `progress`.

    The vocabulary has special tokens first, then the alphabet, then merged tokens. It has fewer than
    `vocab_size` tokens if the corpus runs out of pairs. Raises `TokenizerError` if `vocab_size` leaves no room
    for the alphabet and the special tokens.
    """
    from tokbench.kernels.threads import kept_threads
    from tokbench_subword.training.alphabet import byte_symbols, character_symbols
    from tokbench_subword.training.counting import count_pretokens
    from tokbench_subword.training.session import MergeSession
    from tokbench_subword.training.special import first_ids, never_spelled

    rule = tie_rule(ties)
    check_numbers(vocab_size, min_frequency, max_token_length, level, end_of_word)
    cut = Pattern.of(pattern) if isinstance(pattern, str) else pattern
    with kept_threads(workers):
        counting = stage(progress, "counting", 0.0, COUNTING_SHARE, of=n_bytes)
        words = count_pretokens(texts, cut, workers=workers, progress=counting)
        special = first_ids(special_tokens)
        given = None if initial_alphabet is None else frozenset(initial_alphabet)
        if level == "byte":
            symbols, starts, tokens = byte_symbols(words, rule, given)
        else:
            symbols, starts, tokens = character_symbols(words, given or frozenset(), end_of_word or "")
        check_room(vocab_size, len(special), len(tokens), level)
        session = MergeSession(
            symbols,
            starts,
            words.counts,
            tokens=tokens,
            n_wanted=min(vocab_size - len(special), len(tokens) + len(symbols)),  # merges use up symbols
            rule=rule,
            minimum=min_frequency * words.unit,
            longest=max_token_length,
            forbidden=never_spelled(special, tokens, level),
        )
        merges = session.run(stage(progress, "merging", COUNTING_SHARE, 1.0))
        return Learned(tokens, merges, special, cut, level, end_of_word or "")


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The result of a training, in the order of learning: every smaller vocabulary is a prefix of it.

    `tokens` are the first symbols (bytes or characters); `merges` are int32 ``(n, 3)``: left, right, result.
    """

    tokens: list[bytes]
    merges: NDArray[np.int32]
    special: dict[str, int]
    pattern: Pattern
    level: Level
    end_of_word: str

    def model(self, vocab_size: int) -> BpeModel:
        """The model of `vocab_size` tokens, the same as from a training for that size."""
        from tokbench_subword.training.spelling import spelled

        n_special, some = len(self.special), self.merges_until(vocab_size)
        check_room(vocab_size, n_special, len(self.tokens), self.level)
        return BpeModel(
            vocabulary=(*[b""] * n_special, *spelled(self.tokens, some)),
            merges=each_pair_once(some) + n_special,
            pattern=self.pattern,
            special_tokens=MappingProxyType(self.special),
            level=self.level,
            end_of_word=self.end_of_word,
        )

    def merges_until(self, vocab_size: int) -> NDArray[np.int32]:
        """The merges that a training for `vocab_size` tokens would have learned."""
        wanted = vocab_size - len(self.special)
        if wanted <= len(self.tokens):
            return self.merges[:0]
        last = (self.merges[:, 2] == wanted - 1).nonzero()[0]
        return self.merges[: last[0] + 1] if len(last) else self.merges


def check_numbers(
    vocab_size: int, min_frequency: int, max_token_length: int | None, level: str, end_of_word: str | None
) -> None:
    """Raise `TokenizerError` for values that are invalid for any text."""
    if vocab_size < 1:
        raise TokenizerError(f"vocab_size must be at least 1; it is {vocab_size}")
    if min_frequency < 0:
        raise TokenizerError(f"min_frequency must not be negative; it is {min_frequency}")
    if max_token_length is not None and max_token_length < 1:
        raise TokenizerError(f"max_token_length must be at least 1; it is {max_token_length}")
    if level not in ("byte", "char"):
        raise TokenizerError(f"level must be byte or char; it is {level!r}")
    if end_of_word and level == "byte":
        raise TokenizerError(
            f"end_of_word={end_of_word!r} is for level=char; byte level has no end-of-word suffix"
        )
