"""The table of packages in docs/internals.md is of those that there are."""

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
PACKAGES = {package: (entry, int(lines.replace(",", ""))) for package, entry, lines in ROWS}


def sizes() -> dict[str, int]:
    """The lines of each package: of the modules for which no other row is nearer."""
    found = dict.fromkeys(PACKAGES, 0)
    for path in [*(ROOT / "tokbench").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]:
        above = [package for package in PACKAGES if path.is_relative_to(ROOT / package)]
        assert above, f"{path.relative_to(ROOT)} is in no package of docs/internals.md"
        found[max(above, key=len)] += len(path.read_text("utf-8").splitlines())
    return found


def test_every_folder_has_a_row_and_every_row_a_folder() -> None:
    folders = {path.parent for path in (ROOT / "tokbench").glob("*/*.py")}
    folders |= {path.parent for path in (ROOT / "plugins").glob("*/*.py")}
    folders |= {path.parent for path in (ROOT / "plugins" / "tokbench_subword").rglob("*.py")}
    rows = {ROOT / package for package in PACKAGES} - {ROOT / "tokbench"}
    assert rows == folders


def test_sizes_are_told_to_a_tenth() -> None:
    wrong = {one: lines for one, lines in sizes().items() if abs(lines - PACKAGES[one][1]) > 50 + 0.1 * lines}
    assert not wrong, f"docs/internals.md tells other sizes of these packages, which have now: {wrong}"


@pytest.mark.parametrize(("package", "entry"), [(package, entry) for package, (entry, _) in PACKAGES.items()])
def test_one_begins_reading_at_what_there_is(package: str, entry: str) -> None:
    module, _, name = entry.partition(".")
    source = (ROOT / package / f"{module}.py").read_text("utf-8")
    assert re.search(rf"^(?:def |class )?{name}\b", source, re.M)
