"""Writes docs/lint.md from the checks themselves: ``python tools/lint_page.py``."""

from __future__ import annotations

from pathlib import Path

from tokbench.registry import build_registry

PAGE = Path(__file__).parent.parent / "docs" / "lint.md"
TEXT = Path(__file__).parent / "lint_page.md"


def page() -> str:
    """The page: what is written by hand in tools/lint_page.md, then a section for each check."""
    sections = []
    for check in sorted(build_registry().checks.values(), key=lambda check: check.code):
        said = [f"### {check.code} {check.name}", check.summary, check.harm]
        if bounds := [f"`{name} = {value:g}`" for name, value in check.bounds.items()]:
            said.append(f"Bounds: {', '.join(bounds)}.")
        sections.append("\n\n".join(said) + "\n")
    return TEXT.read_text(encoding="utf-8") + "\n" + "\n".join(sections)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
