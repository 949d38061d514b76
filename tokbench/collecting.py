"""When Python looks for garbage: not while something large is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Have Python look for no garbage meanwhile, in any thread.

    It looks each time that there are some hundred objects more, and finds nothing among those of a vocabulary,
    or of a library that is imported: a tenth of the time of loading a tokenizer.

    Example:
        >>> with uncollected():
        ...     gc.isenabled()
        False
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
