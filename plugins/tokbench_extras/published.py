"""OpenAI's published encodings in tiktoken's cache: no adapter here downloads any."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from tokbench import Spec, TokenizerError

SHA256 = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


def cached(ranks: str) -> Path:
    """The path of a ranks file in tiktoken's cache, where its name is the SHA-1 of its URL."""
    name = hashlib.sha1(_URL.format(ranks).encode()).hexdigest()
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if os.environ.get(variable):
            return Path(os.environ[variable]) / name
    return Path(tempfile.gettempdir()) / "data-gym-cache" / name


def required(ranks: str, spec: Spec) -> Path:
    """The ranks file in the cache; raises an error with the remedy if it is missing or damaged."""
    path = cached(ranks)
    if not path.is_file():
        raise TokenizerError(
            f"{spec}: tiktoken's cache has no {ranks} ({path}); load tiktoken:{ranks} once, "
            f"or set TIKTOKEN_CACHE_DIR"
        )
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    expected = SHA256[ranks]
    if found != expected:
        raise TokenizerError(
            f"{spec}: the cached file {path} is damaged: its sha256 is {found[:12]}…, {expected[:12]}… was "
            f"expected. Delete it, and load tiktoken:{ranks} with the network at hand"
        )
    return path
