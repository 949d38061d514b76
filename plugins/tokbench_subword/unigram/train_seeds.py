r"""Seeds: the substrings of words that occur often, by suffix array and longest common prefixes.

The words are laid end to end as numbers of characters, 0 between them. Their suffixes are sorted by their first
`max_length` characters (see `train_suffixes`). Neighbours in that order share prefixes. All suffixes that begin
alike are one run; the longest prefix they share is a substring with its number of occurrences: an internal node
of the suffix tree (Abouelhoda et al. 2004). Each word counts as often as it occurs.

As in sentencepiece, a seed's weight is occurrences × length, all characters are seeds, and a piece
does not mix scripts (the ideographic and the kana count as one) nor letters with digits and signs; a space only
begins a piece.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.compiling import inline, kernel
from tokbench.kernels.pointers import Ids, Int, Ints, pointer
from tokbench.kernels.threads import in_threads
from tokbench_subword.unigram.train_suffixes import sorted_suffixes
from tokbench_subword.unigram.train_text import Text

_PLACE, _LENGTH, _TIMES, _BEGIN, _END = range(5)
"""Of a repeated substring: one place of it, its length, how often it occurs, the ranks of its suffixes."""
SPACE_SCRIPT, INHERITED, COMMON = -2, -1, 0
"""In place of a script: for the space, for what takes the script before it; and the one of digits, signs and
scripts that are not listed."""
_SCRIPTS = (
    "Latin Cyrillic Greek Arabic Hebrew Devanagari Bengali Hangul Thai Armenian Georgian Tamil Telugu "
    "Kannada Malayalam Gujarati Gurmukhi Oriya Sinhala Lao Tibetan Myanmar Ethiopic Khmer Mongolian "
    "Cherokee Canadian_Aboriginal Ogham Runic Tagalog Hanunoo Buhid Tagbanwa Limbu Tai_Le Linear_B "
    "Ugaritic Shavian Osmanya Cypriot Braille Buginese Coptic New_Tai_Lue Glagolitic Tifinagh "
    "Syloti_Nagri Old_Persian Kharoshthi Balinese Cuneiform Phoenician Phags_Pa Nko Sundanese Lepcha "
    "Ol_Chiki Vai Saurashtra Kayah_Li Rejang Lycian Carian Lydian Cham Tai_Tham Tai_Viet Avestan "
    "Egyptian_Hieroglyphs Samaritan Lisu Bamum Javanese Meetei_Mayek Imperial_Aramaic Old_South_Arabian "
    "Inscriptional_Parthian Inscriptional_Pahlavi Old_Turkic Kaithi Batak Brahmi Mandaic Chakma "
    "Meroitic_Cursive Meroitic_Hieroglyphs Miao Sharada Sora_Sompeng Takri Caucasian_Albanian Bassa_Vah "
    "Duployan Elbasan Grantha Pahawh_Hmong Khojki Linear_A Mahajani Manichaean Mende_Kikakui Modi Mro "
    "Old_North_Arabian Nabataean Palmyrene Pau_Cin_Hau Old_Permic Psalter_Pahlavi Siddham Khudawadi "
    "Tirhuta Warang_Citi Ahom Anatolian_Hieroglyphs Hatran Multani Old_Hungarian SignWriting Adlam "
    "Bhaiksuki Marchen Newa Osage Tangut Masaram_Gondi Nushu Soyombo Zanabazar_Square Dogra Gunjala_Gondi "
    "Makasar Medefaidrin Hanifi_Rohingya Sogdian Old_Sogdian Elymaic Nandinagari Nyiakeng_Puachue_Hmong "
    "Wancho Chorasmian Dives_Akuru Khitan_Small_Script Yezidi Bopomofo Yi Deseret Gothic Thaana Syriac "
)


@dataclass(slots=True, eq=False)
class SeedPieces:
    """Candidate pieces: where each lies in `Text.symbols`, its length in characters, and a weight or score."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.starts)

    def kept(self, some: NDArray[np.bool_] | NDArray[np.int64]) -> SeedPieces:
        """The pieces where a mask holds, or of some numbers."""
        return SeedPieces(self.starts[some], self.lengths[some], self.scores[some])

    def spelled(self, text: Text, alphabet: NDArray[np.uint32] | None = None) -> list[str]:
        """The pieces of `text` as strings, in internal form if no other characters are given."""
        ends = np.cumsum(self.lengths)
        places = np.arange(int(self.lengths.sum())) + np.repeat(
            self.starts - (ends - self.lengths), self.lengths
        )
        characters = text.alphabet if alphabet is None else alphabet
        written = characters[text.symbols[places] - 1].astype("<u4").tobytes()
        joined = written.decode("utf-32-le", "surrogatepass")
        limits = [0, *ends.tolist()]
        return [joined[start:end] for start, end in pairwise(limits)]


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """Where pieces are: at each of the places ``order[begins[i]:ends[i]]`` begins piece ``pieces[i]``.

    `order` is int32, the others are int64. Pieces come in the order of `ends`; where these are equal, the
    longer piece comes first.
    """

    order: NDArray[np.int32]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    pieces: NDArray[np.int64]


def scripts_of(alphabet: NDArray[np.uint32]) -> NDArray[np.int32]:
    r"""A number for the script of each character; the ideographic and the kana count as one.

    Example:
        >>> scripts_of(np.array([ord(letter) for letter in "日ーか aé1\u0301"], np.uint32)).tolist()
        [1, 1, 1, -2, 2, 2, 0, -1]
    """
    import regex

    kinds = [r"[\u30FC\p{Han}\p{Hiragana}\p{Katakana}]", r"\p{Inherited}", " ", r"\p{Common}"]
    kinds += [rf"\p{{Script={name}}}" for name in _SCRIPTS.split()]
    matches = map(regex.compile("|".join(f"({kind})" for kind in kinds)).match, map(chr, alphabet.tolist()))
    numbers = np.array([COMMON, 1, INHERITED, SPACE_SCRIPT, COMMON, *range(2, len(kinds) - 2)], np.int32)
    scripts: NDArray[np.int32] = numbers[[match.lastindex if match else 0 for match in matches]]
    return scripts


def find_seeds(
    text: Text,
    totals: NDArray[np.int64],
    scripts: NDArray[np.int32],
    max_length: int,
    seed_size: int,
    threads: int,
) -> tuple[SeedPieces, list[Occurrences]]:
    """All characters, and the `seed_size` heaviest substrings that occur twice or more; scores are log
    probabilities.

    `totals` and `scripts` are those of the characters of ``text.alphabet``, which are the first pieces, in this
    order. The occurrences are those of the other pieces; between them they have each place of a word once.
    """
    n, n_characters = len(text.symbols) - max_length - 1, len(text.alphabet)
    orders = sorted_suffixes(text.symbols, n, max_length, n_characters + 1, threads)
    weights = np.zeros(n, np.int64)
    weights[text.symbols[:n] != 0] = np.repeat(text.counts.astype(np.int64), text.sizes)
    scripts_by_symbol = np.concatenate(([COMMON], scripts)).astype(np.int32)

    def repeats(order: NDArray[np.int32]) -> NDArray[np.int64]:
        room = len(order) // 4 + 64
        while True:
            found = np.empty((5, room), np.int64)
            count = int(_repeats(text.symbols, order, weights, scripts_by_symbol, max_length, found))
            if count <= room:
                return found[:, :count]
            room = count

    parts = in_threads(repeats, orders, threads)
    places, lengths, times = (np.concatenate([columns[field] for columns in parts]) for field in range(3))
    chosen = np.arange(len(places))
    if len(places) > seed_size:
        chosen = np.argsort(-lengths * times, kind="stable")[:seed_size]
    pieces = np.full(len(places), -1)
    pieces[chosen] = np.arange(n_characters, n_characters + len(chosen))
    ends = np.cumsum([columns.shape[1] for columns in parts])
    occurrences = [
        Occurrences(order, columns[_BEGIN][own >= 0], columns[_END][own >= 0], own[own >= 0])
        for order, columns, own in zip(orders, parts, np.split(pieces, ends[:-1]), strict=True)
    ]
    first_places, backwards = np.zeros(n_characters + 1, np.int64), np.arange(n)[::-1]
    first_places[text.symbols[backwards]] = backwards  # of several places of a symbol, the last one stays
    starts = np.concatenate((first_places[1:], places[chosen]))
    mass = np.concatenate((totals, (lengths * times)[chosen])).astype(np.float64)
    mass = np.maximum(mass, 1.0)
    lengths = np.concatenate((np.ones(n_characters, np.int64), lengths[chosen]))
    return SeedPieces(starts, lengths, np.log(mass) - np.log(mass.sum())), occurrences


@kernel
def _repeats(symbols_array: Ids, order: Ids, weights: Ints, scripts: Ids, max_length: Int, found: Ints) -> int:
    """Columns of all repeated substrings of valid form, as far as there is room; how many there are.

    A stack holds the open runs: common length, occurrences so far, and the rank where it begins.
    """
    symbols = pointer(symbols_array)
    lengths, totals = np.zeros(max_length + 4, np.int64), np.zeros(max_length + 4, np.int64)
    begins = np.zeros(max_length + 4, np.int64)
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
                    _note(found, count, place, length, weights[place], rank - 1, rank)
                    count += 1
            if open_runs == 0 or lengths[open_runs - 1] < common:
                lengths[open_runs], totals[open_runs], begins[open_runs] = common, 0, rank - 1
                open_runs += 1
            totals[open_runs - 1] += weights[place]
            while open_runs > 0 and lengths[open_runs - 1] > common:
                open_runs -= 1
                length, total, begin = lengths[open_runs], totals[open_runs], begins[open_runs]
                if length >= 2 and total >= 2 and _is_piece(symbols, place, length, scripts):
                    _note(found, count, place, length, total, begin, rank)
                    count += 1
                if open_runs == 0 or lengths[open_runs - 1] < common:
                    lengths[open_runs], totals[open_runs], begins[open_runs] = common, 0, begin
                    open_runs += 1
                totals[open_runs - 1] += total
        before = common
    return count


@inline
def _note(found: Ints, count: Int, place: Int, length: Int, times: Int, begin: Int, end: Int) -> None:
    """Write a column, if there is room for it."""
    if count < found.shape[1]:
        found[_PLACE, count], found[_LENGTH, count], found[_TIMES, count] = place, length, times
        found[_BEGIN, count], found[_END, count] = begin, end


@kernel
def _is_piece(symbols: Ids, place: Int, length: Int, scripts: Ids) -> bool:
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
