r"""Seeds: the substrings of words that occur often, by suffix array and longest common prefixes.

The words are laid end to end as numbers of characters, 0 between them. Their suffixes are sorted by their first
`max_length` characters (see `train_suffixes`); neighbours in that order share prefixes, and every run of
suffixes with a common prefix that no longer run contains is a substring with its number of occurrences: an
internal node of the suffix tree (Abouelhoda et al. 2004). Each word counts as often as it occurs.

As in sentencepiece, a seed's weight is occurrences × length, all characters are seeds, and a piece
does not mix scripts (the ideographic and the kana count as one) nor letters with digits and signs; a space only
begins a piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokbench_subword.bpe.train_words import WordCounts
from tokbench_subword.kernels.compiling import kernel
from tokbench_subword.kernels.pointers import pointer
from tokbench_subword.kernels.threads import in_threads
from tokbench_subword.unigram.train_scripts import COMMON, INHERITED, SPACE_SCRIPT
from tokbench_subword.unigram.train_suffixes import sorted_suffixes

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Words as numbers of characters.

    `symbols` int32 holds them with a 0 behind each and `max_length` more; `alphabet[s - 1]` is the character of
    symbol s; word w begins at ``starts[w]``, has ``sizes[w]`` characters and occurs ``counts[w]`` times.
    """

    symbols: NDArray[np.int32]
    alphabet: NDArray[np.uint32]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    counts: NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Pieces:
    """Candidate pieces: where each lies in `Text.symbols`, its length in characters, and a weight or score."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.starts)

    def kept(self, mask: NDArray[np.bool_]) -> Pieces:
        """The pieces where `mask` holds."""
        return Pieces(self.starts[mask], self.lengths[mask], self.scores[mask])

    def spelled(self, text: Text) -> list[str]:
        """The pieces of `text` as strings, in internal form."""
        ends = np.cumsum(self.lengths)
        places = np.arange(int(self.lengths.sum())) + np.repeat(
            self.starts - (ends - self.lengths), self.lengths
        )
        written = text.alphabet[text.symbols[places] - 1].astype("<u4").tobytes()
        joined = written.decode("utf-32-le", "surrogatepass")
        limits = [0, *ends.tolist()]
        return [joined[start:end] for start, end in pairwise(limits)]


Points = tuple["NDArray[np.uint32]", "NDArray[np.int64]"]
"""All words' code points with a 0 behind each word, and the count of each one's word (0 for a 0)."""


def points_of(words: WordCounts) -> Points:
    """The code points of some words; U+FFFF stands for NUL."""
    if not words.data.all():
        listed = [word.replace(b"\0", b"\xef\xbf\xbf") for word, _ in words]
        words = WordCounts.of_pairs(listed, words.counts)
    apart = np.zeros(len(words.data) + len(words), np.uint8)
    apart[np.arange(len(words.data)) + np.repeat(np.arange(len(words)), np.diff(words.starts))] = words.data
    written = apart.tobytes().decode("utf-8", "surrogatepass")
    points = np.frombuffer(written.encode("utf-32-le", "surrogatepass"), np.uint32)
    ends = np.flatnonzero(points == 0)
    weights = np.repeat(words.counts, np.diff(ends, prepend=-1))
    weights[ends] = 0
    return points, weights


def character_counts(written: Points) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The characters of all words with how often each occurs, by code point."""
    points, weights = written
    totals = np.bincount(points, weights=weights).astype(np.int64)
    alphabet = np.flatnonzero(totals)
    return alphabet.astype(np.uint32), totals[alphabet]


def lay_out(written: Points, alphabet: NDArray[np.uint32], max_length: int) -> Text:
    """The words in numbers; characters outside `alphabet` (sorted) cut a word in two."""
    points, weights = written
    numbers = np.zeros(0x110000, np.int32)
    numbers[alphabet] = np.arange(1, len(alphabet) + 1)
    symbols = numbers[points]
    edges = np.flatnonzero(np.diff(np.concatenate(([0], symbols != 0, [0])).astype(np.int8)))
    starts, stops = edges[::2], edges[1::2]
    padded = np.concatenate((symbols, np.zeros(max_length + 1, np.int32)))
    return Text(padded, alphabet, starts, stops - starts, weights[starts].astype(np.float64))


def find_seeds(text: Text, scripts: NDArray[np.int32], max_length: int, seed_size: int, threads: int) -> Pieces:
    """All characters, and the `seed_size` heaviest substrings that occur twice or more; log probabilities."""
    n = len(text.symbols) - max_length - 1
    symbols = text.symbols
    parts = sorted_suffixes(symbols, n, max_length, len(text.alphabet) + 1, threads)
    weights = np.zeros(n, np.int64)
    weights[_places(text)] = np.repeat(text.counts.astype(np.int64), text.sizes)
    scripts_by_symbol = np.concatenate(([COMMON], scripts)).astype(np.int32)

    def repeats(order: NDArray[np.int32]) -> NDArray[np.int64]:
        room = len(order) // 4 + 64
        while True:
            found = np.empty((room, 3), np.int64)
            count = int(_repeats(symbols, order, weights, scripts_by_symbol, max_length, found))
            if count <= room:
                return found[:count]
            room = count

    found = np.concatenate(in_threads(repeats, parts, threads))
    mass = found[:, 1] * found[:, 2]
    if len(found) > seed_size:
        found = found[np.argsort(-mass, kind="stable")[:seed_size]]
    first = np.zeros(len(text.alphabet) + 1, np.int64)
    first[symbols[n - 1 :: -1]] = np.arange(n - 1, -1, -1)
    single = np.bincount(symbols[:n], weights=weights, minlength=len(text.alphabet) + 1)[1:]
    starts = np.concatenate((first[1:], found[:, 0]))
    lengths = np.concatenate((np.ones(len(single), np.int64), found[:, 1]))
    mass = np.concatenate((single, (found[:, 1] * found[:, 2]).astype(np.float64)))
    mass = np.maximum(mass, 1.0)
    return Pieces(starts, lengths, np.log(mass) - np.log(mass.sum()))


def _places(text: Text) -> NDArray[np.int64]:
    """The place of every character of every word."""
    ends = np.cumsum(text.sizes)
    places: NDArray[np.int64] = np.arange(ends[-1]) + np.repeat(text.starts - (ends - text.sizes), text.sizes)
    return places


@kernel
def _repeats(symbols_array, order, weights, scripts, max_length, found):  # type: ignore[no-untyped-def]
    """Rows of (place, length, occurrences) of all repeated substrings of valid form; how many there are.

    A stack holds the open runs: common length and occurrences so far.
    """
    symbols = pointer(symbols_array)
    lengths, totals = np.zeros(max_length + 4, np.int64), np.zeros(max_length + 4, np.int64)
    open_runs, count, n, before = 0, 0, len(order), np.int64(0)
    for rank in range(n + 1):
        common = np.int64(0)
        if 0 < rank < n:
            one, other = np.int64(order[rank - 1]), np.int64(order[rank])
            while common < max_length and symbols[one + common] == symbols[other + common] != 0:
                common += 1
        if rank > 0:
            place = np.int64(order[rank - 1])
            if weights[place] >= 2 and (place == 0 or symbols[place - 1] == 0):
                # A frequent word that shares less than its whole with any other is a repeated substring, too.
                length = np.int64(0)
                while length <= max_length and symbols[place + length] != 0:
                    length += 1
                own = common < length and before < length and 1 < length <= max_length
                if own and _is_piece(symbols, place, length, scripts):
                    if count < len(found):
                        found[count, 0], found[count, 1], found[count, 2] = place, length, weights[place]
                    count += 1
            if open_runs == 0 or lengths[open_runs - 1] < common:
                lengths[open_runs], totals[open_runs] = common, 0
                open_runs += 1
            totals[open_runs - 1] += weights[place]
            while open_runs > 0 and lengths[open_runs - 1] > common:
                open_runs -= 1
                length, total = lengths[open_runs], totals[open_runs]
                if length >= 2 and total >= 2 and _is_piece(symbols, place, length, scripts):
                    if count < len(found):
                        found[count, 0], found[count, 1], found[count, 2] = place, length, total
                    count += 1
                if open_runs == 0 or lengths[open_runs - 1] < common:
                    lengths[open_runs], totals[open_runs] = common, 0
                    open_runs += 1
                totals[open_runs - 1] += total
        before = common
    return count


@kernel
def _is_piece(symbols, place, length, scripts):  # type: ignore[no-untyped-def]
    """Whether the symbols at `place` are of one script, with no space but the first."""
    script = np.int32(SPACE_SCRIPT)
    for index in range(length):
        own = scripts[symbols[place + index]]
        if own == SPACE_SCRIPT:
            if index > 0:
                return False
            continue
        if own == INHERITED:
            continue
        if script != SPACE_SCRIPT and own != script:
            return False
        script = own
    return True
