"""Encodings that OpenAI publishes, where tiktoken's cache keeps them: no adapter here downloads any."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from tokbench import Spec, TokenizerError

_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def cached(ranks: str) -> Path:
    """Where tiktoken's cache keeps the ranks file of that name; its own name there is the SHA-1 of its URL."""
    name = hashlib.sha1(_URL.format(ranks).encode()).hexdigest()
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if os.environ.get(variable):
            return Path(os.environ[variable]) / name
    return Path(tempfile.gettempdir()) / "data-gym-cache" / name


def required(ranks: str, spec: Spec) -> Path:
    """The ranks file in the cache; raises with the remedy where it is not."""
    path = cached(ranks)
    if not path.is_file():
        raise TokenizerError(
            f"{spec}: tiktoken's cache has no {ranks} ({path}); load tiktoken:{ranks} once, "
            f"or set TIKTOKEN_CACHE_DIR"
        )
    return path
