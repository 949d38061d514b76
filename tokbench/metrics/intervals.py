"""From replicates to intervals and p-values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_USABLE = 0.95


def percentile_intervals(
    replicates: Sequence[NDArray[np.float64]], confidence: float
) -> list[tuple[float, float] | None]:
    """The percentile interval of each row of replicates; None where too many of them are undefined.

    Example:
        >>> import numpy as np
        >>> [(low, high)] = percentile_intervals([np.arange(1001.0)], 0.95)
        >>> low, high
        (25.0, 975.0)
    """
    import numpy as np

    if not len(replicates):
        return []
    values = np.array(replicates, np.float64)
    finite = np.isfinite(values)
    n = finite.sum(axis=1)
    values[~finite] = np.inf
    values.sort(axis=1)
    tail = (1 - confidence) / 2
    result: list[tuple[float, float] | None] = []
    for row, count in zip(values, n.tolist(), strict=True):
        if count < max(2, _USABLE * values.shape[1]):
            result.append(None)
            continue
        low, high = tail * (count - 1), (1 - tail) * (count - 1)
        result.append((_between(row, low), _between(row, high)))
    return result


def _between(ordered: NDArray[np.float64], position: float) -> float:
    """The value at a fractional position of an ordered row."""
    below = round(position) if abs(position - round(position)) < 1e-9 else int(position)
    share = max(0.0, position - below)
    low = float(ordered[below])
    return low if share < 1e-9 else low + share * (float(ordered[below + 1]) - low)


def p_value(replicates: NDArray[np.float64]) -> float:
    """Two-sided bootstrap p-value of the hypothesis that a difference is zero.

    Twice the smaller share of replicates on either side of zero, counting the observed one (Davison and
    Hinkley 1997, section 4.2), which cannot go below 2 / (B + 1). Where none of the replicates is on the other
    side, the normal tail of their distribution says how far below that it is: enough to survive a
    correction over many comparisons, which no count of 1,000 replicates would.
    """
    import math

    import numpy as np

    finite = replicates[np.isfinite(replicates)]
    if not len(finite):
        return float("nan")
    below = (1 + int((finite <= 0).sum())) / (1 + len(finite))
    above = (1 + int((finite >= 0).sum())) / (1 + len(finite))
    p = min(1.0, 2 * min(below, above))
    spread = float(finite.std())
    if min(below, above) * (1 + len(finite)) > 1 or spread == 0:
        return p
    return min(p, max(math.erfc(abs(float(finite.mean())) / spread / math.sqrt(2)), 1e-300))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979); NaN stays NaN and does not count.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    import math

    order = sorted((p, i) for i, p in enumerate(p_values) if not math.isnan(p))
    corrected = [float("nan")] * len(p_values)
    highest = 0.0
    for rank, (p, index) in enumerate(order):
        highest = max(highest, min(1.0, p * (len(order) - rank)))
        corrected[index] = highest
    return corrected
