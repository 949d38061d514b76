"""docs/internals.md: the rooms it lists are there, as large as it says, and begin where it says."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = re.findall(
    r"^\| `(tokbench/[\w/]+|plugins/[\w/]+)/` \|[^|]*\| `([\w.]+)` \| ([\d,]+) \|$",
    (ROOT / "docs" / "internals.md").read_text(encoding="utf-8"),
    re.M,
)


def test_rooms_are_listed() -> None:
    packages = {
        path for path in (ROOT / "plugins" / "tokbench_subword").iterdir() if (path / "__init__.py").is_file()
    }
    assert {path.relative_to(ROOT).as_posix() for path in packages} <= {room for room, _, _ in ROOMS}


@pytest.mark.parametrize(("room", "entry", "lines"), ROOMS)
def test_a_room_is_as_the_page_says(room: str, entry: str, lines: str) -> None:
    counted = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / room).glob("*.py"))
    stated = int(lines.replace(",", ""))
    assert stated / 1.5 < counted < stated * 1.5, f"{room} has {counted} lines, the page says {stated}"
    package = room.removeprefix("plugins/").replace("/", ".")
    module, _, name = entry.rpartition(".")
    assert hasattr(importlib.import_module(f"{package}.{module}"), name)
