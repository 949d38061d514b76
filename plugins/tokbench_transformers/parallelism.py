"""The thread pool of `tokenizers`: set before its first use, since it is one for the process."""

from __future__ import annotations

import os


def settle(threads: int) -> None:
    """Ask for `threads` threads; what the user has put in the environment stands.

    The library reads the variables when it first encodes a batch; a later change has no effect on the pool.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true" if threads > 1 else "false")
    if threads > 1:
        os.environ.setdefault("RAYON_NUM_THREADS", str(threads))


def parallel() -> bool:
    """Whether `tokenizers` spreads a batch over threads, as it reads the environment."""
    return os.environ.get("TOKENIZERS_PARALLELISM", "").lower() not in ("off", "false", "f", "no", "n", "0")
