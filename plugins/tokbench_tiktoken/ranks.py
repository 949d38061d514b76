"""Encodings from a `.tiktoken` file: ranks from the file, pattern and special tokens from the spec.

The file contains only ranks. Its pattern must be named, since a wrong one gives ids that look right but are
not.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench import SpecError, TokenizerError, UnknownNameError
from tokbench.vocabulary_files import numbered_tokens, read_ranks
from tokbench_tiktoken.sources import blueprint, sha256_of

if TYPE_CHECKING:
    import tiktoken


def load_file(path: Path, *, name: str, pattern: str | None, special_tokens: str | None) -> tiktoken.Encoding:
    """The encoding of a ranks file; the published file of a registered encoding needs no pattern."""
    import tiktoken

    ranks = read_ranks(path)
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise TokenizerError(
            f"{name}: {path} lacks {len(missing)} of the 256 single bytes, 0x{missing[0]:02x} first; "
            f"tiktoken could not encode every text with it"
        )
    known = None if pattern and special_tokens else published(path)
    if pattern is None:
        if known is None:
            raise SpecError(
                f"{name}: a file of ranks contains no pattern, and tiktoken does not know this file; add "
                f'pattern=NAME ({", ".join(tiktoken.list_encoding_names())}) or pattern="a regex"'
            )
        pattern = known
    if known and special_tokens is None:
        specials = dict(blueprint(known).special_tokens)
    else:
        specials = numbered_tokens(special_tokens or "", taken=ranks.values(), where=name)
    try:
        return tiktoken.Encoding(
            name, pat_str=pattern_text(pattern), mergeable_ranks=ranks, special_tokens=specials
        )
    except ValueError as error:  # the regex, as the library judges it
        raise SpecError(f"{name}: {error}") from error


def pattern_text(pattern: str) -> str:
    """The regex that `pattern` names or is; raises `UnknownNameError` for an unknown name or an empty one."""
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


def published(path: Path) -> str | None:
    """The registered encoding that publishes exactly this file, the one with fewest special tokens first."""
    import tiktoken

    found = sha256_of(path)
    names = [
        encoding
        for encoding in tiktoken.list_encoding_names()
        if [source.sha256 for source in blueprint(encoding).sources] == [found]
    ]
    return min(names, key=lambda encoding: len(blueprint(encoding).special_tokens), default=None)
