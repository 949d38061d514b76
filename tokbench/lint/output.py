"""Findings as JSON, Markdown and SARIF 2.1.0 (what code hosts show beside a change)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from tokbench.lint.check import Check, Outcome
from tokbench.lint.running import LOADS, LOADS_NAME, CheckedRow

_LEVELS = {Outcome.FAIL: "error", Outcome.CRASHED: "error", Outcome.WARN: "warning"}


def as_json(rows: Iterable[CheckedRow]) -> str:
    """The findings as a JSON list of objects."""
    found = [
        {
            "tokenizer": row.spec,
            "code": row.code,
            "name": row.name,
            "outcome": row.outcome.value,
            "message": row.finding.message,
            "count": row.finding.count,
            "examples": list(row.finding.examples),
        }
        for row in rows
    ]
    return json.dumps(found, ensure_ascii=False, indent=2)


def summary(rows: Iterable[CheckedRow]) -> str:
    """How many checks had which outcome, in words.

    Example:
        >>> summary([])
        'nothing was checked'
    """
    counts = Counter(row.outcome for row in rows)
    return ", ".join(f"{counts[one]} {one.value}" for one in Outcome if counts[one]) or "nothing was checked"


def as_markdown(rows: Sequence[CheckedRow]) -> str:
    """A heading and a table for each tokenizer."""
    lines: list[str] = []
    for spec in dict.fromkeys(row.spec for row in rows):
        own = [row for row in rows if row.spec == spec]
        lines += [f"## {spec}", "", summary(own), "", "| check | | found |", "|---|---|---|"]
        for row in own:
            said = (row.finding.message, *row.finding.examples)
            found = "<br>".join(text.translate(_IN_A_CELL) for text in said)
            lines.append(f"| {row.code} {row.name} | {row.outcome.value} | {found} |")
        lines.append("")
    return "\n".join(lines)


_IN_A_CELL = str.maketrans({sign: f"\\{sign}" for sign in "\\|*_`"} | {"<": "&lt;", ">": "&gt;", "\n": " "})


def _uri(place: str) -> str:
    """A path as a URI reference, relative if it lies below the working folder."""
    path = Path(place)
    if path.is_absolute() and path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


def as_sarif(rows: Iterable[CheckedRow], checks: Iterable[Check], *, version: str) -> str:
    """One run of SARIF 2.1.0: the checks as rules, and a result for each warning, failure and crash.

    Code hosts show results only if rules have all three texts and each result has a place with a line.
    """
    loads = (LOADS, LOADS_NAME, "The tokenizer can be loaded.", "If it cannot, nothing else is checked.")
    rules = [
        {
            "id": code,
            "name": name,
            "shortDescription": {"text": summary},
            "fullDescription": {"text": f"{summary} {harm}"},
            "help": {"text": f"{summary} {harm} More: docs/lint.md, {code}."},
        }
        for code, name, summary, harm in (
            loads,
            *((check.code, check.name, check.summary, check.harm) for check in checks),
        )
    ]
    results = [
        {
            "ruleId": row.code,
            "level": _LEVELS[row.outcome],
            "message": {"text": "; ".join([f"{row.spec}: {row.finding.message}", *row.finding.examples])},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": _uri(row.file or row.spec)},
                        "region": {"startLine": 1},
                    }
                }
            ],
        }
        for row in rows
        if row.outcome in _LEVELS
    ]
    driver = {"name": "tokbench", "version": version, "rules": rules}
    return json.dumps(
        {
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "results": results}],
        },
        ensure_ascii=False,
        indent=2,
    )
