"""p-values corrected for many comparisons, so that they hold for a whole table: the maxT method.

Holm's correction multiplies p-values by the number of comparisons. With B resamples none is below 2 / (B + 1),
so that with a few dozen comparisons nothing could be significant. The maxT method asks instead how often the
*largest* of all differences, each in units of its own spread, would be as large by chance alone. All
comparisons use the same resamples, so that dependent ones are not counted twice.

Source: Westfall and Young, Resampling-Based Multiple Testing, 1993 (the single-step maxT method).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tokbench.metrics.intervals import bearing, normal_of_t, p_value
from tokbench.metrics.resampling import Floats, parts_of

SURE = 0.05
"""A difference with a smaller corrected p-value is more than chance."""


@dataclass(frozen=True, slots=True)
class Significance:
    """The significance of one difference: its two-sided `p`, and its distance from zero in standard errors."""

    p: float
    errors: float


class Correction:
    """The correction for comparisons that are read together; it stores one number for each resample."""

    __slots__ = ("_highest",)

    def __init__(self) -> None:
        self._highest: Floats | None = None

    def add(self, figures: Floats) -> Significance | None:
        """Test a difference, given on resampled counts; None for too few documents."""
        parts = parts_of(figures[None])
        bears = bearing(parts.left_out, parts.whole)
        p = p_value(parts, bears)
        if p is None:
            return None
        drawn, groups, freedom = parts.drawn[0], float(bears.groups[0]), float(bears.freedom[0])
        finite = np.isfinite(drawn)
        spread = float(drawn[finite].std()) if finite.any() else 0.0
        if not spread or not groups:  # without groups, resamples differ only by the error of an estimate
            return Significance(p, 0.0)
        apart = np.abs(np.where(finite, drawn - drawn[finite].mean(), 0.0)) / spread
        self._highest = apart if self._highest is None else np.maximum(self._highest, apart)
        # few documents: their spread is itself uncertain, as in Student's t
        errors = abs(parts.whole.item()) / spread * ((groups - 1) / groups) ** 0.5
        return Significance(p, normal_of_t(errors, freedom))

    def adjusted(self, tested: Significance) -> float:
        """The corrected p-value of a comparison: how often the largest of all added is as large by chance.

        Example:
            >>> import numpy as np
            >>> rng = np.random.default_rng(0)
            >>> correction = Correction()
            >>> correction._highest = np.abs(rng.normal(size=(50, 999))).max(axis=0)  # 50 of no difference
            >>> round(correction.adjusted(Significance(p=0.01, errors=2.6)), 1)
            0.4
            >>> correction.adjusted(Significance(p=0.002, errors=9.0))
            0.002
        """
        if self._highest is None:
            return tested.p
        beyond = 1 + int(np.count_nonzero(self._highest >= tested.errors))
        return max(tested.p, beyond / (1 + len(self._highest)))
