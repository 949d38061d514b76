"""What a fingerprint covers, told by several threads at once."""

from __future__ import annotations

import gc
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tokbench.registry import build_registry
from tokbench.runner import fingerprint
from tokbench.runner.fingerprint import imported_beside


def test_imports_are_read_of_plugins_that_are_not_tokbenchs_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import tokbench\n\n@tokbench.hookimpl\ndef tokbench_aliases():\n    return []\n")
    read: list[Path] = []
    monkeypatch.setattr(fingerprint, "imported_beside", lambda source: read.append(source) or ())
    registry = build_registry(plugin_files=[str(file)])
    assert len({fingerprint.code_digest(registry, name) for name in ("subword", "mine")}) == 2
    assert read == [file]


def test_many_threads_read_imports_at_once(tmp_path: Path) -> None:
    """CPython 3.11 shares one counter among threads that parse: a switch amid a parse was a SystemError.

    A callback of the garbage collector makes threads switch there, as hypothesis' own does.
    """

    def switch(phase: str, info: dict[str, int]) -> None:
        time.sleep(0)

    modules = [tmp_path / f"module_{number}.py" for number in range(8)]
    for number, module in enumerate(modules):
        module.write_text(f"import module_{(number + 1) % 8}\n" + "x = [(1, 2), (3, (4, 5))]\n" * 60)
    threshold = gc.get_threshold()
    imported_beside.cache_clear()
    gc.callbacks.append(switch)
    gc.set_threshold(500)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(imported_beside, modules))
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(switch)
    assert all(set(each) == set(modules) - {module} for each, module in zip(found, modules, strict=True))
