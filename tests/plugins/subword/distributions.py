"""Are these draws from that distribution? Chi-square tests with rare outcomes put together."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np

LEAST = 5.0  # expected draws of an outcome that counts by itself, as is usual


def fits(drawn: Mapping[Hashable, int], exact: Mapping[Hashable, float]) -> float:
    """The p-value of draws against exact probabilities; 0 where something was drawn that cannot be."""
    from scipy.stats import chisquare

    if set(drawn) - {outcome for outcome, probability in exact.items() if probability > 0}:
        return 0.0
    n = sum(drawn.values())
    rows = [(drawn.get(outcome, 0), n * probability) for outcome, probability in exact.items()]
    table = _pooled(rows, [row[1] for row in rows])
    return 1.0 if len(table) < 2 else float(chisquare(table[:, 0], table[:, 1]).pvalue)


def agree(one: Mapping[Hashable, int], other: Mapping[Hashable, int]) -> float:
    """The p-value that two samples have one distribution."""
    from scipy.stats import chi2_contingency

    rows = [(one.get(outcome, 0), other.get(outcome, 0)) for outcome in {**one, **other}]
    table = _pooled(rows, [sum(row) / 2 for row in rows])
    return 1.0 if len(table) < 2 else float(chi2_contingency(table.T, correction=False).pvalue)


def _pooled(rows: list[tuple[float, float]], expected: list[float]) -> np.ndarray:
    """The rows, those below `LEAST` as one."""
    common = [row for row, count in zip(rows, expected, strict=True) if count >= LEAST]
    rare = [row for row, count in zip(rows, expected, strict=True) if count < LEAST]
    if not rare:
        return np.array(common)
    together = np.array(rare).sum(axis=0)
    if together.max() < LEAST and common:
        return np.array([*common[:-1], common[-1] + together])
    return np.array([*common, together])
