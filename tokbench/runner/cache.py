"""The content-addressed cache of tallies: what was counted once is not counted again.

A key covers the tokenizer's fingerprint, the shard's content and the version of the tally, so an entry is
never stale and may be shared by any runs. Entries are written aside and renamed, and each carries a digest
of itself: readers see a whole entry or none, however many processes write. The least recently used go first
once the cache outgrows its limit.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tokbench.errors import StorageError
from tokbench.results.atomic import write_bytes
from tokbench.spec import parse_size

LIMIT_VARIABLE = "TOKBENCH_CACHE_LIMIT"
DEFAULT_LIMIT = 4_000_000_000
T = TypeVar("T")


def cache_limit() -> int:
    """Bytes the cache may hold: ``$TOKBENCH_CACHE_LIMIT`` (as in 500M, 20G), 4 GB by default.

    Raises `SpecError` where the variable is not a number.
    """
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    return parse_size(text, LIMIT_VARIABLE, where="the environment") if text else DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class TallyCache:
    """A folder of entries, in subfolders by the key's first two digits; picklable, so that workers use it too.

    Example:
        >>> import tempfile
        >>> cache = TallyCache(Path(tempfile.mkdtemp()))
        >>> cache.put("ab12", b"counts")
        >>> cache.get("ab12"), cache.get("cd34")
        (b'counts', None)
    """

    folder: Path

    def get(self, key: str) -> bytes | None:
        """The entry, or None; an entry that is damaged is removed and counts as none."""
        path = self._path(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        seal, body = content[:32], content[32:]
        if hashlib.sha256(body).digest() != seal:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # used now: the last to go
        return body

    def put(self, key: str, body: bytes) -> None:
        """Keep an entry. A cache that cannot be written is no reason to fail: the result is in hand."""
        with contextlib.suppress(StorageError):
            write_bytes(self._path(key), hashlib.sha256(body).digest(), body, durable=False)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.tally"

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self.folder.glob("??/*.tally"):
            with contextlib.suppress(OSError):  # another run may remove it meanwhile
                yield path, path.stat()

    def sizes(self) -> list[int]:
        """The bytes of each entry."""
        return [stat.st_size for _, stat in self._entries()]

    def prune(self, limit: int) -> int:
        """Remove the least recently used entries above `limit` bytes; returns how many went."""
        entries = sorted(self._entries(), key=lambda entry: entry[1].st_mtime)
        excess = sum(stat.st_size for _, stat in entries) - limit
        for removed, (path, stat) in enumerate(entries):
            if excess <= 0:
                return removed
            with contextlib.suppress(OSError):
                path.unlink()
            excess -= stat.st_size
        return len(entries)

    def clear(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)


def remembered(cache: TallyCache | None, key: str, make: Callable[[], T]) -> T:
    """What `make` gives, in JSON's types; from the cache, if there is one, where it was made before.

    Example:
        >>> import tempfile
        >>> cache = TallyCache(Path(tempfile.mkdtemp()))
        >>> remembered(cache, "ab12", lambda: [1]), remembered(cache, "ab12", lambda: [2])
        ([1], [1])
    """
    known = cache.get(key) if cache else None
    if known is not None:
        kept: T = json.loads(known)
        return kept
    made = make()
    if cache:
        cache.put(key, json.dumps(made).encode())
    return made
