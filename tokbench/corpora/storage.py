"""Files as tokbench reads them: local or remote, plain or compressed, and unchanged since they were planned.

Local paths are opened with `open`; anything with ``://`` in it goes through fsspec, imported then. Whatever
goes wrong becomes a `CorpusError` that names the file and, where there is one, the remedy.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from tokbench.errors import CorpusError
from tokbench.wording import reason

COMPRESSED = (".gz", ".zst", ".xz", ".bz2")
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file at planning time: its size in stored bytes, and a stamp that changes when the file does.

    The size is -1 where a server does not tell it.
    """

    path: str
    size: int
    stamp: str


def is_remote(path: str) -> bool:
    """Whether `path` is for fsspec.

    Example:
        >>> is_remote("s3://bucket/key.txt"), is_remote("folder/key.txt")
        (True, False)
    """
    return "://" in path


def compression(path: str) -> str | None:
    """The compression that the name of a file says, or None.

    Example:
        >>> compression("wiki.txt.zst"), compression("wiki.txt")
        ('zst', None)
    """
    return next((suffix[1:] for suffix in COMPRESSED if path.lower().endswith(suffix)), None)


def stat(path: str) -> StoredFile:
    """Size and stamp of a file; raises `CorpusError` where there is none."""
    if is_remote(path):
        return _remote_stat(path)
    try:
        status = Path(path).stat()
    except OSError as error:
        raise CorpusError(f"{path}: {_reason(error)}") from error
    if not Path(path).is_file():
        raise CorpusError(f"{path}: not a file")
    return StoredFile(path, status.st_size, f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}")


def _remote_stat(path: str) -> StoredFile:
    system, inner = remote(path)
    try:
        system.invalidate_cache()  # what a listing said earlier may be over
        info = system.info(inner)
    except Exception as error:
        raise CorpusError(f"{path}: {_reason(error)}") from error
    keys = ("etag", "ETag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
    known = [str(info[key]) for key in keys if info.get(key)]
    size = -1 if info.get("size") is None else int(info["size"])
    return StoredFile(path, size, "-".join([str(size), *known[:1]]))


def remote(path: str) -> tuple[Any, str]:
    """The fsspec file system of a URL and the path inside it."""
    import fsspec

    try:
        return cast("tuple[Any, str]", fsspec.core.url_to_fs(path))
    except ImportError as error:
        raise CorpusError(f"{path}: {error}") from error
    except (ValueError, OSError) as error:
        raise CorpusError(f"{path}: {_reason(error)}") from error


def check_unchanged(path: str, stamp: str) -> None:
    """Raise `CorpusError` if the file is gone or is another than the one that was planned."""
    try:
        now = stat(path)
    except CorpusError as error:
        raise CorpusError(f"{error} (it was there when the run was planned)") from error
    if stamp and now.stamp != stamp:
        raise CorpusError(
            f"{path}: the file changed during the run (size and time were {stamp}, are {now.stamp}); "
            f"start the run again once nothing writes to it"
        )


@contextmanager
def open_bytes(path: str, start: int = 0) -> Iterator[IO[bytes]]:
    """The content of a file from byte `start`, decompressed by the ending of its name.

    A compressed file has no positions to start from: there `start` must be 0. Errors that occur while the
    content is read, as a truncated archive, become `CorpusError` too.
    """
    kind = compression(path)
    try:
        with _open_stored(path) as stored:
            if kind is None:
                if start:
                    stored.seek(start)
                yield stored
            else:
                with _decompressor(kind, stored, path) as content:
                    yield content
    except Exception as error:
        of_content = type(error).__module__ in {"zlib", "_lzma", "lzma", "pyarrow.lib"}
        if kind and (of_content or (isinstance(error, OSError) and error.errno is None)):
            remedy = f"get it anew, or take .{kind} off its name where it is not compressed"
            raise CorpusError(f"{path}: damaged, or no {kind} file ({error}); {remedy}") from error
        if isinstance(error, OSError | EOFError):
            raise CorpusError(f"{path}: {_reason(error)}") from error
        raise


def _open_stored(path: str) -> IO[bytes]:
    if is_remote(path):
        system, inner = remote(path)
        return cast("IO[bytes]", system.open(inner, "rb"))
    return Path(path).open("rb")


def chunks(handle: IO[bytes], n_bytes: int | None = None, *, room: int = CHUNK) -> Iterator[bytes]:
    """The bytes from where `handle` stands, `n_bytes` of them or all, up to `room` at a time.

    Example:
        >>> list(chunks(io.BytesIO(b"abcdefg"), 5, room=2))
        [b'ab', b'cd', b'e']
    """
    while n_bytes != 0:
        chunk = handle.read(room if n_bytes is None else min(room, n_bytes))
        if not chunk:
            return
        if n_bytes is not None:
            n_bytes -= len(chunk)
        yield chunk


def _decompressor(kind: str, stored: IO[bytes], path: str) -> IO[bytes]:
    if kind != "zst":
        module = import_module({"gz": "gzip", "bz2": "bz2", "xz": "lzma"}[kind])
        return cast("IO[bytes]", module.open(stored))
    # Zstandard by pyarrow, which is always installed; the standard library has it from Python 3.14 on.
    import pyarrow as pa

    if not pa.Codec.is_available("zstd"):
        raise CorpusError(f"{path}: this build of pyarrow reads no zstd; decompress the file (zstd -d) first")
    return io.BufferedReader(cast("io.RawIOBase", pa.CompressedInputStream(stored, "zstd")), CHUNK)


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, EOFError):
        return "the compressed file ends too early (it is truncated)"
    return reason(error) or type(error).__name__
