"""The vocabulary in a GGUF file, as llama.cpp stores it: read here, written with the package `gguf`.

A file begins with named values, and only the tokenizer's are read: a whole model's file is not read to its
end. (The package's own reader makes an array of every string, which takes four seconds for a hundred thousand
tokens.) The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import importlib
import mmap
import os
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokbench.errors import TokenizerError
from tokbench_subword.files.sentencepiece_model import BYTE, NORMAL

MAGIC = b"GGUF"
_PREFIX = "tokenizer.ggml."
_MODEL = re.compile(rb"tokenizer\.ggml\.model\x08\0\0\0(.)\0{7}", re.DOTALL)
_HEAD = 1 << 20
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)
_UNKNOWN = "unknown_token_id"
_NO_TOKEN = (-1, 0xFFFFFFFF)
"""The id that some programs write for a token that does not exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufVocabulary:
    """`model` is ``gpt2``, ``gemma4`` (BPE of bytes, of characters), ``llama``, ``t5`` (sentencepiece's BPE,
    Unigram) or ``bert``.

    `pre` names the pre-tokenizer of ``gpt2``, whose tokens are spelled as in vocab.json. ``gpt2`` and
    ``gemma4`` have `merges`, the others `scores`. Token types have sentencepiece's numbers. Flags that a file
    does not state are None: each model has its own defaults.
    """

    model: str
    tokens: Sequence[str]
    types: Sequence[int]
    pre: str = "default"
    merges: Sequence[str] = ()
    scores: Sequence[float] = ()
    charsmap: bytes = b""
    add_space_prefix: bool | None = None
    remove_extra_whitespaces: bool | None = None
    unknown: int | None = None


def is_gguf(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins with GGUF's four magic bytes."""
    return _head(path, 4) == MAGIC


def gguf_model(path: str | os.PathLike[str]) -> str | None:
    """The model of a GGUF file's vocabulary, from the first megabyte; None if it is not stated there."""
    head = _head(path, _HEAD)
    found = _MODEL.search(head) if head.startswith(MAGIC) else None
    return head[found.end() : found.end() + found[1][0]].decode("utf-8", "replace") if found else None


def _head(path: str | os.PathLike[str], size: int) -> bytes:
    try:
        with Path(path).open("rb") as stream:
            return stream.read(size)
    except OSError:
        return b""


def read_gguf(path: str | os.PathLike[str], model: str, *, remedy: str = "") -> GgufVocabulary:
    """The vocabulary in a file, which must be of the given `model`.

    Raises `TokenizerError` for a damaged file (with the place), for a file without a vocabulary, and for
    another model (with the `remedy`).
    """
    where = os.fspath(path)
    try:
        with Path(path).open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data[: len(MAGIC)] != MAGIC:
                raise TokenizerError(f"{where}: is GGUF, and packed: unpack it first")
            values = _Values(data, where).named(_PREFIX)
    except (OSError, ValueError) as error:
        raise TokenizerError(f"{where}: cannot be read: {error}") from error
    if "model" not in values or "tokens" not in values:
        raise TokenizerError(f"{where}: is GGUF without a vocabulary: it has no {_PREFIX}tokens")
    if values["model"] != model:
        found = f"{where}: its vocabulary is of the model {values['model']!r}, not {model!r}"
        raise TokenizerError(f"{found}; {remedy}" if remedy else found)
    return _vocabulary(values, where)


def _vocabulary(values: dict[str, Any], where: str) -> GgufVocabulary:
    """The vocabulary that the values describe; raises `TokenizerError` if they contradict each other."""

    def listed(name: str, kind: type, default: Sequence[Any] = ()) -> Sequence[Any]:
        found = values.get(name, default)
        if not isinstance(found, list | tuple) or not all(isinstance(one, kind) for one in found[:1]):
            raise TokenizerError(f"{where}: is damaged: {_PREFIX}{name} is no list of {kind.__name__}")
        return found

    tokens = listed("tokens", str)
    types = listed("token_type", int, (NORMAL,) * len(tokens))
    scores = listed("scores", float)
    if len(types) != len(tokens) or len(scores) not in (0, len(tokens)):
        raise TokenizerError(
            f"{where}: {len(tokens)} tokens, but {len(types)} types and {len(scores)} scores: it is damaged"
        )
    strange = next((index for index, kind in enumerate(types) if not NORMAL <= kind <= BYTE), None)
    if strange is not None or not tokens:
        what = "no token is in it" if strange is None else f"token {strange} has the type {types[strange]}"
        raise TokenizerError(f"{where}: is damaged: {what}")
    flags = {name: values.get(name) for name in ("add_space_prefix", "remove_extra_whitespaces")}
    return GgufVocabulary(
        model=str(values["model"]),
        tokens=tokens,
        types=types,
        pre=str(values.get("pre", "default")),
        merges=listed("merges", str),
        scores=scores,
        charsmap=bytes(one & 0xFF for one in listed("precompiled_charsmap", int)),
        **{name: None if value is None else bool(value) for name, value in flags.items()},
        unknown=_unknown(values, len(tokens), where),
    )


def _unknown(values: dict[str, Any], size: int, where: str) -> int | None:
    """The id of the unknown token, None without one; raises `TokenizerError` for an id that no token has."""
    index = values.get(_UNKNOWN, _NO_TOKEN[0])
    if index in _NO_TOKEN:
        return None
    if type(index) is not int:
        raise TokenizerError(f"{where}: is damaged: {_PREFIX}{_UNKNOWN} is {index!r:.80}, no id")
    if not 0 <= index < size:
        raise TokenizerError(
            f"{where}: {_PREFIX}{_UNKNOWN} is {index}, and the last of its {size} tokens is {size - 1}; put it "
            f"right with `gguf-set-metadata {where} {_PREFIX}{_UNKNOWN} ID`, or open the tokenizer that the "
            "file was made from"
        )
    return index


class _Values:
    """The named values at the head of a file, read from its bytes one after the other."""

    def __init__(self, data: mmap.mmap, where: str) -> None:
        self.data, self.where, self.at, self.order = data, where, len(MAGIC), "<"

    def named(self, prefix: str) -> dict[str, Any]:
        """The values whose names begin with `prefix`, by the rest of the name: numbers, texts, and lists."""
        version = self.number("I")
        if version not in _VERSIONS:  # written on a machine of the other byte order
            self.order, self.at = ">", len(MAGIC)
            version = self.number("I")
        if version not in _VERSIONS:
            raise TokenizerError(f"{self.where}: is GGUF of an unknown version, or is damaged")
        self.number("Q")  # how many tensors there are
        found = {}
        for _ in range(self.number("Q")):
            name = self.text()
            value = self.value(self.number("I"))
            if name.startswith(prefix):
                found[name.removeprefix(prefix)] = value
        return found

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.text()
        if kind == _ARRAY:
            return self.array()
        return self.number(self.number_type(kind))

    def array(self) -> list[str] | tuple[Any, ...]:
        kind, count = self.number("I"), self.number("Q")
        if kind == _STRING:
            self.take(8 * count)  # the least they can take: an impossible count is found before any work
            self.at -= 8 * count
            return [self.text() for _ in range(count)]
        letter = self.number_type(kind)
        start = self.take(count * struct.calcsize(self.order + letter))
        return struct.unpack_from(f"{self.order}{count}{letter}", self.data, start)

    def text(self) -> str:
        size = self.number("Q")
        start = self.take(size)
        try:
            return self.data[start : self.at].decode()
        except UnicodeDecodeError as error:
            raise TokenizerError(f"{self.where}: is damaged: the text at byte {start} is not UTF-8") from error

    def number(self, letter: str) -> Any:
        form = self.order + letter
        return struct.unpack_from(form, self.data, self.take(struct.calcsize(form)))[0]

    def number_type(self, kind: int) -> str:
        if kind not in _NUMBERS:
            raise TokenizerError(f"{self.where}: is damaged: a value of type {kind} before byte {self.at}")
        return _NUMBERS[kind]

    def take(self, size: int) -> int:
        """Skip `size` bytes and return where they begin; raises `TokenizerError` if the file is too short."""
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise TokenizerError(f"{self.where}: is GGUF that breaks off or is damaged, at byte {start}")
        return start


def write_gguf(vocabulary: GgufVocabulary, path: str | os.PathLike[str]) -> None:
    """Write a file that contains only the vocabulary, like llama.cpp's own vocabulary files."""
    try:
        library = importlib.import_module("gguf")
    except ImportError as error:
        raise TokenizerError(
            "GGUF files are written with the package gguf, which is not installed: pip install 'tokbench[gguf]'"
        ) from error
    writer = library.GGUFWriter(os.fspath(path), "llama")
    writer.add_tokenizer_model(vocabulary.model)
    writer.add_tokenizer_pre(vocabulary.pre)
    writer.add_token_list(list(vocabulary.tokens))
    writer.add_token_types(list(vocabulary.types))
    for add, value in (
        (writer.add_token_scores, list(vocabulary.scores) or None),
        (writer.add_token_merges, list(vocabulary.merges) or None),
        (writer.add_precompiled_charsmap, vocabulary.charsmap or None),
        (writer.add_add_space_prefix, vocabulary.add_space_prefix),
        (writer.add_remove_extra_whitespaces, vocabulary.remove_extra_whitespaces),
        (writer.add_unk_token_id, vocabulary.unknown),
    ):
        if value is not None:
            add(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
