"""Parity-aware BPE (Foroutan et al. 2025): each merge is the best one for the language that is worst off.

Every language has its own words and its own queue. The next merge is the most frequent pair of one language:
the language with the most tokens in development text, or with the lowest compression of its training text
relative to a ratio. The merge is then applied in all languages. The merges equal those of `tokenizers`'
`ParityBpeTrainer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tokbench.counts import WordCounts
from tokbench.errors import TokenizerError
from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Block, Int, i64_in, u64_in
from tokbench_subword.training import layout as at
from tokbench_subword.training.alphabet import byte_order, byte_symbols
from tokbench_subword.training.guided import Trainings, best_pair, merge_given
from tokbench_subword.training.merges import make_token
from tokbench_subword.training.queue import drop_top
from tokbench_subword.training.session import PAUSE, MergeSession
from tokbench_subword.training.spelling import NOT_A_TOKEN
from tokbench_subword.training.ties import GREATEST, HF


@dataclass(frozen=True, slots=True, kw_only=True)
class Fairness:
    """How the next language is chosen; the names and meanings are those of `ParityBpeTrainer`.

    `window` 0 is the variant *base*. Otherwise a language that had more than `alpha` times its even share of
    the last `window` merges is skipped. `ratios` are the target compressions, relative to each other.
    """

    window: int = 0
    alpha: float = 2.0
    global_merges: int = 0
    ratios: Sequence[float] = ()

    def check(self, n_languages: int) -> None:
        """Raise `TokenizerError` for invalid values."""
        for name, number in (("parity_window", self.window), ("global_merges", self.global_merges)):
            if number < 0:
                raise TokenizerError(f"bpe: {name} must not be negative; it is {number}")
        if not 0 < self.alpha < float("inf"):
            raise TokenizerError(f"bpe: parity_alpha must be above 0; it is {self.alpha}")
        for ratio in self.ratios:
            if not 0 < ratio < float("inf"):
                raise TokenizerError(f"bpe: all ratios must be above 0; one is {ratio}")
        if self.ratios and len(self.ratios) != n_languages:
            raise TokenizerError(f"bpe: there are {len(self.ratios)} ratios for {n_languages} languages")


class _Turns(NamedTuple):
    """The state that selects the next language; arrays have an entry per language, unless stated."""

    lengths: NDArray[np.float64]
    """The number of tokens in the deciding text."""
    before: NDArray[np.float64]
    """`lengths` at the beginning."""
    ratios: NDArray[np.float64]
    """The target compression; 0: not used, the length decides."""
    exhausted: NDArray[np.bool_]
    last: NDArray[np.int64]
    """The languages of the last merges, ``(window,)``; the oldest entry is overwritten."""
    recent: NDArray[np.int64]
    """How often each language occurs in `last`."""
    threshold: float
    numbers: NDArray[np.int64]
    """See below."""


N_TRAININGS, FIRST_DECIDING, N_GLOBAL, MINIMUM, PAUSE_AT = range(5)
N_TURNS, STEP, CHOSEN, AT = range(5, 9)
"""Indices in `_Turns.numbers`. Settings: among others, the first training whose text decides, and the number of
merges of plain BPE, which the last training makes, over all words. State: turns so far; the next step; the
training that chooses the pair; the training that merges now.
"""
CHOOSE, FIND, MERGE = range(3)


@inline
def _next_language(turns: _Turns) -> int:
    """The language that is worst off among those that the window does not exclude; the first of equals.

    If the window excludes all, the language that is best off; the last of equals.
    """
    window = len(turns.last)
    chosen, best, worst_yet, best_yet = -1, 0, -np.inf, np.inf
    for language in range(len(turns.lengths)):
        worse = turns.lengths[language]
        if turns.ratios[language] > 0:
            worse = -((turns.before[language] / worse) / turns.ratios[language])
        if turns.exhausted[language]:
            worse = -np.inf
        if worse <= best_yet:
            best, best_yet = language, worse
        passed_over = window > 0 and turns.recent[language] / window > turns.threshold
        if not passed_over and (chosen < 0 or worse > worst_yet):
            chosen, worst_yet = language, worse
    chosen = best if chosen < 0 else chosen
    if window > 0:
        place = turns.numbers[N_TURNS] % window
        if turns.numbers[N_TURNS] >= window:
            turns.recent[turns.last[place]] -= 1
        turns.last[place] = chosen
        turns.recent[chosen] += 1
        turns.numbers[N_TURNS] += 1
    return chosen


@kernel
def _learn(blocks: Block, turns: _Turns) -> Int:
    """Learn merges until there are enough or no pair is left; return the reason for stopping.

    `blocks` has a training for each language, in order; then one for each development text, if any; and one for
    all words, if plain BPE makes the first merges. If a training needs room, its number is in ``numbers[AT]``;
    the next call continues from there.
    """
    numbers, leader = turns.numbers, u64_in(blocks, 0)
    state = i64_in(leader, at.STATE)
    while True:
        shared = state[at.N_MERGES] - (numbers[STEP] == MERGE) < numbers[N_GLOBAL]
        n_trainings = numbers[N_TRAININGS] + shared
        if numbers[STEP] == CHOOSE:
            if state[at.N_TOKENS] >= state[at.N_WANTED] or turns.exhausted.all():
                return at.DONE
            if state[at.N_MERGES] >= numbers[PAUSE_AT]:
                return at.PAUSED
            numbers[CHOSEN] = numbers[N_TRAININGS] if shared else _next_language(turns)
            numbers[STEP] = FIND
        if numbers[STEP] == FIND:
            chosen = u64_in(blocks, numbers[CHOSEN])
            found = i64_in(chosen, at.STATE)
            numbers[AT] = numbers[CHOSEN]
            reason = best_pair(chosen)
            if reason != at.DONE:
                return reason
            if found[at.OWN] < max(numbers[MINIMUM], 1):
                if shared:
                    return at.DONE
                turns.exhausted[numbers[CHOSEN]] = True
                numbers[STEP] = CHOOSE
                continue
            numbers[AT] = 0
            reason = make_token(leader, found[at.LEFT], found[at.RIGHT])
            if reason != at.DONE:
                return reason
            if state[at.NEW] == NOT_A_TOKEN:
                drop_top(chosen)
                continue
            numbers[STEP] = MERGE
        left, right, new, n_merges = state[at.LEFT], state[at.RIGHT], state[at.NEW], state[at.N_MERGES]
        while numbers[AT] < n_trainings:
            training = u64_in(blocks, numbers[AT])
            reason = merge_given(training, left, right, new, n_merges)
            if reason != at.DONE:
                return reason
            language = numbers[AT] - numbers[FIRST_DECIDING]
            if 0 <= language < len(turns.lengths):
                turns.lengths[language] -= i64_in(training, at.STATE)[at.OWN]
            numbers[AT] += 1
        numbers[STEP] = CHOOSE


def learn_fairly(
    languages: Mapping[str, WordCounts],
    *,
    n_wanted: int,
    how: Fairness,
    development: Mapping[str, WordCounts] | None = None,
    minimum: int = 0,
    forbidden: Sequence[bytes] = (),
    progress: Callable[[float], None] = lambda share: None,
) -> tuple[list[bytes], NDArray[np.int32]]:
    """The 256 bytes and the learned merges, int32 ``(n, 3)``, up to `n_wanted` tokens or the last pair.

    `how.ratios` decide which language is worst off; without ratios, the words of `development` by language do;
    without either, the number of tokens of the training text. No merge results in one of `forbidden`.
    """
    how.check(len(languages))
    symbols = sum(len(words.data) for words in languages.values())
    n_wanted = min(n_wanted, 256 + symbols)  # each merge reduces the number of symbols

    def session(words: WordCounts) -> MergeSession:
        symbols, starts, tokens = byte_symbols(words, HF, None)
        return MergeSession(
            symbols, starts, words.counts, tokens=tokens, n_wanted=n_wanted, rule=GREATEST, forbidden=forbidden
        )

    sessions = [session(words) for words in languages.values()]
    deciding = languages if development is None or how.ratios else development
    tested = [] if deciding is languages else [session(deciding[name]) for name in languages]
    lengths = [float((np.diff(deciding[name].starts) * deciding[name].counts).sum()) for name in languages]
    n_languages = len(sessions)
    turns = _Turns(
        lengths=np.array(lengths),
        before=np.array(lengths),
        ratios=np.array(how.ratios or [0.0] * n_languages, np.float64),
        exhausted=np.zeros(n_languages, np.bool_),
        last=np.zeros(how.window, np.int64),
        recent=np.zeros(n_languages, np.int64),
        threshold=how.alpha / n_languages,
        numbers=np.zeros(9, np.int64),
    )
    n_trainings = n_languages + len(tested)
    numbers, first_deciding = turns.numbers, n_languages if tested else 0
    numbers[:5] = n_trainings, first_deciding, how.global_merges, minimum, PAUSE
    together = [session(_together(list(languages.values())))] if how.global_merges else []
    trainings = Trainings([*sessions, *tested, *together])
    while (reason := int(_learn(trainings.blocks, turns))) != at.DONE:
        if reason == at.PAUSED:
            numbers[PAUSE_AT] += PAUSE
            progress(trainings.leader.done)
        else:
            trainings.grow(int(numbers[AT]), reason)
    return [bytes([byte]) for byte in byte_order(HF)], trainings.leader.merges()


def _together(parts: Sequence[WordCounts]) -> WordCounts:
    """The words of all languages, one after another; equal words may occur several times."""
    ends = np.cumsum([0, *(len(part.data) for part in parts)])
    starts = [part.starts[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return WordCounts(
        np.concatenate([part.data for part in parts]),
        np.concatenate([*starts, ends[-1:]]).astype(np.int64),
        np.concatenate([part.counts for part in parts]),
    )
