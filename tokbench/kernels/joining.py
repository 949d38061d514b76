"""Decodes a list of ids whose text is their bytes end to end, as one compiled Python function (see `calls`).

Python itself looks up each id, joins and decodes. A kernel does so in half the time or less; but to make an
array of the ids for it, as other kernels want, would take longer than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.calls import (
    address,
    addresses_at,
    bytes_at,
    bytes_of_size,
    callable_of,
    called_directly,
    decoded,
    element,
    first_byte,
    forget_error,
    is_int,
    is_list,
    left_to_python,
    member,
    n_elements,
    number,
    release,
)
from tokbench.kernels.pointers import block, copy_bytes_16, i64_in, u8_in

_MOVED = 16


@called_directly("ids")
def decode_list(state: Any, arguments: Any, n_arguments: Any, names: Any) -> Any:
    """The text of some ids."""
    if n_arguments != 1 or names != 0:
        return left_to_python(state, arguments, n_arguments, names)
    ids, tables = np.intp(addresses_at(arguments)[0]), addresses_at(number(member(state, 1)))
    blob, starts, most = u8_in(tables, 0), i64_in(tables, 1), number(member(state, 2))
    if not is_list(ids):
        return left_to_python(state, arguments, n_arguments, names)
    count, size = n_elements(ids), np.int64(0)
    for i in range(count):
        one = element(ids, i)
        token = number(one) if is_int(one) else np.int64(-1)
        if token < 0 or token >= most:
            forget_error()  # of a number beyond 64 bits
            return left_to_python(state, arguments, n_arguments, names)
        size += starts[token + 1] - starts[token]
    room = bytes_of_size(0, size + _MOVED)
    if room == 0:
        return room
    text, o = bytes_at(first_byte(room)), np.int64(0)
    for i in range(count):
        token = number(element(ids, i))
        length = starts[token + 1] - starts[token]
        for k in range(0, length, _MOVED):
            copy_bytes_16(blob, starts[token] + k, text, o + k)
        o += length
    found = decoded(first_byte(room), size, first_byte(member(state, 3)))
    release(room)
    return found


def list_decoder(
    blob: NDArray[np.uint8], starts: NDArray[np.int64], general: Callable[..., str]
) -> Callable[..., str]:
    """A function of a list of ids: their text, ``blob[starts[id]:starts[id + 1]]`` each.

    Bytes that are not UTF-8 become U+FFFD. What is no list, or holds anything but ids, is left to `general`.
    `PADDING` bytes must be readable after the last.
    """
    tables = block([blob, starts])
    state = (general, address(tables), len(starts) - 1, b"replace", tables, blob, starts)
    return callable_of(decode_list, state)
