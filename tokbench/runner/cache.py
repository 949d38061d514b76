"""The content-addressed cache of tallies, so that nothing is counted twice.

A key covers the tokenizer's fingerprint, the shard's content and the version of the tally, so an entry is never
stale and any run can use it. Entries are written to another name and renamed, and each carries a digest of
itself: readers see a whole entry or none, even if several processes write. If the cache exceeds its limit, the
least recently used entries are removed.
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

    Raises `SpecError` if the variable is not a number.
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
        """The entry, or None; a damaged entry is removed."""
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
            os.utime(path)  # used now, so removed last
        return body

    def put(self, key: str, body: bytes) -> None:
        """Write an entry; errors of writing are ignored, because the result is known anyway."""
        with contextlib.suppress(StorageError):
            write_bytes(self._path(key), hashlib.sha256(body).digest(), body, durable=False)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.tally"

    def _entries(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self.folder.glob("??/*.tally"):
            with contextlib.suppress(OSError):  # another run may remove it at the same time
                yield path, path.stat()

    def sizes(self) -> list[int]:
        """The bytes of each entry."""
        return [stat.st_size for _, stat in self._entries()]

    def prune(self, limit: int) -> int:
        """Remove the least recently used entries above `limit` bytes; returns how many were removed."""
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
    """The result of `make`, in JSON's types; read from the cache, if there is one and it has the result.

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
