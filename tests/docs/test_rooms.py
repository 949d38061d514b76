"""The table of rooms in docs/internals.md is of the house as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = re.findall(
    r"^\| `((?:tokbench|plugins)/[^`]*)` \| .+ \| `([^`]+)` \| ([\d,]+) \|$",
    (ROOT / "docs" / "internals.md").read_text("utf-8"),
    re.M,
)
ROOMS = {room: (entry, int(lines.replace(",", ""))) for room, entry, lines in ROWS}


def sizes() -> dict[str, int]:
    """The lines of each room: of the modules for which no other row is nearer."""
    found = dict.fromkeys(ROOMS, 0)
    for path in [*(ROOT / "tokbench").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]:
        above = [room for room in ROOMS if path.is_relative_to(ROOT / room)]
        assert above, f"{path.relative_to(ROOT)} is in no room of docs/internals.md"
        found[max(above, key=len)] += len(path.read_text("utf-8").splitlines())
    return found


def test_every_folder_has_a_row_and_every_row_a_folder() -> None:
    folders = {path.parent for path in (ROOT / "tokbench").glob("*/*.py")}
    folders |= {path.parent for path in (ROOT / "plugins").glob("*/*.py")}
    folders |= {path.parent for path in (ROOT / "plugins" / "tokbench_subword").rglob("*.py")}
    rows = {ROOT / room for room in ROOMS} - {ROOT / "tokbench"}
    assert rows == folders


def test_sizes_are_told_to_a_tenth() -> None:
    wrong = {room: lines for room, lines in sizes().items() if abs(lines - ROOMS[room][1]) > 50 + 0.1 * lines}
    assert not wrong, f"docs/internals.md tells other sizes of these rooms, which have now: {wrong}"


@pytest.mark.parametrize(("room", "entry"), [(room, entry) for room, (entry, _) in ROOMS.items()])
def test_one_begins_reading_at_what_there_is(room: str, entry: str) -> None:
    module, _, name = entry.partition(".")
    source = (ROOT / room / f"{module}.py").read_text("utf-8")
    assert re.search(rf"^(?:def |class )?{name}\b", source, re.M)
