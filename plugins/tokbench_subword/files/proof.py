"""Proof of conversions: a written file is read back, and must give the same ids as its source.

The library that the file is for encodes the `probes` with it; if mistral-common is not installed, tokbench
itself reads a `tekken.json`. A conversion that would change ids is refused with the text that shows it, and
leaves no file.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.tokenizer import first_difference
from tokbench_subword.files.probes import Probe
from tokbench_subword.files.recognising import format_of
from tokbench_subword.files.tokenizer_json import content_of, write_document
from tokbench_subword.pipeline.document import TokenizerJson

Encode = Callable[[str], Any]
"""A function from a text to its ids, a sequence or an array."""
Proof = Callable[[], dict[str, Any]]
"""A function that returns the arguments `source`, `probes` and `name` of `write_proved`."""


def write_proved(
    path: str | os.PathLike[str],
    *,
    write: Callable[[Path], None],
    read: Callable[[Path], Encode],
    source: Encode,
    probes: Iterable[Probe],
    name: str,
    unsaid: Sequence[str] = (),
    tied: Callable[[Sequence[int], Sequence[int]], bool] | None = None,
) -> None:
    """Write a tokenizer's file (or folder), and keep it only if it gives the ids of `source` on all `probes`.

    `unsaid` are rules of the source that the format cannot express; if there are any, the file is refused.
    `tied` returns whether two rows of ids are equally good, for formats that do not define which one is chosen.
    Raises `TokenizerError` with the text on which ids differ, and its rule.
    """
    target = Path(path)
    with tempfile.TemporaryDirectory(prefix=".tokbench-", dir=target.parent) as folder:
        aside = Path(folder) / target.name
        write(aside)
        try:
            shown = _difference(source, read(aside), probes, tied)
        except TokenizerError as error:
            raise TokenizerError(f"{name} is not written as {target.name}: read back, {error}") from error
        if shown or unsaid:
            reasons = "; ".join([*(f"the format cannot say {rule}" for rule in unsaid), *filter(None, [shown])])
            raise TokenizerError(f"{name} is not written as {target.name}, which would change ids: {reasons}")
        if aside.is_dir():
            target.mkdir(exist_ok=True)
            for part in aside.iterdir():
                part.replace(target / part.name)
        else:
            aside.replace(target)


def write_json(document: TokenizerJson, path: str | os.PathLike[str], *, proof: Proof | None) -> None:
    """Write a `tokenizer.json`; with `proof`, only if `tokenizers` gives the same ids as the source."""
    if proof is None:
        write_document(document, path)
    else:
        write_proved(path, write=lambda aside: write_document(document, aside), read=by_tokenizers, **proof())


def json_content(document: TokenizerJson, *, proof: Proof | None) -> dict[str, Any]:
    """The content of a `tokenizer.json`, proved as in `write_json`."""
    if proof is not None:
        with tempfile.TemporaryDirectory() as folder:
            write_json(document, Path(folder) / "tokenizer.json", proof=proof)
    return content_of(document)


def is_converted(source: str) -> bool:
    """Whether writing a `tokenizer.json` changes the format of the file `source`, if there is one."""
    return bool(source) and Path(source).is_file() and format_of(source) != "tokenizer.json"


def _difference(
    source: Encode,
    written: Encode,
    probes: Iterable[Probe],
    tied: Callable[[Sequence[int], Sequence[int]], bool] | None,
) -> str:
    """A sentence on the first probe whose ids differ; empty if all agree."""
    for rule, text in probes:
        here, there = [int(index) for index in source(text)], [int(index) for index in written(text)]
        if here != there and not (tied and tied(here, there)):
            first = first_difference(here, there)
            part = slice(first, first + 6)
            return f"{text!r} ({rule}) is {here[part]} from token {first} on, and would be {there[part]}"
    return ""


def by_tokenizers(path: Path) -> Encode:
    """The `encode` of `tokenizers` with a `tokenizer.json`, without a template."""
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise TokenizerError(f"tokenizers {tokenizers.__version__} refuses it: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True

    return _told("tokenizers", lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


def _told(library: str, encode: Encode) -> Encode:
    """A library's `encode` that raises `TokenizerError` if the library raises, or panics in Rust."""

    def told(text: str) -> Sequence[int]:
        try:
            return encode(text)
        except BaseException as error:  # a Rust panic is not an `Exception`
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise TokenizerError(f"{library} gives up on {text!r} ({error})") from error

    return told


def by_tiktoken(ranks: dict[bytes, int], pattern: str) -> Encode | None:
    """The `encode` of tiktoken with ranks and a pattern; None if tiktoken refuses the pattern."""
    import tiktoken

    try:
        encoding = tiktoken.Encoding("proof", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    except ValueError:  # the library supports other regular expressions than tokbench
        return None
    return _told("tiktoken", encoding.encode_ordinary)


def by_mistral(path: Path) -> Encode | None:
    """The `encode` of mistral-common with a `tekken.json`; None if it is not installed."""
    try:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    except ImportError:
        return None
    try:
        tokenizer = Tekkenizer.from_file(path)
    except Exception as error:  # the library raises AssertionError and whatever its parsers raise
        raise TokenizerError(f"mistral-common refuses it: {error}") from error
    return _told("mistral-common", lambda text: tokenizer.encode(text, bos=False, eos=False))
