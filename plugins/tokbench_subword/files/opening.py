"""A tokenizer's file opened: its bytes or text, unpacked where it is gzip, with errors that say what to do."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from pathlib import Path

from tokbench import Spec, TokenizerError

_GZIP = b"\x1f\x8b"
MOST = 1 << 30
"""Bytes that a file may hold, packed or not: no vocabulary has as many."""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """What a file holds, gzip unpacked; raises `TokenizerError` where it cannot be had."""
    try:
        large = Path(path).stat().st_size > MOST
        data = b"" if large else Path(path).read_bytes()
    except OSError as error:
        raise TokenizerError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from error
    if large:
        raise TokenizerError(f"{os.fspath(path)}: is larger than {MOST:,} bytes, which no vocabulary is")
    return _unpacked(data, os.fspath(path)) if data.startswith(_GZIP) else data


def _unpacked(data: bytes, where: str) -> bytes:
    unpack = zlib.decompressobj(wbits=31)
    try:
        found = unpack.decompress(data, MOST)
    except zlib.error as error:
        raise TokenizerError(f"{where}: is gzip, and damaged ({error}); fetch the file again") from error
    if not unpack.eof:
        if unpack.unconsumed_tail:
            raise TokenizerError(f"{where}: is gzip of more than {MOST:,} bytes; unpack it first")
        raise TokenizerError(f"{where}: is gzip, and breaks off; fetch the file again")
    return found


def read_text(path: str | os.PathLike[str]) -> str:
    """What a file holds, as UTF-8; line ends stay as they are."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise TokenizerError(
            f"{os.fspath(path)}: is not UTF-8 at byte {error.start}; is it another kind of file?"
        ) from error


def refuse_training(spec: Spec, options: Iterable[str]) -> None:
    """Raise `TokenizerError` where a spec that names a file has one of the `options` of training."""
    given = sorted({*spec.options}.intersection(options))
    if given:
        raise TokenizerError(f"{spec}: {given[0]} is for training; {spec.variant} is trained already")
