"""How numbers are written: with the significant digits only, alike in a whole column, null as a dash."""

from __future__ import annotations

import math
from collections.abc import Iterable

from tokbench import wording

DASH = "–"


def decimals(values: Iterable[float | None], *, digits: int = 3) -> int:
    """Decimal places that show `digits` figures of the typical value of a column.

    Example:
        >>> decimals([4.61, 3.2, 0.9]), decimals([152.3, 88.0]), decimals([0.0123])
        (2, 0, 4)
    """
    size = typical(values)
    return min(6, max(0, digits - 1 - math.floor(math.log10(size)))) if size else 0


def typical(values: Iterable[float | None]) -> float:
    """The median magnitude of the figures that are not zero; 0 without any."""
    sizes = sorted(abs(value) for value in values if value is not None and math.isfinite(value) and value)
    return sizes[len(sizes) // 2] if sizes else 0.0


def number(value: float | None, places: int = 2) -> str:
    """A number with `places` decimals and thin spaces between thousands; a dash for None.

    Written as a power of ten if it is so large that floats are more than 1 apart.

    Example:
        >>> number(12345.6, 0), number(None), number(0.25), number(-1e300)
        ('12,346', '–', '0.25', '−1e+300')
    """
    if value is None or not math.isfinite(value):
        return DASH
    if abs(value) >= 2**53:
        return f"{value:.3g}".replace("-", "−")
    return f"{value:,.{places}f}".replace("-", "−")


def shown(value: float | None, places: int = 2, *, whole: float = math.inf) -> str:
    """`number`, but nonzero values never look like zero, and values below `whole` never look like `whole`.

    Example:
        >>> shown(0.0004), shown(-0.0004), shown(0.0), shown(99.996, whole=100), shown(100.0, whole=100)
        ('< 0.01', '> −0.01', '0.00', '> 99.99', '100.00')
    """
    text, step = number(value, places), 10.0**-places
    if value is None or not math.isfinite(value):
        return text
    if value and text == number(math.copysign(0.0, value), places):
        return f"{'<' if value > 0 else '>'} {number(math.copysign(step, value), places)}"
    if value < whole and text == number(whole, places):
        return f"> {number(whole - step, places)}"
    return text


def is_share(unit: str) -> bool:
    """Whether values of a unit are shares, which are shown as percentages."""
    return unit == "share" or unit.startswith("share of ")


def interval(low: float | None, high: float | None, places: int = 2) -> str:
    """The two ends of an interval, or nothing if it was not measured.

    One or two more places are used if the ends would look equal, or would show nothing of the interval.

    Example:
        >>> interval(4.58, 4.66), interval(None, None), interval(0.0021, 0.0034), interval(0, 0.52, 0)
        ('4.58–4.66', '', '0.002–0.003', '0.0–0.5')
        >>> interval(99.93, 100, 0), interval(1, 1)
        ('99.9–100.0', '1.00–1.00')
    """
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    largest = max(abs(low), abs(high))
    places = max(places, decimals([largest], digits=1))
    apart = (more for more in range(places, places + 3) if number(low, more) != number(high, more))
    places = next(apart, places)
    return wording.interval(low, high, lambda end: number(end, places))


def measured(value: float, low: float | None, high: float | None, unit: str = "", level: str = "95 %") -> str:
    """A value with unit and interval at some level of confidence, for a sentence.

    Example:
        >>> measured(4.617, 4.58, 4.66, "bytes/token")
        '4.62 bytes/token (95 % interval 4.58–4.66)'
    """
    scale = 100 if is_share(unit) else 1
    places = decimals([value * scale])
    ends = interval(low and low * scale, high and high * scale, places)
    text = number(value * scale, places) + (" %" if is_share(unit) else f" {unit}" if unit else "")
    return text + (f" ({level} interval {ends})" if ends else "")
