"""Lines of UTF-8 as a block of documents, without a Python object for each."""

from __future__ import annotations

from itertools import pairwise

from tokbench.corpus import TextBlock

_LEADS = (0xC2, 0xE1, 0xE2, 0xE3)
"""First bytes of the white space that is not ASCII."""


def lines_of(data: bytes) -> TextBlock:
    r"""The lines of valid UTF-8 that are not blank, in the sense of `str.isspace`; the last may lack its end.

    Example:
        >>> block = lines_of(b"one\n \t\n\ntwo")
        >>> block.data, block.ends.tolist()
        (b'one\ntwo\n', [3, 7])
    """
    import numpy as np

    if not data.endswith(b"\n"):
        data += b"\n"
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(text == 0x0A)
    starts = np.append(0, ends[:-1] + 1)
    first = text[starts]
    doubtful = np.flatnonzero((first <= 0x20) | np.isin(first, _LEADS))
    blank = [
        line
        for line, start, end in zip(
            doubtful.tolist(), starts[doubtful].tolist(), ends[doubtful].tolist(), strict=True
        )
        if start == end or data[start:end].decode().isspace()
    ]
    if not blank:
        return TextBlock(data, ends)
    kept = np.ones(len(ends), np.bool_)
    kept[blank] = False
    limits = [0, *(ends + 1).tolist()]  # of the lines, with their line feeds
    parts = [data[limits[before + 1] : limits[line]] for before, line in pairwise([-1, *blank, len(ends)])]
    lengths = (ends - starts)[kept]
    return TextBlock(b"".join(parts), np.cumsum(lengths + 1) - 1)
