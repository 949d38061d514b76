"""What tokens spell after the space that decoding drops: the kernel of `tokbench.tally.roundtrip`."""

from __future__ import annotations

from typing import Any

from tokbench.kernels.compiling import kernel

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
    unknown: int,
    surface: Any,
    spelled: Any,
    limits: Any,
    told: Any,
    same: Any,
) -> None:
    """Fill in `spelled`, from ``limits[i]`` on for document i, which are `told`, and which the `same`.

    Told are those whose first token begins with a space, which is dropped, and goes on, or is followed, by
    something else: what becomes of more spaces is not declared. The bytes of a token are
    ``blob[places[id]:][:lengths[id]]``, those of the `unknown` one `surface`; tokens without any tell nothing.
    """
    size = 0
    for document in range(len(starts)):
        limits[document] = size
        first, last = offsets[document], offsets[document + 1]
        good = first < last and ids[first] != unknown
        begin = size
        for index in range(first, last):
            token = ids[index]
            if token == unknown:
                good = good and len(surface) > 0
                if not good:
                    break
                for byte in range(len(surface)):
                    spelled[size + byte] = surface[byte]
                size += len(surface)
                continue
            length, place = lengths[token], places[token]
            good = good and length > 0
            if good and index == first:
                good = blob[place] == SPACE
                length, place = length - 1, place + 1
            good = good and not (size == begin and length > 0 and blob[place] == SPACE)
            if not good:
                break
            for byte in range(length):
                spelled[size + byte] = blob[place + byte]
            size += length
        if not good:
            size = begin
        told[document] = good
        position = starts[document]
        alike = good and size - begin == ends[document] - position
        byte = 0
        while alike and byte < size - begin:
            alike = spelled[begin + byte] == data[position + byte]
            byte += 1
        same[document] = alike
    limits[len(starts)] = size
