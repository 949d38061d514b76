"""Writes files so that a reader sees the old content or the new, never a part."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokbench.errors import DiskFullError, StorageError

_ASIDE = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}(?P<suffix>(?:\.[^.]*)?)")


def name_to_take(aside: str) -> str | None:
    """The final name of a file that a killed writer left under the name `aside`; None for other files.

    Example:
        >>> name_to_take(".run.json.k3x9_a2b.json"), name_to_take("run.json"), name_to_take(".hidden.json")
        ('run.json', None, None)
    """
    found = _ASIDE.fullmatch(aside)
    return found["name"] if found and Path(found["name"]).suffix == found["suffix"] else None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path in the folder of `path`; it is renamed to `path` if the block ends without an error.

    If `path` is a link, its target is replaced. Anything that is not a file, such as ``/dev/stdout`` or a pipe,
    is written to, never replaced.

    Raises `StorageError`, with a remedy, if the file system refuses.
    """
    aside: Path | None = None
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            with tempfile.TemporaryDirectory() as folder:
                content = Path(folder) / path.name
                yield content
                with content.open("rb") as source, path.open("wb") as stream:
                    shutil.copyfileobj(source, stream)
            return
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file")
        target = path.resolve() if path.is_symlink() else path
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=target.parent)
        os.close(handle)
        aside = Path(name)
        yield aside
        # mkstemp makes files for one user only; a result should be as readable as any other new file.
        aside.chmod(0o666 & ~_umask())
        aside.replace(target)
    except OSError as error:
        kind = DiskFullError if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageError
        raise kind(f"cannot write {path}: {_why(error)}") from error
    finally:
        if aside is not None:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)


def write_bytes(path: Path, *parts: bytes, durable: bool = True) -> None:
    """Write `parts` to `path`, all or nothing; they are on the disk before the file gets its name.

    Files with their own checksum that can be made again need not be `durable`: for a small cell, waiting for
    the disk takes longer than making it.
    """
    with replacing(path) as aside, aside.open("wb") as stream:
        for part in parts:
            stream.write(part)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, all or nothing; lone surrogates, as in names that are not UTF-8, are spelt out."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, all or nothing; values that JSON cannot express are written as text."""
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, sort_keys=False, default=str) + "\n")


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _why(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full; free some space and run the same command again"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{error.strerror}; choose another place"
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return "a file stands where a folder is needed"
    return error.strerror or str(error)
