"""Finds a small text on which a check fails: with hypothesis if it is installed, else at random."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Sequence

from tokbench.testing.texts import FAMILIAR, PROSE, texts

Fails = Callable[[str], bool]


def smallest(fails: Fails, fixed: Sequence[str], examples: int) -> str | None:
    """The smallest text found on which `fails` is true, of `fixed` and of `examples` more; None without any.

    Where it is true of a text once and not again, the shortest of which it was true.
    """
    known = next((text for text in fixed if fails(text)), None)
    try:
        import hypothesis
        import hypothesis.errors
    except ImportError:
        drawn = (drawn_text(random.Random(seed)) for seed in range(examples))
        known = known if known is not None else next((text for text in drawn if fails(text)), None)
        return None if known is None else shrunk(known, fails)
    settings = hypothesis.settings(
        max_examples=examples if known is None else 10 * examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    failed = [] if known is None else [known]

    def fails_noted(text: str) -> bool:
        failing = fails(text)
        if failing:
            failed.append(text)
        return failing

    with contextlib.suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Unsatisfiable):
        try:
            found: str = hypothesis.find(texts(), fails_noted, settings=settings)
        except hypothesis.errors.Flaky:
            found = min(failed, key=len)
        return found
    return None if known is None else shrunk(known, fails)


def drawn_text(rng: random.Random) -> str:
    """A text of up to forty characters: of any script, of familiar ones, or out of prose.

    Example:
        >>> drawn_text(random.Random(1)) == drawn_text(random.Random(1))
        True
    """
    size, kind = rng.randrange(41), rng.randrange(3)
    if kind == 0:
        points = (rng.choice([rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)]) for _ in range(size))
        return "".join(map(chr, points))
    if kind == 1:
        return "".join(rng.choices(FAMILIAR, k=size))
    start = rng.randrange(len(PROSE) - size)
    return PROSE[start : start + size]


def shrunk(text: str, fails: Fails) -> str:
    """`text` with as much left out as still fails, half of it at a time, then less.

    Example:
        >>> shrunk("some text with an x in it", lambda text: "x" in text[2:])
        'n x'
    """
    size = len(text) // 2
    while size:
        start = 0
        while start < len(text):
            shorter = text[:start] + text[start + size :]
            if shorter != text and fails(shorter):
                text = shorter
            else:
                start += size
        size //= 2
    return text
