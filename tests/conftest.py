"""What every test may use: the folder of real data, where there is one, and a cache of its own."""

from __future__ import annotations

import os
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
