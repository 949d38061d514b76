"""The settings of `tokbench lint`: which checks run, and their bounds, from a TOML file.

```toml
ignore = ["TB306"]

[TB305]
level = "fail"

[TB201]
fail = 0.001
```
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tokbench.errors import SpecError, UnknownNameError
from tokbench.lint.check import Check, Finding, Outcome

Level = Literal["warn", "fail"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The checks to leave out, the level of findings and the bounds that differ from the defaults, by code."""

    ignore: frozenset[str] = frozenset()
    levels: Mapping[str, Level] = field(default_factory=dict)
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def chosen(self, checks: Iterable[Check], only: Iterable[str] = ()) -> list[Check]:
        """The checks to run, in the order of their codes; `only` names codes or their beginnings (``TB2``)."""
        wanted = tuple(only)
        return [
            check
            for check in sorted(checks, key=lambda check: check.code)
            if check.code not in self.ignore and (not wanted or check.code.startswith(wanted))
        ]

    def bounds_of(self, check: Check) -> dict[str, float]:
        """The bounds of a check: its defaults, with those that the settings change."""
        return {**check.bounds, **self.bounds.get(check.code, {})}

    def levelled(self, check: Check, finding: Finding) -> Finding:
        """A finding with the level that the settings give its check."""
        level = self.levels.get(check.code)
        if level is None or finding.outcome not in (Outcome.WARN, Outcome.FAIL):
            return finding
        return replace(finding, outcome=Outcome(level))


def read_settings(path: Path, checks: Iterable[Check]) -> Settings:
    """The settings in a file; raises `SpecError` for an unknown code, bound or level."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SpecError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: not TOML ({error})") from error
    known = {check.code: check for check in checks}
    ignore = content.pop("ignore", [])
    if not isinstance(ignore, list):
        raise SpecError(f"{path}: ignore must be a list of codes")
    for code in [*ignore, *content]:
        if code not in known:
            raise UnknownNameError.of(f"check in {path}:", str(code), known)
    levels: dict[str, Level] = {}
    bounds: dict[str, dict[str, float]] = {}
    for code, table in content.items():
        if not isinstance(table, Mapping):
            raise SpecError(f"{path}: {code} must be a table, as in [{code}]")
        for name, value in table.items():
            _set(path, known[code], name, value, levels, bounds.setdefault(code, {}))
    return Settings(frozenset(ignore), levels, bounds)


def _set(
    path: Path, check: Check, name: str, value: Any, levels: dict[str, Level], bounds: dict[str, float]
) -> None:
    where = f"{path}: [{check.code}] {name}"
    if name == "level":
        if value not in ("warn", "fail"):
            raise SpecError(
                f"{where} must be warn or fail, not {value!r}; to leave a check out, list it in ignore"
            )
        levels[check.code] = value
    elif name not in {*check.bounds, *(("warn", "fail") if {"warn", "fail"} & check.bounds.keys() else ())}:
        raise UnknownNameError.of(f"bound in {path}, [{check.code}]:", name, [*check.bounds, "level"])
    elif not isinstance(value, int | float) or isinstance(value, bool):
        raise SpecError(f"{where} must be a number, not {value!r}")
    else:
        bounds[name] = value
