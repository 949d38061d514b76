"""What every test may use: the folder of real data, where there is one, and a cache of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

DATA_VARIABLE = "TOKBENCH_TEST_DATA"

settings.register_profile("everyday", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("everyday")


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real vocabularies and corpora; the test is skipped, with the reason, without it."""
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        pytest.skip(f"needs real vocabularies and corpora: set {DATA_VARIABLE} to their folder")
    folder = Path(named)
    if not (folder / "vocabs").is_dir():
        pytest.skip(f"{DATA_VARIABLE}={named} has no folder 'vocabs'")
    return folder


@pytest.fixture(autouse=True, scope="session")
def _quiet_environment(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests never touch the user's cache, the network or an installed hub token."""
    os.environ["TOKBENCH_CACHE_DIR"] = str(tmp_path_factory.mktemp("tokbench-cache"))
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ["MPLBACKEND"] = "Agg"
    named = os.environ.get(DATA_VARIABLE)
    cache = Path(named, "vocabs", "tiktoken-cache") if named else None
    if cache and cache.is_dir():
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(cache))


@pytest.fixture(scope="session")
def compiled_and_plain() -> Callable[[str], tuple[str, str]]:
    """What a program prints where numba compiles its kernels, and where it is told to leave them Python.

    64-bit arithmetic that wraps, which is meant, makes numpy warn of it in plain Python: not shown.
    """

    def outputs(program: str) -> tuple[str, str]:
        found = []
        for disabled in ("0", "1"):
            done = subprocess.run(
                [sys.executable, "-X", "utf8", "-W", "ignore", "-c", program],
                env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
                capture_output=True,
                text=True,
                encoding="utf-8",
            )
            assert done.returncode == 0, done.stderr
            found.append(done.stdout)
        return found[0], found[1]

    return outputs
