"""Opens a tokenizer for checks and runs them; one that raises becomes a finding and stops no other."""

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
"""Code and name of the check that a tokenizer can be loaded: where it cannot, nothing else is checked."""


@dataclass(frozen=True, slots=True)
class CheckedRow:
    """The finding of one check on one tokenizer; `file` is where the tokenizer came from, if anywhere."""

    spec: str
    code: str
    name: str
    finding: Finding
    file: str = ""

    @property
    def outcome(self) -> Outcome:
        """What it came to."""
        return self.finding.outcome


def subject_of(registry: Registry, spec: str | Spec, texts: Mapping[str, Sequence[str]]) -> Subject:
    """What checks look at, of a spec: the tokenizer loaded, its files, and how to open it otherwise."""
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
    """Run `checks` on the tokenizer that `load` opens; one that does not load or work has the one row TB001.

    `file` is what it reads, if anything: rows name it. `at_fault` (`Host.at_fault`) gives what to tell of an
    exception that came out of a plugin's code.

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
    """Raise `TokenizerError` where a tokenizer does not encode and decode a plain text at all."""
    if isinstance(tokenizer, TokenEstimator):
        return
    try:
        decode_batch(tokenizer, TokenBatch.of([checked_ids(tokenizer, _PROBE)]))
    except (Exception, SystemExit) as error:
        raise TokenizerError(f"it loads, and fails on {_PROBE!r}: {described(error)}") from error


def _found(
    check: Check, subject: Subject, settings: Settings, at_fault: Callable[[BaseException], Exception | None]
) -> Finding:
    try:
        finding = check.look(subject, settings.bounds_of(check))
    except TokbenchError as error:
        return Finding.unchecked(str(error))
    except (Exception, SystemExit) as error:  # a check never takes the others with it
        return Finding.crashed(str(at_fault(error) or described(error)))
    if not isinstance(finding, Finding):
        return Finding.crashed(f"the check returned {type(finding).__name__}, not a Finding")
    return settings.levelled(check, finding)
