"""The files of a golden pack, written and read: `manifest.json`, `cases.jsonl`, `vocabulary.jsonl.gz`.

`cases.jsonl`: one object a line with `rule`, `text`, `ids`, `bytes` (of each token, in hexadecimal), `spans`
(start and end of each in code points, or null) and `stages` (the pieces after each stage, or null).

`vocabulary.jsonl.gz`: one object a line with `text`, `n` (how many ids) and `crc32` (of the ids as
little-endian int32): together they give every token that can be had. A pack holds at most `MOST_BYTES`.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tokbench.errors import SpecError, TokenizerError
from tokbench.results.atomic import write_bytes, write_json

FORMAT, VERSION = "tokbench-golden", 1
MOST_BYTES = 1_000_000
MANIFEST, CASES, VOCABULARY = "manifest.json", "cases.jsonl", "vocabulary.jsonl.gz"
_ROOM = 20_000
_STEPS = 12
Entry = TypeVar("Entry", "Golden", "VocabularyRow")
_MOST_UNPACKED = 100 * MOST_BYTES


@dataclass(frozen=True, slots=True)
class Golden:
    """One text with all that is known of its tokens."""

    rule: str
    text: str
    ids: tuple[int, ...]
    bytes: tuple[bytes, ...]
    spans: tuple[tuple[int, int], ...] | None = None
    stages: Mapping[str, Sequence[str]] | None = None

    def to_json(self) -> dict[str, Any]:
        """The case as `json` writes it."""
        return {**asdict(self), "bytes": [part.hex() for part in self.bytes]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Golden:
        """The case that `to_json` wrote."""
        spans = content["spans"]
        return cls(
            content["rule"],
            content["text"],
            tuple(content["ids"]),
            tuple(map(bytes.fromhex, content["bytes"])),
            None if spans is None else tuple((int(start), int(end)) for start, end in spans),
            content["stages"],
        )


@dataclass(frozen=True, slots=True)
class VocabularyRow:
    """A text of the vocabulary's walk, with the number and the checksum of its ids."""

    text: str
    n: int
    crc32: int


def checksum(ids: Sequence[int]) -> int:
    """The CRC-32 of ids as little-endian int32.

    Example:
        >>> checksum([1, 2])
        58791804
    """
    return zlib.crc32(np.asarray(ids, "<i4").tobytes())


@dataclass(frozen=True, slots=True)
class Pack:
    """What a golden pack holds."""

    manifest: Mapping[str, Any]
    cases: Sequence[Golden]
    rows: Sequence[VocabularyRow] = field(default=())


def _lines(entries: Iterable[Mapping[str, Any]]) -> bytes:
    text = "".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n" for entry in entries)
    return text.encode("utf-8", "surrogatepass")


def _packed(rows: Sequence[VocabularyRow]) -> bytes:
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=9, mtime=0) as packed:
        packed.write(_lines(map(asdict, rows)))
    return stream.getvalue()


def fitting(cases: Sequence[Golden], rows: Sequence[VocabularyRow]) -> tuple[bytes, bytes, int]:
    """The two files, and how many of the rows fit into the room of a pack."""
    details, kept = _lines(case.to_json() for case in cases), len(rows)
    for _ in range(_STEPS):
        packed = _packed(rows[:kept])
        size = len(details) + len(packed) + _ROOM
        if size <= MOST_BYTES:
            return details, packed, kept
        kept = max(0, int(kept * (MOST_BYTES - len(details) - _ROOM) / max(1, len(packed)) * 0.98))
    raise TokenizerError(f"the cases alone take {len(details):,} bytes; a pack holds {MOST_BYTES:,}")


def write(folder: Path, manifest: Mapping[str, Any], details: bytes, packed: bytes) -> None:
    """Write a pack, its manifest last, with the checksums of the other files."""
    files = {}
    for name, data in ((CASES, details), (VOCABULARY, packed)):
        write_bytes(folder / name, data)
        files[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    content = {"format": FORMAT, "version": VERSION, **manifest, "files": files}
    write_json(folder / MANIFEST, content)


def read(folder: Path) -> Pack:
    """The pack in a folder; raises `SpecError` for no pack, another version, or files that were changed."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no JSON in UTF-8"
        raise SpecError(f"{folder} is no golden pack: {MANIFEST} cannot be read ({why})") from error
    if not isinstance(manifest, Mapping) or manifest.get("format") != FORMAT:
        raise SpecError(f"{folder}: {MANIFEST} is not that of a golden pack")
    if manifest.get("version") != VERSION:
        raise SpecError(f"{folder}: is of version {manifest.get('version')}; this tokbench reads {VERSION}")
    data = {}
    for name in (CASES, VOCABULARY):
        try:
            data[name] = (folder / name).read_bytes()
        except OSError as error:
            raise SpecError(f"{folder}: {name} cannot be read ({error.strerror})") from error
        if hashlib.sha256(data[name]).hexdigest() != _stated(manifest, name):
            raise SpecError(f"{folder}: {name} is not what the manifest says; make the pack again")
    cases = _entries(data[CASES], Golden.from_json, f"{folder}: {CASES}")
    try:
        with gzip.open(io.BytesIO(data[VOCABULARY])) as stream:
            listed = stream.read(_MOST_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise SpecError(f"{folder}: {VOCABULARY} is no gzip file, or damaged: {error}") from error
    if len(listed) > _MOST_UNPACKED:
        raise SpecError(f"{folder}: {VOCABULARY} unpacks to more than {_MOST_UNPACKED:,} bytes")
    return Pack(
        manifest, cases, _entries(listed, lambda entry: VocabularyRow(**entry), f"{folder}: {VOCABULARY}")
    )


def _stated(manifest: Mapping[str, Any], name: str) -> Any:
    """The checksum that a manifest states of a file; None where it states none."""
    for key in ("files", name, "sha256"):
        manifest = manifest.get(key, {}) if isinstance(manifest, Mapping) else {}
    return manifest


def _entries(data: bytes, of: Callable[[Any], Entry], where: str) -> list[Entry]:
    """What each line of JSON describes; raises `SpecError` naming the line that is wrong."""
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            if line:
                found.append(of(json.loads(line.decode("utf-8", "surrogatepass"))))
                found[-1].text.encode("utf-8", "surrogatepass")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise SpecError(f"{where}, line {number}: is no entry of a golden pack: {line[:60]!r}") from error
    return found
