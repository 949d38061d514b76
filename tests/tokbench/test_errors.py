"""Errors as they are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import invoke
from tests.runs import FAULTY
from tokbench.errors import PluginError, described
from tokbench.metrics import Metric
from tokbench.metrics.computing import computed

UNKNOWN = "Speechless: (what it says is not known: its __str__ raises ValueError)"


class Speechless(Exception):
    """What a plugin may raise: an exception that cannot be told."""

    def __str__(self) -> str:
        raise ValueError


def raise_it(*given: object) -> None:
    raise Speechless


def test_an_exception_that_cannot_be_told_is_told_by_its_type() -> None:
    assert described(Speechless()) == UNKNOWN
    metric = Metric(name="m", unit="", better="none", summary="", compute=raise_it)
    assert computed(metric) == (None, f"failed: {UNKNOWN}")


@pytest.mark.parametrize(
    "command", [("audit", "speechless", "-d", "FILE"), ("encode", "speechless", "trigger")]
)
def test_a_command_ends_with_the_plugin_that_is_at_fault(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("trigger\n" * 30)
    asked = [each.replace("FILE", str(tmp_path / "text.txt")) for each in command]
    with pytest.raises(PluginError, match=r"the plugin 'faults' failed: Speechless: \(what it says"):
        invoke(*asked, "--plugin", FAULTY / "faults.py", catch=False)
