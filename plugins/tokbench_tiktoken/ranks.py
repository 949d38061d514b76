"""Encodings from a `.tiktoken` file: ranks from the file, pattern and special tokens from the spec.

The file holds ranks only. Its pattern must be named, since the wrong one gives ids that look right and are not.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import re
import zlib
from collections.abc import Collection, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench import SpecError, TokenizerError, UnknownNameError
from tokbench_tiktoken.sources import blueprint, sha256_of

if TYPE_CHECKING:
    import tiktoken


GZIP = b"\x1f\x8b"
_STATED = re.compile(r"(?P<text>.+)=(?P<id>[0-9]+)")
EMPTY = b"="
"""An empty token, as one of Whisper's files has it; no text gives it."""


def load_file(path: Path, *, name: str, pattern: str | None, special_tokens: str | None) -> tiktoken.Encoding:
    """The encoding of a ranks file; a file that a registered encoding publishes needs no pattern."""
    import tiktoken

    ranks = read_ranks(path, name)
    known = None if pattern and special_tokens else _published(path)
    if pattern is None:
        if known is None:
            raise SpecError(
                f"{name}: a file of ranks holds no pattern, and this is not one that tiktoken registers; add "
                f'pattern=NAME ({", ".join(tiktoken.list_encoding_names())}) or pattern="a regex"'
            )
        pattern = known
    taken = set(ranks.values())
    specials = dict(
        blueprint(known).special_tokens
        if known and special_tokens is None
        else _specials(special_tokens, taken, name)
    )
    clash = [text for text, index in specials.items() if index in taken]
    if clash:
        raise SpecError(f"{name}: special token {clash[0]!r} takes the id of an ordinary one")
    try:
        return tiktoken.Encoding(
            name, pat_str=pattern_text(pattern), mergeable_ranks=ranks, special_tokens=specials
        )
    except ValueError as error:  # the regex, as the library judges it
        raise SpecError(f"{name}: {error}") from error


def read_ranks(path: Path, name: str) -> dict[bytes, int]:
    """Token bytes to rank; raises with the line for what is not ``base64 rank``."""
    ranks: dict[bytes, int] = {}
    try:
        data = path.read_bytes()
        lines = (gzip.decompress(data) if data.startswith(GZIP) else data).splitlines()
    except (OSError, EOFError, zlib.error) as error:
        raise TokenizerError(
            f"{name}: cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from error
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[b"" if token == EMPTY else base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error) as error:
            raise TokenizerError(
                f"{name}: {path} line {number} is not 'base64 rank': {line[:40]!r}; is this a .tiktoken file?"
            ) from error
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise TokenizerError(
            f"{name}: {path} lacks {len(missing)} of the 256 single bytes, 0x{missing[0]:02x} first; "
            f"tiktoken could not encode every text with it"
        )
    return ranks


def pattern_text(pattern: str) -> str:
    """The regex that `pattern` names or is; raises `UnknownNameError` for an unknown word, and for nothing."""
    import tiktoken

    names = tiktoken.list_encoding_names()
    if pattern == "gpt2":
        pattern = "r50k_base"  # the same; gpt2's constructor cannot be run dry to its end
    pattern = f"{pattern}_base" if f"{pattern}_base" in names else pattern
    if pattern in names:
        return blueprint(pattern).pattern or ""
    if re.fullmatch(r"[\w-]*", pattern):  # as a regex it would match no other text
        raise UnknownNameError.of(
            "pattern", pattern, names, hint="A regular expression may say how to cut, too"
        )
    return pattern


def _published(path: Path) -> str | None:
    """The registered encoding that publishes exactly this file, the one with fewest special tokens first."""
    import tiktoken

    found = sha256_of(path)
    names = [
        encoding
        for encoding in tiktoken.list_encoding_names()
        if [source.sha256 for source in blueprint(encoding).sources] == [found]
    ]
    return min(names, key=lambda encoding: len(blueprint(encoding).special_tokens), default=None)


def _specials(given: str | None, taken: Collection[int], name: str) -> Mapping[str, int]:
    """Special tokens from a JSON file {text: id}, or separated by spaces: ``text=id``, or a text alone.

    A text alone gets the next id behind all that are `taken` or stated.
    """
    if not given:
        return {}
    try:
        if given.endswith(".json"):
            content = json.loads(Path(given).read_text(encoding="utf-8"))
        else:
            found = [(_STATED.fullmatch(part), part) for part in given.split()]
            pairs = [(one["text"], int(one["id"])) if one else (part, None) for one, part in found]
            following = count(
                max([*taken, *(index for _, index in pairs if index is not None)], default=-1) + 1
            )
            content = {text: next(following) if index is None else index for text, index in pairs}
            if not len(set(content.values())) == len(content) == len(pairs):
                raise ValueError("it gives a text or an id twice")
        if not all(isinstance(text, str) and text and type(index) is int for text, index in content.items()):
            raise ValueError("it must map texts to ids")
    except OSError as error:
        raise TokenizerError(f"{name}: cannot read {given}: {error.strerror}") from error
    except (ValueError, AttributeError) as error:
        raise SpecError(
            f"{name}: special_tokens takes a JSON file {{text: id}}, or 'text=id text=id': {error}"
        ) from error
    return dict(content)
