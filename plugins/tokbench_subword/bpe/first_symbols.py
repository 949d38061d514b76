"""The first symbols of a pre-token, before any merge: its bytes or its characters as ids."""

from __future__ import annotations

from tokbench.kernels.compiling import inline
from tokbench.kernels.pointers import u32_in
from tokbench.kernels.utf8 import code_point
from tokbench_subword.bpe import layout as at
from tokbench_subword.bpe.tables import NONE


@inline
def _known(symbols, count, pending, unk, found):  # type: ignore[no-untyped-def]
    """Write a symbol, and before it the unknown token that was `pending`; return how many there are then."""
    if pending:
        symbols[count] = unk
        count += 1
    symbols[count] = found
    return count + 1


@inline
def _unknown(symbols, count, pending, settings):  # type: ignore[no-untyped-def]
    """Note one more unknown symbol: it waits, since those after it may become one with it. As `_known`."""
    if pending and not settings[at.FUSE_UNK]:
        symbols[count] = settings[at.UNK]
        return count + 1
    return count


@inline
def _characters(block, settings, text, start, end, symbols):  # type: ignore[no-untyped-def]
    """Write the first symbols of a pre-token at character level; return how many. See `BpeModel`."""
    ids, fallback = u32_in(block, at.CHARACTERS), u32_in(block, at.FALLBACK)
    points, unk = settings[at.POINTS], settings[at.UNK]
    count, pending = 0, False
    i = start
    while i < end:
        point, length = code_point(text, i)
        form = (settings[at.PREFIX] if i > start else 0) + (2 * settings[at.SUFFIX] if i + length == end else 0)
        found = NONE
        if point < points:
            found = ids[form * points + point]
        if found != NONE:
            count = _known(symbols, count, pending, unk, found)
            pending = False
        else:
            known = settings[at.BYTE_FALLBACK] != 0
            if known:
                for k in range(length):
                    known = known and fallback[text[i + k]] != NONE
            if known:
                for k in range(length):
                    symbols[count] = fallback[text[i + k]]
                    count += 1
            elif unk >= 0:
                count = _unknown(symbols, count, pending, settings)
                pending = True
        i += length
    if pending:
        symbols[count] = unk
        count += 1
    return count


@inline
def _bytes(block, settings, text, start, end, symbols):  # type: ignore[no-untyped-def]
    """Write the first symbols of a pre-token whose symbols are bytes, some of which may have no id."""
    ids = u32_in(block, at.BYTE_IDS)
    unk = settings[at.UNK]
    count, pending = 0, False
    for i in range(start, end):
        form = (settings[at.PREFIX] if i > start else 0) + (2 * settings[at.SUFFIX] if i + 1 == end else 0)
        found = ids[256 * form + text[i]]
        if found != NONE:
            count = _known(symbols, count, pending, unk, found)
            pending = False
        elif unk >= 0:
            count = _unknown(symbols, count, pending, settings)
            pending = True
    if pending:
        symbols[count] = unk
        count += 1
    return count


@inline
def first_symbols(block, settings, text, start, end, symbols):  # type: ignore[no-untyped-def]
    """Write the first symbols of ``text[start:end]``; return how many there are, which may be none."""
    if settings[at.BYTE_LEVEL] == 1:
        ids = u32_in(block, at.BYTE_IDS)
        for i in range(start, end):
            symbols[i - start] = ids[text[i]]
        return end - start
    if settings[at.BYTE_LEVEL] == 2:
        return _bytes(block, settings, text, start, end, symbols)
    return _characters(block, settings, text, start, end, symbols)
