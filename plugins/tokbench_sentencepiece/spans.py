"""Read token spans from sentencepiece's serialized results, for many texts at once.

The library's offsets come as Python objects, several for each token; a serialized `SentencePieceText`
(sentencepiece.proto) holds the same in a third of the time. Only ids, begins and ends are read. The wire format
is a list of fields: a varint holds number and kind of the next one (https://protobuf.dev/programming-guides/encoding).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_PIECES, _ID, _BEGIN, _END = 2, 2, 4, 5
"""Field numbers: of a text, then of a piece."""
_LEAST = 6
"""Bytes that a piece takes at the least: two fields, and the field that they are in."""


def read_spans(messages: list[bytes]) -> tuple[Ints, Ints, Ints]:
    """Ids ``(total,)`` and spans in bytes ``(total, 2)`` of all tokens, and where each text's tokens end."""
    data = np.frombuffer(b"".join(messages), np.uint8)
    ends = np.cumsum(np.fromiter(map(len, messages), np.int64, len(messages)))
    room = len(data) // _LEAST + 1
    ids, spans = np.zeros(room, np.int64), np.zeros((room, 2), np.int64)
    limits = np.zeros(len(messages) + 1, np.int64)
    _read(data, ends, ids, spans, limits)
    return ids[: limits[-1]], spans[: limits[-1]], limits


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _read(data: Any, ends: Any, ids: Any, spans: Any, limits: Any) -> None:
    at = n = 0
    for message in range(len(ends)):
        while at < ends[message]:
            number, kind, value, at = _field(data, at)
            if number == _PIECES and kind == 2:
                inner, at = at - value, at
                while inner < at:
                    number, kind, value, inner = _field(data, inner)
                    if number == _ID:
                        ids[n] = value
                    elif number == _BEGIN:
                        spans[n, 0] = value
                    elif number == _END:
                        spans[n, 1] = value
                n += 1
        limits[message + 1] = n


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _field(data: Any, at: int) -> Any:
    """The number and kind of a field, its value (its length for bytes), and where the next one begins."""
    key, at = _varint(data, at)
    kind = key & 7
    value = 0
    if kind == 0:
        value, at = _varint(data, at)
    elif kind == 2:
        value, at = _varint(data, at)
        at += value
    else:  # of fixed width: 64 or 32 bits
        at += 8 if kind == 1 else 4
    return key >> 3, kind, value, at


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _varint(data: Any, at: int) -> Any:
    """The number at a place, seven bits a byte, the lowest first, and where it ends."""
    value: Any = 0
    shift = 0
    while data[at] >= 0x80:
        value |= (np.int64(data[at]) & 0x7F) << shift
        shift += 7
        at += 1
    return value | np.int64(data[at]) << shift, at + 1
