"""What a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from tokbench.wording import in_paragraphs, percent

if TYPE_CHECKING:
    from tokbench.lint.subject import Subject

T = TypeVar("T")
SHOWN = 5
"""Examples that a finding keeps."""


class Outcome(StrEnum):
    """What a check came to: what could not be decided is never a pass, nor a check that did not work itself."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    CRASHED = "crashed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check: what was found in words, how many times, and a few examples.

    Example:
        >>> found = Finding.judged(["a"], {"fail": 0}, of="tokens that nobody needs")
        >>> found.outcome.value, found.message, found.examples
        ('fail', 'tokens that nobody needs: 1', ('a',))
    """

    outcome: Outcome
    message: str
    count: int | None = None
    examples: tuple[str, ...] = ()

    @classmethod
    def passed(cls, message: str) -> Finding:
        """Nothing is wrong, and this is what was seen."""
        return cls(Outcome.PASS, message)

    @classmethod
    def unchecked(cls, reason: str) -> Finding:
        """It could not be decided, for this reason."""
        return cls(Outcome.NOT_CHECKED, reason)

    @classmethod
    def crashed(cls, reason: str) -> Finding:
        """The check itself did not work: what it looks for may be there."""
        return cls(Outcome.CRASHED, reason)

    @classmethod
    def judged(
        cls,
        wrong: Collection[T],
        bounds: Bounds,
        *,
        of: str,
        total: int | None = None,
        shown: Callable[[T], str] = str,
    ) -> Finding:
        """Pass, warn or fail: whether more are `wrong`, or a larger share of `total`, than the bound so named.

        `of` says what they are, so that any number goes behind it; the first are examples, `shown` in words.
        """
        count = len(wrong)
        value = count / total if total else count
        said = f"{of}: {count:,}" + (f" ({percent(count / total, 2)})" if total and count else "")
        outcome = Outcome.PASS
        if value > bounds.get("fail", value):
            outcome = Outcome.FAIL
        elif value > bounds.get("warn", value):
            outcome = Outcome.WARN
        return cls(outcome, said, count, tuple(map(shown, islice(wrong, SHOWN))))


Bounds = Mapping[str, float]
"""The thresholds that a check judges by, by name."""
Look = Callable[["Subject", Bounds], Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that can be wrong with a tokenizer.

    `code` is stable (``TB101``); `look(subject, bounds)` decides, and raises `TokbenchError` where it cannot.
    `bounds` are the thresholds it judges by, with their defaults; a settings file changes them. `harm` is what
    this has cost somebody, in a sentence.
    """

    code: str
    name: str
    summary: str
    harm: str
    look: Callable[[Subject, Bounds], Finding]
    bounds: Bounds = field(default_factory=dict)

    @classmethod
    def of(cls, code: str, name: str, **bounds: float) -> Callable[[Look], Check]:
        """A decorator that makes a check of a function, whose docstring is the summary, then the harm."""

        def made(look: Look) -> Check:
            summary, _, harm = in_paragraphs(look.__doc__ or "").partition("\n\n")
            return cls(code=code, name=name, summary=summary, harm=harm, look=look, bounds=bounds)

        return made
