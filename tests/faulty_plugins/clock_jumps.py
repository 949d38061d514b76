"""A plugin in whose processes the wall clock is set forward and back by hours, every time somebody looks."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence

import tokbench

_JUMPS = itertools.cycle((0, 7 * 3600, -30 * 3600, 3600, -2 * 3600))
_time, _time_ns, _localtime, _strftime = time.time, time.time_ns, time.localtime, time.strftime

time.time = lambda: _time() + next(_JUMPS)
time.time_ns = lambda: _time_ns() + next(_JUMPS) * 10**9
time.strftime = lambda form, when=None: _strftime(form, when or _localtime(time.time()))


class Late:
    name = "late"
    vocab_size = 256

    def encode(self, text: str) -> Sequence[int]:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", "replace")


@tokbench.hookimpl
def tokbench_tokenizers() -> Iterable[tokbench.TokenizerFamily]:
    return [tokbench.TokenizerFamily(name="late", summary="at fault", load=lambda spec, context: Late())]
