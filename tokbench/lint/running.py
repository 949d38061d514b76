"""Loads a tokenizer and runs checks on it; a check that raises becomes a finding, and the others still run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tokbench.batch import TokenBatch
from tokbench.capabilities import TokenEstimator
from tokbench.errors import TokbenchError, TokenizerError, described
from tokbench.family import Progress
from tokbench.lint.check import Check, Finding, Outcome
from tokbench.lint.settings import Settings
from tokbench.lint.subject import Subject
from tokbench.tokenizer import Tokenizer, checked_ids, decode_batch

if TYPE_CHECKING:
    from tokbench.registry import Registry
    from tokbench.spec import Spec

LOADS, LOADS_NAME = "TB001", "loads"
"""Code and name of the check that a tokenizer can be loaded; if it cannot, nothing else is checked."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """The finding of one check on one tokenizer; `file` is the tokenizer's file, empty if it has none."""

    spec: str
    code: str
    name: str
    finding: Finding
    file: str = ""

    @property
    def outcome(self) -> Outcome:
        """The outcome of the finding."""
        return self.finding.outcome


def subject_of(registry: Registry, spec: str | Spec, texts: Mapping[str, Sequence[str]]) -> Subject:
    """The subject of a spec: the loaded tokenizer, its files, and how to load other specs."""
    parsed = registry.tokenizer_spec(spec)
    family = registry.tokenizers[parsed.family]
    tokenizer = registry.load(parsed)
    files = family.files_of(parsed, registry.context)
    return Subject(
        spec=str(spec),
        tokenizer=tokenizer,
        files=tuple(files),
        texts=texts,
        open=registry.load,
        open_matching=partial(registry.load_matching, parsed),
    )


def lint(
    spec: str,
    load: Callable[[], Subject],
    checks: Iterable[Check],
    settings: Settings | None = None,
    tell: Progress = lambda done, word: None,
    file: str = "",
    at_fault: Callable[[BaseException], Exception | None] = lambda error: None,
) -> list[CheckedRow]:
    """Run `checks` on the tokenizer that `load` opens; if it does not load or work, the only row is TB001.

    `file` is the tokenizer's file, which the rows name. `at_fault` (`Host.at_fault`) gives the error to report
    for an exception from a plugin's code, or None.

    Example:
        >>> import tokbench
        >>> from tokbench.lint.catalogue import CATALOGUE
        >>> rows = lint("bytes", lambda: Subject("bytes", tokbench.load("bytes")), CATALOGUE)
        >>> [row.code for row in rows if row.outcome == "fail"]
        []
    """
    settings = settings or Settings()
    try:
        subject = load()
        _try(subject.tokenizer)
    except TokbenchError as error:
        return [CheckedRow(spec, LOADS, LOADS_NAME, Finding(Outcome.FAIL, str(error)), file)]
    rows = [CheckedRow(spec, LOADS, LOADS_NAME, Finding.passed("it loads, encodes and decodes"), file)]
    listed: Sequence[Check] = list(checks)
    for number, check in enumerate(listed):
        tell(number / len(listed), check.name)
        rows.append(CheckedRow(spec, check.code, check.name, _found(check, subject, settings, at_fault), file))
    tell(1.0, "done")
    return rows


_PROBE = "A word, 1 more."


def _try(tokenizer: Tokenizer) -> None:
    """Raise `TokenizerError` if a tokenizer cannot encode and decode a plain text."""
    if isinstance(tokenizer, TokenEstimator):
        return
    try:
        decode_batch(tokenizer, TokenBatch.of([checked_ids(tokenizer, _PROBE)]))
    except (Exception, SystemExit) as error:
        raise TokenizerError(f"it loads, but fails on {_PROBE!r}: {described(error)}") from error


def _found(
    check: Check, subject: Subject, settings: Settings, at_fault: Callable[[BaseException], Exception | None]
) -> Finding:
    try:
        finding = check.look(subject, settings.bounds_of(check))
    except TokbenchError as error:
        return Finding.unchecked(str(error))
    except (Exception, SystemExit) as error:  # one check must not stop the others
        return Finding.crashed(str(at_fault(error) or described(error)))
    if not isinstance(finding, Finding):
        return Finding.crashed(f"the check returned {type(finding).__name__}, not a Finding")
    return settings.levelled(check, finding)
