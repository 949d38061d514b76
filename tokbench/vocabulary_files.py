"""Files of vocabularies that several plugins read: gzip unpacked, tiktoken's ranks, special tokens for them.

A `.tiktoken` file has one token and its rank a line, the token in base64. It says nothing of special tokens: a
spec does (``special_tokens=``).
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import string
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path

from tokbench.errors import SpecError, TokenizerError

GZIP = b"\x1f\x8b"
MOST = 1 << 30
"""Bytes that a file may hold, packed or not: no vocabulary has as many."""
_LINE = re.compile(rb"[^\r\n]+")
_BASE64 = string.ascii_letters.encode() + string.digits.encode() + b"+/="
_WRONG_RANK = "token or rank is negative, too large or given twice: "
_EMPTY = b"="
"""How an empty token is written, as one of Whisper's files has it."""


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """What a file holds, gzip unpacked; raises `TokenizerError` where it cannot be had."""
    try:
        large = Path(path).stat().st_size > MOST
        data = b"" if large else Path(path).read_bytes()
    except OSError as error:
        raise TokenizerError(f"{os.fspath(path)}: cannot be read: {error.strerror or error}") from error
    if large:
        raise TokenizerError(f"{os.fspath(path)}: is larger than {MOST:,} bytes, which no vocabulary is")
    return _unpacked(data, os.fspath(path)) if data.startswith(GZIP) else data


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


def read_ranks(path: str | os.PathLike[str]) -> dict[bytes, int]:
    """The tokens and ranks of a file; raises `TokenizerError` naming a line that is wrong.

    An empty token, which no text gives, keeps its rank.
    """
    data = read_bytes(path)
    ranks = _ranks_as_written(data)
    if ranks:
        return ranks

    def wrong(line: re.Match[bytes], what: str) -> TokenizerError:
        number = len(data[: line.end()].splitlines())
        return TokenizerError(f"{path}, line {number}: {what}{line[0][:60]!r}")

    for line in _LINE.finditer(data):
        try:
            text, rank_text = line[0].split()
            token = b"" if text == _EMPTY else binascii.a2b_base64(text, strict_mode=True)
            rank = int(rank_text)
        except (ValueError, binascii.Error) as error:
            raise wrong(line, "expected a token in base64 and its rank, found ") from error
        if token in ranks or not 0 <= rank < 2**31:
            raise wrong(line, _WRONG_RANK)
        ranks[token] = rank
    if not ranks:
        raise TokenizerError(f"{path} holds no tokens")
    if len(set(ranks.values())) < len(ranks):
        taken: set[int] = set()
        for line, rank in zip(_LINE.finditer(data), ranks.values(), strict=True):
            if rank in taken:
                raise wrong(line, _WRONG_RANK)
            taken.add(rank)
    return ranks


def _ranks_as_written(data: bytes) -> dict[bytes, int]:
    """The ranks of a file of the usual form, in which nothing is wrong; of any other, none.

    Line by line, reading o200k takes 1.9 times as long.
    """
    parts, n_lines = data.split(), data.count(b"\n")
    if len(parts) != 2 * n_lines or data.translate(None, _BASE64) != b" \n" * n_lines:
        return {}
    try:
        tokens = [binascii.a2b_base64(text, strict_mode=True) for text in parts[::2]]
        ranks = list(map(int, parts[1::2]))
    except ValueError:
        return {}
    found = dict(zip(tokens, ranks, strict=True))
    right = len(found) == len(set(ranks)) == n_lines and max(ranks, default=0) < 2**31
    return found if right else {}


def write_ranks(ranks: Mapping[bytes, int], path: str | os.PathLike[str]) -> None:
    """Write tokens and ranks, in the order of ranks."""
    lines = (
        b"%s %d\n" % (base64.b64encode(token) or _EMPTY, rank)
        for token, rank in sorted(ranks.items(), key=lambda item: item[1])
    )
    Path(path).write_bytes(b"".join(lines))


def stated_tokens(given: str, *, where: str) -> dict[str, int | None]:
    """The special tokens that a spec states, separated by spaces: ``text=id``, or a text alone.

    A name that ends in ``.json`` is a file of {text: id}. Raises `SpecError` for what is neither, and for a
    text or an id that is given twice.

    Example:
        >>> stated_tokens("<s>=7 </s>", where="demo")
        {'<s>': 7, '</s>': None}
    """
    if given.endswith(".json"):
        return _of_file(Path(given).expanduser(), where)
    found: dict[str, int | None] = {}
    for part in given.split():
        text, equals, index = part.rpartition("=")
        named = bool(equals and text) and index.isascii() and index.isdigit()
        text, number = (text, int(index)) if named else (part, None)
        if text in found or (number is not None and number in found.values()):
            raise SpecError(f"{where}: special_tokens gives the text or the id of {part!r} twice")
        found[text] = number
    return found


def _of_file(path: Path, where: str) -> dict[str, int | None]:
    try:
        content = json.loads(read_text(path))
    except ValueError as error:
        raise SpecError(f"{where}: special_tokens: {path} is not JSON ({error})") from error
    if not isinstance(content, dict) or not all(
        text and type(index) is int and index >= 0 for text, index in content.items()
    ):
        raise SpecError(f"{where}: special_tokens: {path} must hold an object {{text: id}}")
    return dict(content)


def numbered_tokens(given: str, *, taken: Collection[int], where: str) -> dict[str, int]:
    """The special tokens that a spec states, those without an id numbered on behind the highest.

    `taken` are the ids of ordinary tokens, of which raises `SpecError` where a special token is given one.
    """
    found = stated_tokens(given, where=where)
    for text, index in found.items():
        if index is not None and index in taken:
            raise SpecError(f"{where}: the special token {text!r} takes the id {index} of an ordinary token")
    highest = max([*taken, *(index for index in found.values() if index is not None)], default=-1)
    numbered = {}
    for text, index in found.items():
        if index is None:
            highest = index = highest + 1
        numbered[text] = index
    return numbered


def names_to_train(given: str, *, where: str) -> list[str]:
    """The texts of special tokens that training gives their ids; raises `SpecError` for a stated id."""
    for text, index in stated_tokens(given, where=where).items():
        if index is not None:
            raise SpecError(
                f"{where}: special_tokens={text}={index} states an id, which training gives: write {text} alone"
            )
    return given.split()
