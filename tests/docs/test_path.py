"""The path of one text in docs/architecture.md goes by what there is, and each calls the next."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICTURE = re.search(
    r"<!-- path: .*?```text\n(.*?)```", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.DOTALL
)
assert PICTURE is not None
STEP = r"([a-z_/]+)\.(\w+)"
STEPS = re.findall(STEP, PICTURE[1])
CALLS = [
    (one, other)
    for line in PICTURE[1].splitlines()
    if "→" in line
    for one, other in pairwise(re.findall(STEP, line))
]


def source(module: str) -> str:
    return (ROOT / "tokbench" / f"{module}.py").read_text("utf-8")


@pytest.mark.parametrize(("module", "name"), STEPS)
def test_every_step_is_there(module: str, name: str) -> None:
    assert re.search(rf"^ *(?:def|class) {name}\b", source(module), re.M)


@pytest.mark.parametrize(("one", "other"), CALLS)
def test_each_calls_the_next(one: tuple[str, str], other: tuple[str, str]) -> None:
    definition = rf"^( *)(?:def|class) {one[1]}\b.*?(?=^\1(?:def|class|@)|\Z)"
    found = re.search(definition, source(one[0]), re.M | re.DOTALL)
    assert found is not None
    assert re.search(rf"\b{other[1]}\b", found[0]), f"{one} does not name {other[1]}"
