"""The files that an encoding reads, and whether they are in the cache and undamaged.

tiktoken downloads files missing from its cache, and deletes a cached file whose checksum is wrong. Here both
are detected before. An encoding's constructor is run with a replacement for the one function through which
tiktoken reads files: it returns nothing, and records which file was requested.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tokbench import LoadContext, TokenizerError, UnknownNameError

VARIABLES = ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Source:
    """One file of an encoding: where it comes from, its sha256, and where tiktoken's cache keeps it."""

    url: str
    sha256: str | None

    @property
    def path(self) -> Path | None:
        """The file in the cache (its name is the SHA-1 of the URL); None where the cache is switched off."""
        if "://" not in self.url:
            return Path(self.url)
        folder = cache_folder()
        return folder / hashlib.sha1(self.url.encode()).hexdigest() if folder else None


def cache_folder() -> Path | None:
    """The cache folder of tiktoken: the first variable that is set, or a folder among temporary files."""
    for variable in VARIABLES:
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def encoding_name(variant: str) -> str:
    """The registered encoding for the name of an encoding or model."""
    import tiktoken
    from tiktoken.model import MODEL_TO_ENCODING, encoding_name_for_model

    names = tiktoken.list_encoding_names()
    if variant in names:
        return variant
    try:
        return encoding_name_for_model(variant)
    except KeyError:
        known, hint = [*names, *MODEL_TO_ENCODING], f"This is tiktoken {tiktoken.__version__}"
        raise UnknownNameError.of("tiktoken encoding or model", variant, known, hint=hint) from None


@dataclass(frozen=True, slots=True)
class Blueprint:
    """The files, pattern and special tokens of an encoding, without its ranks."""

    sources: tuple[Source, ...]
    pattern: str | None
    special_tokens: Mapping[str, int]


@cache
def blueprint(encoding: str) -> Blueprint:
    """Run the constructor of a registered encoding without reading or downloading any file."""
    import tiktoken.load
    import tiktoken.registry

    asked: list[Source] = []

    def note(blobpath: str, expected_hash: str | None = None) -> bytes:
        asked.append(Source(blobpath, expected_hash))
        return b"{}" if blobpath.endswith(".json") else b""

    tiktoken.list_encoding_names()  # fills the registry
    constructors: Mapping[str, Any] = tiktoken.registry.ENCODING_CONSTRUCTORS or {}
    built: Mapping[str, Any] = {}
    with _lock:
        original = tiktoken.load.read_file_cached
        tiktoken.load.read_file_cached = note
        try:
            built = constructors[encoding]()
        except Exception:
            # gpt2 checks its two files against each other, which empty ones fail; both were asked for by then.
            built = {}
        finally:
            tiktoken.load.read_file_cached = original
    return Blueprint(tuple(dict.fromkeys(asked)), built.get("pat_str"), built.get("special_tokens", {}))


def require(encoding: str, context: LoadContext) -> None:
    """Raise, with the remedy, if a file of `encoding` is damaged, or missing and may not be downloaded."""
    for source in blueprint(encoding).sources:
        path = source.path
        if path is None or not path.exists():
            if context.offline:
                raise TokenizerError(_absent(encoding, source, context.offline_because))
            continue
        if source.sha256 and (found := sha256_of(path)) != source.sha256:
            raise TokenizerError(
                f"tiktoken:{encoding}: the cached file {path} is damaged: its sha256 is {found[:12]}…, "
                f"{source.sha256[:12]}… was expected. Delete it, and load again with the network at hand"
            )


def download_failed(encoding: str, error: Exception) -> str:
    """The error message for a download by tiktoken that failed."""
    missing = [source for source in blueprint(encoding).sources if not (source.path and source.path.exists())]
    if not missing:
        return f"tiktoken:{encoding}: {error}"
    reason = type(error).__name__ if len(str(error)) > 120 else str(error)
    return f"tiktoken:{encoding}: {missing[0].url} could not be downloaded ({reason}). {_remedy(missing[0])}"


def _absent(encoding: str, source: Source, because: str) -> str:
    folder = cache_folder()
    where = str(folder) if folder else f"the cache, which ${VARIABLES[0]}='' switches off"
    return (
        f"tiktoken:{encoding}: {source.url.rpartition('/')[2]} is not in {where}, and {because}. "
        f"Or: {_remedy(source)}"
    )


def _remedy(source: Source) -> str:
    name = hashlib.sha1(source.url.encode()).hexdigest()
    return f"Save {source.url} as {name} in a folder and set {VARIABLES[0]} to it"


def sha256_of(path: Path) -> str:
    """The checksum of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
