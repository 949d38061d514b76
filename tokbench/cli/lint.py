"""`tokbench lint` and `tokbench injection`: checks of a tokenizer before training or deploying."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench import __version__
from tokbench.cli import options as opt
from tokbench.cli.loading import texts_of
from tokbench.cli.progress import progress
from tokbench.cli.tables import plain_console, show_table
from tokbench.cli.writing import print_json, put
from tokbench.errors import SpecError, TokenizerError, UnknownNameError
from tokbench.lint.check import Outcome
from tokbench.wording import counted

if TYPE_CHECKING:
    from tokbench.lint.running import CheckedRow
    from tokbench.registry import Registry


class ReportFormat(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "md"
    SARIF = "sarif"


@opt.loads_tokenizers
def lint(
    registry: Registry,
    specs: opt.SpecArguments,
    dataset: Annotated[opt.Several, opt.dataset_option("Text to check on. Repeatable.")] = None,
    documents: opt.Documents = None,
    form: Annotated[
        ReportFormat, opt.option("How findings are printed.", None, "--format")
    ] = ReportFormat.TEXT,
    settings: Annotated[
        Path | None, opt.option("Thresholds, levels, checks to leave out.", "FILE.toml")
    ] = None,
    only: Annotated[
        opt.Several, opt.option("Only this check, or those whose codes begin so (TB2). Repeatable.", "CODE")
    ] = None,
    strict: Annotated[bool, opt.flag("Warnings count as failures.", "--strict")] = False,
    verbose: Annotated[
        bool, opt.flag("Show what passed and what was not checked, with reasons.", "--verbose")
    ] = False,
) -> None:
    """Check tokenizers for faults that raise no error; exit status 1 if a check fails or crashes.

    Every check has a stable code (TB101 …) and a section in docs/lint.md with its meaning and known damage.
    """
    from tokbench.lint import output
    from tokbench.lint.running import LOADS, subject_of
    from tokbench.lint.running import lint as run_checks
    from tokbench.lint.settings import Settings, read_settings

    known = list(registry.checks.values())
    chosen = read_settings(settings, known) if settings else Settings()
    codes = [LOADS, *(check.code for check in known)]
    for code in only or ():
        if not any(each.startswith(code) for each in codes):
            raise UnknownNameError.of("check", code, codes)
    checks = chosen.chosen(known, only or ())
    texts = texts_of(registry, dataset or [], documents)
    if dataset and not any(text.strip() for each in texts.values() for text in each):
        raise SpecError(f"{', '.join(dataset)}: no text in it; lint looks at built-in sentences without -d")
    rows: list[CheckedRow] = []
    files = [_file_of(registry, spec) for spec in specs]
    for spec, file in zip(specs, files, strict=True):
        load = partial(subject_of, registry, spec, texts)
        rows += run_checks(spec, load, checks, chosen, progress, file, registry.host.at_fault)
    if form is ReportFormat.JSON:
        put(output.as_json(rows))
    elif form is ReportFormat.MARKDOWN:
        put(output.as_markdown(rows))
    elif form is ReportFormat.SARIF:
        put(output.as_sarif(rows, known, version=__version__))
    else:
        _show(rows, verbose=verbose)
    failing = {Outcome.FAIL, Outcome.CRASHED, *([Outcome.WARN] if strict else [])}
    if any(row.outcome in failing for row in rows):
        raise typer.Exit(1)


@opt.loads_tokenizers
def injection(registry: Registry, spec: opt.SpecArgument, as_json: opt.JsonOutput = False) -> None:
    """Write every control string as plain text, in many ways, and show which become control ids."""
    from tokbench.lint.injection import VARIANTS, injections
    from tokbench.lint.running import subject_of

    found = injections(subject_of(registry, spec, {}))
    if not found and not as_json:
        print(f"{spec}: it has no control strings, so there is nothing to inject")
        return
    if as_json:
        print_json([asdict(one) for one in found])
        return
    shown = plain_console()
    entries = list(dict.fromkeys(one.entry for one in found))
    controls = counted(len({one.control for one in found}), "control string")
    shown.print(f"{spec}: {controls} as plain text", style="bold")
    rows = []
    for variant in VARIANTS:
        cells = [variant]
        for entry in entries:
            own = [one for one in found if (one.variant, one.entry) == (variant, entry)]
            became = [one.control for one in own if one.became]
            names = " ".join(became[:4]) + (" …" if len(became) > 4 else "")
            cells.append(f"{len(became)} of {len(own)}  {names}".rstrip() if own else "–")
        rows.append(cells)
    show_table(("written", *entries), rows)
    shown.print("Counted are control strings that gave any control id. `--json` lists each with its ids.")


def _file_of(registry: Registry, spec: str) -> str:
    """The first file of a tokenizer, if it is of files.

    Raises for a wrong name or path, which is a wrong request; TB001 is for files that are there.
    """
    from tokbench.resolving import not_there

    parsed = registry.tokenizer_spec(spec)
    family = registry.tokenizers[parsed.family]
    files = family.files_of(parsed, registry.context)
    for file in files:
        if not file.exists():
            raise TokenizerError(f"{spec}: {not_there(file)}")
    return str(files[0]) if files else ""


_STYLES = {"pass": "green", "warn": "yellow", "fail": "bold red", "crashed": "bold red", "not checked": "dim"}


def _show(rows: Sequence[CheckedRow], *, verbose: bool) -> None:
    from rich.text import Text

    from tokbench.lint.output import summary

    console = plain_console()
    for spec in dict.fromkeys(row.spec for row in rows):
        own = [row for row in rows if row.spec == spec]
        console.print(f"{spec}: {summary(own)}", style="bold")
        for row in own:
            if not verbose and row.outcome.value in ("pass", "not checked"):
                continue
            line = Text(f"  {row.code} ")
            line.append(f"{row.outcome.value:<5}", style=_STYLES[row.outcome.value])
            line.append(f" {row.name}: {row.finding.message}")
            console.print(line, soft_wrap=True)
            for example in row.finding.examples:
                console.print(f"              {example}", style="dim", soft_wrap=True)
