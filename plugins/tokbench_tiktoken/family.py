"""The family `tiktoken`: its options, and how its specs are loaded."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from tokbench import LoadContext, Option, Spec, SpecError, TokenizerError, TokenizerFamily
from tokbench.vocabulary_files import GZIP
from tokbench_tiktoken.adapter import TiktokenTokenizer

_A_LINE = 8


def _file(spec: Spec) -> Path | None:
    """The ranks file that a spec names, or None for the name of an encoding or model."""
    variant = spec.variant or ""
    path = Path(variant).expanduser()
    named = variant.endswith((".tiktoken", ".model")) or "/" in variant or "\\" in variant
    return path if named or (variant and path.is_file()) else None


def load(spec: Spec, context: LoadContext) -> TiktokenTokenizer:
    """Load an encoding by its name, a model's name, or from a `.tiktoken` file."""
    import tiktoken

    from tokbench_tiktoken.ranks import load_file
    from tokbench_tiktoken.sources import download_failed, encoding_name, require

    if not spec.variant:
        names = ", ".join(tiktoken.list_encoding_names())
        raise SpecError(f"tiktoken: name an encoding ({names}), a model or a .tiktoken file: tiktoken:NAME")
    name, path = str(spec), _file(spec)
    if path is not None:
        encoding = load_file(
            path, name=name, pattern=spec.get("pattern"), special_tokens=spec.get("special_tokens")
        )
    else:
        for option in ("pattern", "special_tokens"):
            if spec.get(option) is not None:
                raise SpecError(f"{name}: {option} is for .tiktoken files; {spec.variant!r} has its own")
        registered = encoding_name(spec.variant)
        require(registered, context)
        try:
            encoding = tiktoken.get_encoding(registered)
        except (OSError, ValueError) as error:  # no network, no room, or what came was damaged
            raise TokenizerError(download_failed(registered, error)) from error
    return TiktokenTokenizer(encoding, name=name, special=spec.get("special", "text"), threads=context.threads)


def files(spec: Spec, context: LoadContext) -> Sequence[Path]:
    """The files behind a spec, for checksums: those of the cache, or the file named and its special tokens."""
    from tokbench_tiktoken.sources import blueprint, encoding_name

    path = _file(spec)
    if path is not None:
        tokens = str(spec.get("special_tokens", ""))
        return [path, Path(tokens)] if tokens.endswith(".json") else [path]
    found = (source.path for source in blueprint(encoding_name(spec.variant or "")).sources)
    return [source for source in found if source is not None and source.exists()]


def unsaid(spec: Spec, context: LoadContext) -> Mapping[str, str]:
    """The pattern and the special tokens of the ranks: those that the spec states, else the encoding's.

    Empty for an encoding with too many special tokens for a line.
    """
    from tokbench_tiktoken.ranks import published
    from tokbench_tiktoken.sources import blueprint, encoding_name

    path = _file(spec)
    encoding = encoding_name(spec.variant or "") if path is None else published(path)
    special = blueprint(encoding).special_tokens if encoding else {}
    if len(special) > _A_LINE:
        return {}
    stated = " ".join(f"{text}={index}" for text, index in special.items())
    own = {"pattern": encoding, "special_tokens": stated}
    return {name: found for name, known in own.items() if (found := spec.get(name) or known)}


def recognises(path: Path, head: bytes) -> bool:
    """Whether a file lists tokens in base64, each with its rank."""
    if head.startswith(GZIP):
        head = zlib.decompressobj(wbits=31).decompress(head, 1024)
    return re.match(rb"[A-Za-z0-9+/]+={0,2} \d+\r?\n", head) is not None


TIKTOKEN = TokenizerFamily(
    name="tiktoken",
    summary="OpenAI's encodings and .tiktoken files, through tiktoken",
    load=load,
    files=files,
    unsaid=unsaid,
    recognises=recognises,
    endings=(".tiktoken",),
    options=(
        Option("special", "str", "text", "Text of special tokens.", choices=("text", "match", "error")),
        Option("pattern", "str", None, "For a file: the encoding whose pattern it uses, or a regex."),
        Option("special_tokens", "str", None, "For a file: texts, or text=id, or a JSON file {text: id}."),
    ),
    variant="an encoding (o200k_base …), a model (gpt-4o …) or a .tiktoken file",
    libraries=("tiktoken",),
    examples=("tiktoken:o200k_base", "tiktoken:gpt-4o", "tiktoken:mine.tiktoken,pattern=cl100k_base"),
)
