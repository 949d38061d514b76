"""Whose tokens spell a space and then the text: the kernel of `tokbench.tally.roundtrip`."""

from __future__ import annotations

from typing import Any

from tokbench.tally.compiling import kernel

SPACE = 0x20


@kernel
def spell_after_space(
    data: Any,
    starts: Any,
    ends: Any,
    ids: Any,
    offsets: Any,
    lengths: Any,
    places: Any,
    blob: Any,
    spelled: Any,
) -> None:
    """Fill in `spelled` by document: the bytes of the tokens, none without any, are a space and the text.

    Texts that are empty or begin with a space are left out: what decoding them drops is not declared. The bytes
    of a token are ``blob[places[id]:][:lengths[id]]``.
    """
    for document in range(len(starts)):
        position, end = starts[document] - 1, ends[document]
        good = position + 1 < end and data[position + 1] != SPACE
        for index in range(offsets[document], offsets[document + 1]):
            size = lengths[ids[index]]
            place = places[ids[index]]
            good = good and size > 0 and position + size <= end
            if good and position < starts[document]:
                good = blob[place] == SPACE
                position, place, size = position + 1, place + 1, size - 1
            byte = 0
            while good and byte < size:
                good = data[position + byte] == blob[place + byte]
                byte += 1
            if not good:
                break
            position += size
        spelled[document] = good and position == end
