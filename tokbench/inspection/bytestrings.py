"""The byte strings of a vocabulary in one array: small to keep, quick to send, exact to compare."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class ByteStrings:
    """Bytes of every id: ``data[offsets[i]:offsets[i + 1]]``; `data` is uint8, `offsets` int64 ``(n + 1,)``.

    Example:
        >>> table = ByteStrings.of([b"a", b"", b"bc"])
        >>> table[2], len(table), ByteStrings.from_json(table.to_json())[2]
        (b'bc', 3, b'bc')
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, tokens: Iterable[bytes]) -> ByteStrings:
        """The table of some byte strings, in order."""
        from tokbench.kernels.text import end_to_end

        return cls(*end_to_end(list(tokens)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> bytes:
        return self.data[self.offsets[index] : self.offsets[index + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        data, ends = self.data.tobytes(), self.offsets.tolist()
        return (data[start:end] for start, end in pairwise(ends))

    def lengths(self) -> NDArray[np.int64]:
        """Bytes per id, int64 of shape ``(n,)``."""
        return np.diff(self.offsets)

    def to_json(self) -> dict[str, Any]:
        """The table in JSON's types: deflated, in base64."""
        return {
            "data": pack(self.data.tobytes()),
            "lengths": pack(self.lengths().astype("<u4").tobytes()),
        }

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> ByteStrings:
        """The table that `to_json` wrote."""
        lengths = np.frombuffer(unpack(content["lengths"]), "<u4")
        offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
        return cls(np.frombuffer(unpack(content["data"]), np.uint8), offsets)


def pack(data: bytes) -> str:
    """Bytes as deflated base64 text."""
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def unpack(text: str) -> bytes:
    """The bytes that `pack` wrote."""
    return zlib.decompress(base64.b64decode(text))
