"""Computes a metric: a finite number, or the reason for none; and the same on every resample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tokbench.errors import Undefined, described
from tokbench.metrics.counts import Counts
from tokbench.metrics.metric import Metric
from tokbench.metrics.needs import missing_need
from tokbench.metrics.resampling import Floats


def computed(metric: Metric, *given: Any) -> tuple[Any, str]:
    """The result of a metric's `compute`, and ``ok``; or None, and a status that says why."""
    try:
        return metric.compute(*given), "ok"
    except Undefined as reason:
        return None, f"undefined: {reason}"
    except ZeroDivisionError:
        return None, "undefined: nothing to divide by"
    except Exception as error:  # a plugin's metric may raise anything, which must not stop the others
        return None, f"failed: {described(error)}"


def as_number(result: Any) -> tuple[float | None, str]:
    """The result of a metric as a finite number; or None, and the status that says why it is not one.

    Example:
        >>> as_number(2), as_number(float("inf"))
        ((2.0, 'ok'), (None, 'undefined: not a finite number'))
    """
    if result is None:
        return None, "undefined: not defined here"
    try:
        if isinstance(result, str | bytes | bytearray):  # float() would read them
            raise TypeError
        number = float(result) + 0.0  # turns -0.0 into 0.0
    except (TypeError, ValueError):
        return None, f"failed: compute returned {type(result).__name__}, not a number"
    except OverflowError as error:
        return None, f"failed: OverflowError: {error}"
    return (number, "ok") if math.isfinite(number) else (None, "undefined: not a finite number")


def value_of(metric: Metric, counts: Sequence[Counts]) -> tuple[float | None, str]:
    """A metric of counts: a finite number, or None and the status that says why, such as a missing need."""
    missing = missing_need(metric, counts)
    return (None, missing) if missing is not None else number_of(metric, counts)


def number_of(metric: Metric, arguments: Sequence[Counts]) -> tuple[float | None, str]:
    """The result of `compute` as a finite number, or None and the status that says why not."""
    result, status = computed(metric, *arguments)
    return as_number(result) if status == "ok" else (None, status)


def figures_of(metric: Metric, arguments: Sequence[Any]) -> Floats | None:
    """The metric on every resample: on arrays if its code allows that, else one by one.

    The caller turns off numpy's warnings about values that are not finite, which are common here.
    """
    n = len(arguments[0].documents)
    try:
        result = np.asarray(metric.compute(*arguments), np.float64)
        if result.shape == (n,):
            return result  # otherwise its code reduced all of them to one number, as `numpy.mean` does
    except (AttributeError, Undefined):
        return None  # it needs histograms, which resamples do not have
    except Exception:  # its code takes numbers, not arrays
        pass
    values = (number_of(metric, [each.one(index) for each in arguments])[0] for index in range(n))
    return np.array([*values], np.float64)  # None, where there is no value, becomes NaN
