"""What a check of the conformance kit is, how it is run, and what it says where it fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import NamedTuple

from tokbench.batch import TokenBatch
from tokbench.errors import described
from tokbench.manager import PATIENCE, within
from tokbench.tokenizer import Tokenizer

Problem = str | None

Hear = Callable[[tuple[str, str | None]], object]
hearing: ContextVar[Hear] = ContextVar("hearing", default=lambda step: None)
"""Called with each check's name and text before it is tried: where one ends the process, it was heard last."""


def begin(check: str, text: str | None = None) -> None:
    """Tell whoever is `hearing` that a check is tried now, on a text where that matters."""
    hearing.get()((check, text))


class ConformanceCheck(NamedTuple):
    """One thing to rely on: `run` says what is wrong with what it is given, or None; `remedy`, what to do."""

    name: str
    remedy: str
    run: Callable[..., Problem]

    @classmethod
    def of(cls, name: str, remedy: str) -> Callable[[Callable[..., Problem]], ConformanceCheck]:
        """A decorator that makes a check of a function."""
        return lambda run: cls(name, remedy, run)

    def problem(self, *given: object) -> Problem:
        """What is wrong; an exception is a problem, and so is an answer that does not come."""
        begin(self.name, next((each for each in given if isinstance(each, str)), None))
        try:
            with within(PATIENCE):
                return self.run(*given)
        except (Exception, SystemExit) as error:
            return f"raised {described(error)}"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed check: what was found, on which text (None where the text does not matter), how to mend it."""

    check: str
    problem: str
    text: str | None
    remedy: str

    def __str__(self) -> str:
        on = "" if self.text is None else f"\n    on      {self.text!r}"
        return f"{self.check}: {self.problem}{on}\n    remedy  {self.remedy}"


@dataclass(slots=True)
class Trial:
    """One check of a tokenizer, tried on texts until one gets no answer in time: that failure is `late`.

    A smaller text is not looked for then, since each that hangs would be waited for.
    """

    check: ConformanceCheck
    tokenizer: Tokenizer
    late: Failure | None = None

    def fails(self, text: str) -> bool:
        """Whether the check fails on a text; False for one that hangs and all after it."""
        if self.late is not None:
            return False
        begun = time.monotonic()
        problem = self.check.problem(self.tokenizer, text)
        if problem and time.monotonic() - begun >= PATIENCE:
            self.late = Failure(self.check.name, problem, text, self.check.remedy)
            return False
        return problem is not None


def ids_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of `text` as plain ints."""
    ids: list[int] = TokenBatch.of([tokenizer.encode(text)]).ids.tolist()
    return ids
