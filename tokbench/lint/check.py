"""What a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from inspect import getdoc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.lint.subject import Subject

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
        >>> found = Finding.judged(1, of="tokens that nobody needs", bounds={"fail": 0}, examples=["a"])
        >>> found.outcome.value, found.message
        ('fail', 'tokens that nobody needs: 1')
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
        count: int,
        *,
        of: str,
        bounds: Bounds,
        total: int | None = None,
        examples: Sequence[str] = (),
    ) -> Finding:
        """Pass, warn or fail: whether `count`, or its share of `total`, is above the bound of that name.

        `of` says what was counted, so that it goes with any number behind it.
        """
        value = count / total if total else count
        shown = f"{of}: {count:,}" + (f" ({count / total:.2%})" if total and count else "")
        outcome = Outcome.PASS
        if value > bounds.get("fail", value):
            outcome = Outcome.FAIL
        elif value > bounds.get("warn", value):
            outcome = Outcome.WARN
        return cls(outcome, shown, count, tuple(examples[:SHOWN]))


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
    def of(cls, code: str, name: str, *, harm: str, bounds: Bounds | None = None) -> Callable[[Look], Check]:
        """A decorator that makes a check of a function, whose docstring is the summary."""
        return lambda look: cls(
            code=code, name=name, summary=getdoc(look) or "", harm=harm, look=look, bounds=bounds or {}
        )
