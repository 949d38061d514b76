"""The facts of a tokenizer in one place: what it is, where it comes from, and whether it loses anything.

Name, size, special ids, libraries and files are found here; a tokenizer's own `facts()` adds what only it can
know. The keys common to all tokenizers come first, in the order of `ORDER`; further keys of a plugin follow.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tokbench import capabilities as able
from tokbench.capabilities import Describable, TokenEstimator
from tokbench.family import LoadContext, TokenizerFamily
from tokbench.spec import Spec
from tokbench.tokenizer import Tokenizer, special_ids, unk_id

CAPABILITIES = {
    "encode_batch": able.BatchEncoder,
    "encode_utf8": able.Utf8Encoder,
    "decode_batch": able.BatchDecoder,
    "token_bytes": able.TokenByter,
    "token_bytes_batch": able.BatchTokenByter,
    "offsets": able.OffsetEncoder,
    "offsets_batch": able.BatchOffsetEncoder,
    "encode_with_offsets": able.EncoderWithOffsets,
    "sample": able.Sampler,
    "trace": able.Traceable,
    "stages": able.Staged,
    "save": able.Savable,
    "unsaid_in": able.TellsUnsaid,
    "pruned": able.Prunable,
    "fewest_tokens": able.ShortestSpeller,
    "count_tokens": able.TokenEstimator,
    "facts": able.Describable,
}
ORDER = (
    *("name", "family", "algorithm", "vocab_size", "normalizer", "pre_tokenizer", "byte_fallback"),
    *("special_tokens", "unk_id", "lossless", "why_not_lossless", "libraries", "files", "capabilities"),
)


def facts(tokenizer: Tokenizer, family: TokenizerFamily, spec: Spec, context: LoadContext) -> dict[str, Any]:
    """The facts of a loaded tokenizer, in JSON's types; None if unknown.

    Example:
        >>> from tokbench.registry import build_registry
        >>> registry = build_registry(); spec = registry.tokenizer_spec("bytes")
        >>> found = facts(registry.load(spec), registry.tokenizers["bytes"], spec, registry.context)
        >>> found["algorithm"], found["vocab_size"], found["lossless"]
        ('bytes', 256, True)
    """
    own: Mapping[str, Any] = tokenizer.facts() if isinstance(tokenizer, Describable) else {}
    found: dict[str, Any] = {
        "name": tokenizer.name,
        "family": family.name,
        "vocab_size": int(tokenizer.vocab_size),
        "special_tokens": dict.fromkeys(map(str, sorted(special_ids(tokenizer)))),
        "unk_id": unk_id(tokenizer),
        "lossless": getattr(tokenizer, "lossless", None),
        "libraries": versions(family.libraries),
        "files": file_digests(family.files_of(spec, context)),
        "capabilities": [name for name, kind in CAPABILITIES.items() if isinstance(tokenizer, kind)],
    }
    if isinstance(tokenizer, TokenEstimator):
        low, high = tokenizer.bounds
        found |= {"vocab_size": None, "estimated": {"from": tokenizer.estimated, "low": low, "high": high}}
    found |= own
    known = {key: found.get(key) for key in ORDER}
    return known | {key: value for key, value in found.items() if key not in known}


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """The installed versions of distributions; "absent" for one that is not installed."""
    return {name: _version(name) for name in distributions}


@lru_cache(maxsize=256)
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def file_digests(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Name, size and SHA-256 of files, and of those in folders; missing files are left out."""
    found: list[Path] = []
    for path in map(Path, paths):
        found += [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return [
        {"path": str(path), "bytes": path.stat().st_size, "sha256": file_sha256(path)}
        for path in sorted(found)
        if path.is_file()
    ]


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
