"""`PathEncoder`: a Unigram model, or sentencepiece's BPE, behind the word cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.batch import TokenBatch
from tokbench.kernels.pointers import block
from tokbench_subword.bpe.merging import scratch
from tokbench_subword.pipeline.origins import token_places
from tokbench_subword.pipeline.patterns.cutters import Cutter, cut_in_turn, units_of
from tokbench_subword.unigram import layout as at
from tokbench_subword.unigram.emitting import SearchForms, locate_units
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.encoder import WordEncoder
from tokbench_subword.words.layout import COUNTERS, MOST, TEXT_SIZE
from tokbench_subword.words.parts import part_space
from tokbench_subword.words.runs import Room
from tokbench_subword.words.safe_cuts import PIECE_SHIFT
from tokbench_subword.words.slots import SPARE_IDS
from tokbench_subword.words.workspace import Workspace

_KEPT = 1 << 20
"""Bytes of text for which memory is kept between calls: a run has no more, unless one text is longer."""
_NUMBERS = 3
"""Numbers for each token that is located: its id, and where it begins and ends in its word."""


class SearchSpace(Workspace):
    """A `Workspace` with room to search in, enough for the text at hand even if that is one word."""

    __slots__ = ("_dtype", "_room", "_spelled")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._dtype = self.arrays[at.SCORES].dtype
        self._spelled = 3 if _spells_spaces(self.arrays) else 1
        self.arrays[COUNTERS][MOST] = TEXT_SIZE // self._spelled
        self._resize(TEXT_SIZE)

    def _resize(self, size: int) -> None:
        self._room, ids = size, self._spelled * (size + SPARE_IDS)
        self.out = np.empty(ids, np.int32)
        self.arrays[at.BEST :] = [
            np.zeros(size + 2, self._dtype),  # what lies within characters is added to minus infinity
            np.empty(size + 2, np.int64),
            np.empty(ids, np.int32),
            np.empty(2 * ids, np.int32),
        ]
        self.block = block(self.arrays)

    def room(self, bytes_: int, given: Room = None) -> NDArray[np.int32]:
        """As any `Workspace` has it, also for texts whose spaces are spelled; and room to search in."""
        if bytes_ > self._room or (self._room > _KEPT and bytes_ <= _KEPT):
            self._resize(max(1 << (bytes_ - 1).bit_length(), TEXT_SIZE))
        wanted = self._spelled * (bytes_ + SPARE_IDS)
        return given if given is not None and wanted <= len(given) else self.out


class PathEncoder(WordEncoder):
    """Encodes words, or whole documents, by the best path through each.

    `tables` are the model's arrays by their place in the block (see `layout`); unneeded ones may be missing.
    `cutters` cut texts into words, each one cutting the output of the one before; without any, a text is one
    word. `unknown` is the text of the unknown token if that is a piece like any other. `cache` is the size
    limit in bytes of each thread's word cache.
    """

    _workspace = SearchSpace

    def __init__(
        self,
        algorithm: SearchForms,
        tables: Mapping[int, NDArray[Any]],
        cutters: Sequence[Cutter] = (),
        *,
        unknown: bytes = b"",
        threads: int = 1,
        cache: int = CACHE_BYTES,
    ) -> None:
        none = np.zeros(1, np.uint8)
        shared = [tables.get(place, none) for place in range(at.UNITS, at.PARTS)]
        super().__init__(algorithm.word, shared, _own, cutters=cutters, threads=threads, cache=cache)
        self._algorithm = algorithm
        self._sizes = _sizes(tables, unknown)

    @contextmanager
    def space(self, bytes_: int) -> Iterator[Any]:
        """The block of a work space with room for a text of so many bytes, for other kernels."""
        work = self._borrow()
        try:
            work.room(bytes_)
            yield work.block
        finally:
            self._idle.append(work)

    def locate(
        self, data: NDArray[np.uint8], offsets: NDArray[np.int64]
    ) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of every text ``data[offsets[i]:offsets[i + 1]]``, and where in `data` the tokens are.

        The places are int64 ``(total, 2)``. If texts are cut into words, which are cached, places follow from
        the size of each token in bytes. Texts for which this fails (unknown characters, words that do not cover
        the text), and texts that are not cut into words, are searched again.
        """
        units = units_of(offsets)
        if not self._cutters:
            return self.locate_words(data, units)
        batch = self.encode_utf8(data, offsets)
        places, known = token_places(batch, self._sizes, units)
        if not known.all():
            words, _ = cut_in_turn(self._cutters, data, units[~known])
            _, places[np.repeat(~known, batch.lengths())] = self.locate_words(data, words)
        return batch, places

    def locate_words(
        self, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> tuple[TokenBatch, NDArray[np.int64]]:
        """The ids of words, and where in `data` the tokens are: each word is searched."""
        locate = partial(locate_units, self._algorithm.locate.address)
        found = self._spread(locate, data, words, most=_NUMBERS)
        rows, ends = found.ids.reshape(-1, _NUMBERS), found.offsets // _NUMBERS
        places = rows[:, 1:] + np.repeat(words[:, 0], np.diff(ends))[:, np.newaxis]
        return TokenBatch(rows[:, 0].copy(), ends), places


def _spells_spaces(tables: Any) -> bool:
    """Whether a space, one byte, is spelled in the three bytes of U+2581."""
    settings, space_is_piece = tables[at.SETTINGS], tables[at.CHARACTERS][0x20] >> PIECE_SHIFT
    return bool(settings[at.FALLBACK] and settings[at.ESCAPED] and not space_is_piece)


def _sizes(tables: Mapping[int, NDArray[Any]], unknown: bytes) -> NDArray[np.int64]:
    """The size of each token in bytes, by id, -1 if it varies; one more entry for tokens without an id."""
    sizes, byte_ids = np.append(tables[at.LENGTHS], -1).astype(np.int64), tables[at.BYTE_IDS]
    sizes[tables[at.SETTINGS][at.UNK_ID]] = -1
    if len(byte_ids):
        sizes[byte_ids] = 1
        sizes[byte_ids[list(unknown)]] = -1  # if spelled in bytes, each stands for all of the text
    if _spells_spaces(tables):
        sizes[byte_ids[0xE2]] = -1
    return sizes


def _own() -> list[NDArray[Any]]:
    """The arrays of one thread; `SearchSpace` makes those whose size depends on the text."""
    return [*part_space(), *scratch(), *(np.empty(0, np.int64) for _ in range(4))]
