"""Runs every check on a tokenizer and reports all that fail, each with its smallest text and its remedy."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokbench.errors import TokbenchError
from tokbench.testing import checks
from tokbench.testing.check import TextCheck
from tokbench.testing.texts import EDGE_CASES, texts

if TYPE_CHECKING:
    from tokbench.registry import Registry
    from tokbench.tokenizer import Tokenizer


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


class ConformanceError(AssertionError):
    """A tokenizer fails checks; `failures` holds them all."""

    def __init__(self, name: str, failures: Sequence[Failure]) -> None:
        self.failures = tuple(failures)
        listed = "\n".join(f"- {failure}" for failure in failures)
        super().__init__(f"tokenizer {name!r} fails {len(failures)} of the conformance checks:\n{listed}")


def check_tokenizer(
    tokenizer: Tokenizer | str,
    *,
    examples: int = 100,
    extra_texts: Sequence[str] = (),
    skip: Sequence[str] = (),
    registry: Registry | None = None,
) -> None:
    """Raise `ConformanceError` with every check that `tokenizer`, an object or a spec, fails.

    Given a spec, it is also loaded a second time here and once in a new process, and the three must agree.
    `examples` texts are drawn by hypothesis for each check beside the built-in edge cases and `extra_texts`;
    the smallest failing text is reported. `skip` names checks to leave out.
    """
    failures = failures_of(tokenizer, examples=examples, extra_texts=extra_texts, skip=skip, registry=registry)
    if failures:
        name = tokenizer if isinstance(tokenizer, str) else getattr(tokenizer, "name", type(tokenizer).__name__)
        raise ConformanceError(str(name), failures)


def failures_of(
    tokenizer: Tokenizer | str,
    *,
    examples: int = 100,
    extra_texts: Sequence[str] = (),
    skip: Sequence[str] = (),
    registry: Registry | None = None,
) -> list[Failure]:
    """Every failure of `tokenizer`; see `check_tokenizer`."""
    if isinstance(tokenizer, str):
        from tokbench.registry import build_registry
        from tokbench.testing.recipes import recipe_failures

        registry = registry or build_registry()
        loaded = registry.load(tokenizer)
        failures = failures_of(loaded, examples=examples, extra_texts=extra_texts, skip=skip)
        return failures + ([] if "recipe" in skip else recipe_failures(registry, tokenizer, loaded))
    problem = checks.run_whole_check(checks.PROTOCOL, tokenizer)
    if problem:  # nothing else can be said of what is no tokenizer
        return [Failure("protocol", problem, None, checks.PROTOCOL.remedy)]
    failures = []
    for check in checks.TEXT_CHECKS:
        if check.name in skip:
            continue
        text = _smallest_failing(check, tokenizer, [*EDGE_CASES, *extra_texts], examples)
        if text is not None:
            found = checks.run_text_check(check, tokenizer, text) or "failed once, then passed"
            failures.append(Failure(check.name, found, text, check.remedy))
            if check is checks.ENCODES:
                return failures  # the other checks all encode
    for whole in checks.WHOLE_CHECKS:
        if whole.name in skip:
            continue
        problem = checks.run_whole_check(whole, tokenizer)
        if problem:
            failures.append(Failure(whole.name, problem, None, whole.remedy))
    return failures


def _smallest_failing(
    check: TextCheck, tokenizer: Tokenizer, fixed: Sequence[str], examples: int
) -> str | None:
    """The smallest text hypothesis can shrink a failure to, or None where nothing fails."""
    hypothesis = _hypothesis()
    known = checks.first_failing(check, tokenizer, fixed)
    settings = hypothesis.settings(
        max_examples=examples if known is None else 10 * examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    with contextlib.suppress(hypothesis.errors.NoSuchExample, hypothesis.errors.Unsatisfiable):
        found: str = hypothesis.find(
            texts(), lambda text: checks.run_text_check(check, tokenizer, text) is not None, settings=settings
        )
        return found
    return known


def _hypothesis() -> Any:
    try:
        import hypothesis
        import hypothesis.errors
    except ImportError as error:
        raise TokbenchError("the conformance kit needs hypothesis: pip install 'tokbench[testing]'") from error
    return hypothesis
