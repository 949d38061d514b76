"""Numbers in JSON as `tokenizers` reads them: quickly, and often not the nearest float.

Its parser collects the digits in a 64-bit integer, drops those that do not fit, and multiplies or divides by a
power of ten. That rounds twice instead of once, and changes the last bit of a quarter of the scores in real
vocabularies. The last bit decides between equally good segmentations, such as the same pieces in another order.
"""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_MOST = 2**64 - 1
_POWERS = [float(f"1e{exponent}") for exponent in range(309)]


class WrittenFloat(float):
    """A float that remembers its literal, if that differs from how Python writes the number."""

    literal: str

    @classmethod
    def of(cls, literal: str) -> float:
        """The float of a literal."""
        value = float(literal)
        if repr(value) == literal:
            return value
        written = cls(value)
        written.literal = literal
        return written


class GivenFloat(float):
    """A float that is passed to `tokenizers` directly, without a file."""


def as_read(value: float) -> float:
    """The float that `tokenizers` reads from a number's literal (Python's own, unless it has another).

    Example:
        >>> as_read(-9.091020584106445)
        -9.091020584106444
    """
    if isinstance(value, GivenFloat):
        return float(value)
    literal = value.literal if isinstance(value, WrittenFloat) else repr(value)
    match = _NUMBER.fullmatch(literal)
    if match is None:  # infinite, or not a number
        return float(value)
    whole, fraction, stated = match.group(1), match.group(2) or "", int(match.group(3) or 0)
    significand, exponent = int(whole + fraction), stated - len(fraction)
    if significand > _MOST:
        significand, exponent = _what_fits(whole, fraction)
        exponent += stated
    result = float(significand)
    while exponent < -308 and result:
        result, exponent = result / 1e308, exponent + 308
    if exponent > 308:
        result = math.inf if result else 0.0
    elif result:
        result = result * _POWERS[exponent] if exponent >= 0 else result / _POWERS[-exponent]
    return -result if literal.startswith("-") else result


def _what_fits(whole: str, fraction: str) -> tuple[int, int]:
    """The leading digits that fit in 64 bits, and the power of ten that makes up for the rest."""
    significand = exponent = 0
    for index, digit in enumerate(whole):
        if significand * 10 + int(digit) > _MOST:
            exponent = len(whole) - index
            break
        significand = significand * 10 + int(digit)
    for digit in fraction:
        if significand * 10 + int(digit) > _MOST:
            break
        significand, exponent = significand * 10 + int(digit), exponent - 1
    return significand, exponent
