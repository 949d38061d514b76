"""`BpeEncoder`: encodes with a `BpeModel` compiled into the arrays of `layout`, and a word cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import side_by_side
from tokbench.kernels.unicode_classes import N_CODE_POINTS
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.merging import scratch
from tokbench_subword.bpe.merging_pieces import merge_pieces
from tokbench_subword.bpe.merging_symbols import merge_symbols, symbols_of_words
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.pieces import N_BYTES, Pieces
from tokbench_subword.bpe.spaces import word_cutters
from tokbench_subword.bpe.superwords import first_across, merge_across, merges_before
from tokbench_subword.bpe.tables import MOST_RANKS, NONE, PairTable, TokenBytes
from tokbench_subword.bpe.words import encode_new
from tokbench_subword.pipeline.byte_alphabet import CHARACTER_OF, unspelled
from tokbench_subword.pipeline.patterns.cutters import Cutter
from tokbench_subword.words.cache_size import CACHE_BYTES
from tokbench_subword.words.encoder import WordEncoder
from tokbench_subword.words.layout import MODEL
from tokbench_subword.words.parts import part_space
from tokbench_subword.words.safe_cuts import find_byte_cuts, find_cuts

_CUT_TYPES = np.int32, np.uint8, np.uint8, np.uint64
"""The dtypes of `SafeCuts.arrays`."""
_BEYOND_ASCII = np.array([*range(0x80, 0xC0), *range(0xC2, 0xF5)])
"""The bytes that occur in UTF-8 characters beyond ASCII."""


class BpeEncoder(WordEncoder):
    """Encodes text with a `BpeModel`.

    `cutters` default to those of the model's pattern; for a model without any, see `spaces`. `spelled` means
    that the model's tokens are written in the byte alphabet, while text is given as plain bytes. The other
    options are those of `WordEncoder`.

    Example:
        >>> import numpy as np
        >>> model = BpeModel(
        ...     vocabulary=(*(bytes([b]) for b in range(256)), b"ab"), merges=np.array([[97, 98, 256]]))
        >>> BpeEncoder(model).encode("abc").tolist()
        [256, 99]
    """

    def __init__(
        self,
        model: BpeModel,
        cutters: Sequence[Cutter] | None = None,
        *,
        threads: int = 1,
        cache: int = CACHE_BYTES,
        spelled: bool = False,
    ) -> None:
        cutters = model.pattern.cutters if cutters is None else cutters
        self.model = model
        arrays = _shared_arrays(model, spelled=spelled)
        if not cutters and not spelled and arrays[at.SETTINGS - MODEL][at.CUT] == 1:
            cutters = word_cutters(model)
        super().__init__(encode_new, arrays, _own, cutters=cutters, threads=threads, cache=cache)

    def first_symbols(
        self, data: NDArray[np.uint8], words: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
        """The first symbols of words, their spans in `data`, int64 ``(n, 2)``, and where each word ends.

        `words` are the spans of the words in `data`, ``(n, 2)``. Not for a model with `pieces`, whose symbols
        are piece numbers.
        """
        ids, fallback, settings = (self._shared[k - MODEL] for k in (at.FIRST_IDS, at.FALLBACK, at.SETTINGS))
        most = int((words[:, 1] - words[:, 0]).sum())
        symbols, places = np.empty(most, np.uint32), np.empty(2 * most, np.int64)
        ends = np.zeros(len(words), np.int64)
        symbols_of_words(ids, fallback, settings, data, np.ascontiguousarray(words), symbols, places, ends)
        count = ends[-1] if len(ends) else 0
        return symbols[:count], places.reshape(-1, 2)[:count], ends


def _own() -> list[NDArray[Any]]:
    """The arrays of one thread."""
    return [*scratch(), *part_space()]


def _shared_arrays(model: BpeModel, *, spelled: bool) -> list[NDArray[Any]]:
    """The arrays of `layout` up to `SETTINGS`, in its order; raises `TokenizerError` for ranks out of range.

    `spelled`: the model's characters are letters of the byte alphabet, but the text to encode is plain bytes.
    """
    ranks = model.merge_ranks
    if len(ranks) and (ranks.min() < 0 or ranks.max() >= MOST_RANKS):
        raise TokenizerError(f"ranks of merges must lie in 0..{MOST_RANKS - 1}")
    tokens = TokenBytes.of([_unspelled(token) for token in model.vocabulary] if spelled else model.vocabulary)
    firsts = _first_ids(model)
    complete = model.level == "byte" and bool((firsts != NONE).all())
    pieces = Pieces.of(tokens, model.merges, ranks, firsts[0]) if complete else None
    if pieces is None:
        pieces = Pieces.none()
        pairs = PairTable.of(model.merges, ranks)
        results = np.full(int(ranks.max(initial=0)) + 1, NONE, np.uint32)
        results[ranks] = model.merges[:, 2]
        if (results[ranks] != model.merges[:, 2]).any():
            raise TokenizerError("merges of the same rank must give the same token")
    else:
        pairs, results = pieces.pairs, np.zeros(1, np.uint32)
    unmerged = np.full(len(model.vocabulary), model.whole_tokens)
    unmerged[pieces.ids] = False
    whole, longest = tokens.table_of(unmerged)
    fallback = np.full(256, NONE, np.uint32)
    if model.byte_fallback:
        for byte in range(256):
            fallback[byte] = model.ids.get(b"<0x%02X>" % byte, NONE)
    settings = np.zeros(at.N_SETTINGS, np.int64)
    settings[at.TOKEN_MASK], settings[at.LONGEST] = len(whole) - 1, longest
    if spelled:
        firsts = _of_letters(firsts)
    settings[at.BYTEWISE], settings[at.UNITS] = model.level == "byte" or spelled, firsts.shape[1]
    settings[at.UNK] = -1 if model.unk is None else model.unk
    settings[at.FUSE_UNK] = model.fuse_unk
    settings[at.BYTE_FALLBACK] = model.byte_fallback
    settings[at.PREFIX] = bool(model.continuing_prefix)
    settings[at.SUFFIX] = bool(model.end_of_word)
    settings[at.ONWARD], settings[at.AHEAD] = pieces.onward()
    byte_pairs, characters, across = (
        pieces.byte_pairs(),
        pieces.characters(tokens),
        first_across(pieces, tokens),
    )
    merger = merge_across if across else merge_pieces if len(pieces.ids) else merge_symbols
    settings[at.MERGER] = merger.address
    if across:
        byte_pairs[byte_pairs >= across] = NONE
        characters[characters >= across] = NONE
    cuts = [np.zeros(1, dtype) for dtype in _CUT_TYPES]
    if not spelled and _may_be_cut(model, complete, fallback):
        if model.level == "char":
            unknown = _unknown(model, firsts[0], fallback)
            found = find_cuts(model.ids, never_beside=unknown)
        else:
            unknown, found = None, find_byte_cuts(tokens.blob, tokens.starts)
        settings[at.CUT], cuts = 1 if unknown is None else 2, found.arrays
    arrays = [
        firsts.reshape(-1),
        byte_pairs,
        *pairs,
        results,
        whole,
        tokens.blob,
        tokens.starts,
        fallback,
        pieces.ids,
        pieces.sides.reshape(-1),
        pieces.rivals(tokens),
        *merges_before(pieces, across),
        *cuts,
        characters,
        settings,
    ]
    return side_by_side(arrays)


def _unspelled(token: bytes) -> bytes:
    """The bytes that a token spells in the byte alphabet; empty if it has a character outside the alphabet."""
    return unspelled(token.decode("utf-8", "surrogatepass")) or b""


def _may_be_cut(model: BpeModel, complete: bool, fallback: NDArray[np.uint32]) -> bool:
    """Whether a pre-token can be cut where no token joins two characters without changing the ids.

    At byte level that holds if all bytes have ids (`complete`). At character level it holds if there is neither
    prefix nor suffix, and no merge has a fallback byte or the unknown token as a side: these tokens are not
    written as the text they encode.
    """
    if model.level == "byte":
        return complete
    if model.continuing_prefix or model.end_of_word:
        return False
    alone = fallback[fallback != NONE].tolist() + ([] if model.unk is None else [model.unk])
    return not np.isin(model.merges[:, :2], alone).any()


def _unknown(
    model: BpeModel, known: NDArray[np.uint32], fallback: NDArray[np.uint32]
) -> NDArray[np.bool_] | None:
    """The characters without a token, bool ``(0x110000,)``, if their ids depend on their neighbours; else None.

    That is so if unknown characters are dropped or fused. It is also so if only some can be spelled in bytes:
    `tokenizers` writes an unknown token after the bytes of the next character. `known` has ids by code point.
    """
    unknown = np.ones(N_CODE_POINTS, np.bool_)
    unknown[: len(known)] = known == NONE
    if model.byte_fallback:
        missing = fallback == NONE
        matter = missing[_BEYOND_ASCII].any() or (missing & unknown[:256])[:128].any()
    else:
        matter = model.unk is None or model.fuse_unk
    return unknown if matter else None


def _first_ids(model: BpeModel) -> NDArray[np.uint32]:
    """The ids of first symbols by byte or code point, ``(4, units)``: bare, prefixed, suffixed, both."""
    if model.level == "byte":
        return np.tile(model.byte_ids.astype(np.uint32), (4, 1))
    entries: list[tuple[int, int, int]] = []
    prefix, suffix = model.continuing_prefix, model.end_of_word
    for token, index in model.ids.items():
        try:
            text = token.decode()
        except UnicodeDecodeError as error:
            raise TokenizerError(f"the token {token!r} of a character-level model is not UTF-8") from error
        if len(text) > len(prefix) + len(suffix) + 1:
            continue
        for form in range(4):
            head, tail = prefix if form & 1 else "", suffix if form & 2 else ""
            bare = text[len(head) : len(text) - len(tail)]
            if len(bare) == 1 and head + bare + tail == text:
                entries.append((form, ord(bare), index))
    ids = np.full((4, max((point for _, point, _ in entries), default=0) + 1), NONE, np.uint32)
    for form, point, index in entries:
        ids[form, point] = index
    return ids


def _of_letters(characters: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Convert ids by code point to ids by byte, by the byte alphabet; both as returned by `_first_ids`."""
    letters = np.array([ord(CHARACTER_OF[byte]) for byte in range(N_BYTES)], np.int64)
    known = letters < characters.shape[1]
    ids = np.full((4, N_BYTES), NONE, np.uint32)
    ids[:, known] = characters[:, letters[known]]
    return ids
