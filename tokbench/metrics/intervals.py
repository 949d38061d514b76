"""From resamples to intervals and p-values that hold for few documents and for documents of unequal weight.

The plain percentile interval of the bootstrap is too narrow for few documents, since the sample's variance is
too small. So it is read further out, at the percentile that Student's t has with the degrees of freedom of that
variance (Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69(4), 2015,
section 4.3, which takes n − 1). Where a few long documents decide a figure there are far fewer: how
unevenly documents bear on it, which the jackknife tells, gives them by the first two moments of the estimated
variance (Satterthwaite 1946; Pan and Wall, Statistics in Medicine 21, 2002).

The interval stays within the values that the figure can take, follows any monotone change of scale, and holds a
true ratio in 93 to 97 % of samples of 20 to 4,000 documents of log-normal length (the tests show it). Where few
documents of very unequal length decide a figure that also changes with their length, it falls short. Resamples
lie between the lowest and the highest of n documents, which have the true value between them with a probability
of 1 − 2^(1−n). Where that is less than the confidence, at 95 % with fewer than six documents, no interval is
given, not even if all documents are alike; nor where not one resample is expected beyond each of its ends.

A p-value is below 0.05 where the interval at 95 % leaves out zero, and nowhere else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tokbench.metrics.resampling import Floats, Parts, parts_of

_USABLE = 0.95
"""The share of resamples in which a figure must be defined to have an interval."""
_ROUNDING = 1e-13
"""Relative differences up to this are those of rounding."""
LEAST_FREEDOM = 3.3
"""Fewer degrees of freedom, n / (n − 1) times of n groups, are not believed: their number is estimated from the
very documents that decide a figure. At these, an interval at 95 % goes to the furthest of 1,000 resamples, and
holds the truth as often as others do."""

Interval = tuple[float, float]


class Bearing(NamedTuple):
    """How k figures hang on the documents, each of shape ``(k,)``.

    `groups` of documents change the figure when left out, `freedom` are the degrees of freedom of its
    variance. Both are NaN where the figure is not defined without one of the groups.
    """

    groups: Floats
    freedom: Floats


def bearing(left_out: Floats, whole: Floats) -> Bearing:
    """The bearing of groups of documents on figures, from the figures without each of them.

    With d the centred jackknife values, Var Σd² ≈ Σd⁴ − (Σd²)² / n, and a variance of f degrees of freedom
    has 2 (Σd²)² / f: so f = 2 / (Σd⁴ / (Σd²)² − 1 / n), at most n − 1, and at least
    `LEAST_FREEDOM`.

    Example:
        >>> import numpy as np
        >>> even, one = np.tile([0.9, 1.1], 50), np.r_[0.0, np.tile([0.999, 1.001], 49), 1.0]
        >>> found = bearing(np.array([even, one]), np.array([1.0, 1.0]))
        >>> found.groups.tolist(), found.freedom.round(1).tolist()
        ([100.0, 99.0], [99.0, 3.3])
    """
    with np.errstate(all="ignore"):
        apart = left_out - whole[:, None]
        moved = np.abs(apart) > _ROUNDING * np.abs(whole[:, None])
        n = np.count_nonzero(moved, axis=1).astype(np.float64)
        n[~np.isfinite(left_out).all(axis=1)] = np.nan
        apart *= moved
        apart -= (apart.sum(axis=1) / n)[:, None]
        apart *= moved
        # scaled by a power of two, which is exact, so that squares neither underflow nor overflow
        size = np.frexp(np.abs(apart).max(axis=1))[1].clip(-1000, 1000)
        apart *= np.ldexp(1.0, -size)[:, None]
        apart *= apart
        uneven = np.einsum("ij,ij->i", apart, apart) / apart.sum(axis=1) ** 2
        fewest = LEAST_FREEDOM * n / (n - 1)
        freedom = np.minimum(n - 1, np.maximum(fewest, 2 / np.maximum(uneven - 1 / n, 1e-12)))
    return Bearing(n, freedom)


def normal_of_t(t: float, freedom: float) -> float:
    """The normal deviate with the tail of Student's t (Wallace, Annals of Mathematical Statistics 30, 1959).

    Example:
        >>> round(normal_of_t(2.2281, 10), 2)  # both leave 2.5 % above
        1.96
    """
    scale = (8 * freedom + 1) / (8 * freedom + 3)
    return math.copysign(scale * math.sqrt(freedom * math.log1p(t * t / freedom)), t)


def t_of_normal(z: float, freedom: float) -> float:
    """Student's t with the tail of the normal deviate: the inverse of `normal_of_t`; infinite where too large.

    Example:
        >>> round(t_of_normal(1.959964, 10), 2), round(t_of_normal(1.959964, 1e6), 2)
        (2.23, 1.96)
    """
    exponent = (z * (8 * freedom + 3) / (8 * freedom + 1)) ** 2 / freedom
    return math.copysign(math.sqrt(freedom * math.expm1(exponent)) if exponent < 700 else math.inf, z)


def enough(documents: float, confidence: float) -> bool:
    """Whether so many documents, or groups of them, can give an interval of this confidence.

    Example:
        >>> enough(5, 0.95), enough(6, 0.95)
        (False, True)
    """
    return 2 ** (1 - documents) <= 1 - confidence


def intervals(figures: Sequence[Floats], confidence: float, documents: int) -> list[Interval | None]:
    """The interval of each row of figures computed on `tokbench.metrics.from_tally.resampled` counts.

    None where there are too few `documents` (or groups of them), or too few that bear on a figure; the figure
    twice where it is the same whichever of them are left out.
    """
    from statistics import NormalDist

    if not len(figures):
        return []
    drawn, left_out, whole = parts_of(np.array(figures, np.float64))
    bears = bearing(left_out, whole)
    finite = np.isfinite(drawn)
    ordered = np.where(finite, drawn, np.inf)
    ordered.sort(axis=1)
    usable = finite.sum(axis=1)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    found: list[Interval | None] = []
    for row, figure, count, groups, freedom in zip(
        ordered, whole.tolist(), usable.tolist(), bears.groups.tolist(), bears.freedom.tolist(), strict=True
    ):
        limits: Interval | None = None
        if groups == 0 and enough(documents, confidence):
            limits = figure, figure
        elif groups and enough(groups, confidence) and count >= _USABLE * len(row):
            beyond = tail(t_of_normal(z, freedom) * math.sqrt(groups / (groups - 1)))
            if beyond * (count + 1) > 1:
                low, high = (_between(row, (count - 1) * share) for share in (beyond, 1 - beyond))
                # resamples of a figure that chance can only raise (Gini of equal languages) may all be above it
                limits = min(low, figure), max(high, figure)
        found.append(limits)
    return found


def tail(z: float) -> float:
    """The share of the normal distribution above z.

    Example:
        >>> round(tail(1.959964), 4)
        0.025
    """
    return math.erfc(z / math.sqrt(2)) / 2


def _between(ordered: Floats, position: float) -> float:
    """The value at a fractional position of an ordered row."""
    below = int(position)
    low, share = float(ordered[below]), position - below
    return low if share < 1e-9 else low + share * (float(ordered[below + 1]) - low)


def _place_of_zero(ordered: Floats) -> float:
    """The fractional position up to which an ordered row is zero or less: the inverse of `_between`."""
    n = int(np.searchsorted(ordered, 0.0, side="right"))
    if n in (0, len(ordered)):
        return n - 1.0
    return n - 1 - float(ordered[n - 1] / (ordered[n] - ordered[n - 1]))


def p_value(figures: Parts, bears: Bearing) -> float | None:
    """Two-sided p-value of the hypothesis that a difference is zero, from its parts and the `bearing` on them.

    The share of resamples on the other side of zero is a normal tail, which is read as one of Student's t as
    intervals are. It is never below what B resamples can tell apart, 2 / (B + 1) (Davison and Hinkley 1997,
    section 4.2), nor what n groups of documents can, 2^(1−n). None where there are too few documents to tell, 1
    where no document makes a difference.
    """
    from statistics import NormalDist

    [groups], [freedom] = (each.tolist() for each in bears)
    drawn = np.sort(figures.drawn[np.isfinite(figures.drawn)])
    if groups == 0 and figures.whole[0] == 0:
        return 1.0
    if not groups >= 2 or len(drawn) < _USABLE * figures.drawn.size:
        return None
    beyond = min(_place_of_zero(drawn), _place_of_zero(-drawn[::-1])) / max(len(drawn) - 1, 1)
    z = -NormalDist().inv_cdf(min(0.5, max(beyond, 1 / (len(drawn) + 1))))
    p = 2 * tail(normal_of_t(z * math.sqrt((groups - 1) / groups), freedom))
    return max(p, float(2 ** (1 - groups)))


def binomial_limits(everyone: bool, n: int, confidence: float) -> Interval:
    """The exact interval (Clopper and Pearson 1934) of a share that none, or everyone, of n documents has.

    Example:
        >>> low, high = binomial_limits(True, 100, 0.95)
        >>> round(low, 3), high
        (0.964, 1.0)
    """
    bound = ((1 - confidence) / 2) ** (1 / n)
    return (bound, 1.0) if everyone else (0.0, 1 - bound)
