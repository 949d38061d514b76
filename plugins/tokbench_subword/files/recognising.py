"""Find a file's format from its content: endings mislead (`tokenizer.model` may be ranks) or are missing."""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from tokbench.errors import TokenizerError, TokenizerFileError
from tokbench.spec import Spec
from tokbench.vocabulary_files import read_bytes, read_text
from tokbench_subword.files.gguf import MAGIC, gguf_model, is_gguf
from tokbench_subword.files.sentencepiece_model import begins_model, model_type_in

Format = Literal["tokenizer.json", "vocab.json", "sentencepiece", "ranks", "merges", "text", "tekken", "gguf"]

NAMES: dict[Format, str] = {
    "tokenizer.json": "a tokenizer.json",
    "vocab.json": "a vocab.json, tokens with their ids",
    "sentencepiece": "a sentencepiece model",
    "ranks": "tiktoken's ranks",
    "merges": "a merges.txt, two tokens a line",
    "text": "text, as a vocab.txt is",
    "tekken": "a tekken.json",
    "gguf": "GGUF",
}
"""The name of each format in error messages."""

_JSON_MODEL = re.compile(rb'"model"\s*:\s*\{')
_MODEL_TYPE = re.compile(rb'"model"\s*:\s*\{\s*"type"\s*:\s*"(\w+)"')
_TELLING = ((b'"merges"', "BPE"), (b'"max_input_chars_per_word"', "WordPiece"))
_TEKKEN = re.compile(rb'"token_bytes"\s*:\s*"')
_JSON_VOCABULARY = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\d')
_JSON_LIST = re.compile(rb'\s*(?:\[\s*)+(?:-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*")\s*,')
"""The beginning of a JSON list, possibly truncated. A merges.txt line with the token ``[`` has no comma."""
_LINE = re.compile(rb"[^\n]+")
_RANK = re.compile(rb"[A-Za-z0-9+/]*={0,2}[ \t]+\d+\s*")
_PLAUSIBLE = re.compile(r"\.(?:model|tiktoken|bpe)\b")
_LINES_LOOKED_AT = 20
_MOST_TOLD = 1 << 24
"""The size in bytes up to which a file of no format is searched for damage; a larger one is other data."""


def format_of(path: str | os.PathLike[str]) -> Format | None:
    """The format of a file, which may be packed with gzip; None if it is not a tokenizer's.

    Raises `TokenizerError` for a file that cannot be read.
    """
    return "gguf" if is_gguf(path) else format_of_bytes(read_bytes(path))


def format_of_bytes(data: bytes) -> Format | None:
    """The format of a file's content.

    Example:
        >>> format_of_bytes(b"IQ== 0"), format_of_bytes(b'{"model": {}}'), format_of_bytes(bytes(4))
        ('ranks', 'tokenizer.json', None)
    """
    if begins_model(data):
        return "sentencepiece"
    if data.startswith(MAGIC):
        return "gguf"
    first = data[:64].removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    if first == b"[" and (_JSON_LIST.match(data) or _is_json(data)):
        return None
    if first == b"{":
        if _TEKKEN.search(data):
            return "tekken"
        if _JSON_MODEL.search(data):
            return "tokenizer.json"
        return "vocab.json" if _JSON_VOCABULARY.match(data) else None
    found = (line[0].rstrip(b"\r") for line in _LINE.finditer(data, 0, 1 << 20))
    lines = list(islice((line for line in found if line.strip()), _LINES_LOOKED_AT))
    if not lines or b"\0" in data[: 1 << 20]:
        return None
    if 2 * sum(_RANK.fullmatch(line) is not None for line in lines) >= len(lines):
        return "ranks"
    pairs = lines[1:] if lines[0].startswith(b"#version") else lines
    if pairs and all(len(line.split(b" ")) == 2 and all(line.split(b" ")) for line in pairs):
        return "merges"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "text"


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def model_type_of(path: str | os.PathLike[str]) -> str | None:
    """The type of the model in a file, without reading all of it; None if the file states none.

    It is ``BPE``, ``WordPiece`` or ``Unigram`` for a `tokenizer.json`, `TrainerSpec.model_type` for a `.model`,
    and `GgufVocabulary.model` for GGUF. Raises `TokenizerError` for a damaged `.model`.
    """
    if is_gguf(path):
        return gguf_model(path)
    data = read_bytes(path)
    found = format_of_bytes(data)
    if found == "sentencepiece":
        return model_type_in(data, where=os.fspath(path))
    if found != "tokenizer.json":
        return None
    stated = _MODEL_TYPE.search(data)
    if stated:
        return stated[1].decode()
    return next((name for mark, name in _TELLING if mark in data), "Unigram")


def expect(path: str | os.PathLike[str], *formats: Format, remedy: str) -> Format:
    """The format of a file; raises `TokenizerError` saying what the file is if it is not one of `formats`."""
    found = format_of(path)
    if found in formats:
        return found
    if found is None:
        tell_damage(path)
    is_what = f"is {NAMES[found]}" if found else "is in no format of tokenizers, or it is damaged"
    wanted = " or ".join(NAMES[one] for one in formats)
    raise TokenizerError(f"{os.fspath(path)}: {is_what}; expected {wanted}: {remedy}")


def tell_damage(path: str | os.PathLike[str]) -> None:
    """Raise `TokenizerError` with the place of damage in a file of no known format, if it can be found."""
    from tokbench_subword.files.tokenizer_json import parse

    if Path(path).stat().st_size > _MOST_TOLD:
        return
    if not read_bytes(path).strip():
        raise TokenizerError(f"{os.fspath(path)}: there are no tokens in it: it is empty")
    text = read_text(path)
    if "\0" in text:
        raise TokenizerError(f"{os.fspath(path)}: has a NUL at character {text.index(chr(0))}: it is damaged")
    if text.lstrip().startswith(("{", "[")) and isinstance(parse(text, os.fspath(path)), list):
        raise TokenizerError(f"{os.fspath(path)}: is JSON, but a list; a tokenizer's is an object, in braces")


def file_of(spec: Spec, names: Sequence[str], *formats: Format) -> Path:
    """The file that a spec names; in a folder the first existing of `names`, else the one file in `formats`.

    Only files with ``.model``, ``.tiktoken`` or ``.bpe`` in their names are checked for `formats`. Raises
    `TokenizerFileError` if there is no such file, or several.
    """
    path = Path(spec.variant or "").expanduser()
    if path.is_file():
        return path
    wanted = " or ".join(names)
    if not path.is_dir():
        train = f"tokbench train {spec.family} -d DATASET --vocab-size 8k -o FILE"
        raise TokenizerFileError(
            f"{spec}: there is no file {path}; name one, or a folder with {wanted}, or train one: {train}"
        )
    for name in names:
        if (path / name).is_file():
            return path / name
    named = [each for each in sorted(path.iterdir()) if _PLAUSIBLE.search(each.name) and each.is_file()]
    found = [each for each in named if format_of(each) in formats]
    if len(found) == 1:
        return found[0]
    also = f", and not one file with {' or '.join(NAMES[each] for each in formats)}" if formats else ""
    there = f" (there is: {', '.join(each.name for each in found)})" if found else ""
    raise TokenizerFileError(f"{spec}: {path} has no {wanted}{also}{there}; name the file")


def is_folder(spec: Spec) -> bool:
    """Whether a spec names a folder."""
    return Path(spec.variant or "").expanduser().is_dir()


def refuse_training(spec: Spec, options: Iterable[str]) -> None:
    """Raise `TokenizerError` if a spec that names a file has one of the training `options`."""
    given = sorted({*spec.options}.intersection(options))
    if given:
        raise TokenizerError(f"{spec}: {given[0]} is for training; {spec.variant} is trained already")
