"""The list of tokbench's own checks; plugins add theirs by the hook `tokbench_checks`."""

from __future__ import annotations

from tokbench.lint import files, specials, text, vocabulary
from tokbench.lint.check import Check

CATALOGUE: tuple[Check, ...] = (*vocabulary.CHECKS, *text.CHECKS, *files.CHECKS, *specials.CHECKS)
