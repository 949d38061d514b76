"""Folds texts and tokens alike, so that the tokens of a normalising tokenizer can be found in the text.

Tokenizers that lower-case, strip accents, compose, decompose or rewrite spaces do not give back the text's
bytes. Folding both sides (compatibility decomposition and case folding, white space, controls and combining
diacritics taken out) undoes all of that; where the folded tokens are the folded text, every token's place is
known. Where they are not, nothing is claimed.

There are three degrees for that: ``spaces`` takes out white space only, and is the only one in which tokens of
single bytes (byte fallback) still match; ``marks`` does the rest but keeps vowel signs and other marks of the
scripts that need them; ``bare`` takes out every nonspacing mark. Two more tell what a text has lost: ``blanks``
takes out white space and controls alone, ``form`` undoes case, diacritics and compatibility forms alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from tokbench.kernels.pointers import Bytes, Ids, Ints, frozen
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench.tally.normal_forms import is_diacritic
from tokbench.tally.vocabulary import TokenTable

_DROPPED = {"Cc", "Cf", "Zs", "Zl", "Zp"}
_METASPACE = "\u2581"


Degree = Literal["spaces", "marks", "bare", "blanks", "form"]


@cache
def fold(character: str, degree: Degree) -> bytes:
    r"""The folded UTF-8 of one character.

    Example:
        >>> fold("É", "marks"), fold("É", "spaces"), fold("\u2581", "spaces"), fold("ﬁ", "bare")
        (b'e', b'\xc3\x89', b'', b'fi')
        >>> [fold(character, degree) for degree in ("blanks", "form") for character in "É\t"]
        [b'\xc3\x89', b'', b'e', b'\t']
    """
    if "\udc80" <= character <= "\udcff":  # a byte that is no whole character, by surrogateescape
        return bytes([ord(character) - 0xDC00])
    if degree != "form" and (character == _METASPACE or character.isspace()):
        return b""
    if degree == "spaces" or (degree == "blanks" and unicodedata.category(character) not in _DROPPED):
        return character.encode("utf-8", "surrogatepass")
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(each for each in decomposed if not _dropped(each, degree)).encode("utf-8", "surrogatepass")


def _dropped(character: str, degree: Degree) -> bool:
    if degree == "form":
        return is_diacritic(character)
    if character == "\ufffd" or character.isspace():
        return True
    category = unicodedata.category(character)
    if category == "Mn":
        return degree == "bare" or is_diacritic(character)
    return category in _DROPPED


LENGTH_BITS = 30
KNOWN, REFUSED = 1, 2
"""Flags of an entry: folded before; has no place of its own in a text."""


class Folded(NamedTuple):
    """Folded bytes by code point or by token id: see `FoldTable`."""

    entries: Ints
    blob: Bytes


class FoldTable:
    """Folded bytes by key (a code point or a token id).

    `entries`, int64, is 0 for keys that are not known, else ``offset << 32 | length << 2 | flags`` of the bytes
    in `blob`.
    """

    def __init__(self, size: int) -> None:
        self.entries: Ints = np.zeros(size, np.int64)
        self.blob: Bytes = np.zeros(0, np.uint8)

    @property
    def arrays(self) -> Folded:
        """The table as kernels take it."""
        return Folded(self.entries, frozen(self.blob))

    def new(self, keys: Ids) -> Ids:
        """Those of `keys` that are not known."""
        return np.unique(keys[self.entries[keys] == 0])

    def put(self, keys: Ids, folded: Sequence[bytes], flags: Ints) -> None:
        """Make `keys` known, with the bytes and the flags of each."""
        lengths = np.fromiter(map(len, folded), np.int64, len(folded))
        at = len(self.blob) + np.cumsum(lengths) - lengths
        self.entries[keys] = at << LENGTH_BITS + 2 | lengths << 2 | flags | KNOWN
        self.blob = np.concatenate([self.blob, np.frombuffer(b"".join(folded), np.uint8)])


class FoldedCharacters(FoldTable):
    """The folded bytes of characters; those of any text are known once `know` was given it.

    `growth` is the most folded bytes that a byte of UTF-8 stands for.
    """

    def __init__(self, degree: Degree) -> None:
        super().__init__(N_CODE_POINTS)
        self._degree = degree
        self.growth = 1

    def know(self, texts: Iterable[str]) -> None:
        """Fold whichever characters are new."""
        points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.int32)
        if not len(keys := self.new(points)):
            return
        characters = list(map(chr, keys.tolist()))
        folded = [fold(character, self._degree) for character in characters]
        self.put(keys, folded, np.zeros(len(keys), np.int64))
        sizes = [len(character.encode("utf-8", "surrogatepass")) for character in characters]
        growth = max(-(-len(own) // size) for own, size in zip(folded, sizes, strict=True))
        self.growth = max(self.growth, growth)


@lru_cache(maxsize=5)
def folded_characters(degree: Degree) -> FoldedCharacters:
    """The table of a degree, which all tokenizers of a process share."""
    return FoldedCharacters(degree)


class FoldedTokens(FoldTable):
    """The folded bytes of a tokenizer's tokens; those of any ids are known once `know` was given them."""

    def __init__(self, table: TokenTable, degree: Degree) -> None:
        super().__init__(table.size)
        self._table, self._degree = table, degree

    def know(self, ids: Ids) -> None:
        """Fold whichever tokens are new."""
        if not len(keys := self.new(ids)):
            return
        texts = [self._table.bytes_of(key).decode("utf-8", "surrogateescape") for key in keys.tolist()]
        folded = [b"".join([fold(character, self._degree) for character in text]) for text in texts]
        refused = self._table.length[keys] < 0
        for index, (text, own) in enumerate(zip(texts, folded, strict=True)):
            # a token that folds to nothing although it is no white space has no place of its own
            if not own and not all(each.isspace() or each == _METASPACE for each in text):
                refused[index] = True
        self.put(keys, folded, refused * np.int64(REFUSED))


def folded_tokens(table: TokenTable, degree: Degree) -> FoldedTokens:
    """The folded tokens of a table, made once and kept with it."""
    if degree not in table.folded:
        table.folded[degree] = FoldedTokens(table, degree)
    found: FoldedTokens = table.folded[degree]
    return found
