r"""Seeds: the substrings of words that occur often, by suffix array and longest common prefixes.

The words are laid end to end as numbers of characters, 0 between them. Their suffixes are sorted by their first
`max_length` characters (counting sort from the last character to the first, several characters a digit);
neighbours in that order share prefixes, and every run of suffixes with a common prefix that no longer run
contains is a substring with its number of occurrences: an internal node of the suffix tree (Abouelhoda et al.
2004). Each word counts as often as it occurs.

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

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS = 8
"""Parts in which suffixes are sorted at once."""


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

    def piece(self, start: int, length: int) -> str:
        """The piece at a place, in internal form."""
        return "".join(chr(self.alphabet[symbol - 1]) for symbol in self.symbols[start : start + length])


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


Points = tuple["NDArray[np.uint32]", "NDArray[np.int64]"]
"""All words' code points with a 0 behind each word, and the count of each one's word (0 for a 0)."""


def points_of(words: WordCounts) -> Points:
    """The code points of some words; U+FFFF stands for NUL."""
    joined = b"\0".join(word.replace(b"\0", b"\xef\xbf\xbf") for word, _ in words) + b"\0"
    points = np.frombuffer(
        joined.decode("utf-8", "surrogatepass").encode("utf-32-le", "surrogatepass"), np.uint32
    )
    ends = points == 0
    word_of = np.cumsum(ends) - ends
    weights = np.where(ends, 0, words.counts[np.minimum(word_of, len(words) - 1)])
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
    order = _sorted_suffixes(symbols, n, max_length, len(text.alphabet) + 1, threads)
    weights = np.zeros(n, np.int64)
    weights[_places(text)] = np.repeat(text.counts.astype(np.int64), text.sizes)
    scripts_by_symbol = np.concatenate(([COMMON], scripts)).astype(np.int32)
    room = 1 << 16
    while True:
        found = np.empty((room, 3), np.int64)
        count = _repeats(symbols, order, weights, scripts_by_symbol, max_length, found)
        if count <= room:
            break
        room = count
    found = found[:count]
    mass = found[:, 1] * found[:, 2]
    if count > seed_size:
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


def _sorted_suffixes(
    symbols: NDArray[np.int32], n: int, max_length: int, n_symbols: int, threads: int
) -> NDArray[np.int32]:
    """The order of the suffixes of ``symbols[:n]`` by their first `max_length` symbols.

    By the first digit they are put into parts; each part is then sorted by all digits from the last one on.
    """
    bits = max(1, int(n_symbols - 1).bit_length())
    per_digit = max(1, 16 // bits)
    n_keys = 1 << (bits * per_digit)
    packed, order, spare = np.zeros(n, np.uint32), np.arange(n, dtype=np.int32), np.empty(n, np.int32)
    places = list(pairwise(n * part // _PARTS for part in range(_PARTS + 1)))

    def pack(digit: int) -> None:
        shift = digit * per_digit
        count = min(per_digit, max_length - shift)
        in_threads(lambda part: _pack(symbols, packed, *part, shift, count, bits), places, threads)

    def sort(parts: list[tuple[int, int]], source: NDArray[np.int32], target: NDArray[np.int32]) -> None:
        in_threads(lambda part: _sort_by(packed, source, target, *part, n_keys), parts, threads)

    pack(0)
    sort([(0, n)], order, spare)
    order, spare = spare, order
    heads = packed[order]
    cuts = np.searchsorted(heads, heads[[low for low, _ in places[1:]]]).tolist() if n >= _PARTS else []
    parts = list(pairwise([0, *cuts, n]))
    for digit in range(-(-max_length // per_digit) - 1, -1, -1):
        pack(digit)
        sort(parts, order, spare)
        order, spare = spare, order
    return order


@kernel
def _pack(symbols, packed, low, high, shift, count, bits):  # type: ignore[no-untyped-def]
    """The `count` symbols from `shift` on of the suffixes from `low` to `high` as one number each."""
    last = len(symbols) - 1
    for place in range(low, high):
        value = np.uint32(0)
        for index in range(count):
            at = min(place + shift + index, last)
            value = (value << np.uint32(bits)) | np.uint32(symbols[at])
        packed[place] = value


@kernel
def _sort_by(keys, order, target, low, high, n_keys):  # type: ignore[no-untyped-def]
    """A stable counting sort of ``order[low:high]`` by the keys of its places into ``target[low:high]``."""
    ends = np.zeros(n_keys + 1, np.int64)
    for index in range(low, high):
        ends[keys[order[index]] + 1] += 1
    ends[0] = low
    for key in range(n_keys):
        ends[key + 1] += ends[key]
    for index in range(low, high):
        key = keys[order[index]]
        target[ends[key]] = order[index]
        ends[key] += 1


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
