"""Reads the code blocks of a Markdown page, with what the comment before each says about running it.

- ``<!-- not run: reason -->`` leaves the next block out;
- ``<!-- file: NAME -->`` writes it to a file of that name, for later blocks;
- ``<!-- exit: N -->`` expects its commands to end with that status;
- ``<!-- suite -->`` says that it is a suite file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r"(?:^[ ]*<!--\s*(?P<mark>[^>]*?)\s*-->\s*\n+)?"
    r"^(?P<indent>[ ]*)```(?P<language>[\w-]*)[^\n]*\n(?P<body>.*?)^(?P=indent)```",
    re.M | re.S,
)
_SIGNATURE = re.compile(r"def tokbench_\w+\([^\n]*\.\.\.\s*\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its text, the line it begins on, and its mark."""

    language: str
    text: str
    line: int
    mark: str

    @property
    def runs(self) -> bool:
        """Whether the block is to be executed or checked."""
        return not self.mark.startswith("not run:") and not _SIGNATURE.match(self.text)

    def marked(self, name: str) -> str | None:
        """The value of ``<!-- name: value -->`` before the block."""
        return self.mark.partition(":")[2].strip() if self.mark.partition(":")[0] == name else None

    def commands(self) -> list[str]:
        """The commands of a console block: what follows ``$ ``, with continuation lines joined."""
        joined = self.text.replace("\\\n", " ")
        return [line[2:].strip() for line in joined.splitlines() if line.startswith("$ ")]


def read_blocks(page: Path) -> list[Block]:
    """Every fenced block of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = []
    for match in _FENCE.finditer(text):
        indent = len(match["indent"])
        body = "\n".join(line[indent:] for line in match["body"].splitlines()) + "\n"
        line = text.count("\n", 0, match.start("language")) + 1
        blocks.append(Block(match["language"], body, line, match["mark"] or ""))
    return blocks
