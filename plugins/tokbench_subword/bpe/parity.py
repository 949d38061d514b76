"""Parity-aware BPE (Foroutan et al. 2025): each merge is the best one of the language that is worst off.

Every language has words of its own and a queue of its own. The next merge is the most frequent pair of one of
them: of the language with the most tokens in development text, or the least compression of its training text
relative to a ratio. It is then merged in all languages. Merges are those of `tokenizers`' `ParityBpeTrainer`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench_subword.training.alphabet import byte_order, byte_symbols
from tokbench_subword.training.guided import GuidedSession, Trainings
from tokbench_subword.training.ties import HF


@dataclass(frozen=True, slots=True, kw_only=True)
class Fairness:
    """How the next language is chosen; the names and meanings are those of `ParityBpeTrainer`.

    `window` 0 is the variant *base*. Else a language that had more than `alpha` times its even share of the
    last `window` merges is passed over. `ratios` are the compression aimed at, relative to each other.
    """

    window: int = 0
    alpha: float = 2.0
    global_merges: int = 0
    ratios: Sequence[float] = ()

    def check(self, n_languages: int) -> None:
        """Raise `TokenizerError` for what cannot be."""
        for name, number in (("parity_window", self.window), ("global_merges", self.global_merges)):
            if number < 0:
                raise TokenizerError(f"bpe: {name} must not be negative; it is {number}")
        if not 0 < self.alpha < float("inf"):
            raise TokenizerError(f"bpe: parity_alpha must be above 0; it is {self.alpha}")
        for ratio in self.ratios:
            if not 0 < ratio < float("inf"):
                raise TokenizerError(f"bpe: each of ratios must be above 0; one is {ratio}")
        if self.ratios and len(self.ratios) != n_languages:
            raise TokenizerError(f"bpe: there are {len(self.ratios)} ratios for {n_languages} languages")


class _Turns:
    """Which language comes next, from how badly off each is (the higher, the worse)."""

    def __init__(self, how: Fairness, n_languages: int) -> None:
        self._how, self._threshold = how, how.alpha / n_languages
        self._last: deque[int] = deque(maxlen=how.window or 1)
        self.exhausted: set[int] = set()

    def next(self, worse: Sequence[float]) -> int:
        """The language; of equals the first."""
        worst = [-np.inf if index in self.exhausted else value for index, value in enumerate(worse)]
        order = sorted(range(len(worst)), key=lambda index: -worst[index])
        if not self._how.window:
            return order[0]
        chosen = order[-1]
        for index in order:
            if self._last.count(index) / self._how.window <= self._threshold:
                chosen = index
                break
        self._last.append(chosen)
        return chosen


def learn_fairly(
    languages: Mapping[str, WordCounts],
    *,
    n_wanted: int,
    how: Fairness,
    development: Mapping[str, WordCounts] | None = None,
    minimum: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[list[bytes], NDArray[np.int32]]:
    """The 256 bytes and merges, int32 ``(n, 3)``, until there are `n_wanted` tokens or nothing is left.

    `development` are the words of the development text by language; it decides where no ratios are given;
    without both, the number of tokens of the training text does.
    """
    how.check(len(languages))
    sessions = [_session(words, n_wanted) for words in languages.values()]
    tested = None
    if development is not None and not how.ratios:
        tested = [_session(development[language], n_wanted) for language in languages]
    told_by = languages if tested is None or development is None else development
    lengths = [float((np.diff(told_by[name].starts) * told_by[name].counts).sum()) for name in languages]
    before = list(lengths)
    together = None
    if how.global_merges:
        together = _session(_together(list(languages.values())), n_wanted)
    turns, everyone = _Turns(how, len(sessions)), Trainings([*sessions, *(tested or [])])
    leader = sessions[0]
    n_merges = 0
    while leader.n_tokens < n_wanted and len(turns.exhausted) < len(sessions):
        shared = together if together is not None and n_merges < how.global_merges else None
        if shared is not None:
            left, right, count = shared.first()
            if count < max(minimum, 1):
                break
        else:
            worse = lengths
            if how.ratios:
                rates = zip(before, lengths, how.ratios, strict=True)
                worse = [-((start / now) / ratio) for start, now, ratio in rates]
            index = turns.next(worse)
            left, right, count = sessions[index].first()
            if count < max(minimum, 1):
                turns.exhausted.add(index)
                continue
            together = None  # it is of no use any more
        saved = everyone.merge(left, right)[-len(sessions) :]
        lengths = [length - fewer for length, fewer in zip(lengths, saved, strict=True)]
        if together is not None:
            together.merge(left, right)
        n_merges += 1
        if n_merges % 500 == 0:
            progress((leader.n_tokens - 256) / max(1, n_wanted - 256))
    return [bytes([byte]) for byte in byte_order(HF)], leader.merges()


def _session(words: WordCounts, n_wanted: int) -> GuidedSession:
    symbols, starts, tokens = byte_symbols(words, HF, None)
    return GuidedSession(symbols, starts, words.counts, tokens=tokens, n_wanted=n_wanted)


def _together(parts: Sequence[WordCounts]) -> WordCounts:
    """The words of all languages, one after another: equal ones need not be one."""
    ends = np.cumsum([0, *(len(part.data) for part in parts)])
    starts = [part.starts[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return WordCounts(
        np.concatenate([part.data for part in parts]),
        np.concatenate([*starts, ends[-1:]]).astype(np.int64),
        np.concatenate([part.counts for part in parts]),
    )
