r"""sentencepiece's normalizer: the precompiled character map, then the rules for spaces.

The map is a double-array trie (darts-clone's 32-bit units) from source strings to positions in a table of
NUL-terminated targets. At each position the longest source wins; if none matches, the character is copied.
Then leading, trailing and repeated spaces are removed (`remove_extra_whitespaces`), a space is added before or
after the text (`add_dummy_prefix`, `treat_whitespace_as_suffix`), and spaces become U+2581
(`escape_whitespaces`).

If spaces are escaped, the *internal form* of text has the byte 0x20 for U+2581: no other space is left then,
and one byte instead of three makes all later stages faster. `to_internal` converts.

The kernels are in `charsmap_kernels`; `charsmap_search` finds the characters they must change, by the classes
in `charsmap_classes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.copies import Stays
from tokbench.kernels.pointers import PADDING, padded
from tokbench.kernels.utf8 import encodable
from tokbench_subword.files.sentencepiece_model import NormalizerSpec
from tokbench_subword.pipeline.origins import Located
from tokbench_subword.pipeline.replacing_kernel import edges, replace_literal
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.pipeline.splicing import BoundWriter
from tokbench_subword.pipeline.trie import build_trie
from tokbench_subword.sentencepiece.charsmap_classes import compiled_map, with_special
from tokbench_subword.sentencepiece.charsmap_kernels import normalize
from tokbench_subword.sentencepiece.charsmap_search import DUMMY, ESCAPE, N_ROWS, REMOVE_EXTRA, SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterable

SPACE_SYMBOL = "\u2581"
_SPACE_BYTES = SPACE_SYMBOL.encode()


class Normalizer(Stays):
    """A compiled normalizer; `writers` apply it to a batch.

    `tables` are the arrays that `charsmap_search` lists after its numbers: the map's trie, uint32 (empty: no
    map); the NUL-terminated targets, uint8; classes of characters, uint32 of ``(0x110000,)``; which ASCII bytes
    are copied whenever ASCII follows, uint8 of ``(256,)``; the trie of user-defined symbols, which are left
    unchanged, uint64; and their first bytes, uint8 of ``(256,)``.
    """

    example = ""
    """No text takes other kernels than any."""

    def __init__(self, flags: int, *tables: NDArray[Any]) -> None:
        self.escapes = bool(flags & ESCAPE)
        numbers = [flags, len(tables[0]), len(tables[1]), *longest_rows(tables[3])]
        by_character = len(tables[0]) > 0 or flags & (REMOVE_EXTRA | SUFFIX)
        self._by_character = (BoundWriter(normalize, [np.array(numbers, np.int64), *tables]),)
        self.writers = self._by_character if by_character else _spaced(flags)

    def __call__(self, text: str) -> str:
        """`text` normalized, as sentencepiece's own `normalize` returns it.

        Example:
            >>> compile_normalizer(NormalizerSpec())(" a  b ")
            '▁a▁b'
        """
        normalized = self.internal(text).decode()
        return normalized.replace(" ", SPACE_SYMBOL) if self.escapes else normalized

    def internal(self, text: str) -> bytes:
        """One document normalized, in internal form."""
        data = encodable(text)
        texts = self.segments(Segments(padded(data), np.array([0, len(data)])))
        return texts.data.tobytes()

    def segments(self, texts: Segments) -> Segments:
        """Documents normalized, in internal form; if offsets are tracked, a user-defined symbol is one unit."""
        writers = self._by_character if isinstance(texts, Located) else self.writers
        for writer in writers:
            texts = texts.by_kernel(writer, _room(texts.data, texts.offsets))
        return texts


def longest_rows(plain: NDArray[np.uint8]) -> list[int]:
    """The `N_ROWS` longest runs of plain byte values: for each the first value, and how many there are.

    Example:
        >>> longest_rows(np.array([0, 1, 1, 0, 1, 1, 1], np.uint8))
        [4, 3, 1, 2, 0, 0, 0, 0]
    """
    edges = np.flatnonzero(np.diff(plain, prepend=0, append=0)).reshape(-1, 2)
    rows = sorted((int(begin - end), int(begin)) for begin, end in edges) + [(0, 0)] * N_ROWS
    return [number for size, begin in rows[:N_ROWS] for number in (begin, -size)]


def _spaced(flags: int) -> tuple[BoundWriter, ...]:
    """The writers of a normalizer without a map that keeps spaces where they are, such as Llama-2's.

    Whole stretches of text are copied. Character by character, a first pass takes 1.1 to 1.2 times as long,
    a later one 1.2 to 1.35.
    """
    texts = [np.frombuffer(bytearray(one + bytes(PADDING)), np.uint8) for one in (_SPACE_BYTES, b" ")]
    marks = BoundWriter(replace_literal, [*texts, np.array([len(_SPACE_BYTES), 1])])
    return (*((marks,) if flags & ESCAPE else ()), *((edges(b" "),) if flags & DUMMY else ()))


def _room(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> int:
    """The number of bytes that normalized documents usually fit in."""
    return len(data) + len(data) // 8 + 8 * len(offsets) + 64


def to_internal(text: str, escaped: bool) -> bytes:
    """A piece in internal form: UTF-8, with a space for U+2581 if spaces are `escaped`."""
    return (text.replace(SPACE_SYMBOL, " ") if escaped else text).encode()


def compile_normalizer(
    spec: NormalizerSpec, *, suffix: bool = False, symbols: Iterable[str] = (), where: str = "model"
) -> Normalizer:
    """The compiled form of `spec`; raises `TokenizerError` for a damaged character map.

    `suffix` puts the dummy space after the text; `symbols` are user-defined symbols, which are left unchanged.
    """
    flags = (
        (ESCAPE if spec.escape_whitespaces else 0)
        | (REMOVE_EXTRA if spec.remove_extra_whitespaces else 0)
        | (DUMMY if spec.add_dummy_prefix else 0)
        | (SUFFIX if suffix else 0)
    )
    units, targets, classes, plain = compiled_map(spec.charsmap, where)
    keys = {symbol.encode(): index for index, symbol in enumerate(symbols)}
    trie, starts = np.zeros(0, np.uint64), np.zeros(256, np.uint8)
    if keys:
        trie, starts[[key[0] for key in keys]] = build_trie(keys), 1
        plain = np.where(starts, 0, plain).astype(np.uint8)
        classes = with_special(classes, {key.decode()[0] for key in keys})
    return Normalizer(flags, units, targets, classes, plain, trie, starts)
