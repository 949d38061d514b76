"""What `UnicodeScripts` cuts text into: runs of one script, as expressions.

A space, and what has no script, belongs to the run before it; before the first run it is left out. Hiragana and
Katakana count as Han. The scripts are those that `tokenizers` has (`unicode_tables`).
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from tokbench.kernels.unicode_classes import unpacked
from tokbench_subword.pipeline import unicode_tables
from tokbench_subword.pipeline.patterns.point_sets import Points


@lru_cache(maxsize=1)
def script_runs() -> tuple[str, str]:
    """Two expressions, for Oniguruma: what matches the first is to be cut by the second.

    The scripts are laid out as a square. The first tells its rows apart, the second its columns: a few sets
    each, where one expression would have more than an automaton has classes of characters.
    """
    scripts = unpacked(unicode_tables.SCRIPTS).astype(np.int64)
    rows, columns = np.divmod(scripts - 1, isqrt(int(scripts.max())) + 1)
    none = scripts == 0
    return _runs_of(rows, none), _runs_of(columns, none)


def _runs_of(numbers: NDArray[np.int64], none: NDArray[np.bool_]) -> str:
    """An expression for runs of equal `numbers`, with what has none behind each character."""
    kinds = [_members((numbers == number) & ~none) for number in np.unique(numbers[~none])]
    return "|".join(f"[{kind}][{kind}{_members(none)}]*" for kind in kinds)


def _members(flags: NDArray[np.bool_]) -> str:
    """The code points for which `flags` has True, as the inside of a bracket expression."""
    runs = Points.of_flags(flags).bounds.reshape(-1, 2).tolist()
    return "".join(f"\\x{{{first:X}}}-\\x{{{stop - 1:X}}}" for first, stop in runs)
