"""One finished cell: a tokenizer on one language of a dataset, with its tally or a failure."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tokbench.errors import ResultsError
from tokbench.metrics.measurement import CellKey
from tokbench.results.atomic import write_bytes
from tokbench.results.failure import TaskFailure
from tokbench.tally.tally import Tally

_FIELDS = {"key", "identity", "failure", "seconds", "digests"}
_KIND = b"tokbench-cell "
_MAGIC = _KIND + b"2\n"


@dataclass(frozen=True, slots=True)
class CellResult:
    """A finished cell, as passed to the hook `tokbench_cell_finished`.

    `tally` is None if there is a `failure`, or if it was not read. `identity` is a fingerprint of everything
    that the cell depends on (tokenizer, shards, tally version); `digests` are the hashes of the shards'
    content, in order. `seconds` is the time of the work, 0 if all came from the cache.
    """

    key: CellKey
    identity: str = ""
    tally: Tally | None = None
    failure: TaskFailure | None = None
    seconds: float = 0.0
    cached: bool = False
    digests: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """``ok``, or why there is no tally."""
        return "ok" if self.failure is None else self.failure.status


def cell_file_name(key: CellKey) -> str:
    """The name of a cell's file: readable, and unique by a digest of the whole key."""
    digest = hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    words = re.sub(r"[^A-Za-z0-9]+", "-", f"{key.tokenizer[:40]} {key.dataset[-24:]} {key.language}").strip("-")
    return f"{words[:90]}-{digest}.cell"


def write_cell(folder: Path, cell: CellResult) -> Path:
    """Write a cell into `folder`: a checksum of the rest, a line of JSON, the tally; returns the file."""
    body = b"" if cell.tally is None else cell.tally.to_bytes()
    head: dict[str, Any] = {
        "key": list(cell.key),
        "identity": cell.identity,
        "failure": None if cell.failure is None else asdict(cell.failure),
        "seconds": round(cell.seconds, 6),
        "digests": list(cell.digests),
    }
    line = json.dumps(head).encode() + b"\n"
    path = folder / cell_file_name(cell.key)
    write_bytes(path, _MAGIC, _seal(line, body), line, body, durable=False)
    return path


def read_cell(path: Path, *, with_tally: bool = True) -> CellResult:
    """The cell in a file that `write_cell` wrote; raises `ResultsError` if it is not one.

    The checksum of the file is also checked if the tally is not read.
    """
    head, body = _split(path)
    failure = head["failure"]
    tally = Tally.from_bytes(body) if failure is None and with_tally else None
    key, digests = CellKey(*head["key"]), tuple(head["digests"])
    return CellResult(key, head["identity"], tally, failure, head["seconds"], cached=True, digests=digests)


def is_cell(path: Path) -> bool:
    """Whether a file is a cell of any version, by its first bytes, not its name."""
    try:
        with path.open("rb") as stream:
            return stream.read(len(_KIND)) == _KIND
    except OSError:
        return False


def _seal(head: bytes, body: bytes) -> bytes:
    """The checksum of a cell, as a line."""
    sealed = hashlib.sha256(head)
    sealed.update(body)
    return sealed.hexdigest().encode() + b"\n"


def _split(path: Path) -> tuple[dict[str, Any], bytes]:
    try:
        with path.open("rb") as stream:
            if stream.readline() != _MAGIC:
                raise ValueError("not a cell of this version")
            seal, line = stream.readline(), stream.readline()
            body = stream.read()
            if seal != _seal(line, body):
                raise ValueError("damaged, or cut short")
            head = json.loads(line)
            if not isinstance(head, dict) or not head.keys() >= _FIELDS or len(head["key"]) != 3:
                raise ValueError("it does not begin like the file of a cell")
            if head["failure"] is not None:
                head["failure"] = TaskFailure(**head["failure"])
            return head, body
    except (OSError, ValueError, TypeError) as error:
        raise ResultsError(
            f"{path}: {error}; delete the file and run again, the cell is computed anew"
        ) from error
