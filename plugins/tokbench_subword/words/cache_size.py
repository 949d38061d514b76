"""How large the word cache may become: the option of the families, told without loading a kernel."""

from __future__ import annotations

import re

from tokbench import Option, TokenizerError

CACHE_BYTES = 64 << 20
"""What a cache takes at the most, unless another size is given: a million slots, and as much for records."""
CACHE = Option(
    "cache",
    "str",
    "64MB",
    "The most memory for the word cache of each thread, and for the one that encodes short texts singly: 16MB, "
    "1GB, or 0 for no cache.",
)
_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def cache_bytes(size: str | None, *, where: str) -> int:
    """The bytes of a value of `CACHE`, None for the default; raises `TokenizerError` for what is no size.

    Example:
        >>> cache_bytes("16MB", where="bpe"), cache_bytes("0", where="bpe"), cache_bytes(None, where="bpe")
        (16777216, 0, 67108864)
    """
    if size is None:
        return CACHE_BYTES
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?B)?", str(size).strip(), re.IGNORECASE)
    if found is None:
        raise TokenizerError(
            f"{where}: cache={size!r} is no size; write a number with kB, MB or GB, or 0 for none"
        )
    return int(float(found[1]) * _UNITS[(found[2] or "").upper()])
