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
    """The result of a check; one that could not decide, or crashed itself, never counts as a pass."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    CRASHED = "crashed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check, with a message, how many were found, and a few examples.

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
        """The check found nothing wrong; `message` says what it saw."""
        return cls(Outcome.PASS, message)

    @classmethod
    def unchecked(cls, reason: str) -> Finding:
        """The check could not decide, for this reason."""
        return cls(Outcome.NOT_CHECKED, reason)

    @classmethod
    def crashed(cls, reason: str) -> Finding:
        """The check itself failed, so that it says nothing about the tokenizer."""
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
        """Fail or warn if the number of `wrong`, or their share of `total`, is above the bound of that name.

        `of` says what they are, worded so that a number can follow. The first few become examples by `shown`.
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
"""The thresholds of a check, by name."""
Look = Callable[["Subject", Bounds], Finding]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that can be wrong with a tokenizer.

    `code` is stable (``TB101``); `look(subject, bounds)` decides, and raises `TokbenchError` if it cannot.
    `bounds` are its thresholds with their defaults; a settings file changes them. `harm` says in a sentence
    what this fault has cost somebody.
    """

    code: str
    name: str
    summary: str
    harm: str
    look: Callable[[Subject, Bounds], Finding]
    bounds: Bounds = field(default_factory=dict)

    @classmethod
    def of(cls, code: str, name: str, **bounds: float) -> Callable[[Look], Check]:
        """A decorator that turns a function into a check; its docstring is the summary, then the harm."""

        def made(look: Look) -> Check:
            summary, _, harm = in_paragraphs(look.__doc__ or "").partition("\n\n")
            return cls(code=code, name=name, summary=summary, harm=harm, look=look, bounds=bounds)

        return made
