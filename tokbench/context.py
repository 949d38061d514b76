"""What whoever loads a tokenizer or a dataset may need to know beside its spec."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LoadContext:
    """What a family may need to know to load: where caches are, and what the user allowed.

    `offline_because` is for the message where something would have to be downloaded and `offline` forbids it.
    """

    cache_dir: Path
    offline: bool = False
    allow_remote_code: bool = False
    threads: int = 1
    offline_because: str = "tokbench is offline; unset TOKBENCH_OFFLINE and HF_HUB_OFFLINE to download it"
