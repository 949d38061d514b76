"""A form in which a text and its normalised form are equal, so that tokens can be found in the text.

Tokenizers that lower-case, strip accents, compose, decompose or rewrite spaces do not give back the text's
bytes. Folding both sides (compatibility decomposition and case folding, white space, controls and combining
diacritics taken out) undoes all of that; where the folded tokens are the folded text, every token's place is
known. Where they are not, nothing is claimed.

There are three degrees: ``spaces`` takes out white space only, and is the one that bytes of characters (byte
fallback) survive; ``marks`` does the rest but keeps vowel signs and other marks of the scripts that need them;
``bare`` takes out every nonspacing mark.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from tokbench.tally.characters import CODE_POINTS
from tokbench.tally.vocabulary import TokenTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DROPPED = {"Cc", "Cf", "Zs", "Zl", "Zp"}
_METASPACE = "\u2581"


Degree = Literal["spaces", "marks", "bare"]


@lru_cache(maxsize=1 << 16)
def fold(character: str, degree: Degree) -> bytes:
    r"""The folded UTF-8 of one character.

    Example:
        >>> fold("É", "marks"), fold("É", "spaces"), fold("\u2581", "spaces"), fold("ﬁ", "bare")
        (b'e', b'\xc3\x89', b'', b'fi')
    """
    if "\udc80" <= character <= "\udcff":  # a byte that is no whole character, by surrogateescape
        return bytes([ord(character) - 0xDC00])
    if character == _METASPACE or character.isspace():
        return b""
    if degree == "spaces":
        return character.encode("utf-8", "surrogatepass")
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(each for each in decomposed if not _dropped(each, degree)).encode("utf-8", "surrogatepass")


def _dropped(character: str, degree: Degree) -> bool:
    if character == "\ufffd" or character.isspace():
        return True
    category = unicodedata.category(character)
    if category == "Mn":
        return degree == "bare" or _diacritic(ord(character))
    return category in _DROPPED


def _diacritic(point: int) -> bool:
    return 0x300 <= point <= 0x36F or 0x1AB0 <= point <= 0x1AFF or 0x1DC0 <= point <= 0x1DFF


class Pieces:
    """Folded bytes by key (a code point or a token id): `length` and `offset` into `blob`."""

    __slots__ = ("blob", "known", "length", "offset", "refused")

    def __init__(self, size: int) -> None:
        import numpy as np

        self.known: NDArray[np.bool_] = np.zeros(size, np.bool_)
        self.refused: NDArray[np.bool_] = np.zeros(size, np.bool_)
        self.length: NDArray[np.int32] = np.zeros(size, np.int32)
        self.offset: NDArray[np.int64] = np.zeros(size, np.int64)
        self.blob: NDArray[np.uint8] = np.zeros(0, np.uint8)

    def put(self, keys: list[int], pieces: list[bytes]) -> None:
        """Make `keys` known."""
        import numpy as np

        position = len(self.blob)
        for key, piece in zip(keys, pieces, strict=True):
            self.offset[key], self.length[key] = position, len(piece)
            position += len(piece)
        self.blob = np.concatenate([self.blob, np.frombuffer(b"".join(pieces), np.uint8)])
        self.known[keys] = True

    def lay_out(self, keys: NDArray[np.integer]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The bytes of `keys` one after another, and where each begins (one more entry for the end)."""
        return lay_out(self.blob, self.offset[keys], self.length[keys])


def lay_out(
    blob: NDArray[np.uint8], offsets: NDArray[np.int64], lengths: NDArray[np.int32]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Stretches of `blob` one after another, and where each begins in the result (and where it ends)."""
    import numpy as np

    begin = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=begin[1:])
    where = np.repeat(offsets - begin[:-1], lengths)
    where += np.arange(begin[-1], dtype=np.int64)
    return blob[where], begin


class Folding:
    """The folded forms of a tokenizer's tokens and of the characters of texts."""

    __slots__ = ("_table", "characters", "degree", "tokens")

    def __init__(self, table: TokenTable, *, degree: Degree) -> None:
        self.degree = degree
        self._table = table
        self.tokens = Pieces(table.size)
        self.characters = _character_pieces(degree)

    def know(self, points: NDArray[np.uint32], ids: NDArray[np.int32]) -> None:
        """Fold whichever code points and tokens are new."""
        import numpy as np

        new = points[~self.characters.known[points]]
        if new.size:
            keys = np.unique(new).tolist()
            self.characters.put(keys, [fold(chr(key), self.degree) for key in keys])
        fresh = ids[~self.tokens.known[ids]]
        if fresh.size:
            keys = np.unique(fresh).tolist()
            texts = [self._table.bytes_of(key).decode("utf-8", "surrogateescape") for key in keys]
            pieces = [b"".join(fold(character, self.degree) for character in text) for text in texts]
            self.tokens.put(keys, pieces)
            for key, text, piece in zip(keys, texts, pieces, strict=True):
                # a token that folds to nothing although it is no white space has no place of its own
                blank = all(character.isspace() or character == _METASPACE for character in text)
                self.tokens.refused[key] = (not piece and not blank) or self._table.length[key] < 0


def folding_of(table: TokenTable, degree: Degree) -> Folding:
    """The folding of a tokenizer's tokens: the one made before, kept with its table."""
    if degree not in table.derived:
        table.derived[degree] = Folding(table, degree=degree)
    folding: Folding = table.derived[degree]
    return folding


@lru_cache(maxsize=3)
def _character_pieces(degree: Degree) -> Pieces:
    return Pieces(CODE_POINTS)
